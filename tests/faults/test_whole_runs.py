"""A worker's tasks, each of several transactions, broken at every call to the database and run again: nothing is lost, doubled or
left half done.

The tasks are those of `pbem.worker.ticks`, on a server where each has something to do, and a turn from its last choice to the
next one's email.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from engine import registry
from engine.bots import BOTS
from engine.decisions import Choice
from pbem.mail.send.smtp import Outcome, OutgoingEmail, Result
from pbem.service.clocks import reachability
from pbem.service.clocks.outages import Worker
from pbem.service.outgoing import deliver
from pbem.service.people import sign_in
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.worker.ticks import TICKS, Tick, WorkerContext
from tests.conftest import EVERYTHING
from tests.faults.whole_runs import WholeRuns
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.archive.sample_review import sample
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.running_game import RunningGame
from tests.twins.address_world import AddressWorld

SHORT = dict(registry.load("bid").short)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * 3600), pytest.mark.xdist_group("faults")]


class _World(AddressWorld):
    """A server at which nobody but mailboxes looks."""

    def looks(self, *, press: bool = False) -> None:
        self.carry()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AddressWorld]:
    made = _World(tmp_path)
    # A bot draws as often as it is asked, and it is asked again after a failure.
    with patch.dict(BOTS, greedy=lambda _game, _view, decision, _draw: decision.default):
        yield made
    made.close()


@pytest.fixture
def runs(world: AddressWorld) -> WholeRuns:
    return WholeRuns(world, all_calls=EVERYTHING)


def worker_of(world: AddressWorld) -> WorkerContext:
    return WorkerContext(
        world.server,
        Worker("first", world.clock.now() - HOUR),
        lambda _: deliver.deliver(world.server, world.post).dealt_with,
        lambda _: deliver.keep_lease(world.server, world.post),
        lambda _: world.inbox.attends(),
        review=sample,
    )


def works(world: AddressWorld, runs: WholeRuns, by: timedelta) -> None:
    """After some time a worker does all its tasks, each broken everywhere first."""
    world.clock.advance(by)
    for tick in TICKS:

        def task(tick: Tick = tick) -> None:
            # As after a failure: what a process remembers of it is in the worker.
            context = worker_of(world)
            while tick.do(context):
                pass

        runs.run(tick.name, task)


def send_all(world: AddressWorld) -> None:
    """A worker sends what is due."""
    while deliver.deliver(world.server, world.post).dealt_with:
        pass


def default_of(game: RunningGame, seat: int) -> Choice:
    return game.asked()[seat].default


def test_every_task_of_a_worker_ends_the_same_wherever_it_broke(world: AddressWorld, runs: WholeRuns) -> None:
    server = world.server
    ann, ben, carla = world.other("Ann"), world.other("Ben"), world.carla()
    world.table(ann, ben, carla)
    bots = server.run(
        joining.create_table, ann, TableSettings("bid", 3, SHORT, "1d", bots=("greedy", "greedy"))
    ).game_id
    server.run(joining.join, bots, ann)
    server.run(joining.create_table, ben, TableSettings("bid", 3))
    server.run(joining.ask_to_create, "zora@example.org", "Zora", TableSettings("bid", 3))
    server.run(sign_in.ask_for_link, "ann@example.org")
    works(world, runs, 2 * MINUTE)
    server.run(reachability.note_refusal, ben, "550 5.1.1 no such user")
    works(world, runs, DAY)
    works(world, runs, 8 * DAY)
    works(world, runs, 40 * DAY)
    assert runs.names >= {"beat", "links", "deliver", "bots", "time_outs", "reminders", "seats", "lobby", "daily"}


ANSWERS = (Result.LATER, Result.REFUSED_RECIPIENT)
MORE_ANSWERS = (Result.UNABLE, Result.REFUSED_MESSAGE, Result.DOWN) if EVERYTHING else ()


@pytest.mark.parametrize("result", ANSWERS + MORE_ANSWERS)
def test_a_batch_ends_the_same_wherever_it_broke_whatever_the_relay_answers_to_one(
    result: Result, world: AddressWorld, runs: WholeRuns
) -> None:
    ann, ben = world.other("Ann"), world.other("Ben")

    def answer(email: OutgoingEmail) -> Outcome:
        if email.recipient == "ben@example.org" and world.clock.now() < until:
            return Outcome(result, "no")
        world.sent.emails.append(email)
        return ACCEPTED

    game = world.table(ann, ben, world.carla())
    until = world.clock.now() + 11 * MINUTE
    world.post.transport = FunctionTransport(answer)
    for seat in range(3):
        game.play(seat, default_of(game, seat))
    world.clock.advance(2 * MINUTE)
    runs.run("deliver", lambda: send_all(world))
    assert runs.broken


def test_a_turn_is_sent_the_same_wherever_its_way_from_the_last_choice_to_the_email_broke(
    world: AddressWorld, runs: WholeRuns
) -> None:
    game = world.table(world.other("Ann"), world.other("Ben"), world.carla())
    for seat in (0, 1):
        game.play(seat, default_of(game, seat))
    turn, choice = game.row().turn, default_of(game, 2)

    def send() -> None:
        game.play(2, choice, turn=turn)
        world.clock.advance(2 * MINUTE)
        send_all(world)

    runs.run("a turn", send)
    assert runs.broken
    assert game.row().turn == turn + 1
