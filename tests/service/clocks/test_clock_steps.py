"""Jumps of the server's clock: nothing waits for a step back, and nobody is timed out by a step forward."""

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from structlog.testing import capture_logs

from pbem.clock import ClockSetError, StepWatch
from pbem.config import read
from pbem.domain.errors import Gone
from pbem.domain.interval import Interval
from pbem.domain.states import EmailKind, EmailStatus
from pbem.ops.monitoring import readiness
from pbem.service.absence import offers, timeouts
from pbem.service.archive.reviews import LEASE, make_next
from pbem.service.clocks import clock_doubt, outages as clocks_outages, reachability
from pbem.service.clocks.clock_steps import STILL_BEATS, StepFinder
from pbem.service.clocks.outages import Worker
from pbem.service.desk import overview
from pbem.service.desk.acts.seats import Substitute
from pbem.service.desk.overview import TableFilter
from pbem.service.people import sessions, sign_in
from pbem.service.tables import demo, joining, talk
from pbem.service.tables.new import TableSettings
from pbem.store import (
    deadlines,
    due_turns,
    games,
    heartbeats,
    leases,
    links,
    outages,
    outbox,
    pauses,
    rate_limits,
    seats,
    tables,
    talk as talk_rows,
)
from pbem.store.links import LinkKey
from pbem.store.outbox import NewEmail
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from pbem.worker import ticks
from pbem.worker.ticks import WorkerContext
from tests.service.actors import add_organiser, moderate
from tests.service.archive.sample_review import sample
from tests.service.archive.test_reviews import over
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import all_rows, facts_of, queued_emails
from tests.service.desk.test_statistics import counted, note_email_lines
from tests.service.outgoing.test_deliver import post_to, work
from tests.web.browser import Links

TELL_ORGANISERS = next(tick for tick in ticks.TICKS if tick.name == "organisers")


