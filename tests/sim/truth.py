"""What must be true in a simulation: checked after each step where that is cheap, and wholly at the end.

It looks where no player can: into the database. A promise that is broken ends the run with what, where and when.
"""

import re
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from engine.game import Game
from engine.registry import names
from pbem.domain.choice_links import choice_segment
from pbem.domain.deadline import PATIENCE
from pbem.domain.errors import Refusal
from pbem.domain.extension import SecondChance, read_extensions
from pbem.domain.hash_chain import Row
from pbem.domain.interval import Interval, moment_after, overlap
from pbem.domain.outage import LONGEST_GAP
from pbem.domain.pace import PerDecision, parse_pace
from pbem.domain.states import TableStatus, TurnStatus
from pbem.domain.week import end_of_time_off, read_week
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service import links
from pbem.service.archive import game_statistics
from pbem.service.archive.rebuild_ratings import rebuild
from pbem.service.play.log import TAKES_BACK, Kind, body_of
from pbem.service.play.move import Actor
from pbem.service.play.positions import orders_of
from pbem.service.play.rules import rules_of
from pbem.store import deadlines, finished_games, games, ledger, log as log_rows, outbox, reachability
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.links import LinkRow
from pbem.tokens import Purpose
from tests.sim.far_end import Arrived, BrokenError, FarEnd
from tests.sim.player import Answered, asks
from tests.sim.records import all_delivered, anyone_can_check, changes_are_noticed
from tests.sim.secrecy import Secrecy
from tests.sim.world import START, World

Turn = tuple[int, int, int]
"""Game, turn and seat."""


