"""Weeks of play in a minute: real rules, database, pages and emails, in one thread, with a clock of our own.

Everything that happens is one event after the other, drawn from one seed: people who read only their emails, a relay with
bad days, a worker that is away for hours, crashes at the points that `pbem.failpoints` names. After some days the faults end,
and then every game has to. The same seed is the same run, to the byte: `trace` says so.

Every promise to the players is checked on the way and at the end by `tests.sim.truth`. This module must never
touch a real server: it makes a database of its own and throws it away.
"""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from engine import registry
from pbem import failpoints
from pbem.domain.week import BOUNDS
from pbem.service.absence import offers
from pbem.service.account import my_page
from pbem.service.clocks import outages
from pbem.service.incoming import receive
from pbem.service.people import addresses as people_addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games
from tests.mail.report_samples import failure
from tests.sim.browser import Browser
from tests.sim.far_end import Arrived, BrokenError, FarEnd
from tests.sim.faults import Crash, Faults, Strikes
from tests.sim.player import Manners, Player
from tests.sim.seasons import ENTRANTS, Seasons
from tests.sim.truth import Truth
from tests.sim.worker import SimulatedWorker
from tests.sim.world import SITE, START, World

__all__ = ["BrokenError", "Ended", "simulate"]

BEAT: Final = timedelta(minutes=4)
"""How often the worker wakes: as seldom as it may without counting as dead."""

PATIENCE: Final = timedelta(days=60)
"""The time after the last fault within which every game must end."""

LAST_EMAILS: Final = timedelta(hours=12)
"""Time for the emails about the last game's end: longer than any retry and any quiet hours."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run. `trace` is the hash of all events in order."""

    seed: int
    games: int
    rows: int
    until: datetime
    trace: str
    seen: dict[str, int]


def simulate(
    seed: int,
    tables: int = 50,
    days: int = 14,
    progress: Callable[[int], None] = lambda _: None,
    *,
    seasons: int = 0,
    to_the_calm: bool = False,
    manners: Manners | None = None,
) -> Ended:
    """Play a number of tables, with faults for `days`, and check everything. `progress` is called with the games ended.

    There are as many tournaments as `seasons`, whose tables come on top. With `to_the_calm`, the run ends with the faults, while games are still being played. All players have the `manners`, but
    for their times and scanners.
    """
    with TemporaryDirectory(prefix="pbem-simulation-") as folder:
        run = _Run(seed, tables, days, manners or Manners(), Path(folder), progress, seasons)
        try:
            with run.truth.secrecy.reading_the_log():
                return run.to_its_end(run.calm_from if to_the_calm else None)
        finally:
            failpoints.set_handler(None)
            run.world.close()


@dataclass(order=True, slots=True)
class _Event:
    at: datetime
    number: int
    do: Callable[[], None] = field(compare=False)


