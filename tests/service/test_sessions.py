"""Sessions: who is signed in with which browser, for how long, and how that ends."""

from datetime import timedelta

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from pbem.domain.errors import NotFound
from pbem.service import organisers, sessions
from pbem.service.sessions import LASTS_OF_ORGANISER, LASTS_OF_PERSON, MOST_OPEN
from pbem.store.schema import Session, table_of
from pbem.store.sessions import Holder
from tests.service.acting import ROOT, an_organiser
from tests.service.stored import everything


@pytest.fixture
def ann(person):
    return Holder(person_id=person("Ann"))


@pytest.fixture
def olga(house):
    return Holder(organiser_id=an_organiser(house, "Olga").id)


def signed_in(house, holder, label="Firefox on Linux"):
    return house.write(lambda tx: sessions.open_in(tx, house, holder, label))


def test_a_browser_that_has_signed_in_is_known_by_its_secret(house, ann):
    found = sessions.find(house, signed_in(house, ann))
    assert (found.holder, found.label, found.made_at, found.checked_at) == (ann, "Firefox on Linux", house.now(), None)


@pytest.mark.parametrize("wrong", ["", "a", "a" * 52, "a" * 5000, "ü" * 52])
def test_what_is_no_secret_of_ours_signs_nobody_in(house, ann, wrong):
    signed_in(house, ann)
    assert sessions.find(house, wrong) is None


def test_no_secret_is_stored(house, ann):
    secret = signed_in(house, ann)
    assert secret not in repr(everything(house.store))
    assert secret.encode().hex() not in repr(everything(house.store))


@pytest.mark.parametrize("who, lasts", [("ann", LASTS_OF_PERSON), ("olga", LASTS_OF_ORGANISER)])
def test_a_session_lasts_as_long_as_is_said_and_no_longer(house, clock, request, who, lasts):
    holder = request.getfixturevalue(who)
    secret = signed_in(house, holder)
    clock.advance(lasts - timedelta(seconds=1))
    assert sessions.find(house, secret).until == clock.now() + timedelta(seconds=1)
    assert len(sessions.listed(house, holder)) == 1
    clock.advance(timedelta(seconds=1))
    assert sessions.find(house, secret) is None
    assert sessions.listed(house, holder) == []


def test_a_session_is_somebody_s_and_nobody_else_s(house, ann, olga):
    with pytest.raises(ValueError, match="person or of an organiser"):
        Holder()
    with pytest.raises(ValueError, match="person or of an organiser"):
        Holder(ann.person_id, olga.organiser_id)
    row = {"secret_hash": b"x", "label": "", "made_at": house.now(), "used_on": house.now().date()}
    for both in ({}, {"person_id": ann.person_id, "organiser_id": olga.organiser_id}):
        with pytest.raises(IntegrityError):
            house.write(lambda tx, both=both: tx.execute(insert(table_of(Session)), row | both))


def test_a_browser_is_signed_out_by_its_holder_alone(house, ann, person):
    secret = signed_in(house, ann)
    found = sessions.find(house, secret)
    with pytest.raises(NotFound):
        sessions.end(house, Holder(person_id=person("Ben")), found.id)
    assert sessions.find(house, secret) == found
    sessions.end(house, ann, found.id)
    assert sessions.find(house, secret) is None
    with pytest.raises(NotFound):
        sessions.end(house, ann, found.id)


def test_all_other_browsers_are_signed_out_at_once(house, ann, person):
    here, *others = [signed_in(house, ann, label) for label in ("one", "two", "three")]
    of_ben = signed_in(house, Holder(person_id=person("Ben")))
    assert sessions.end_others(house, ann, sessions.find(house, here).id) == 2
    assert [sessions.find(house, each) for each in others] == [None, None]
    assert [each.label for each in sessions.listed(house, ann)] == ["one"]
    assert sessions.find(house, of_ben) is not None


def test_one_browser_too_many_signs_the_oldest_out(house, ann):
    secrets = [signed_in(house, ann) for _ in range(MOST_OPEN + 1)]
    assert [sessions.find(house, each) is not None for each in secrets] == [False, *[True] * MOST_OPEN]


def test_looking_for_a_session_writes_nothing_and_pressing_a_button_its_day(house, clock, ann):
    secret = signed_in(house, ann)
    clock.advance(timedelta(days=2))
    before = everything(house.store)
    found = sessions.find(house, secret)
    assert everything(house.store) == before
    sessions.used(house, found)
    assert sessions.find(house, secret).used_on == clock.now().date()


def test_an_organiser_is_asked_for_the_passphrase_when_signing_in_and_whenever_it_is_noted(house, clock, olga):
    secret = signed_in(house, olga)
    found = sessions.find(house, secret)
    assert found.checked_at == house.now()
    clock.advance(timedelta(hours=1))
    house.write(lambda tx: sessions.checked_in(tx, house, found))
    assert sessions.find(house, secret).checked_at == clock.now()


def test_whoever_is_no_organiser_any_more_is_signed_out(house, olga):
    secret = signed_in(house, olga)
    organisers.remove(house, ROOT, "Olga")
    assert sessions.find(house, secret) is None


def test_sessions_that_have_long_been_over_are_dropped(house, clock, ann):
    signed_in(house, ann)
    clock.advance(sessions.KEPT + timedelta(seconds=1))
    late = signed_in(house, ann)
    assert sessions.tidy(house) == 1
    assert sessions.find(house, late) is not None