@dataclass(slots=True)
class Promises:
    """Everything acknowledged and promised so far, which a restore puts back to what it was."""

    acknowledged: dict[Turn, set[int]] = field(default_factory=lambda: defaultdict(set))
    taken_back: set[Turn] = field(default_factory=set)
    unanswered: set[datetime] = field(default_factory=set)
    emailed: dict[Turn, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    asked: dict[Turn, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    promised: dict[Turn, list[tuple[datetime, datetime]]] = field(default_factory=lambda: defaultdict(list))
    heads: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    unsettled: set[Turn] = field(default_factory=set)
    """Turns whose clocks could not be moved after an outage, because the disk failed."""


class Truth:
    """What the players were promised, and whether it is kept. All its moments are those of the server's clock."""

    def __init__(self, world: World, luck: Random, seen: Counter[str]) -> None:
        self.world, self.seen = world, seen
        self.now = Promises()
        self.away: list[Interval] = []
        """Times in which no clock ran."""
        self.secrecy = Secrecy(world, luck)
        self._backup = Promises()
        self._orders: dict[int, object] = {}

    def back_up(self) -> None:
        """Keep what was promised so far."""
        self._backup = deepcopy(self.now)

    def restore(self) -> None:
        """Forget what was promised since the backup, and nobody can know any more."""
        self.now = deepcopy(self._backup)

    def arrived(self, email: Arrived) -> None:
        """Note what an email tells its reader, and which deadlines it promises."""
        self.secrecy.email(email)
        self.now.heads |= set(_HEAD.findall(" ".join(email.text.split())))
        for token, until in turns_in(email.text):
            link = self.world.server.read(links.follow, token, Purpose.SEAT)
            key = _turn(link, link.turn)
            self.now.emailed[key].append(email.at)
            if not email.subject.startswith("Re: "):
                self.now.asked[key].append(email.at)
            if until is not None:
                self.now.promised[key].append((email.at, until))

    def about_to_choose(self, answer: Answered) -> None:
        """Note the standing orders that a choice must leave as they are, should it be taken back."""
        self._orders = self._orders_of_others(answer)

    def acknowledge(self, answer: Answered) -> None:
        """Note a choice acknowledged by a page, and check that it is in the log."""
        key = self._turn(answer)
        with self.world.store.read() as tx:
            row = games.read(tx, key[0])
            made = _made(tx, row, key[1], key[2])
        if made is None:
            raise BrokenError(f"an acknowledged choice of seat {key[2]} in turn {key[1]} is not in the log of {row.id}")
        self.now.acknowledged[key].add(made[0])
        self.seen["choice acknowledged"] += 1

    def note_undo(self, answer: Answered) -> None:
        """Note that a page acknowledged an undo, and check that nobody else's standing order is another one since."""
        key = self._turn(answer)
        self.now.taken_back.add(key)
        if self._orders:
            self.seen["choice taken back beside an order"] += 1
        if self._orders_of_others(answer) != self._orders:
            raise BrokenError(f"taking back {key} (game, turn, seat) has changed the order of another seat")

    def note_new_links(self, token: str) -> None:
        """Note that a page acknowledged that the links of a seat are replaced."""
        self.now.replaced |= self.secrecy.like(token)

    def was_away(self, start: datetime) -> None:
        """Note that no clock has run since a moment."""
        end = self.world.wall.now()
        if end - start > LONGEST_GAP:
            self.away.append(Interval(start, end))

    def went_back(self) -> None:
        """Note that the server's clock was set back: what is later than now has not been."""
        now = self.world.wall.now()
        begun = (each for each in self.away if each.start < now)
        self.away = [Interval(each.start, now if each.end is None else min(each.end, now)) for each in begun]

    def clocks(self, *, settled: bool = True) -> None:
        """Check that no clock that runs ends too early; after an outage, but those that could not be `settled`."""
        with self.world.store.read() as tx:
            playing = {row.id: row for row in games.read_all(tx, games.ids(tx)).values() if row.status == "playing"}
            for each in deadlines.of_games(tx, playing.keys()):
                key = each.game_id, each.turn, each.seat
                if not settled:
                    self.now.unsettled.add(key)
                if each.due_at is not None and key in self.now.asked and key not in self.now.unsettled:
                    self._clock(tx, playing[each.game_id], key, each.due_at)

    def _clock(self, tx: Tx, row: GameRow, key: Turn, due_at: datetime) -> None:
        asked = self.now.asked[key][0]
        deadline = deadlines.read(tx, *key)
        if deadline is not None and (chance := _second_chance(deadline)) is not None:
            if due_at < chance:
                raise BrokenError(f"the second chance of {key} (game, turn, seat) ends at {due_at}, not {chance}")
            return
        week = None if deadline is None or deadline.week is None else read_week(deadline.week).counting(row.time_off)
        if week is not None:
            self.seen["time off"] += 1
        if end_of_time_off(due_at, week) > due_at:
            raise BrokenError(f"the time of {key} (game, turn, seat) ends in time off, at {due_at}")
        if due_at >= self._earliest(row, asked):
            return
        emails = outbox.of_game(tx, row.id, -1)
        without_mail = self._without_mail(tx, emails, ledger.lines(tx, [email.id for email in emails])).get(key)
        earliest = self._earliest(row, min(asked, without_mail or asked))
        if due_at < earliest:
            raise BrokenError(f"the time of {key} (game, turn, seat) ends at {due_at}, not {earliest}")

    def at_the_end(self, far_end: FarEnd, luck: Random, *, over: bool) -> int:
        """Check everything, and whether all games are `over`. Returns the number of log rows."""
        store = self.world.store
        game_ids, rows = games_to_verify(store)
        for report in verify_games(store, game_ids):
            if not report.sound:
                raise BrokenError(f"game {report.game_id} does not verify: {report.problems}")
        known: set[str] = set()
        for game_id in game_ids:
            with store.read() as tx:
                row = games.read(tx, game_id)
                log = list(log_rows.chain(tx, row.id, row.key))
                emails = outbox.of_game(tx, row.id, -1)
                lines = ledger.lines(tx, [email.id for email in emails])
                without_mail = self._without_mail(tx, emails, lines)
                missed = [
                    each
                    for status in (TurnStatus.MISSED, TurnStatus.REWOUND)
                    for each in deadlines.of_game(tx, row.id, status)
                ]
                self.secrecy.table(tx, row)
            if over and row.status != "over":
                raise BrokenError(f"game {row.id} has not ended: it is {row.status}")
            known |= {each.hash.hex()[:20] for each in log}
            self._moves(row, log)
            self._time_outs(row, log, without_mail, {(each.turn, each.seat): each for each in missed})
            if over:
                all_delivered(emails, lines, far_end)
            changes_are_noticed(log, luck)
            if row.status in (TableStatus.OVER, TableStatus.VOID):
                anyone_can_check(self.world.server, row.id)
        if not self.now.heads <= known:
            raise BrokenError(f"mails have shown heads that no log has: {sorted(self.now.heads - known)}")
        self.secrecy.links(self.now.replaced)
        if changed := rebuild(self.world.server).changed:
            raise BrokenError(f"the ratings after {changed} endings are not those that follow from the results")
        before = self._sums()
        game_statistics.rebuild(self.world.server)
        if self._sums() != before:
            raise BrokenError("the statistics are not those that follow from the finished games")
        return rows

    def _sums(self) -> dict[str, dict[tuple[str, str], int]]:
        """The sums of the statistics of each game, but for those that are nothing."""
        with self.world.store.read() as tx:
            sums = {kind: finished_games.of_kind(tx, kind) for kind in names()}
        return {kind: {each: count for each, count in of.items() if count} for kind, of in sums.items()}

    def _orders_of_others(self, answer: Answered) -> dict[int, object]:
        try:
            game_id, _, seat = self._turn(answer)
        except Refusal:
            return {}
        with self.world.store.read() as tx:
            return {other: order for other, order in orders_of(games.read(tx, game_id)).items() if other != seat}

    def _turn(self, answer: Answered) -> Turn:
        link = self.world.server.read(links.follow, answer.token, Purpose(answer.purpose))
        return _turn(link, link.turn if answer.turn is None else answer.turn)

    def _moves(self, row: GameRow, log: list[Row]) -> None:
        """Check that every acknowledged choice is logged once, and no other choice of a person."""
        rules = rules_of(row)
        by_seq = {each.seq: each for each in log}
        mine = {key: seqs for key, seqs in self.now.acknowledged.items() if key[0] == row.id}
        for (_, turn, seat), seqs in mine.items():
            for seq in seqs:
                if _choice_in(rules, by_seq[seq], turn, seat) is None:
                    raise BrokenError(f"row {seq} of game {row.id} no longer holds the choice that was acknowledged")
        acknowledged = {seq for seqs in mine.values() for seq in seqs}
        last: dict[tuple[int, int], str] = {}
        for each in log:
            if each.by != Actor.PERSON or each.kind not in (Kind.SEALED, Kind.ENTRY) or each.seat is None:
                if each.kind in {Kind.WITHDRAWN, *TAKES_BACK}:
                    last.clear()
                continue
            body = body_of(rules, each)
            turn = body["turn"]
            choice = _choice_in(rules, each, turn, each.seat)
            # Entries that answered themselves follow the one that a choice made, and hold no choice of the seat.
            if choice is None or (each.kind == Kind.ENTRY and each.seat in body["entry"].alone):
                continue
            if last.get((turn, each.seat)) == choice_segment(choice):
                raise BrokenError(f"row {each.seq} of game {row.id} makes a choice a second time")
            last[turn, each.seat] = choice_segment(choice)
            if each.seq not in acknowledged and each.at not in self.now.unanswered:
                raise BrokenError(f"nobody was told of the choice in row {each.seq} of game {row.id}")

    def _without_mail(
        self, tx: Tx, emails: list[outbox.EmailRow], lines: dict[int, list[ledger.LedgerRow]]
    ) -> dict[Any, datetime]:
        """Turns that need no email, and since when their clocks may have run.

        An email held back by its reader's own preferences counts from the time it could have left; an address that fails
        holds a table up for a limited time only.
        """
        found = {}
        for email in emails:
            if email.kind != "turn":
                continue
            key = (email.game_id, email.turn, email.seat)
            if any(line.what in ("waits", "withheld") for line in lines.get(email.id, [])):
                found[key] = email.queued_at + self.world.server.hold
            elif email.status == "undeliverable":
                for failed in reachability.since(tx, {email.person_id}, email.queued_at)[email.person_id][:1]:
                    found[key] = max(email.queued_at, failed.start + PATIENCE)
        return found

    def _time_outs(
        self, row: GameRow, log: list[Row], without_mail: dict[Any, datetime], missed: dict[Any, DeadlineRow]
    ) -> None:
        """Check that no clock ran out before the deadline in its email, nor because of an outage."""
        seated: dict[int, datetime] = {}
        for each in log:
            if each.kind == Kind.SEATED and each.seat is not None:
                seated[each.seat] = each.at
            if each.by != Actor.CLOCK or each.seat is None or each.kind not in (Kind.SEALED, Kind.ENTRY):
                continue
            body = body_of(rules_of(row), each)
            turn = body["turn"]
            key = (row.id, turn, each.seat)
            if turn < 0 or key in self.now.taken_back:
                continue
            if each.kind == Kind.ENTRY and each.seat not in body["entry"].choices:
                continue
            if each.kind == Kind.ENTRY and each.seat in body["entry"].alone:
                continue
            self.seen["time-out"] += 1
            deadline = missed.get((turn, each.seat))
            if deadline is not None and deadline.due_at is not None and deadline.due_at > each.at:
                raise BrokenError(
                    f"{key} (game, turn, seat) was timed out at {each.at}, and had time until {deadline.due_at}"
                )
            chance = None if deadline is None else _second_chance(deadline)
            self._time_out(row, each, key, seated.get(each.seat, START), without_mail.get(key), chance)

    def _time_out(
        self,
        row: GameRow,
        each: Row,
        key: Turn,
        seated: datetime,
        without_mail: datetime | None,
        chance: datetime | None,
    ) -> None:
        """Check one time-out, by what the player who has had the seat since a moment was told."""
        seat, turn = each.seat, key[1]
        emailed = [at for at in self.now.emailed.get(key, []) if seated <= at <= each.at]
        if not emailed and (without_mail is None or without_mail > each.at):
            raise BrokenError(f"seat {seat} was timed out in turn {turn} of game {row.id} without a mail")
        # Someone whose address was dead for long gets a reminder of a clock that runs already.
        asked = min((at for at in self.now.asked.get(key, []) if seated <= at), default=each.at)
        asked = min(asked, without_mail or each.at, each.at)
        floors = [until for at, until in self.now.promised[key] if seated <= at <= each.at]
        down = overlap(asked, each.at, self.away)
        if asked < each.at:
            floors.append(self._earliest(row, asked) if chance is None else chance)
        if floors and each.at < max(floors):
            raise BrokenError(
                f"seat {seat} of game {row.id} was timed out in turn {turn} at {each.at}, "
                f"asked at {asked}, while there was time until {max(floors)}"
            )
        if down:
            self.seen["time-out after we were away"] += 1

    def _earliest(self, row: GameRow, asked: datetime) -> datetime:
        """When a clock may run out at the earliest, by its pace and the times in which it stood still."""
        pace = parse_pace(row.pace)
        assert isinstance(pace, PerDecision)
        earliest = moment_after(asked, pace.allowed, self.away)
        assert earliest is not None, "every such time has an end"
        return earliest


def _second_chance(deadline: DeadlineRow) -> datetime | None:
    """When a second chance ends at the earliest, None if this is none. It goes on from a turn whose email came before."""
    extensions = read_extensions(deadline.extensions)
    return next((each.missed + each.amount for each in extensions if isinstance(each, SecondChance)), None)


def _turn(link: LinkRow, turn: int | None) -> Turn:
    assert link.game_id is not None, "a link of a seat is one of a game"
    assert turn is not None, "and of a turn"
    assert link.seat is not None
    return link.game_id, turn, link.seat


def _made(tx: Tx, row: GameRow, turn: int, seat: int) -> tuple[int, Any] | None:
    """The row with the current choice of a seat in a turn, and the choice."""
    rules = rules_of(row)
    undone_from: int | None = None
    for each in log_rows.chain_back(tx, row.id, row.key):
        if each.kind in TAKES_BACK:
            number = body_of(rules, each)["from"]
            undone_from = number if undone_from is None else min(undone_from, number)
        elif each.kind == Kind.ENTRY:
            number = body_of(rules, each)["turn"]
            if undone_from is not None and number >= undone_from:
                continue
            undone_from = None
            if number < turn:
                return None
        elif each.kind == Kind.WITHDRAWN and each.seat == seat and body_of(rules, each)["turn"] == turn:
            return None
        if (choice := _choice_in(rules, each, turn, seat)) is not None:
            return each.seq, choice
    return None


def _choice_in(rules: Game[Any], row: Row, turn: int, seat: int) -> Any:
    """The choice of a seat in a turn in this row."""
    if row.kind == Kind.SEALED and row.seat == seat:
        body = body_of(rules, row)
        return body["choice"] if body["turn"] == turn else None
    if row.kind == Kind.ENTRY:
        body = body_of(rules, row)
        return body["entry"].choices.get(seat) if body["turn"] == turn else None
    return None


def turns_in(text: str) -> list[tuple[str, datetime | None]]:
    """The turns that an email asks for, several if it is a digest: the token of the seat, and the deadline."""
    parts = [(seat[1], part) for part in _CHAPTER.split(text) if asks(part) and (seat := _SEAT.search(part))]
    # A digest about one turn has its deadline at the top.
    return [(token, until_in(text if len(parts) == 1 else part)) for token, part in parts]


def until_in(text: str) -> datetime | None:
    """The deadline in an email, in UTC."""
    found = _UNTIL.search(" ".join(text.split()))
    if found is None:
        return None
    day, month, year, hour, minute = found.groups()
    return datetime(int(year), 1 + _MONTHS.index(month), int(day), int(hour), int(minute), tzinfo=UTC)


_UNTIL = re.compile(r"Please move by \w{3} (\d{1,2}) (\w{3}) (\d{4}), (\d{2}):(\d{2}) UTC")
_CHAPTER = re.compile(r"^={20,}$", re.MULTILINE)
_SEAT = re.compile(r"/s/([a-z2-7]{33})\s")
_HEAD = re.compile(r"Game fingerprint \(if [^)]*, you're all seeing the same game\): ([0-9a-f]{20})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
