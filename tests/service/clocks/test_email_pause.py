"""The switch that stops all outgoing email: nothing leaves, nobody is timed out, and everyone gets the time back."""

from datetime import timedelta

import pytest

from pbem.domain.errors import Gone
from pbem.ops.monitoring import readiness
from pbem.service.clocks import outages, reachability
from pbem.service.desk import alarm_emails
from pbem.service.desk.acts.clocks import PauseMail, ResumeMail
from pbem.service.outgoing import deliver, digests
from pbem.service.outgoing.deliver import TOGETHER, Post
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, outages as outage_rows
from pbem.worker.ticks import TICKS, WorkerContext
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import HEAD, queue_links, rows


@pytest.fixture
def sent():
    """What the relay got."""
    return []


@pytest.fixture
def post(sent):
    return Post(HEAD, FunctionTransport(lambda email: sent.append(email) or ACCEPTED))


@pytest.fixture
def asked(table, time):
    """A game whose turn was emailed, and a seat that is asked."""
    game = table("sun-bid", 3)
    time.sends()
    return game, next(iter(game.asked()))


def test_nothing_leaves_while_email_is_paused_and_all_of_it_afterwards(server, post, sent, person):
    queue_links(server, person("Ann"))
    moderate(server, PauseMail())
    assert deliver.deliver(server, post).dealt_with == 0
    assert sent == []
    assert [(row.attempts, row.kind) for row in rows(server, "queued", kind="links")] == [(0, "links")]
    moderate(server, ResumeMail())
    assert deliver.deliver(server, post).accepted == 1


def test_a_batch_that_is_under_way_ends_when_email_is_paused(server, post, sent, person):
    for number in range(3 * TOGETHER):
        queue_links(server, person(f"Player {number}"))

    def pauses_first(email):
        if not sent:
            moderate(server, PauseMail())
        sent.append(email)
        return ACCEPTED

    post.transport = FunctionTransport(pauses_first)
    deliver.deliver(server, post)
    assert len(sent) <= TOGETHER
    waiting = rows(server, "queued", kind="links")
    assert len(waiting) == 3 * TOGETHER - len(sent)
    assert {row.attempts for row in waiting} == {0}


def test_nobody_is_timed_out_while_email_is_paused_and_the_time_comes_back(server, time, asked):
    game, seat = asked
    due = time.due(game, seat)
    moderate(server, PauseMail())
    time.passes(3 * DAY)
    assert "paused" in time.held_back()
    assert time.held_back() is not None
    moderate(server, ResumeMail())
    outages.apply_outages(server)
    assert time.due(game, seat) >= due + 3 * DAY
    assert time.held_back() is not None, "as after an outage, late replies may come in first"
    time.passes(11 * MINUTE)
    assert time.runs_out().decided == 0
    time.passes(time.due(game, seat) - server.now() + MINUTE)
    assert time.runs_out().decided > 0
    assert game.verifies()


def test_a_short_pause_emails_nobody_and_a_long_one_those_who_have_longer(server, time, asked):
    game, _ = asked
    before = {email.id for email in queued_emails(server)}
    moderate(server, PauseMail())
    time.passes(5 * MINUTE)
    moderate(server, ResumeMail())
    outages.apply_outages(server)
    assert {email.id for email in queued_emails(server)} == before
    moderate(server, PauseMail())
    time.passes(6 * HOUR)
    moderate(server, ResumeMail())
    outages.apply_outages(server)
    new = [email for email in queued_emails(server) if email.id not in before]
    assert {email.seat for email in new} == set(game.asked())


def test_a_pause_outlasts_an_outage_of_the_server(server, time, asked, post, sent):
    game, seat = asked
    due = time.due(game, seat)
    moderate(server, PauseMail())
    time.sleeps(2 * DAY)
    assert deliver.deliver(server, post).dealt_with == 0
    time.passes(20 * MINUTE)
    assert "paused" in time.held_back()
    moderate(server, ResumeMail())
    outages.apply_outages(server)
    assert time.due(game, seat) >= due + 2 * DAY
    assert sent == []


def test_a_clock_set_back_does_not_end_a_pause(server, time, clock):
    time.passes(HOUR)
    moderate(server, PauseMail())
    clock.set(clock.now() - timedelta(minutes=30))
    server.run(outages.beat, time.worker, timedelta(minutes=-30))
    pause = server.query(outage_rows.email_pause)
    assert pause is not None
    assert pause.start_at <= server.now()
    moderate(server, ResumeMail())
    assert server.query(outage_rows.email_pause) is None


def test_digests_and_alarms_wait_while_email_is_paused(server, time, person):
    moderate(server, PauseMail())
    time.passes(DAY)
    assert (digests.gather(server), alarm_emails.send(server)) == (0, 0)


def test_pausing_twice_and_resuming_twice_say_so(server):
    moderate(server, PauseMail())
    with pytest.raises(Gone, match="paused"):
        moderate(server, PauseMail())
    moderate(server, ResumeMail())
    with pytest.raises(Gone, match="is not paused"):
        moderate(server, ResumeMail())


@pytest.mark.parametrize("how", ["pause", "outage", "clock"])
def test_no_seat_is_given_up_and_no_table_expires_while_nothing_may_fire(server, time, clock, asked, person, how):
    game, seat = asked
    waiting = server.run(joining.create_table, person("Zoe"), TableSettings("sun-bid", 2)).game_id
    server.run(reachability.note_refusal, game.person_at(seat), "550 no such user")
    context = WorkerContext(server, time.worker, send=lambda _server: 0)

    def tick():
        for each in TICKS:
            if each.name in ("seats", "lobby"):
                each.run(context)
        return game.players()[seat].bot is None, server.query(games.read, waiting).status

    match how:
        case "pause":
            moderate(server, PauseMail())
            time.passes(15 * DAY)
            assert tick() == (True, "open")
            moderate(server, ResumeMail())
        case "outage":
            time.sleeps(15 * DAY)
            context.worker = time.worker
        case "clock":
            # No heartbeat has noted the step yet.
            clock.advance(15 * DAY)
    assert tick() == (True, "open"), "answers that waited may still come in"
    if how == "clock":
        server.run(outages.beat, time.worker)
    outages.apply_outages(server)
    for _ in range(2):
        time.passes(11 * MINUTE)
    assert tick() == (True, "open"), "that time used up nobody's patience"
    time.passes(8 * DAY)
    assert tick() == (False, "open")
    time.passes(6 * DAY)
    assert tick()[1] == "expired"


def test_an_email_queued_in_the_pause_that_is_outdated_at_its_end_is_superseded(server, time, asked, post, sent):
    game, _ = asked
    moderate(server, PauseMail())
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    turn = game.row().turn
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    assert game.row().turn > turn
    time.passes(HOUR)
    moderate(server, ResumeMail())
    while deliver.deliver(server, post).dealt_with:
        pass
    asking = [row for row in rows(server, game=game.id, kind="turn") if row.turn == turn]
    assert {row.status for row in asking} == {"superseded"}
    assert sent


def test_a_pause_is_shown_where_the_state_of_the_server_is(server):
    def shown():
        with server.store.read() as tx:
            return [found.says for found in readiness.email_pause(tx)]

    assert shown() == []
    moderate(server, PauseMail(), "The provider asks for silence.")
    (says,) = shown()
    assert "The provider asks for silence." in says
    moderate(server, ResumeMail())
    assert shown() == []
