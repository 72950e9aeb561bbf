"""What the host can change: each is refused to others, news_of to those concerned, and moves what it says."""

import json

import pytest

from pbem.domain.errors import BadInput, Forbidden, Stale
from pbem.domain.states import TournamentStatus
from pbem.service import links
from pbem.service.account import delete
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.prepare import NEWS_OF_ALL_A_DAY
from pbem.service.tournaments import file, hosting, reading
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.fuzz.door import must_be_linear
from tests.mail.kinds import HEAD
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.clock import DAY
from tests.service.database import queued_emails

NINE = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")


def news_of(cup, name):
    return [json.loads(each.facts)["what"] for each in queued_emails(cup.server, cup.people[name], "tournament")]


def test_a_pause_makes_sign_up_longer(tournament):
    cup = tournament(*NINE[:3])
    closes = cup.row.closes_at
    cup.server.run(hosting.pause, cup.id, cup.host)
    cup.time.passes_until(closes)
    cup.moves_on()
    assert cup.row.status == "open"
    cup.server.run(hosting.resume, cup.id, cup.host)
    assert cup.row.closes_at == closes + (closes - (closes - 7 * DAY))
    assert news_of(cup, "Ann") == ["paused", "resumed"]


def test_a_paused_tournament_goes_on_when_its_host_leaves_for_good(tournament):
    cup = tournament(*NINE[:3])
    closes = cup.row.closes_at
    cup.server.run(hosting.pause, cup.id, cup.host)
    cup.time.passes(DAY)
    cup.server.run(delete.delete_person, cup.host)
    assert cup.row.closes_at == closes + DAY
    assert news_of(cup, "Ann") == ["paused", "resumed"]
    cup.begins()
    assert cup.row.status == "playing"


def test_a_pause_makes_a_round_longer(tournament):
    cup = tournament(*NINE[:3])
    cup.begins()
    due = cup.row.due_at
    cup.server.run(hosting.pause, cup.id, cup.host)
    cup.time.passes(40 * DAY)
    cup.moves_on()
    assert not news_of(cup, "Ann").count("late")
    cup.server.run(hosting.resume, cup.id, cup.host)
    assert cup.row.due_at == due + 40 * DAY


def test_more_days(tournament):
    cup = tournament(*NINE[:3])
    closes = cup.row.closes_at
    cup.server.run(hosting.extend, cup.id, cup.host, 2)
    assert cup.row.closes_at == closes + 2 * DAY
    cup.begins()
    due = cup.row.due_at
    cup.server.run(hosting.extend, cup.id, cup.host, 3)
    assert cup.row.due_at == due + 3 * DAY
    for days in (0, 90):
        with pytest.raises(BadInput):
            cup.server.run(hosting.extend, cup.id, cup.host, days)


def test_sign_up_cannot_be_put_off_for_ever(tournament):
    cup = tournament(*NINE[:3])
    cup.server.run(hosting.extend, cup.id, cup.host, 50)
    with pytest.raises(BadInput, match="60 days"):
        cup.server.run(hosting.extend, cup.id, cup.host, 10)


def test_a_clock_set_back_in_a_pause_brings_nothing_forward(tournament, clock):
    cup = tournament(*NINE[:3])
    closes = cup.row.closes_at
    cup.server.run(hosting.pause, cup.id, cup.host)
    clock.set(clock.now() - 3 * DAY)
    cup.server.run(hosting.resume, cup.id, cup.host)
    assert cup.row.closes_at == closes


@pytest.mark.slow
def test_a_correction_changes_the_standings_and_no_pairing(tournament):
    cup = tournament(*NINE)
    cup.begins()
    cup.is_late()
    table = cup.page.rounds[0].tables[0]
    last = max(table.players, key=lambda player: player.place)
    corrected_places = tuple(1 if player is last else 2 for player in table.players)
    cup.server.run(hosting.correct, cup.id, cup.host, 1, 1, corrected_places, "They agreed on it.")
    corrected = cup.page.rounds[0].tables[0]
    assert tuple(player.place for player in corrected.players) == corrected_places
    assert corrected.reasons == ("They agreed on it.",)
    assert file.check(cup.server.read(file.of_tournament, cup.key)) == [], "round 2 was paired without it"
    assert "corrected" in news_of(cup, last.name)
    with pytest.raises(BadInput, match="don't fit together"):
        cup.server.run(hosting.correct, cup.id, cup.host, 1, 1, (1, 1, 2), "No.")
    with pytest.raises(Stale, match="isn't over"):
        cup.server.run(hosting.correct, cup.id, cup.host, 2, 1, corrected_places, "No.")


