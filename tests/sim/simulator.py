"""Weeks of play in a minute: real rules, database, pages and emails, in one thread, with a clock of our own.

Everything that happens is one event after the other, drawn from one seed: people who read only their emails, a relay with
bad days, a worker that is away for hours, crashes at the points that `pbem.failpoints` names. After some days the faults end,
and then every game has to. The same seed is the same run, to the byte: `trace` says so.

Every promise to the players is checked on the way and at the end by `tests.sim.truth`. This module must never
touch a real server: it makes a database of its own and throws it away.
"""

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine import game
from pbem import config as settings, failpoints
from pbem.domain.interval import Interval
from pbem.domain.strangers import StrangerLimits
from pbem.mail.write.compose import Letterhead
from pbem.service.clocks.outages import Worker
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.people import addresses as people_addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, migrations
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.app import create_app
from pbem.worker.ticks import TICKS, WorkerContext
from tests.fakes import FakeClock, SeededRandomness
from tests.sim.browser import Browser, Client
from tests.sim.far_end import Arrived, BrokenError, FarEnd, Weather
from tests.sim.player import Manners, Player, asks
from tests.sim.truth import Truth

__all__ = ["SELDOM", "BrokenError", "Ended", "simulate"]

START: Final = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
SITE: Final = "http://localhost:8000"

BEAT: Final = timedelta(minutes=4)
"""How often the worker wakes: as seldom as it may without counting as dead."""

LOOK: Final = timedelta(minutes=30)
"""How often it checks deadlines when nothing happens."""

PATIENCE: Final = timedelta(days=60)
"""The time after the last fault within which every game must end."""

FEW: Final = 20
"""Smaller runs meet fewer kinds of event."""

LAST_EMAILS: Final = timedelta(hours=6)
"""Time for the emails about the last game's end: longer than any retry waits."""

CRASH: Final = 0.001
"""The probability that the process dies at each failpoint."""

SELDOM: Final = (
    "address refused",
    "bot took a seat over",
    "choice refused",
    "choice taken back",
    "connection lost after the mail",
    "connection lost before the mail",
    "crash at mail.handed_over",
    "crash at store.committed",
    "crash at store.committing",
    "crash under a request",
    "double click",
    "mail came again",
    "mail refused for now",
    "mail to somebody who is gone",
    "old link",
    "outage",
    "played on the page of the seat",
    "relay away",
    "reminder",
    "scanner opened everything",
    "scanner pressed a button",
    "time-out",
    "time-out after we were away",
    "turn was over before it was read",
)
"""Events that a run of some size must meet to prove anything about them."""

_TICKS: Final = {tick.name: tick for tick in TICKS}


class Crash(BaseException):
    """The process dies here. The project's code may not catch it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run. `trace` is the hash of all events in order."""

    seed: int
    games: int
    rows: int
    until: datetime
    trace: str
    seen: dict[str, int]


def simulate(seed: int, tables: int = 50, days: int = 14, progress: Callable[[int], None] = lambda _: None) -> Ended:
    """Play a number of tables, with faults for `days`, and check everything. `progress` is called with the games ended."""
    with TemporaryDirectory(prefix="pbem-simulation-") as folder:
        run = _Run(seed, tables, days, Path(folder), progress)
        try:
            return run.to_its_end()
        finally:
            failpoints.set_handler(None)
            run.server.store.close()


@dataclass(order=True, slots=True)
class _Event:
    at: datetime
    number: int
    do: Callable[[], None] = field(compare=False)


@dataclass(slots=True)
class _Site:
    """The site as browsers reach it; showing a page may write nothing."""

    client: Client
    only_looking: bool = False

    def open(self, *args: Any, method: str, **kwargs: Any) -> Any:
        """Make a request."""
        self.only_looking = method == "GET"
        try:
            return self.client.open(*args, method=method, **kwargs)
        finally:
            self.only_looking = False


