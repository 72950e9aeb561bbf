"""No-shows are out of the next round, and can come back; nobody is one who couldn't have known."""

import json

import pytest

from pbem.domain.bounce import Bounce
from pbem.domain.errors import Gone
from pbem.domain.interval import Interval
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.tables import leaving
from pbem.service.tournaments import by_link, file, sign_up
from pbem.store import vacations as vacation_rows
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.service.clock import DAY
from tests.service.database import queued_emails

pytestmark = pytest.mark.slow

SIX = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay")


def news_of(cup, name):
    return [json.loads(each.facts)["what"] for each in queued_emails(cup.server, cup.people[name], "tournament")]


def players_of(cup, number):
    return {player.name for table in cup.page.rounds[number - 1].tables for player in table.players}


@pytest.fixture
def cup(tournament):
    """A cup of six over four rounds, with one who waits, in its first round."""
    found = tournament(*SIX, "Gus", rounds=4, most=6)
    found.begins()
    return found


def test_someone_who_makes_no_choice_in_a_round_is_out_of_the_next(cup):
    cup.plays_round("Ben")
    assert cup.entrant("Ben").status == "absent"
    assert players_of(cup, 2) == {*SIX, "Gus"} - {"Ben"}
    assert news_of(cup, "Ben")[-1] == "no show"
    assert "no show" not in news_of(cup, "Ann")
    assert news_of(cup, "Gus")[-2:] == ["place", "round"], "the first of the waiting list has the place"
    assert file.check(cup.server.read(file.of_tournament, cup.key)) == []


def test_a_no_show_comes_back_by_the_link_of_the_email_once_a_place_is_free(cup):
    cup.plays_round("Ben")
    email = queued_emails(cup.server, cup.people["Ben"], "tournament")[-1]
    token = cup.server.run(links.make_token, LinkKey(Purpose.ENTRY, cup.people["Ben"], outbox_id=email.id))
    assert by_link.enter(cup.server, token, "Benjamin", "").status == "waiting"
    assert by_link.enter(cup.server, token, "Benjamin", "").status == "waiting"
    cup.server.run(sign_up.decline, cup.id, cup.people["Dan"])
    cup.plays_round()
    assert players_of(cup, 3) == {*SIX, "Gus"} - {"Dan"}, "with the name that everyone knows"
    ben = cup.entrant("Ben")
    assert (ben.status, json.loads(ben.away), ben.until) == ("in", [2], None)
    cup.plays_round()
    cup.plays_round()
    assert cup.page.summary.status == "over"
    assert file.check(cup.server.read(file.of_tournament, cup.key)) == []


def test_a_no_show_who_waits_and_leaves_again_was_in_no_round_between(cup):
    cup.plays_round("Ben")
    cup.enters(cup.people["Ben"], "Ben")
    cup.server.run(sign_up.decline, cup.id, cup.people["Ben"])
    assert (cup.entrant("Ben").status, cup.entrant("Ben").until) == ("left", 1)
    with pytest.raises(Gone):
        cup.enters(cup.people["Ben"], "Ben")


def test_nobody_can_come_back_once_the_last_round_has_begun(tournament):
    cup = tournament(*SIX, rounds=2)
    cup.begins()
    cup.plays_round("Ben")
    assert json.loads(queued_emails(cup.server, cup.people["Ben"], "tournament")[-1].facts)["back"] is False
    with pytest.raises(Gone):
        cup.enters(cup.people["Ben"], "Ben")


def test_someone_whose_turns_never_came_or_who_resigned_is_no_no_show(cup):
    game = next(each for each in cup.games() if cup.people["Ben"] in [p.person_id for p in each.players().values()])
    cup.time.sends()
    cup.time.passes(2 * DAY)
    cup.time.runs_out()
    (seat,) = [seat for seat, player in game.players().items() if player.person_id == cup.people["Ben"]]
    cup.server.run(leaving.resign, game.id, seat, cup.people["Ben"])
    cup.is_late()
    assert cup.entrant("Ben").status == "in"


def test_a_round_that_bots_finish_before_anyone_missed_a_turn_has_no_no_shows(cup):
    cup.is_late()
    assert {each.status for each in cup.page.entrants} == {"in", "waiting"}


def bounces(cup):
    """Email to Ben fails once."""
    cup.server.run(reachability.note_bounce, cup.people["Ben"], Bounce.SOFT, "mailbox full")


def goes_away(cup):
    """Ben is on vacation for three weeks, from the day after tomorrow."""
    now = cup.server.now()
    when = Interval(now + 2 * DAY, now + 23 * DAY)
    days = when.start.date(), (when.start + 20 * DAY).date()
    cup.server.store.write(lambda tx: vacation_rows.add(tx, cup.people["Ben"], *days, when))


def stands_still(cup):
    """The server is down for longer than the round lasts, after a turn was missed."""
    cup.time.sends()
    cup.time.passes(2 * DAY)
    cup.time.runs_out()
    cup.time.sleeps(30 * DAY)


@pytest.mark.parametrize("excuse", [bounces, goes_away, stands_still])
def test_an_excuse_keeps_a_player_in(cup, excuse):
    excuse(cup)
    cup.plays_round("Ben")
    assert cup.entrant("Ben").status == "in"
    assert "no show" not in news_of(cup, "Ben")


def test_where_nobody_can_come_later_the_bot_plays_on(tournament):
    cup = tournament(*SIX, form="knockout", advance=2)
    cup.begins()
    cup.plays_round(*SIX)
    assert {each.status for each in cup.page.entrants} == {"in"}
