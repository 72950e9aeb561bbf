"""Sessions: who is signed in with which browser, for how long, and how that ends."""

from datetime import timedelta

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from pbem.domain.errors import NotFound
from pbem.service.desk import organisers
from pbem.service.people import sessions
from pbem.service.people.sessions import MOST_OPEN, ORGANISER_LIFETIME, PERSON_LIFETIME
from pbem.store.schema import SESSION
from pbem.store.sessions import Holder
from tests.service.actors import ROOT, add_organiser
from tests.service.database import all_rows


@pytest.fixture
def ann(person):
    return Holder(person_id=person("Ann"))


@pytest.fixture
def olga(server):
    return Holder(organiser_id=add_organiser(server, "Olga").id)


def signed_in(server, holder, label="Firefox on Linux"):
    return server.run(sessions.start, holder, label)


def test_a_browser_that_has_signed_in_is_known_by_its_secret(server, ann):
    found = server.read(sessions.find, signed_in(server, ann))
    assert (found.holder, found.label, found.made_at, found.checked_at) == (ann, "Firefox on Linux", server.now(), None)


@pytest.mark.parametrize("wrong", ["", "a", "a" * 52, "a" * 5000, "ü" * 52])
def test_an_unknown_secret_signs_nobody_in(server, ann, wrong):
    signed_in(server, ann)
    assert server.read(sessions.find, wrong) is None


def test_no_secret_is_stored(server, ann):
    secret = signed_in(server, ann)
    assert secret not in repr(all_rows(server.store))
    assert secret.encode().hex() not in repr(all_rows(server.store))


@pytest.mark.parametrize("who, lasts", [("ann", PERSON_LIFETIME), ("olga", ORGANISER_LIFETIME)])
def test_a_session_ends_with_its_lifetime(server, clock, request, who, lasts):
    holder = request.getfixturevalue(who)
    secret = signed_in(server, holder)
    clock.advance(lasts - timedelta(seconds=1))
    assert server.read(sessions.find, secret).until == clock.now() + timedelta(seconds=1)
    assert len(server.read(sessions.open_sessions, holder)) == 1
    clock.advance(timedelta(seconds=1))
    assert server.read(sessions.find, secret) is None
    assert server.read(sessions.open_sessions, holder) == []


def test_a_session_belongs_to_one_holder(server, ann, olga):
    with pytest.raises(ValueError, match="person or of an organiser"):
        Holder()
    with pytest.raises(ValueError, match="person or of an organiser"):
        Holder(ann.person_id, olga.organiser_id)
    row = {"secret_hash": b"x", "label": "", "made_at": server.now(), "used_on": server.now().date()}
    for both in ({}, {"person_id": ann.person_id, "organiser_id": olga.organiser_id}):
        with pytest.raises(IntegrityError):
            server.store.write(lambda tx, both=both: tx.execute(insert(SESSION), row | both))


def test_a_browser_is_signed_out_by_its_holder_alone(server, ann, person):
    secret = signed_in(server, ann)
    found = server.read(sessions.find, secret)
    with pytest.raises(NotFound):
        server.run(sessions.end, Holder(person_id=person("Ben")), found.id)
    assert server.read(sessions.find, secret) == found
    server.run(sessions.end, ann, found.id)
    assert server.read(sessions.find, secret) is None
    with pytest.raises(NotFound):
        server.run(sessions.end, ann, found.id)


def test_all_other_browsers_are_signed_out_at_once(server, ann, person):
    here, *others = [signed_in(server, ann, label) for label in ("one", "two", "three")]
    of_ben = signed_in(server, Holder(person_id=person("Ben")))
    assert server.run(sessions.end_all, ann, server.read(sessions.find, here).id) == 2
    assert [server.read(sessions.find, each) for each in others] == [None, None]
    assert [each.label for each in server.read(sessions.open_sessions, ann)] == ["one"]
    assert server.read(sessions.find, of_ben) is not None


def test_one_browser_too_many_signs_the_oldest_out(server, ann):
    secrets = [signed_in(server, ann) for _ in range(MOST_OPEN + 1)]
    assert [server.read(sessions.find, each) is not None for each in secrets] == [False, *[True] * MOST_OPEN]


def test_finding_a_session_writes_nothing_and_using_it_the_day(server, clock, ann):
    secret = signed_in(server, ann)
    clock.advance(timedelta(days=2))
    before = all_rows(server.store)
    found = server.read(sessions.find, secret)
    assert all_rows(server.store) == before
    sessions.note_use(server, found)
    assert server.read(sessions.find, secret).used_on == clock.now().date()


def test_an_organiser_is_asked_for_the_passphrase_when_signing_in_and_whenever_it_is_noted(server, clock, olga):
    secret = signed_in(server, olga)
    found = server.read(sessions.find, secret)
    assert found.checked_at == server.now()
    clock.advance(timedelta(hours=1))
    server.run(sessions.note_check, found)
    assert server.read(sessions.find, secret).checked_at == clock.now()


def test_a_removed_organiser_is_signed_out(server, olga):
    secret = signed_in(server, olga)
    server.run(organisers.remove, ROOT, "Olga")
    assert server.read(sessions.find, secret) is None


def test_old_sessions_are_deleted(server, clock, ann):
    signed_in(server, ann)
    clock.advance(sessions.KEPT_FOR + timedelta(seconds=1))
    late = signed_in(server, ann)
    assert server.run(sessions.tidy) == 1
    assert server.read(sessions.find, late) is not None
