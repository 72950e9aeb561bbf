"""Timeouts and reminders: missed turns are decided, players are reminded, and nothing fires by mistake."""

import json
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy import event, insert, select, text
from structlog.testing import capture_logs

from engine import grammar
from pbem.domain.states import ReceivedStatus
from pbem.service.absence import timeouts
from pbem.service.clocks import outages, vacations
from pbem.service.desk.acts.clocks import Extend, Pause, Resume
from pbem.service.people import addresses
from pbem.service.play import move as play_move
from pbem.service.play.move import Actor
from pbem.service.server import Server
from pbem.store import deadlines, due_turns, people, received
from pbem.store.database import Store
from pbem.store.schema import DEADLINE, GAME, PLAYER
from tests.fakes import SeededRandomness
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import BrokenError, all_rows, count_calls, queued_emails
from tests.service.inbox import Inbox


@pytest.fixture(autouse=True)
def events():
    """The log for the operator, instead of long traces on the terminal."""
    with capture_logs() as lines:
        yield lines


@pytest.fixture
def asked(table):
    """A game of two at a day a turn, and the seat whose turn it is."""
    game = table("sun-bid", 2, pace="1d")
    (seat,) = game.asked()
    return game, seat


def by_clock(game):
    return [row for row in game.log() if row.by == "clock"]


# A clock runs out


def test_a_passed_deadline_plays_the_default_choice(time, asked):
    game, seat = asked
    time.sends()
    default = game.asked()[seat].default
    before = game.row().turn
    time.passes_until(time.due(game, seat))
    assert time.runs_out().decided == 1
    (entry,) = by_clock(game)
    assert (entry.seat, entry.kind) == (seat, "Entry")
    assert game.row().turn > before
    assert game.verifies()
    (email,) = queued_emails(time.server, kind="auto_passed")
    assert (email.person_id, email.seat, email.turn) == (game.person_at(seat), seat, before)
    facts = json.loads(email.facts)
    assert facts["choice"].split()[0] == default.verb
    assert facts["missed"] == 1
    assert "If you miss 2 more turns in a row" in facts["warning"]


def test_a_turn_is_not_decided_a_moment_too_early(time, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat) - MINUTE)
    assert time.runs_out().decided == 0
    assert by_clock(game) == []


def test_a_sealed_choice_that_is_missing_is_made_and_the_turn_closes(time, table):
    game = table("bid", 3, pace="1d")
    time.sends()
    first, *others = sorted(game.asked())
    game.play(first, game.asked()[first].default)
    turn = game.row().turn
    time.passes_until(time.due(game, others[0]))
    assert time.runs_out().decided == 2
    assert game.row().turn > turn
    assert {row.seat for row in by_clock(game)} == set(others)


def test_missed_turns_are_counted_until_a_move(time, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat))
    time.runs_out()
    assert game.players()[seat].missed == 1
    while seat not in game.asked():
        other = next(iter(game.asked()))
        game.play(other, game.asked()[other].default)
    game.play(seat, game.asked()[seat].default)
    assert game.players()[seat].missed == 0


def test_the_first_missed_turns_of_a_game_only_warn_if_the_table_agreed_on_that(time, table):
    game = table("sun-bid", 2, pace="1d", grace=1, missed_limit=2)
    (seat,) = game.asked()
    counted, warned = [], []
    for _ in range(2):
        while seat not in game.asked():
            other = next(iter(game.asked()))
            game.play(other, game.asked()[other].default)
        time.sends()
        time.passes_until(time.due(game, seat))
        assert time.runs_out().decided == 1
        counted.append(game.players()[seat].missed)
        warned.append(json.loads(queued_emails(time.server, game.person_at(seat), "auto_passed")[-1].facts)["warning"])
    assert counted == [0, 1]
    assert ["doesn't count" in warning for warning in warned] == [True, False]
    assert json.loads(game.log()[0].body)["grace"] == 1


def test_a_turn_that_was_answered_is_not_timed_out(time, asked):
    game, seat = asked
    time.sends()
    due = time.due(game, seat)
    game.play(seat, game.asked()[seat].default)
    time.passes_until(due + DAY)
    assert time.runs_out() == timeouts.TimeoutRun()
    assert by_clock(game) == []