class Steady:
    """The clock that nobody sets."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


class Awake:
    """A worker that beats, with both of its clocks."""

    def __init__(self, server, clock, name="first", started_at=None):
        self.server, self.clock, self.steady = server, clock, Steady()
        steps = StepFinder(StepWatch(clock, self.steady))
        self.worker = Worker(name, started_at or clock.now() - HOUR, steps=steps)
        self.context = WorkerContext(server, self.worker, lambda _: 0)

    def passes(self, by, *, beats=True):
        self.steady.seconds += by.total_seconds()
        self.clock.set(self.clock.now() + by)
        if beats:
            ticks.beat(self.context)

    def steps(self, by, *, beats=True):
        self.clock.set(self.clock.now() + by)
        if beats:
            ticks.beat(self.context)

    def held_back(self):
        return self.server.read(clocks_outages.reason_not_to_fire, self.worker, self.clock.now())

    def runs_out(self):
        return timeouts.TimeoutRun() if self.held_back() else timeouts.time_out(self.server, self.worker)

    def works(self):
        """Everything that a worker does, once."""
        for tick in ticks.TICKS:
            tick.run(self.context)


@pytest.fixture
def awake(server, clock):
    found = Awake(server, clock)
    ticks.beat(found.context)
    return found


@pytest.fixture
def asked(time, awake, table):
    game = table("sun-bid", 2, pace="1h")
    (seat,) = game.asked()
    time.sends()
    return game, seat


def notes(server):
    with server.store.read() as tx:
        return [found.says for found in readiness.clock_steps(tx, server.now())]


def test_after_a_step_back_deadlines_pass_as_ever_and_not_before(time, awake, asked):
    game, seat = asked
    due = time.due(game, seat)
    awake.passes(MINUTE)
    awake.steps(-2 * HOUR)
    # It started later than now, so it waits once for answers that waited.
    for _ in range(3):
        awake.passes(4 * MINUTE)
    assert awake.held_back() is None
    assert time.due(game, seat) == due
    while awake.clock.now() < due:
        assert awake.runs_out().decided == 0
        awake.passes(4 * MINUTE)
    assert awake.runs_out().decided == 1


def test_a_worker_that_started_in_the_false_future_settles_once_and_then_works(server, clock, asked):
    clock.advance(5 * HOUR)
    late = Awake(server, clock, "late", clock.now())
    ticks.beat(late.context)
    late.steps(-5 * HOUR)
    assert "woke up" in late.held_back()
    for _ in range(3):
        late.passes(4 * MINUTE)
    assert late.held_back() is None


def test_emails_bots_leases_and_limits_from_before_a_step_back_wait_for_nothing(server, awake, table, person):
    ann = person("Ann")
    awake.steps(6 * HOUR)
    game = table("sunset-poker", 3, bots=("random",) * 2)
    now = server.now()

    def write(tx):
        outbox.queue(tx, [NewEmail(ann, EmailKind.LINKS)], now, now)
        marked = outbox.of_person(tx, ann, 1)[0].id
        outbox.change(tx, marked, status=EmailStatus.SENT, remote_id="1")
        outbox.queue(tx, [NewEmail(ann, EmailKind.LINKS)], now, now)
        rate_limits.write(tx, {"example.org": now + MINUTE})
        due_turns.claim_of_bots(tx, now, now + timeouts.LEASE, 10)
        leases.claim(tx, now, 1, 10)
        leases.begin(tx, 1, now + 5 * MINUTE)
        heartbeats.take_task(tx, "daily", (now + 2 * DAY).date().isoformat())

    server.store.write(write)
    awake.steps(-6 * HOUR)
    now = server.now()

    def look(tx):
        assert all(email.queued_at <= now and email.due_at <= now + MINUTE for email in queued_emails(server))
        (until,) = rate_limits.read(tx, ["example.org"]).values()
        assert until == now + MINUTE
        later = now + 6 * MINUTE
        leases.end(tx, later)
        assert leases.claim_left(tx, later, 2), "no lease lasts longer than it may"
        bots = [row for row in deadlines.of_game(tx, game.id) if row.due_at is not None]
        assert bots == due_turns.claim_of_bots(tx, later, later, 10)[0] or all(row.due_at <= later for row in bots)
        assert heartbeats.take_task(tx, "daily", (now + 2 * DAY).date().isoformat())

    server.store.write(look)


def test_limits_count_emails_from_before_a_step_back_by_their_age(server, awake, person):
    ann = person("Ann")
    for _ in range(sign_in.EMAILS_A_DAY):
        server.run(sign_in.send_link_to, ann)
        (email,) = [each for each in queued_emails(server, ann, "links") if each.status == "queued"]
        server.store.write(partial(outbox.change, outbox_id=email.id, status="sent", accepted_at=server.now()))
        awake.passes(DAY)
    awake.steps(-5 * DAY)
    server.run(sign_in.send_link_to, ann)
    assert len(queued_emails(server, ann, "links")) == sign_in.EMAILS_A_DAY + 1
    assert all(email.queued_at <= server.now() for email in queued_emails(server, ann))


def test_a_table_paused_in_the_false_future_can_be_resumed(server, awake, asked):
    game, _ = asked
    awake.steps(6 * HOUR)
    server.store.write(lambda tx: pauses.begin(tx, game.id, server.now()))
    awake.steps(-6 * HOUR)
    awake.passes(MINUTE)
    server.store.write(lambda tx: pauses.end(tx, game.id, server.now()))
    with server.store.read() as tx:
        (pause,) = pauses.since(tx, {game.id}, server.now() - DAY)[game.id]
    assert pause.end - pause.start == MINUTE


def test_a_worker_started_after_the_step_finds_it_by_a_heartbeat_that_nobody_moves(server, clock, awake):
    clock.set(clock.now() - DAY)
    new = Awake(server, clock, "new")
    for _ in range(STILL_BEATS - 1):
        ticks.beat(new.context)
        new.passes(timedelta(seconds=15), beats=False)
        assert notes(server) == []
    ticks.beat(new.context)
    assert "set back by" in notes(server)[0]
    with server.store.read() as tx:
        assert heartbeats.newest(tx) == clock.now()


def test_machines_that_disagree_bring_nothing_back(server, clock, awake):
    right = clock.now()
    for _ in range(2 * STILL_BEATS):
        server.store.write(lambda tx: heartbeats.record(tx, "elsewhere", right, clock.now() + HOUR))
        awake.passes(timedelta(seconds=15))
    assert notes(server) == []
    assert "the clock went back" in awake.held_back()


@pytest.mark.parametrize("step", [timedelta(seconds=40), 4 * MINUTE, 3 * HOUR, 3 * DAY])
@pytest.mark.parametrize("beats", [True, False], ids=["after the beat", "before the beat"])
def test_a_step_forward_times_nobody_out(server, time, awake, asked, step, beats):
    game, seat = asked
    due = time.due(game, seat)
    while due - server.now() > timedelta(seconds=30):
        awake.passes(min(4 * MINUTE, due - server.now() - timedelta(seconds=20)))
    assert awake.held_back() is None
    awake.steps(step, beats=beats)
    assert awake.held_back() is not None
    ticks.beat(awake.context)
    for _ in range(3):
        awake.passes(4 * MINUTE, beats=True)
    with server.store.read() as tx:
        (outage,) = outages.newest(tx)
    assert outage.end_at - outage.start_at >= step
    assert time.due(game, seat) >= due + step
    assert "set forward by" in notes(server)[0]


def test_a_step_forward_and_right_again_leaves_nothing_behind(server, time, awake, asked):
    game, seat = asked
    due = time.due(game, seat)
    awake.steps(3 * HOUR)
    awake.passes(MINUTE)
    awake.steps(-3 * HOUR)
    assert awake.held_back() is None or "woke up" in awake.held_back()
    with server.store.read() as tx:
        assert all(found.end_at <= server.now() for found in outages.newest(tx))
    assert time.due(game, seat) >= due


def test_a_clock_that_was_far_behind_for_a_while_is_believed_when_it_is_right_again(server, awake, asked):
    awake.steps(-80 * DAY)
    awake.passes(MINUTE)
    awake.steps(80 * DAY)
    with server.store.read() as tx:
        assert heartbeats.newest(tx) == server.now()


def test_a_clock_that_was_set_right_while_no_worker_ran_is_believed(server, clock, awake):
    awake.steps(-80 * DAY)
    awake.passes(HOUR)
    clock.set(clock.now() + 80 * DAY)
    new = Awake(server, clock, "new")
    ticks.beat(new.context)
    assert doubt(server) is None
    with server.store.read() as tx:
        assert heartbeats.newest(tx) == server.now()
    assert "forward by 80 days" in notes(server)[0]
    # That step explains one jump, and not the next.
    clock.set(clock.now() + 80 * DAY)
    ticks.beat(Awake(server, clock, "newest").context)
    assert doubt(server) is not None


@pytest.mark.parametrize("jump", [40 * DAY, 200 * DAY])
def test_a_step_back_explains_no_other_jump(server, clock, awake, jump):
    awake.steps(-80 * DAY)
    clock.set(clock.now() + jump)
    ticks.beat(Awake(server, clock, "new").context)
    assert doubt(server) is not None


def test_a_doubt_is_told_to_organisers_once_with_what_is_held_and_what_to_do(server, clock, awake, tmp_path):
    add_organiser(server, "Olga")
    awake.passes(40 * DAY)
    for _ in range(20):
        awake.passes(MINUTE)
        TELL_ORGANISERS.run(awake.context)
    (email,) = [each for each in queued_emails(server, kind="alert") if "wrong" in f"{facts_of(server, each)}"]
    remedy = f"pbem outage declare '2026-11-21 12:00' '{clock.now() - 20 * MINUTE:%Y-%m-%d %H:%M}'"
    ((alarm,),) = [group["told"] for group in facts_of(server, email)["alarms"]]
    assert "no table expires" in alarm["says"]
    assert remedy in alarm["says"]
    found = server.read(overview.summary, TableFilter())
    sentences = [
        found.doubt.says,
        *(each.says for each in readiness.readiness(server, read({"PBEM_DATA_DIR": str(tmp_path)}), awake.worker.name)),
    ]
    assert all("no deadline passes" in each for each in sentences if "last sign" in each)
    assert sum("last sign" in each for each in sentences) == 2


@pytest.mark.parametrize("how", ["set right", "declared"])
def test_a_doubt_ends_when_the_clock_is_set_right_or_the_outage_declared(server, clock, awake, how):
    awake.passes(MINUTE)
    before = clock.now()
    clock.set(before + 40 * DAY)
    new = Awake(server, clock, "new")
    ticks.beat(new.context)
    assert doubt(server) is not None
    if how == "declared":
        server.run(clocks_outages.declare_outage, Interval(before, clock.now()), "The server was away.")
        new.passes(timedelta(seconds=5))
    else:
        new.steps(-40 * DAY)
    assert doubt(server) is None
    for _ in range(3):
        new.passes(4 * MINUTE)
    assert new.held_back() is None


def doubt(server):
    with server.store.read() as tx:
        return clock_doubt.doubt(tx, server.now())


def test_a_used_sign_in_link_stays_used_when_the_clock_steps_back(server, awake, person):
    token = Links(server).made(Purpose.SIGN_IN, person("Ann"))
    server.run(sign_in.sign_in, token, "phone")
    for _ in range(3):
        awake.steps(-HOUR)
        with pytest.raises(Gone):
            server.run(sign_in.sign_in, token, "phone")


@pytest.fixture
def fleeting(server, awake, person, asked):
    """What expires within two weeks: a table, a demo, a typed address, a request, a sign-in, a failure; and all rows."""
    waiting = server.run(joining.create_table, person("Zoe"), TableSettings("sun-bid", 2)).game_id
    server.run(joining.ask_to_join, waiting, "typed@example.net", "Typed")
    demo.begin(server, "sunset-poker")
    server.run(sessions.start, Holder(person("Ann")), "phone")
    game, seat = asked
    server.run(reachability.note_refusal, game.person_at(seat), "550 no such user")
    for email in queued_emails(server):
        server.store.write(partial(outbox.change, outbox_id=email.id, status="sent", accepted_at=server.now()))

    def left():
        """How much there still is, and the state of the tables."""
        rows = all_rows(server.store)
        with server.store.read() as tx:
            tables = {each: games.read(tx, each).status for each in games.ids(tx)}
            link = links.find(tx, key)
            assert link.expires_at == games.read(tx, waiting).expires_at
        return {name: len(rows[name]) for name in ("person", "join_request", "session", "offer")} | tables

    key = LinkKey(Purpose.CONFIRM, person("Zoe"), waiting)
    server.store.write(
        lambda tx: links.make_all(tx, server.randomness, {key: games.read(tx, waiting).expires_at}, server.now())
    )
    return left


@pytest.mark.slow
def test_nothing_ends_while_the_clock_is_in_doubt(awake, fleeting):
    before = fleeting()
    awake.passes(80 * DAY)
    awake.passes(15 * MINUTE)
    awake.works()
    assert fleeting() == before


def test_nothing_ends_in_the_moments_between_a_step_and_the_beat_that_finds_it(server, awake, fleeting):
    before = fleeting()
    for _ in range(3):
        awake.passes(4 * MINUTE)
    awake.steps(20 * DAY, beats=False)
    watched = awake.context.watched()
    for tick in (tick for tick in ticks.TICKS if tick.waits_for_clock):
        tick.run(awake.context)
        # The clock was set just after the worker had asked.
        with suppress(ClockSetError):
            tick.do(watched)
    assert fleeting() == before


@pytest.mark.slow
@pytest.mark.parametrize("how", ["step", "sleep"])
def test_a_wrong_clock_that_is_believed_makes_nothing_older(awake, fleeting, how):
    before = fleeting()
    if how == "step":
        awake.steps(20 * DAY)
    else:
        awake.passes(20 * DAY)
    for _ in range(3):
        awake.passes(4 * MINUTE)
    awake.works()
    assert fleeting() == before
    for _ in range(15):
        awake.passes(DAY, beats=False)
        heartbeat(awake)
    awake.works()
    after = fleeting()
    assert "expired" in after.values()
    assert after["person"] < before["person"]


def test_every_tick_that_cannot_be_undone_waits_for_the_clock():
    assert {tick.name for tick in ticks.TICKS if not tick.waits_for_clock} == {
        "beat",
        "links",
        "deliver",
        "channels",
        "receive",
        "bots",
        "finished",
        "ratings",
        "reviews",
        "dump",
        "organisers",
        "views",
        "faults",
        "games",
        "jobs",
        "count",
        "check",
    }


def heartbeat(awake):
    """A beat as if written all the time."""
    now = awake.server.now()
    awake.server.store.write(lambda tx: heartbeats.record(tx, awake.worker.name, awake.worker.started_at, now))


def test_a_step_is_logged_and_told_for_a_day(server, awake):
    with capture_logs() as logged:
        awake.steps(-HOUR)
    assert [(each["where"], each["seconds"]) for each in logged if each["event"] == "clock_stepped"] == [("back", 3600)]
    assert notes(server) == ["The server's clock was set back by 1 hour. That was now, by its time now."]
    awake.passes(DAY + MINUTE)
    assert not [note for note in notes(server) if "back" in note]


def test_talk_said_in_the_false_future_is_followed_by_more(server, awake, asked):
    game, seat = asked
    awake.steps(HOUR)
    server.run(talk.say, game.id, seat, game.person_at(seat), "hello")
    awake.steps(-HOUR)
    server.run(talk.say, game.id, seat, game.person_at(seat), "hello again")


def test_talk_is_that_of_the_player_who_said_it_whichever_way_the_clock_steps(server, awake, asked, person):
    game, seat = asked
    gone, zoe = game.person_at(seat), person("Zoe")
    awake.steps(HOUR)
    server.run(talk.say, game.id, seat, gone, "hello")
    awake.steps(-HOUR)
    server.run(talk.say, game.id, seat, gone, "hello again")
    awake.steps(HOUR)
    moderate(server, Substitute(game.id, seat, "zoe@example.org"), "They asked for it.")
    awake.steps(-HOUR)
    server.run(talk.say, game.id, seat, zoe, "I'm new here")
    with server.store.read() as tx:
        lines = talk_rows.lines(tx, game.id, game.row().key)
    assert [line.person_id for line in lines] == [gone, gone, None]
    # What the former player said is new to the one who has not spoken since, and their own words are not.
    assert server.query(seats.taken_with_clock, game.id, game.row().turn, seat, zoe, 0)[1].new_lines == 0


def test_a_move_after_a_step_back_keeps_a_seat_that_was_offered_in_the_false_future(server, awake, asked):
    game, seat = asked
    awake.passes(MINUTE)
    awake.steps(6 * HOUR)
    server.run(offers.offer_seat, game.id, seat, "They said they'd be away.", "organiser")
    awake.steps(-6 * HOUR)
    (offer,) = server.query(tables.open_ids)
    offer = server.query(tables.offer, offer)
    assert server.read(lambda tx, _server: offers.is_openly_gone(tx, offer))
    awake.passes(MINUTE)
    game.play(seat, game.asked()[seat].default)
    assert not server.read(lambda tx, _server: offers.is_openly_gone(tx, offer))


def test_reviews_asked_for_in_the_false_future_are_made_now(server, clock, awake, table):
    awake.steps(80 * DAY)
    over(table)
    assert make_next(server, sample)
    awake.steps(-80 * DAY)
    assert make_next(server, sample)
    # The third had a worker, which may still be at it.
    with pytest.raises(KeyboardInterrupt):
        make_next(server, interrupted)
    awake.steps(-DAY)
    assert not make_next(server, sample)
    clock.advance(LEASE)
    assert make_next(server, sample)


def interrupted(_task):
    raise KeyboardInterrupt


def test_talk_after_a_step_back_is_in_the_next_email(server, awake, asked, sink):
    (game, hearer), post = asked, post_to(sink)
    speaker, reader = 1 - hearer, f"{game.players()[hearer].name.lower()}@example.org"

    def next_email():
        before = len(sink.to(reader))
        while len(sink.to(reader)) == before:
            next(game.play_defaults())
            awake.passes(10 * MINUTE)
            work(server, post)
        return sink.to(reader)[before].text

    awake.steps(DAY)
    assert "has started" in next_email()
    next_email()
    awake.steps(-DAY)
    awake.passes(MINUTE)
    server.run(talk.say, game.id, speaker, game.person_at(speaker), "Can you hear me?")
    assert "Can you hear me?" in next_email()


@pytest.mark.slow
def test_emails_are_counted_on_after_a_step_back(server, clock, awake, table):
    table("sun-bid", 2)
    note_email_lines(server, "accepted", 1)
    awake.steps(80 * DAY)
    note_email_lines(server, "accepted", 1)
    awake.steps(-80 * DAY)
    note_email_lines(server, "accepted", 1)
    clock.advance(10 * MINUTE)
    assert sum(counted(server).of("mail_sent")) == 2