def test_someone_who_is_taken_out_is_told_why_and_cannot_come_back(tournament):
    cup = tournament(*NINE[:4], size=4, least=3)
    number = cup.entrant("Dan").number
    cup.server.run(hosting.remove, cup.id, cup.host, number, "You asked for it.")
    assert news_of(cup, "Dan") == ["removed"]
    with pytest.raises(Forbidden, match="taken you out"):
        cup.enters(cup.people["Dan"])
    cup.begins()
    assert {player.name for table in cup.page.rounds[0].tables for player in table.players} == {*NINE[:3]}


def test_called_off(tournament):
    cup = tournament(*NINE[:3])
    cup.begins()
    cup.server.run(hosting.call_off, cup.id, cup.host, "Too few of us have time.")
    assert news_of(cup, "Ann")[-1] == "called off"
    cup.time.passes(60 * DAY)
    cup.moves_on()
    assert cup.row.round == 1
    with pytest.raises(Stale):
        cup.server.run(hosting.pause, cup.id, cup.host)


def test_a_correction_of_very_many_places_is_refused_in_few_steps(tournament):
    cup = tournament(*NINE[:3], rounds=1)
    cup.begins()
    cup.is_late()

    def corrects(length):
        with pytest.raises(BadInput, match="don't fit together"):
            cup.server.run(hosting.correct, cup.id, cup.host, 1, 1, (1,) * length, "No.")

    must_be_linear(corrects)


@pytest.mark.parametrize("act", ["pause", "resume", "extend", "correct", "remove", "call_off"])
def test_others_can_do_none_of_it(tournament, act):
    cup = tournament(*NINE[:3])
    given = {"extend": (3,), "correct": (1, 1, (1, 2, 3), "x"), "remove": (1, "x"), "call_off": ("x",)}.get(act, ())
    with pytest.raises(Forbidden, match="Only a tournament's host"):
        cup.server.run(getattr(hosting, act), cup.id, cup.people["Ann"], *given)


def test_a_reason_holds_no_token(tournament):
    cup = tournament(*NINE[:3])
    token = cup.server.run(links.make_token, LinkKey(Purpose.STOP, cup.host))
    cup.server.run(hosting.call_off, cup.id, cup.host, f"See {token} for it.")
    (email,) = queued_emails(cup.server, cup.people["Ann"], "tournament")
    assert token not in email.facts


@pytest.mark.slow
def test_a_host_cannot_flood_players_with_news(tournament):
    cup = tournament(*NINE[:3])
    for _ in range(35):
        cup.server.run(hosting.pause, cup.id, cup.host)
        cup.server.run(hosting.resume, cup.id, cup.host)
    post = Post(HEAD, FunctionTransport(lambda _email: ACCEPTED))
    while deliver(cup.server, post, limit=100).dealt_with:
        pass
    emails = queued_emails(cup.server, cup.people["Ann"], "tournament")
    assert [each.status for each in emails].count("sent") == NEWS_OF_ALL_A_DAY
    cup.begins()
    deliver(cup.server, post, limit=100)
    assert queued_emails(cup.server, cup.people["Ann"], "tournament")[-1].status == "sent", (
        "a round is news that must arrive"
    )


def test_lists_name_the_winners_of_the_standings_also_after_a_correction(tournament):
    cup = tournament(*NINE[:3], rounds=1)
    cup.begins()
    cup.is_late()
    assert cup.row.status == "over"
    (table,) = cup.page.rounds[0].tables
    for winner in range(3):
        places = tuple(1 if seat == winner else 2 for seat in range(3))
        cup.server.run(hosting.correct, cup.id, cup.host, 1, 1, places, "Counted again.")
        (listed,) = cup.server.read(reading.listed, TournamentStatus.OVER, 5)
        assert listed.winners == (table.players[winner].name,) == (cup.page.standings[0].name,)