def test_a_deadline_that_has_moved_since_it_was_stored_does_not_fire(time, server, asked):
    game, seat = asked
    time.sends()
    # Settled at once where they are changed, and looked at again when the clock seems to have run out.
    server.store.write(lambda tx: people.change(tx, game.person_at(seat), quiet="11:00-14:00"))
    time.passes_until(time.due(game, seat))
    passed = time.runs_out()
    assert (passed.decided, passed.moved) == (0, 1)
    assert time.due(game, seat).hour == 14
    assert len(queued_emails(server, kind="notice")) == 1
    time.passes_until(time.due(game, seat))
    assert time.runs_out().decided == 1


def test_a_game_ends_even_if_all_players_miss_every_turn(time, table):
    game = table("sunset-poker", 3, pace="1d", missed_limit=10, options={"max_rounds": 1})
    # With two turns each played, the game is over before anyone has missed too many.
    for seat in (0, 1, 2) * 2:
        game.play(seat, game.asked()[seat].default)
    for _ in range(20):
        if game.row().status == "over":
            break
        time.sends()
        time.passes_until(min(time.due(game, seat) for seat in game.asked() if time.due(game, seat)))
        assert time.runs_out().decided > 0
    assert game.row().status == "over"
    assert game.verifies()
    warnings = [email.facts for email in queued_emails(time.server, kind="auto_passed")]
    assert ["warning" in facts for facts in warnings] == [True] * (len(warnings) - 1) + [False]


# Not while our own time cannot be trusted


def test_nobody_is_timed_out_by_our_own_downtime(time, asked):
    game, seat = asked
    time.sends()
    time.passes(23 * HOUR)
    time.sleeps(5 * HOUR)
    assert time.held_back()
    time.passes(HOUR)
    assert time.runs_out().decided == 0
    time.passes_until(time.due(game, seat) - MINUTE)
    assert time.runs_out().decided == 0
    time.passes(MINUTE)
    assert time.runs_out().decided == 1


def test_nothing_fires_in_the_first_minutes_after_a_start(time, server, clock, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat) - MINUTE)
    time.worker = outages.Worker("restarted", clock.now())
    time.passes(9 * MINUTE)
    assert "woke up" in time.held_back()
    time.passes(MINUTE)
    assert time.runs_out().decided == 1


def test_nothing_fires_after_a_long_time_without_a_heartbeat(time, clock, asked):
    game, seat = asked
    time.sends()
    clock.set(time.due(game, seat) + HOUR)
    assert "no heartbeat" in time.held_back()
    assert by_clock(game) == []


def test_nothing_fires_while_the_clock_is_set_back(time, server, clock, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat) - HOUR)
    right = clock.now()
    clock.set(right - 2 * HOUR)
    server.run(outages.beat, time.worker)
    assert "the clock went back" in time.held_back()
    assert "the clock went back" in time.held_back()
    assert outages.apply_outages(server) == 0
    clock.set(right + HOUR)
    time.passes(MINUTE)
    assert time.runs_out().decided == 1


def test_a_paused_game_waits_without_holding_up_others(time, server, table):
    first, second = table("sun-bid", 2, pace="1d"), table("sun-bid", 2, pace="2d", bots=("random",))
    time.sends()
    moderate(server, Pause(first.id), "a pause")
    moderate(server, Pause(second.id), "a pause")
    third = table("sun-bid", 2, pace="1d", bots=("random",))
    time.bots_play()
    time.sends()
    (seat,) = third.asked()
    time.passes_until(time.due(third, seat))
    assert timeouts.time_out(server, time.worker, limit=1).decided == 1
    assert by_clock(first) == by_clock(second) == []


# Replies that wait to be read


def test_a_reply_that_came_in_time_counts_although_it_is_read_after_the_deadline(time, server, clock, asked):
    game, seat = asked
    inbox = Inbox(server, clock)
    time.sends()
    time.passes_until(time.due(game, seat) - MINUTE)
    other = next(each for each in game.asked()[seat].choices() if each != game.asked()[seat].default)
    raw = inbox.written(game, seat, grammar.write(game.asked()[seat], other))
    assert inbox.takes(raw, inbox.reply_address(game, seat)) == "kept"
    time.passes(2 * MINUTE)
    assert time.runs_out().decided == 0
    inbox.attends()
    assert by_clock(game) == []
    assert [row.outcome for row in inbox.rows()] == ["reply: carried out"]


