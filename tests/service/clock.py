"""Time in a test: a server that stayed awake or slept, and emails that arrive or do not.

Nothing here waits: a test moves the clock and calls each step of a worker by name.
"""

from datetime import datetime, timedelta

from pbem.domain.deadline import Deadline
from pbem.service.absence import bots, offers, substitutes, timeouts
from pbem.service.clocks import deadlines as clocks_deadlines, outages as clocks_outages
from pbem.service.clocks.outages import Worker
from pbem.service.server import Server
from pbem.store import deadlines, games, heartbeats, outbox
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.outbox import EmailRow
from tests.fakes import FakeClock
from tests.service.database import queued_emails
from tests.service.running_game import RunningGame

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Time:
    """A worker that has been up for an hour, and its clock."""

    def __init__(self, server: Server, clock: FakeClock) -> None:
        self.server = server
        self.clock = clock
        self.worker = Worker("first", clock.now() - HOUR)
        self._beat()

    def passes(self, by: timedelta) -> datetime:
        """Let time pass while the server is awake: its heartbeats have no gap."""
        self.clock.advance(by)
        self._beat()
        return self.clock.now()

    def passes_until(self, moment: datetime | None) -> datetime:
        """Let time pass until a moment, which must not be None."""
        assert moment is not None
        return self.passes(moment - self.clock.now())

    def sleeps(self, by: timedelta) -> None:
        """The server is down for this long; then its worker starts and does its first tasks."""
        self.clock.advance(by)
        self.wakes()

    def wakes(self) -> None:
        """Start a worker, which finds out how long no worker ran and moves the running clocks."""
        self.worker = Worker(self.worker.name, self.clock.now())
        self.server.run(clocks_outages.beat, self.worker)
        clocks_outages.apply_outages(self.server)

    def sends(self, accepted_at: datetime | None = None, kind: str = "turn") -> dict[int, Deadline]:
        """Render and accept all queued turn emails; return the deadline each promised, by seat."""
        promised = {}
        for email in queued_emails(self.server, kind=kind):
            if email.status == "queued":
                promised[email.seat if email.seat is not None else -1] = self.renders(email)
                self.accepts(email, accepted_at)
        return promised

    def renders(self, email: EmailRow) -> Deadline:
        """Render a turn email now."""

        def render(tx: Tx) -> Deadline:
            assert email.game_id is not None
            assert email.turn is not None
            assert email.seat is not None
            game = games.lock(tx, email.game_id)
            key = email.game_id, email.turn, email.seat
            return clocks_deadlines.promise(tx, {game.id: game}, {key}, self.server.now())[key]

        return self.server.store.write(render)

    def accepts(self, email: EmailRow, at: datetime | None = None) -> None:
        """The next mail server accepts an email."""

        def accept(tx: Tx) -> None:
            outbox.change(tx, email.id, status="sent", accepted_at=at or self.server.now())
            tables = games.lock_all(tx, {email.game_id} if email.game_id is not None else set())
            clocks_deadlines.emails_accepted(tx, self.server, tables, [(email, at or self.server.now())])

        self.server.store.write(accept)

    def held_back(self) -> str | None:
        """Why nothing may happen because its time has come, which a worker asks before such a tick."""
        return self.server.read(clocks_outages.reason_not_to_fire, self.worker, self.clock.now())

    def runs_out(self) -> timeouts.TimeoutRun:
        """The tick of deadlines."""
        return timeouts.TimeoutRun() if self.held_back() else timeouts.time_out(self.server, self.worker)

    def reminds(self) -> timeouts.TimeoutRun:
        """The tick of reminders."""
        return timeouts.TimeoutRun() if self.held_back() else timeouts.remind(self.server)

    def bots_play(self) -> int:
        """The tick of bots, until none is asked."""
        played = 0
        while more := bots.play_bots(self.server):
            played += more
        return played

    def seats_change(self) -> None:
        """The tick of seats."""
        offers.give_up_missed(self.server)
        offers.give_up_unreachable(self.server)
        substitutes.tidy(self.server)

    def deadline(self, game: RunningGame, seat: int, turn: int | None = None) -> DeadlineRow:
        """The deadline of a seat in the current turn."""
        in_turn = game.row().turn if turn is None else turn
        with self.server.store.read() as tx:
            row = deadlines.read(tx, game.id, in_turn, seat)
        assert row is not None
        return row

    def due(self, game: RunningGame, seat: int) -> datetime | None:
        """When the seat's clock runs out."""
        return self.deadline(game, seat).due_at

    def _beat(self) -> None:
        # As if written every few seconds, so without looking for a gap.
        self.server.store.write(
            lambda tx: heartbeats.record(tx, self.worker.name, self.worker.started_at, self.clock.now())
        )