class _Run:
    """One simulation."""

    def __init__(
        self,
        seed: int,
        tables: int,
        days: int,
        manners: Manners,
        folder: Path,
        progress: Callable[[int], None],
        seasons: int,
    ) -> None:
        self.seed, self.tables, self.progress, self.number_of_seasons = seed, tables, progress, seasons
        self.luck = Random(seed)
        self.calm_from = START + timedelta(days=days)
        self.seen: Counter[str] = Counter()
        self.trace = hashlib.sha256()
        self._events: list[_Event] = []
        self._numbers = iter(range(10**9))
        self.world = World(seed, tables, folder)
        self.clock = self.world.clock
        self.truth = Truth(self.world, self._own_luck(), self.seen)
        self.players = self._crowd(max(ENTRANTS, tables // 2), manners)
        self.faults = Faults.drawn(self._own_luck(), self.calm_from, sorted(self.players), tables)
        self.strikes = Strikes(self._own_luck(), self.world, self.calm_from, self.seen)
        self.far_end = FarEnd(
            self.clock, self.world.wall, self._own_luck(), self.faults.weather, self._mail_arrived, self.seen
        )
        self.strikes.note, self.strikes.forgive = self._note, self.far_end.forgive
        self.worker = SimulatedWorker(self.world, self.far_end, self.strikes, self.truth, self._own_luck())
        self.far_end.meanwhile = self.worker.second_sends
        # Luck from the seed alone: without tournaments a seed's run stays what it was.
        self.seasons = Seasons(self.world, Random(f"seasons {seed}"), self.seen)
        self._arrived: list[Arrived] = []
        self._accepted_before_backup = 0
        self._stirred = self._worked_at = START
        self._over: set[int] = set()
        self._closes_at: datetime | None = None
        self._is_finished = False

    def to_its_end(self, until: datetime | None = None) -> Ended:
        """Run all events, or those until a moment."""
        for number in range(self.tables):
            self._plan(self.luck.random() * (self.calm_from - START) / 5, self._opens(number))
        for number in range(self.number_of_seasons):
            self._plan(timedelta(hours=number), self._opens_season(number))
        self._plan(timedelta(0), self._wakes)
        self._plan_faults()
        failpoints.set_handler(self.strikes)
        while self._events:
            event = heapq.heappop(self._events)
            self.clock.set(max(event.at, self.clock.now()))
            event.do()
            self.truth.secrecy.log()
            if self._is_finished or (until is not None and event.at >= until):
                break
            if self.clock.now() > self.calm_from + PATIENCE:
                raise BrokenError(f"{self.tables - len(self._over)} games, or a tournament, never end")
        failpoints.set_handler(None)
        if until is None:
            self.seasons.check(self.far_end)
        rows = self.truth.at_the_end(self.far_end, self._own_luck(), over=until is None)
        self._note("end", *sorted(f"{what} {times}" for what, times in self.seen.items()))
        return Ended(
            self.seed, self.tables, rows, self.clock.now(), self.trace.hexdigest(), dict(sorted(self.seen.items()))
        )

    # People and tables

    def _crowd(self, number: int, manners: Manners) -> dict[str, Player]:
        found = {}
        for i in range(number):
            address = f"player{i}@example.org"
            # One of seven is gone after a while, and each seventh one has a scanner in front of the mailbox.
            gone = START + (self.calm_from - START) * self.luck.uniform(0.2, 1.2) if i % 7 == 3 else None
            usually = timedelta(minutes=self.luck.choice((5, 30, 90, 240)))
            shown = self._shown_to(address)
            found[address] = Player(
                address,
                self._own_luck(),
                replace(manners, usually=usually, gone_from=gone, scanned=i % 7 == 1),
                Browser(self.world.site, SITE, shown=shown),
                Browser(self.world.site, SITE, person=False, shown=shown),
                self.truth,
                self.seen,
            )
        return found

    def _shown_to(self, address: str) -> Callable[[str, str], None]:
        return lambda path, source: self.truth.secrecy.page(address, path, source)

    def _opens(self, number: int) -> Callable[[], None]:
        def opens() -> None:
            names = registry.names()
            kind = names[number % len(names)]
            rules = registry.load(kind)
            seats = rules.seats[0]
            # Bots cost less time than people, who need emails and pages; every fourth table is of people alone.
            bots = 0 if number // len(names) % 4 == 0 else seats - 1
            addresses = self.luck.sample(sorted(self.players), seats - bots)
            with self.strikes.calm():
                persons = [self._person(address) for address in addresses]
                successor = self.luck.choice(("bot", "substitute"))
                # The others wait long for a substitute if nobody wants to be one.
                pace = self.luck.choice(("4h", "12h", "1d")) if successor == "bot" else "4h"
                table_settings = TableSettings(
                    kind,
                    seats,
                    dict(rules.short),
                    pace,
                    bots=("random",) * bots,
                    missed_limit=2,
                    successor=successor,
                    rated=number % 3 > 0,
                    second_chance=12,
                    time_off=BOUNDS[number % len(BOUNDS)] if self.players[addresses[0]].manners.time_off else None,
                    going_back=True,
                )
                game_id = self.world.server.run(joining.create_table, persons[0], table_settings).game_id
                for person in persons:
                    self.world.server.run(joining.join, game_id, person)
            self._note("opens", kind, str(game_id))
            self._stirred = self.clock.now()

        return opens

    def _opens_season(self, number: int) -> Callable[[], None]:
        def opens() -> None:
            addresses = self.seasons.luck.sample(sorted(self.players), ENTRANTS)
            with self.strikes.calm():
                host, *_others = [self._person(address) for address in addresses]
                self.seasons.opens(number, host, addresses)
            self._note("opens a tournament", str(number))
            self._stirred = self.clock.now()

        return opens

    def _person(self, address: str) -> int:
        """The id of a person, whose address is known to work. Every third one is ready to take over seats, every fourth
        one has time off, where that is among their manners."""
        server, name = self.world.server, address.partition("@")[0].capitalize()
        person_id = server.run(people_addresses.confirm, server.run(people_addresses.register, address, name).id).id
        if sorted(self.players).index(address) % 3 == 0:
            server.run(offers.set_volunteer, person_id, volunteers=True)
        if self.players[address].manners.time_off and sorted(self.players).index(address) % 4 == 1:
            server.run(my_page.change_week, person_id, ("Sat", "Sun"), ("Mon", "Tue", "Thu"), "20:30-04:00")
        return person_id

    def _mail_arrived(self, email: Arrived, new: bool) -> None:
        self._note("mail", email.to, email.subject, hashlib.sha256(email.text.encode()).hexdigest())
        with self.strikes.calm():
            # What came again counts, too: a restore forgets the first time.
            self.truth.arrived(email)
        if not new:
            return
        self._arrived.append(email)
        signs = {
            "reminder": "a reminder: it's your turn",
            "bot took a seat over": ": a bot ",
            # Nobody here comes back from a bot, and no organiser gives a seat to anyone.
            "substitute took a seat": ": you're playing",
        }
        for kind, sign in signs.items():
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
                self.truth.now.unanswered.add(self.world.wall.now())
                again = True
            if again:
                self._plan(timedelta(minutes=2), self._reads(player, email))

        return reads

    # The worker

    def _wakes(self) -> None:
        now = self.clock.now()
        hole = next((hole for hole in self.faults.away if hole.contains(now)), None)
        if hole is not None and hole.end is not None:
            self.seen["outage"] += 1
            # A clock set back since the worker last looked at it has given everyone that time already.
            start = max(self.world.wall.now(), self._worked_at)
            self._plan(hole.end - now, lambda: self._comes_back(start))
            return
        self._worked_at = self.world.wall.now()
        try:
            looked = self.worker.works(self.clock.now() - self._stirred > 2 * BEAT)
        except Crash:
            self._note("worker dies")
            self._plan(timedelta(minutes=1), self._comes_back)
            return
        if looked:
            self._is_finished = self._finished()
        self._plan(BEAT, self._wakes)

    def _comes_back(self, away_since: datetime | None = None) -> None:
        self.worker.starts()
        if away_since is not None:
            self._clocks_stood_still(away_since)
        self._wakes()

    def _clocks_stood_still(self, since: datetime) -> None:
        self.truth.was_away(since)
        self.strikes.shake()

    # Faults

    def _plan_faults(self) -> None:
        plan: list[tuple[datetime, Callable[[], None]]] = [
            *((pause.start, self._pauses_email(pause.end)) for pause in self.faults.pauses if pause.end is not None),
            *((at, self._sets_clock(step)) for at, step in self.faults.steps),
            *((at, self._bounces) for at in self.faults.bounces),
            (self.faults.backup_at, self._backs_up),
            (self.faults.restore_at, self._restores),
        ]
        for at, do in plan:
            self._plan(at - START, do)

    def _pauses_email(self, until: datetime) -> Callable[[], None]:
        def pauses() -> None:
            self.seen["email paused"] += 1
            start = self.world.wall.now()
            with self.strikes.calm():
                self.world.server.run(outages.pause_email, "simulated")
            self._plan(until - self.clock.now(), lambda: resumes(start))

        def resumes(start: datetime) -> None:
            with self.strikes.calm():
                self.world.server.run(outages.resume_email)
            self._clocks_stood_still(start)

        return pauses

    def _sets_clock(self, step: timedelta) -> Callable[[], None]:
        def sets() -> None:
            before = self.world.wall.now()
            self.world.wall.off += step
            self.seen["clock set forward" if step > timedelta(0) else "clock set back"] += 1
            if step > timedelta(0):
                self._clocks_stood_still(before)
            else:
                self.truth.went_back()

        return sets

    def _bounces(self) -> None:
        """An email that was accepted comes back after all, because its reader's mailbox is full."""
        if not self._arrived:
            return
        email = self.luck.choice(self._arrived)
        report = failure("4.2.2", "smtp; 452 4.2.2 mailbox full")
        with self.strikes.calm():
            outcome = receive.receive(self.world.server, self.world.inbound, "", email.sender, report)
        self.seen["bounce"] += outcome == "kept"

    def _backs_up(self) -> None:
        self.world.back_up()
        self.truth.back_up()
        self._accepted_before_backup = len(self.far_end.accepted)

    def _restores(self) -> None:
        self.seen["restore"] += 1
        self._note("restore")
        with self.strikes.calm():
            self.world.restore()
        self.truth.restore()
        self.far_end.forgive(self._accepted_before_backup)
        self.strikes.shake()
        self._over.clear()
        self.worker.starts()

    # The run itself

    def _plan(self, after: timedelta, do: Callable[[], None]) -> None:
        heapq.heappush(self._events, _Event(self.clock.now() + after, next(self._numbers), do))

    def _finished(self) -> bool:
        """Whether every game and every tournament has ended and the last emails are read."""
        fewest = self.tables + 1 if self.number_of_seasons else self.tables
        with self.world.store.read() as tx:
            ids = games.ids(tx) if self._closes_at is None else []
            ended = {each for each in ids if each not in self._over and games.read(tx, each).status == "over"}
        for each in sorted(ended):
            self._note("over", str(each))
            self.progress(1)
        self._over |= ended
        if self._closes_at is None and (len(self._over) < max(len(ids), fewest) or not self.seasons.are_over()):
            return False
        self._closes_at = self._closes_at or max(self.clock.now(), self.calm_from) + LAST_EMAILS
        return self.clock.now() > self._closes_at

    def _own_luck(self) -> Random:
        return Random(self.luck.getrandbits(64))

    def _note(self, *words: str) -> None:
        self.trace.update("\t".join((self.clock.now().isoformat(), *words, "\n")).encode())