def test_a_reply_that_came_too_late_or_cannot_be_read_holds_no_clock(time, server, clock, asked):
    game, seat = asked
    inbox = Inbox(server, clock)
    time.sends()
    time.passes_until(time.due(game, seat) - MINUTE)
    inbox.takes(inbox.written(game, seat, "first"), inbox.reply_address(game, seat))
    (first,) = inbox.rows()
    server.store.write(lambda tx: received.change(tx, first.id, status=ReceivedStatus.PARKED))
    time.passes(2 * MINUTE)
    inbox.takes(inbox.written(game, seat, "second"), inbox.reply_address(game, seat))
    assert time.runs_out().decided == 1


# Many workers, and one that fails


def test_three_workers_decide_each_due_turn_exactly_once(time, server, clock, database_url, table):
    tables = [table("bid", 3, pace="1d") for _ in range(6)]
    turns = [game.row().turn for game in tables]
    time.sends()
    time.passes(DAY)
    stores = [Store(database_url) for _ in range(2)] if not server.store.on_sqlite else []
    servers = [server, *(Server(store, clock, SeededRandomness(3), server.keys) for store in stores)]
    together = threading.Barrier(3)
    done = []

    def work(mine):
        together.wait()
        for _ in range(20):
            done.append(timeouts.time_out(mine, time.worker, limit=4))

    threads = [threading.Thread(target=work, args=(servers[n % len(servers)],)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # When two workers met at one game, one of them left it for later.
    time.passes(timeouts.LEASE)
    done.append(time.runs_out())
    for store in stores:
        store.close()
    assert sum(passed.decided for passed in done) == 18
    assert sum(passed.failed for passed in done) == 0
    for game, turn in zip(tables, turns, strict=True):
        decided = Counter(row.seat for row in game.log() if row.by == "clock")
        assert decided == {0: 1, 1: 1, 2: 1}
        assert game.row().turn > turn
        assert game.verifies()
    assert len(queued_emails(server, kind="auto_passed")) == 18


def test_a_time_out_and_a_move_that_race_are_one_decision(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat))
    turn, choice = game.row().turn, game.asked()[seat].default
    together = threading.Barrier(2)
    passed = []

    def tick():
        together.wait()
        passed.append(time.runs_out())

    def move():
        together.wait()
        # One of the two comes too late.
        with suppress(play_move.Stale):
            server.run(play_move.play, game.id, turn, seat, choice, Actor.PERSON)

    threads = [threading.Thread(target=each) for each in (tick, move)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    decided = [row for row in game.log() if row.kind == "Entry" and row.seat == seat]
    assert len(decided) == 1
    assert passed[0].failed == 0
    assert game.verifies()


class Interrupted:
    """A store in which something happens just before one of the transactions of a use case."""

    def __init__(self, store, happenings):
        self.store, self.happenings = store, list(happenings)

    def __getattr__(self, name):
        return getattr(self.store, name)

    def write(self, work):
        happening = self.happenings.pop(0) if self.happenings else None
        if happening is not None:
            happening()
        return self.store.write(work)


def interrupted(server, *happenings):
    return replace(server, store=Interrupted(server.store, happenings))


def test_a_choice_that_is_sealed_in_the_last_moment_is_not_overruled(time, server, table):
    game = table("bid", 3, pace="1d")
    time.sends()
    seat, *_ = sorted(game.asked())
    time.passes_until(time.due(game, seat))
    decision = game.asked()[seat]
    mine = next(choice for choice in decision.choices() if choice != decision.default and choice.verb != "pawn")
    turn = game.row().turn
    # The turn has been claimed already, and is looked at again.
    late = interrupted(server, None, lambda: game.play(seat, mine, turn=turn))
    timeouts.time_out(late, time.worker)
    assert [row.by for row in game.log() if row.seat == seat and row.kind in ("Sealed", "Entry")] == ["person"]
    assert game.players()[seat].missed == 0


def test_a_turn_that_was_answered_in_the_last_moment_is_not_decided_again(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes_until(time.due(game, seat))
    default = game.asked()[seat].default
    assert timeouts.time_out(interrupted(server, None, lambda: game.play(seat, default)), time.worker).decided == 0
    assert by_clock(game) == []


def spoil(server, game):
    """Make the state of a game unreadable, as a bug of the server would."""
    with server.store.engine.begin() as connection:
        connection.execute(text("UPDATE game SET state = '!' WHERE id = :id"), {"id": game.id})


def test_a_failing_deadline_is_parked_and_visible(time, server, table, events):
    poison, healthy = table("sun-bid", 2, pace="1d"), table("sun-bid", 2, pace="1d", missed_limit=10)
    time.sends()
    (seat,) = poison.asked()
    spoil(server, poison)
    time.passes(DAY)
    passed = time.runs_out()
    assert (passed.decided, passed.failed) == (1, 1)
    assert time.runs_out() == timeouts.TimeoutRun()
    for attempts in range(2, due_turns.MOST_ATTEMPTS + 1):
        time.passes(timeouts.RETRY_AFTER)
        assert time.runs_out().failed == 1
        assert time.deadline(poison, seat).attempts == attempts
    time.passes(DAY)
    assert time.runs_out().failed == 0
    with server.store.read() as tx:
        (parked,) = due_turns.parked(tx)
    assert (parked.game_id, parked.seat) == (poison.id, seat)
    assert [line["parked"] for line in events if line["event"] == "deadline_failed"] == [False] * 9 + [True]
    assert len(by_clock(healthy)) == 1


def test_a_worker_that_dies_at_work_has_its_attempt_counted_and_another_goes_on(time, server, asked):
    game, seat = asked
    time.sends()
    now = time.passes_until(time.due(game, seat))
    server.store.write(lambda tx: due_turns.claim(tx, now, now + timeouts.LEASE, 10))
    assert time.runs_out() == timeouts.TimeoutRun()
    time.passes(timeouts.LEASE)
    assert time.runs_out().decided == 1
    assert len(by_clock(game)) == 1


@pytest.mark.parametrize("missed_before", [0, 1])
def test_a_time_out_that_breaks_at_any_call_leaves_nothing_half_done(time, server, table, missed_before):
    """On the second missed turn in a row, a bot takes over the seat, in the same transaction."""
    game = table("sun-bid", 2, pace="1d", missed_limit=2)
    (seat,) = game.asked()
    while game.players()[seat].missed < missed_before or seat not in game.asked():
        for other, decision in game.asked().items():
            game.play(other, decision.default, Actor.CLOCK if other == seat else Actor.PERSON)
    decided = len(by_clock(game))
    time.sends()
    time.passes_until(time.due(game, seat))
    before = lasting(server)
    n = 0
    while len(by_clock(game)) == decided:
        n += 1

        def strike(count, at=n):
            if count == at:
                raise BrokenError

        with count_calls(server.store, strike), suppress(BrokenError):
            time.runs_out()
        if len(by_clock(game)) == decided:
            assert lasting(server) == before, f"something is left of what broke at call {n}"
            row = time.deadline(game, seat)
            server.store.write(lambda tx, row=row: due_turns.release(tx, row))
    assert n > 15
    assert game.verifies()
    assert (game.players()[seat].bot is not None) == bool(missed_before)
    assert len(queued_emails(server, kind="notice")) == 2 * missed_before


def lasting(server):
    """All rows except the leases of deadlines."""
    rows = all_rows(server.store)
    lease = [list(DEADLINE.c.keys()).index(name) for name in ("claimed_until", "attempts")]
    rows["deadline"] = [tuple(each for at, each in enumerate(row) if at not in lease) for row in rows["deadline"]]
    return rows


# Reminders


def test_reminders_come_in_the_cadence_of_each_person(time, server, asked):
    game, seat = asked
    person = game.person_at(seat)
    server.run(addresses.change_settings, person, cadence="50%,2h")
    time.sends()
    due = time.due(game, seat)
    sent = []
    while time.clock.now() < due - MINUTE:
        time.passes(10 * MINUTE)
        if time.reminds().decided:
            sent.append(due - time.clock.now())
    assert sent == [12 * HOUR, 2 * HOUR]
    assert [json.loads(email.facts)["last"] for email in queued_emails(server, person, "reminder")] == [False, True]


def test_nobody_is_reminded_who_has_answered_or_who_wants_none(time, server, table):
    game = table("bid", 3, pace="1d")
    first, second, third = sorted(game.asked())
    server.run(addresses.change_settings, game.person_at(second), cadence="none")
    time.sends()
    game.play(first, game.asked()[first].default)
    time.passes(13 * HOUR)
    assert time.reminds().decided == 1
    (email,) = queued_emails(server, kind="reminder")
    assert email.person_id == game.person_at(third)


def test_several_overdue_reminders_are_one(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes(22 * HOUR + MINUTE)
    assert time.reminds().decided == 1
    assert time.reminds().decided == 0
    assert time.deadline(game, seat).remind_at is None


def test_an_extension_repeats_no_reminder(time, server, asked):
    game, _ = asked
    time.sends()
    time.passes(13 * HOUR)
    assert time.reminds().decided == 1
    moderate(server, Extend(game.id, "1d"), "a feast")
    time.passes(12 * HOUR)
    assert time.reminds().decided == 0
    time.passes(14 * HOUR)
    assert time.reminds().decided == 1


def test_a_changed_cadence_counts_in_the_middle_of_a_turn(time, server, asked):
    game, seat = asked
    time.sends()
    time.passes(13 * HOUR)
    assert time.reminds().decided == 1
    server.run(addresses.change_settings, game.person_at(seat), cadence="50%")
    time.passes(7 * HOUR)
    assert time.reminds().decided == 0
    assert time.deadline(game, seat).remind_at is None


def test_nobody_is_reminded_during_a_pause_or_a_vacation(time, server, asked):
    game, seat = asked
    time.sends()
    moderate(server, Pause(game.id), "a pause")
    time.passes(13 * HOUR)
    assert time.reminds().decided == 0
    moderate(server, Resume(game.id))
    server.run(vacations.book_text, game.person_at(seat), "2026-11-22 to 2026-11-23")
    time.passes(DAY)
    assert time.reminds().decided == 0
    time.passes(1.5 * DAY)
    assert time.reminds().decided == 1


def test_a_failing_reminder_holds_up_no_other(time, server, table):
    broken, _ = table("sun-bid", 2, pace="1d"), table("sun-bid", 2, pace="1d")
    time.sends()
    with server.store.engine.begin() as connection:
        connection.execute(text("UPDATE game SET pace = '?' WHERE id = :id"), {"id": broken.id})
    time.passes(13 * HOUR)
    passed = time.reminds()
    assert (passed.decided, passed.failed) == (1, 1)
    assert time.reminds() == timeouts.TimeoutRun()


# What a tick costs


class Template:
    """A game in which a clock has run out, to be copied by the hundred. It is not touched itself."""

    def __init__(self, time, game):
        self.time, self.server = time, time.server
        time.sends()
        time.passes(DAY)
        with self.server.store.read() as tx:
            self.rows = {
                table.name: [dict(row._mapping) for row in tx.execute(select(table).where(column == game.id))]
                for table, column in ((GAME, GAME.c.id), (PLAYER, PLAYER.c.game_id), (DEADLINE, DEADLINE.c.game_id))
            }
        self.next_id = 10**6
        self.server.store.write(lambda tx: deadlines.close_turn(tx, game.id, game.row().turn, self.server.now()))

    def copy(self, times, **deadline):
        """Make a number of copies whose deadlines differ in the given fields."""
        numbers = range(self.next_id, self.next_id + times)
        self.next_id += times

        def write(tx):
            (game,) = self.rows["game"]
            tx.execute(insert(GAME), [game | {"id": number, "key": str(number)} for number in numbers])
            for table, changes in ((PLAYER, {}), (DEADLINE, deadline)):
                rows = self.rows[table.name]
                tx.execute(insert(table), [row | {"game_id": number} | changes for number in numbers for row in rows])

        self.server.store.write(write)

    def tick(self, due):
        """The statements that a tick makes, each with the rows that it changed or found, and how many steps of
        SQLite's machine they took."""
        made, steps = Counter(), []

        def executed(_connection, cursor, statement, *_rest):
            made[statement, cursor.rowcount] += 1

        def watch(dbapi, *_rest):
            if self.server.store.on_sqlite:
                dbapi.set_progress_handler(lambda: steps.append(10), 10)

        event.listen(self.server.store.engine, "after_cursor_execute", executed)
        event.listen(self.server.store.engine, "checkout", watch)
        try:
            assert timeouts.time_out(self.server, self.time.worker, limit=due).decided == due
        finally:
            event.remove(self.server.store.engine, "after_cursor_execute", executed)
            event.remove(self.server.store.engine, "checkout", watch)
        return made, sum(steps)


@pytest.mark.slow
def test_a_tick_with_a_hundred_due_touches_the_same_rows_among_few_and_among_many_games(time, table):
    template = Template(time, table("sun-bid", 2, pace="1d"))
    later = time.clock.now() + DAY
    template.copy(100)
    few, steps_among_few = template.tick(100)
    template.copy(1000, due_at=later)
    template.copy(100)
    many, steps_among_many = template.tick(100)
    assert few == many
    assert sum(few.values()) > 1000
    # A place in an index is found in one step, however many there are; a scan would take thousands more.
    assert abs(steps_among_many - steps_among_few) <= steps_among_few / 50