class _Run:
    """One simulation."""

    def __init__(self, seed: int, tables: int, days: int, folder: Path, progress: Callable[[int], None]) -> None:
        self.seed, self.tables, self.progress = seed, tables, progress
        self.luck = Random(seed)
        self.clock = FakeClock(START)
        self.calm_from = START + timedelta(days=days)
        self.seen: Counter[str] = Counter()
        self.trace = hashlib.sha256()
        self.heads: set[str] = set()
        self._events: list[_Event] = []
        self._numbers = iter(range(10**9))
        config = settings.read({"PBEM_DATA_DIR": str(folder)})
        store = Store("sqlite://")
        migrations.upgrade(store)
        randomness = SeededRandomness(seed)
        keys = Keyring.new(randomness.bytes(SECRET_BYTES), date(2026, 11, 1))
        self.server = Server(
            store, self.clock, randomness, keys, open_tables=10 * tables, strangers=StrangerLimits(0, 0, 0, 0)
        )
        self.site = _Site(create_app(self.server, config).test_client())
        self.letterhead = Letterhead("Simulated games", SITE, "localhost", "games@localhost", "organiser@localhost")
        self.truth = Truth(self.server, self.clock, self.seen)
        self.players = self._crowd(max(8, tables // 2))
        weather = Weather(self.calm_from, self._holes(4, 6), self._dead_addresses())
        self.far_end = FarEnd(self.clock, self._own_luck(), weather, self._mail_arrived, self.seen)
        self.away = self._holes(5, 10)
        self.truth.away += self.away
        self._looking = False
        self._stirred = START
        self._looked = START
        self._over: set[int] = set()
        self._closes_at: datetime | None = None
        self._is_finished = False

    def to_its_end(self) -> Ended:
        """Run all events."""
        self._new_worker()
        for number in range(self.tables):
            self._plan(self.luck.random() * timedelta(days=1), self._opens(number))
        self._plan(timedelta(0), self._wakes)
        failpoints.set_handler(self._strike)
        while self._events:
            event = heapq.heappop(self._events)
            self.clock.set(max(event.at, self.clock.now()))
            event.do()
            if self._is_finished:
                break
            if self.clock.now() > self.calm_from + PATIENCE:
                raise BrokenError(f"{self.tables - len(self._over)} games never end")
        failpoints.set_handler(None)
        rows = self.truth.at_the_end(self.far_end, self.heads)
        self._note("end", *sorted(f"{what} {times}" for what, times in self.seen.items()))
        until = self.clock.now()
        return Ended(self.seed, self.tables, rows, until, self.trace.hexdigest(), dict(sorted(self.seen.items())))

    # People and tables

    def _crowd(self, number: int) -> dict[str, Player]:
        found = {}
        for i in range(number):
            address = f"player{i}@example.org"
            # One of seven is gone after some days, and each seventh one has a scanner in front of the mailbox.
            gone = START + timedelta(days=self.luck.uniform(1, 6)) if i % 7 == 3 else None
            usually = timedelta(minutes=self.luck.choice((5, 30, 90, 240)))
            found[address] = Player(
                address,
                self._own_luck(),
                Manners(usually, gone, scanned=i % 7 == 1),
                Browser(self.site, SITE),
                Browser(self.site, SITE, person=False),
                self.truth.acknowledge,
                self.truth.note_undo,
                self.seen,
            )
        return found

    def _opens(self, number: int) -> Callable[[], None]:
        def opens() -> None:
            names = game.names()
            kind = names[number % len(names)]
            rules = game.load(kind)
            seats = rules.seats[0]
            # Bots cost less time than people, who need emails and pages; every fourth table is of people alone.
            bots = 0 if number // len(names) % 4 == 0 else seats - 1
            addresses = self.luck.sample(sorted(self.players), seats - bots)
            with self._calm():
                persons = [
                    self.server.run(
                        people_addresses.confirm,
                        self.server.run(people_addresses.register, address, address.partition("@")[0].capitalize()).id,
                    ).id
                    for address in addresses
                ]
                pace = self.luck.choice(("4h", "12h", "1d"))
                table_settings = TableSettings(
                    kind, seats, dict(rules.short), pace, bots=("random",) * bots, missed_limit=2
                )
                game_id = self.server.run(joining.create_table, persons[0], table_settings).game_id
                for person in persons:
                    self.server.run(joining.join, game_id, person)
            self._note("opens", kind, str(game_id))
            self._stirred = self.clock.now()

        return opens

    def _mail_arrived(self, email: Arrived) -> None:
        self._note("mail", email.to, email.subject, hashlib.sha256(email.text.encode()).hexdigest())
        self.heads |= set(re.findall(r"against later changes to the record: ([0-9a-f]{20})", email.text))
        if (seat := re.search(r"/s/([a-z2-7]{33})\s", email.text)) and asks(email.text):
            with self._calm():
                self.truth.arrived(email, seat[1])
        for kind, sign in (("reminder", "This is a reminder."), ("bot took a seat over", "a bot plays")):
            if sign in email.text or sign in email.subject:
                self.seen[kind] += 1
        player = self.players[email.to]
        self._plan(player.delay(), self._reads(player, email))

    def _reads(self, player: Player, email: Arrived) -> Callable[[], None]:
        def reads() -> None:
            self._stirred = self.clock.now()
            self._note("reads", player.address, email.name)
            try:
                again = player.reads(email, self.clock.now())
            except Crash:
                self.seen["crash under a request"] += 1
                self.truth.unanswered.add(self.clock.now())
                again = True
            if again:
                self._plan(timedelta(minutes=2), self._reads(player, email))

        return reads

    # The worker

    def _new_worker(self) -> None:
        post = Post(self.letterhead, self.far_end)
        worker = Worker(f"worker-{next(self._numbers)}", self.clock.now())
        self.shift = WorkerContext(self.server, worker, lambda server: deliver(server, post).dealt_with)

    def _wakes(self) -> None:
        now = self.clock.now()
        hole = next((hole for hole in self.away if hole.contains(now)), None)
        if hole is not None and hole.end is not None:
            self.seen["outage"] += 1
            self._plan(hole.end - now, self._comes_back)
            return
        try:
            self._works(now)
        except Crash:
            self._note("worker dies")
            self._plan(timedelta(minutes=1), self._comes_back)
            return
        self._plan(BEAT, self._wakes)

    def _comes_back(self) -> None:
        self._new_worker()
        self._wakes()

    def _works(self, now: datetime) -> None:
        self._run("beat")
        if now - self._stirred > 2 * BEAT and now - self._looked < LOOK:
            return
        self._run("bots", "deliver")
        if now - self._looked < LOOK:
            return
        self._looked = now
        self._is_finished = self._finished()
        self._run(*(name for name in _TICKS if name not in ("beat", "bots", "deliver")))
        # After a timeout, bots answer and emails leave at once, as in a real loop of seconds.
        self._run("bots", "deliver")

    def _run(self, *names: str) -> None:
        """Run these ticks of the worker, one after the other."""
        for name in names:
            _TICKS[name].run(self.shift)

    # Faults

    def _strike(self, name: str) -> None:
        if self.site.only_looking:
            raise BrokenError("a page that was only looked at wrote to the database")
        if self.clock.now() >= self.calm_from or self._looking:
            return
        # Most points are passed by commits; the one that only emails pass gets its share.
        if self.luck.random() < CRASH * (10 if name.startswith("mail.") else 1):
            self.seen[f"crash at {name}"] += 1
            self._note("crash", name)
            raise Crash(name)

    @contextmanager
    def _calm(self) -> Iterator[None]:
        """Set aside faults while the simulation itself acts."""
        before, self._looking = self._looking, True
        try:
            yield
        finally:
            self._looking = before

    def _holes(self, number: int, longest_hours: int) -> list[Interval]:
        """Draw times of trouble, one after the other, before the calm."""
        share = (self.calm_from - START) / number
        holes = []
        for i in range(number):
            start = START + share * i + share / 2 * self.luck.random()
            lasts = min(timedelta(hours=self.luck.uniform(0.05, longest_hours)), share / 2)
            holes.append(Interval(start, start + lasts))
        return holes

    def _dead_addresses(self) -> dict[str, Interval]:
        if self.tables < FEW:
            # Its table waits for a dead address for a week, which a short run has no time for.
            return {}
        unlucky = self.luck.choice(sorted(self.players))
        start = START + (self.calm_from - START) * 0.2
        return {unlucky: Interval(start, start + timedelta(days=1))}

    # The run itself

    def _plan(self, after: timedelta, do: Callable[[], None]) -> None:
        heapq.heappush(self._events, _Event(self.clock.now() + after, next(self._numbers), do))

    def _finished(self) -> bool:
        """Whether every game has ended and its last emails are read."""
        with self.server.store.read() as tx:
            ids = games.ids(tx) if len(self._over) < self.tables else []
            ended = {each for each in ids if each not in self._over and games.read(tx, each).status == "over"}
        for each in sorted(ended):
            self._note("over", str(each))
            self.progress(1)
        self._over |= ended
        if len(self._over) < self.tables:
            return False
        self._closes_at = self._closes_at or max(self.clock.now(), self.calm_from) + LAST_EMAILS
        return self.clock.now() > self._closes_at

    def _own_luck(self) -> Random:
        return Random(self.luck.getrandbits(64))

    def _note(self, *words: str) -> None:
        self.trace.update("\t".join((self.clock.now().isoformat(), *words, "\n")).encode())
