"""Counts for the charts: an hour may be counted again, a ledger line never is, and no person is named."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from pbem.service.desk import statistics
from pbem.service.play.move import Actor
from pbem.store import ledger
from pbem.store.schema import TALLY
from tests.service.clock import HOUR, MINUTE
from tests.service.database import count_calls

pytestmark = pytest.mark.slow


def counted(server):
    while statistics.count(server):
        pass
    return server.read(statistics.activity, hourly=True)


def rows(server):
    with server.store.read() as tx:
        return sorted(map(tuple, tx.execute(select(TALLY))))


def plays(game, by=Actor.PERSON):
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default, by)


def note_email_lines(server, what, times):
    """Write a number of ledger lines, as sending writes them."""
    for _ in range(times):
        server.store.write(lambda tx: ledger.note(tx, 1, server.now(), what))


def test_moves_of_people_of_bots_and_of_the_clock_are_counted_apart(server, clock, table):
    game = table("sun-bid", 2)
    for by in (Actor.PERSON, Actor.REPLY, Actor.API, Actor.CLOCK, Actor.CLOCK, Actor.ORDER):
        clock.advance(MINUTE)
        plays(game, by)
    found = counted(server)
    assert [sum(found.of(kind)) for kind in ("moves", "time_outs", "orders", "bots")] == [3, 2, 1, 0]
    assert found.of("moves")[-1] == 3


def test_counting_again_counts_nothing_twice(server, clock, table):
    game = table("sun-bid", 2)
    note_email_lines(server, "accepted", 5)
    plays(game)
    clock.advance(10 * MINUTE)
    counted(server)
    before = rows(server)
    counted(server)
    assert rows(server) == before
    assert sum(server.read(statistics.activity, hourly=True).of("mail_sent")) == 5


def test_a_late_row_in_an_hour_that_is_over_is_still_counted(server, clock, table):
    game = table("sun-bid", 2)
    clock.advance(59 * MINUTE)
    counted(server)
    plays(game)
    clock.advance(2 * MINUTE)
    assert counted(server).of("moves")[-2:] == (1, 0)


def test_after_a_long_pause_in_counting_every_hour_is_counted(server, clock, table):
    game = table("sun-bid", 2)
    counted(server)
    for _ in range(3):
        plays(game)
        clock.advance(10 * HOUR)
    found = counted(server)
    assert [number for number in found.of("moves") if number] == [1, 1, 1]


def test_hours_in_which_nobody_decided_cost_nothing(server, clock, table):
    game = table("sun-bid", 2)
    clock.advance(20 * HOUR)
    plays(game)
    with count_calls(server.store) as first:
        counted(server)
    clock.advance(timedelta(days=40))
    with count_calls(server.store) as later:
        found = counted(server)
    assert found.of("moves") == (0,) * statistics.HOURS
    assert sum(server.read(statistics.activity, hourly=False).of("people_day")) == 0
    assert max(len(first), len(later)) < 30


def test_a_person_active_in_many_hours_counts_once_in_the_day(server, clock, table):
    game = table("sun-bid", 2)
    clock.advance(timedelta(hours=12))
    for _ in range(6):
        plays(game)
        clock.advance(HOUR)
    counted(server)
    assert server.read(statistics.activity, hourly=False).of("people_day")[-1] == 2
    assert sum(server.read(statistics.activity, hourly=True).of("people")) == 6


def test_an_answer_counts_by_the_time_it_took_and_a_missed_turn_is_no_answer(server, clock, table):
    game = table("sun-bid", 2)
    for hours in (0.5, 5, 20, 60, 100):
        clock.advance(timedelta(hours=hours))
        plays(game)
    clock.advance(timedelta(hours=2))
    plays(game, Actor.CLOCK)
    counted(server)
    found = server.read(statistics.activity, hourly=False)
    assert [sum(found.of(kind)) for kind, _ in statistics.ANSWERED] == [1, 1, 1, 1, 1]


def test_emails_are_counted_by_outcome_once_every_line_is_there(server, clock, table):
    table("sun-bid", 2)
    note_email_lines(server, "accepted", 3)
    note_email_lines(server, "rendered", 2)
    assert sum(counted(server).of("mail_sent")) == 0
    clock.advance(10 * MINUTE)
    assert sum(counted(server).of("mail_sent")) == 3
    note_email_lines(server, "bounced", 1)
    note_email_lines(server, "parked", 1)
    clock.advance(10 * MINUTE)
    found = counted(server)
    assert (sum(found.of("mail_sent")), sum(found.of("mail_failed"))) == (3, 2)


def test_old_counts_are_dropped(server, clock, table):
    plays(table("sun-bid", 2))
    counted(server)
    assert rows(server)
    clock.advance(statistics.RETENTION + timedelta(days=2))
    server.run(statistics.tidy)
    assert rows(server) == []


def test_a_move_touches_no_table_of_the_counts(server, table):
    game = table("sun-bid", 2)
    with count_calls(server.store) as made:
        plays(game)
    assert not any(name in call for call in made for name in ("tally", " mark", " term", " flaw", " job"))
