"""Weeks: what counts in a turn is settled when its player is asked."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from pbem.domain.errors import BadInput
from pbem.service.absence import second_chance
from pbem.service.account import my_page
from pbem.service.desk import table
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.service.play import undo
from tests.service.actors import ROOT, moderate
from tests.service.clock import DAY, HOUR
from tests.service.database import queued_emails

SATURDAY_NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


def takes(game, seat, *days, hours="", workdays=()):
    """A player takes these days off."""
    game.server.run(addresses.change_settings, game.person_at(seat), zone="UTC")
    game.server.run(my_page.change_week, game.person_at(seat), days, workdays, hours)


@pytest.fixture
def weekly(table):
    """weekly(*days, ...) -> a game of two, and the seat asked there, whose player had these days off by then."""

    def weekly(*days, hours="", workdays=(), **settings):
        game = table("sun-bid", 2, **({"pace": "1d"} | settings))
        (first,) = game.asked()
        takes(game, 1 - first, *days, hours=hours, workdays=workdays)
        while first in game.asked():
            game.play(first, game.asked()[first].default)
        return game, 1 - first

    return weekly


def ask_again(game, seat):
    """Play until a seat is asked in another turn."""
    before = game.row().turn
    while game.row().turn == before or seat not in game.asked():
        (each,) = game.asked()
        game.play(each, game.asked()[each].default)


def test_no_clock_of_a_player_runs_on_their_days_off(time, weekly):
    game, seat = weekly("Sun")
    assert game.server.now() == SATURDAY_NOON
    printed = time.sends()[seat]
    assert printed.at == time.due(game, seat) == MONDAY + 12 * HOUR
    time.passes_until(MONDAY + 11 * HOUR)
    assert time.runs_out().decided == 0
    time.passes_until(MONDAY + 12 * HOUR)
    assert time.runs_out().decided == 1


def test_a_week_counts_from_the_next_turn_on(time, table):
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    takes(game, seat, "Sun")
    time.sends()
    assert time.due(game, seat) == SATURDAY_NOON + DAY
    ask_again(game, seat)
    time.sends()
    assert time.due(game, seat) == MONDAY + 12 * HOUR


@pytest.mark.parametrize("moment", ["before the email", "after the email"])
@pytest.mark.parametrize(
    "change",
    [
        takes,
        lambda game, seat: takes(game, seat, "Sat", "Sun", "Mon"),
        lambda game, seat: takes(game, seat, hours="06:00-18:00", workdays=("Mon", "Tue")),
        lambda game, seat: game.server.run(addresses.change_settings, game.person_at(seat), zone="Pacific/Auckland"),
    ],
    ids=["less", "more", "work", "zone"],
)
def test_nobody_is_better_or_worse_off_by_a_late_change(time, weekly, moment, change):
    game, seat = weekly("Sun")
    if moment == "before the email":
        change(game, seat)
    time.sends()
    if moment == "after the email":
        change(game, seat)
    # In the new zone the deadline is a full hour, too.
    assert time.due(game, seat) == MONDAY + 12 * HOUR
    assert [each for each in queued_emails(game.server, kind="notice") if each.seat == seat] == []


@pytest.mark.parametrize(
    ("bound", "at"),
    [(0, SATURDAY_NOON + DAY), (48, MONDAY + 12 * HOUR), (108, MONDAY + 20 * HOUR), (None, MONDAY + 12 * HOUR)],
)
def test_a_table_counts_as_much_of_a_week_as_it_has_agreed(time, weekly, bound, at):
    work = {"hours": "04:00-12:00", "workdays": ("Mon", "Tue", "Wed", "Thu", "Fri")}
    game, seat = weekly("Sun", **work, time_off=bound)
    time.sends()
    assert time.due(game, seat) == at


def test_a_bound_is_one_of_a_few(table):
    with pytest.raises(BadInput, match="50 hours of time off"):
        table("sun-bid", 2, time_off=50)


def test_short_turns_have_no_time_off_unless_it_is_chosen(table):
    assert table("sun-bid", 2, pace="6h").row().time_off == 0
    assert table("sun-bid", 2, pace="6h", time_off=48).row().time_off == 48


def test_the_week_of_a_new_player_counts_from_when_they_are_asked(time, weekly, person):
    game, seat = weekly("Sun")
    time.sends()
    substitute = person("Carla")
    moderate(game.server, Substitute(game.id, seat, "carla@example.org"), "She takes over.")
    time.sends()
    assert game.person_at(seat) == substitute
    assert time.due(game, seat) == SATURDAY_NOON + DAY


def test_the_week_of_a_substitute_counts_instead(time, table, person):
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    substitute = person("Carla")
    game.server.run(my_page.change_week, substitute, ("Sun",), (), "")
    moderate(game.server, Substitute(game.id, seat, "carla@example.org"), "She takes over.")
    time.sends()
    zone = game.server.read(addresses.read, substitute).zone
    assert time.deadline(game, seat).week == f"Sun||{zone}"


def test_a_bot_has_no_week(time, table, weekly):
    game, seat = weekly("Sun")
    moderate(game.server, Substitute(game.id, seat), "A bot goes on.")
    assert time.bots_play() >= 1


def test_a_merge_leaves_the_running_turn_as_it_was_asked(time, weekly, person):
    game, seat = weekly("Sun")
    time.sends()
    moderate(game.server, Merge(person("Bennie"), game.person_at(seat)), "They wrote from both.")
    assert time.due(game, seat) == MONDAY + 12 * HOUR
    assert time.deadline(game, seat).week == "Sun||UTC"


def test_nothing_is_spent_of_a_bank_on_days_off(time, weekly):
    game, seat = weekly("Sun", pace="1d+1h max 2d")
    time.sends()
    time.passes_until(MONDAY + 2 * HOUR)
    ask_again(game, seat)
    time.sends()
    # Of a day fourteen hours are spent, and one is added.
    assert time.due(game, seat) == MONDAY + 2 * HOUR + 11 * HOUR


def test_a_move_taken_back_is_the_same_turn(time, table):
    game = table("templari", 3, pace="1d")
    for each in {0, 1, 2} - {*game.asked()}:
        takes(game, each, "Sun")
    (first,) = game.asked()
    game.play(first, game.asked()[first].default)
    (seat,), turn = game.asked(), game.row().turn
    game.play(seat, game.asked()[seat].default)
    takes(game, seat, "Mon")
    game.server.run(undo.take_back, game.id, turn, seat)
    assert time.deadline(game, seat).week == "Sun||UTC"


def test_days_off_lengthen_no_second_chance(time, table):
    game = table("templari", 3, pace="1d", second_chance=12)
    for seat in range(3):
        takes(game, seat, "Mon")
    (seat,) = game.asked()
    ask_again(game, seat)
    time.sends()
    due, turn = time.due(game, seat), game.row().turn
    assert due == SATURDAY_NOON + DAY
    time.passes_until(due)
    assert time.runs_out().decided == 1
    stated = game.server.read(second_chance.until, game.row(), turn, seat)
    game.server.run(second_chance.take_back, game.id, turn, seat, game.person_at(seat))
    assert time.due(game, seat) == stated == due + 12 * HOUR
    assert time.deadline(game, seat).week == "Mon||UTC"


def test_nobody_is_reminded_on_a_day_off(time, weekly):
    game, seat = weekly("Sun", pace="2d")
    game.server.run(addresses.change_settings, game.person_at(seat), cadence="25%,50%,80%")
    time.sends()
    reminded = []
    while time.deadline(game, seat).remind_at is not None:
        reminded.append(time.passes_until(time.deadline(game, seat).remind_at))
        assert time.reminds().decided == 1
    # A quarter of two days has passed as the day off begins.
    assert [each - MONDAY for each in reminded] == [timedelta(0), 12 * HOUR, timedelta(hours=26.4)]
    assert all(one < other for one, other in pairwise(reminded))


def test_an_organiser_reads_what_time_off_did_to_a_deadline(time, weekly):
    game, seat = weekly("Sun")
    time.sends()
    explained = game.server.run(table.clocks, ROOT, game.id)[1]
    (lines,) = (lines for each, lines in explained if each.seat == seat)
    assert "+ 1 day: days off or working hours" in lines
    assert lines[-1] == "Time off: Sun"
