"""A time zone that this machine doesn't know, as after a restore from a newer one, counts as UTC and is in nobody's way."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pbem.domain.delivery import parse_delivery
from pbem.ops import doctor
from pbem.service.absence import timeouts
from pbem.service.outgoing import digests, preferences
from tests.service.database import queued_emails
from tests.web.desk_pages import at_the_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(sqlite_alone):
    """No database could make a difference here."""
    return sqlite_alone


def lost(store, statement):
    """Store a zone that only another machine knew."""
    store.write(lambda tx: tx.execute(text(statement)))


PERSON = "UPDATE person SET zone = 'Europe/Atlantis', quiet = '22:00-07:00' WHERE name = 'Ann'"
TABLE = "UPDATE game SET pace = 'Tue,Fri 20:00 Europe/Atlantis' WHERE kind = 'bid'"


@pytest.mark.parametrize("statement", [PERSON, TABLE])
def test_every_page_opens_and_every_turn_ends(server, store, table, browser, links, carry, clock, time, statement):
    games = [table("bid", 3), table("sun-bid", 2)]
    carry()
    lost(store, statement)
    clock.advance(timedelta(days=1))
    carry()
    paths = [f"/s/{links.of(game, seat)[1]}" for game in games for seat in range(game.row().seats)]
    for path in ("/", "/tables", *(f"/t/{game.row().key}" for game in games), *paths):
        assert browser.open(path).status == 200, path
    olga = at_the_desk(browser, server)
    for game in games:
        for path in (f"/desk/tables/{game.id}", f"/desk/tables/{game.id}/clocks"):
            assert olga.open(path).status == 200, path
    time.passes(timedelta(days=7))
    assert timeouts.remind(server).failed == 0
    outcome = timeouts.time_out(server, time.worker)
    assert (outcome.failed, outcome.decided > 0) == (0, True)
    carry()
    assert not [email for email in queued_emails(server) if email.status == "parked"]


def test_everyone_has_their_digest(server, store, table, carry, clock):
    game = table("templari", 3)
    carry()
    for seat in range(3):
        server.run(preferences.choose, game.person_at(seat), parse_delivery("daily"))
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    lost(store, PERSON)
    clock.advance(timedelta(days=1))
    assert digests.gather(server) == 3


@pytest.mark.parametrize("statement", [PERSON, TABLE])
def test_the_doctor_names_the_zone_and_says_what_to_do(server, store, table, statement):
    table("bid", 3)

    assert not [*doctor._zones(store)]
    lost(store, statement)
    (finding,) = doctor._zones(store)
    assert "doesn't know the time zone Europe/Atlantis" in finding.says
    assert "tzdata" in finding.remedy
