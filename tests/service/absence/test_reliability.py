"""Reliability: a player's decided and missed turns, counted in the database."""

from datetime import timedelta

import pytest

from pbem.domain.interval import Interval
from pbem.domain.reliability import Counts
from pbem.mail.read.delivery_reports import Report, ReportKind
from pbem.service.absence import offers, substitutes
from pbem.service.clocks import outages
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.incoming import bounces
from pbem.service.links import EmailLink
from pbem.service.play.move import Actor
from pbem.service.tables import joining, leaving, listing
from pbem.service.tables.new import TableSettings
from pbem.store import games, reliability
from tests.service.actors import moderate
from tests.service.clock import HOUR
from tests.service.database import queued_emails
from tests.service.play.test_move_cost import cost_of


def counted(server, person_id):
    with server.store.read() as tx:
        return reliability.counts(tx, {person_id}, server.now() - timedelta(days=365))[person_id]


def test_turns_and_missed_turns_are_counted(server, table):
    game = table("templari", 3)
    missed_turns = dict.fromkeys(range(3), 0)
    for _ in range(12):
        seat, decision = next(iter(game.asked().items()))
        misses = sum(missed_turns.values()) < 3
        missed_turns[seat] += misses
        game.play(seat, decision.default, Actor.CLOCK if misses else Actor.PERSON)
    for seat, missed in missed_turns.items():
        found = counted(server, game.person_at(seat))
        assert found.missed == missed
        assert found.turns >= missed
        assert found.finished == found.left == 0
    assert sum(counted(server, game.person_at(seat)).turns for seat in range(3)) == 12


def test_rewound_turns_count_neither_as_missed_nor_as_in_time(server, table):
    game = table("templari", 3)
    for _ in range(3):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    before = {seat: counted(server, game.person_at(seat)) for seat in range(3)}
    turn = game.row().turn
    for by in (Actor.CLOCK, Actor.PERSON, Actor.CLOCK):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default, by)
    assert sum(counted(server, game.person_at(seat)).missed for seat in range(3)) == 2
    moderate(server, Rewind(game.id, turn))
    assert {seat: counted(server, game.person_at(seat)) for seat in range(3)} == before
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default, Actor.CLOCK)
    again = counted(server, game.person_at(seat))
    assert (again.turns, again.missed) == (before[seat].turns + 1, 1)


def test_a_missed_turn_whose_email_came_back_counts_as_neither_in_time_nor_missed(server, table):
    game = table("templari", 3)
    seat, decision = next(iter(game.asked().items()))
    person = game.person_at(seat)
    game.play(seat, decision.default, Actor.CLOCK)
    assert counted(server, person) == Counts(turns=1, missed=1)
    (email,) = queued_emails(server, person, "turn")
    link = EmailLink(person, email.id, game.id)
    server.run(bounces.apply_report, link, Report(ReportKind.FAILED, permanent=False, answer="mailbox full"))
    assert counted(server, person) == Counts()


@pytest.mark.parametrize("known_in_time", [False, True])
def test_a_missed_turn_in_an_outage_that_was_found_later_does_not_count(server, clock, table, known_in_time):
    game = table("templari", 3)
    seat, decision = next(iter(game.asked().items()))
    clock.advance(HOUR)
    gap = Interval(clock.now() - HOUR / 2, clock.now())
    if known_in_time:
        server.run(outages.declare_outage, gap, "A disk was full.")
        outages.apply_outages(server)
    clock.advance(HOUR)
    game.play(seat, decision.default, Actor.CLOCK)
    clock.advance(HOUR)
    if not known_in_time:
        server.run(outages.declare_outage, gap, "A disk was full.")
        outages.apply_outages(server)
    # An outage that is known in time moves the deadline, which was missed all the same.
    assert counted(server, game.person_at(seat)) == Counts(turns=known_in_time, missed=known_in_time)


def test_a_choice_sealed_by_the_clock_stays_a_missed_turn(server, table):
    game = table("bid", 3)
    (first, decision), *others = game.asked().items()
    game.play(first, decision.default, Actor.CLOCK)
    for seat, asked in others:
        game.play(seat, asked.default)
    assert (counted(server, game.person_at(first)).missed, counted(server, game.person_at(first)).turns) == (1, 1)
    assert all(counted(server, game.person_at(seat)).missed == 0 for seat, _ in others)


def test_turns_of_a_bot_are_not_missed_turns_of_a_returning_player(server, table):
    game = table("sun-bid", 3, missed_limit=2)
    (gone,) = game.asked()
    person = game.person_at(gone)
    while game.players()[gone].missed < 2:
        for seat, asked in game.asked().items():
            game.play(seat, asked.default, Actor.CLOCK if seat == gone else Actor.PERSON)
    player = game.players()[gone]
    server.store.write(lambda tx: offers.after_missed_turns(tx, server, games.lock(tx, game.id), player))
    assert game.players()[gone].bot is not None
    turn = game.row().turn
    while game.row().turn < turn + 6:
        for seat, asked in game.asked().items():
            game.play(seat, asked.default, Actor.BOT if seat == gone else Actor.PERSON)
    server.run(substitutes.come_back, game.id, gone, person)
    assert counted(server, person).missed == 2


def test_leaving_counts_and_turns_of_the_bot_do_not(server, table):
    game = table("templari", 3)
    gone = game.person_at(0)
    server.run(leaving.resign, game.id, 0, gone)
    assert counted(server, gone) == Counts(left=1)


def test_turns_long_ago_do_not_count(server, table, clock):
    game = table("templari", 3)
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default, Actor.CLOCK)
    clock.advance(timedelta(days=366))
    assert counted(server, game.person_at(seat)) == Counts()


def test_the_lobby_costs_as_many_statements_for_many_tables_as_for_one(server, person):
    ann = person("Ann")

    costs = []
    for _ in range(3):
        server.run(joining.join, server.run(joining.create_table, ann, TableSettings("templari", 3)).game_id, ann)
        costs.append(len(cost_of(server.store, lambda: server.read(listing.open_tables)).statements))
    assert len(set(costs)) == 1
    assert costs[0] <= 12


def test_how_reliable_someone_is_does_not_tell_that_they_have_answered(server, table):
    game = table("sunset-poker", 3)
    person = game.person_at(1)
    before = counted(server, person)
    game.play(1, game.asked()[1].default)
    assert counted(server, person) == before
    for other in (0, 2):
        game.play(other, game.asked()[other].default)
    assert counted(server, person).turns == before.turns + 1
