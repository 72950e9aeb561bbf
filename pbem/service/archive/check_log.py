"""One log, read again from its first row: what it says, whether it could have happened, and where the game stands after it.

Facts are folded into the state and into every seat's view; they are what counts. Where the rules are still those that the
game was played by, every choice is made again as well and must lead to the same facts; numbers drawn must be those that
the seed gives. Nothing here reads a database or changes anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from engine import codec
from engine.chance import Drawn, Stream, commitment, follows, seed_from
from engine.decisions import Choice, Refused
from engine.facts import SPECTATOR, fold
from engine.game import Game
from engine.orders import Answer, Order, answer
from engine.table import Entry, Position, watch
from pbem.domain.hash_chain import Row
from pbem.service.play.log import Kind, body_of
from pbem.service.play.move import By
from pbem.service.tables.start import SEATING

MOST_WRONGS: Final = 20
"""Of one check. What is wrong with a replay follows from the first thing that is; a person reads no more."""

# What altered data makes of code that trusts it. Whatever else is raised is a fault of ours and may be seen.
_NONSENSE: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, StopIteration)


class Check(StrEnum):
    """What is checked, in the order in which one thing is held against another."""

    CHAIN = "chain"
    FACTS = "facts"
    CHOICES = "choices"
    LUCK = "luck"
    BESIDE = "beside"
    """What stands beside the log: in the file, or in the database."""
    TALK = "talk"


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that does not fit: at which row, by which check, and what."""

    seq: int
    check: Check
    says: str


_Found = tuple[Check, str]
"""By which check something is wrong with a row, and what."""


@dataclass(frozen=True, slots=True)
class At:
    """Where the game stood after an entry, and the turn that was open then."""

    closed: int
    turn: int
    state: Any
    views: tuple[Any, ...]


@dataclass(slots=True)
class Replay:
    """How far a log has been read. With the server's secret, numbers drawn are checked and choices are made again.

    `drawn` are the numbers of each entry, those too that were taken back.
    """

    rules: Game[Any]
    secret: bytes | None
    began: dict[str, Any] = field(default_factory=dict)
    seed: bytes | None = None
    seq: int = 0
    entry_head: bytes = b""
    box: dict[int, Choice] = field(default_factory=dict)
    orders: dict[int, Order] = field(default_factory=dict)
    orders_known: bool = True
    status: str = "open"
    paused: bool = False
    entries: int = 0
    made_again: int = 0
    wrongs: list[Wrong] = field(default_factory=list)
    broken: bool = False
    revealed: str | None = None
    redacted: set[int] = field(default_factory=set)
    drawn: list[tuple[int, tuple[Drawn, ...]]] = field(default_factory=list)
    _newest: int = 0
    _stood: list[At] = field(default_factory=list)
    _announced: dict[int, Choice] = field(default_factory=dict)

    @property
    def at(self) -> At:
        """Where the game stands now."""
        return self._stood[-1]

    @property
    def dealt(self) -> bool:
        """Whether there is a game to speak of."""
        return bool(self._stood)

    def read(self, row: Row) -> None:
        """Take in one more row. After a row that means nothing the rest cannot be told from it, and is left alone."""
        self.seq = row.seq
        if self.broken:
            return
        try:
            for check, says in self._take_in(row):
                if sum(each.check == check for each in self.wrongs) < MOST_WRONGS:
                    self.wrongs.append(Wrong(row.seq, check, says))
        except _NONSENSE as error:
            self.broken = True
            what = f"{type(error).__name__}: {error}"[:200]
            says = f"row {row.seq} ({row.kind}) means nothing here, so replay ends: {what}"
            self.wrongs.append(Wrong(row.seq, Check.FACTS, says))

    def end(self) -> None:
        """Say what only the end of a log shows."""
        if not self.broken and self.status in ("over", "void") and self.revealed is None:
            self.wrongs.append(Wrong(self.seq, Check.LUCK, "the game is over, but its secret was never told"))

    def _take_in(self, row: Row) -> Iterator[_Found]:
        if row.body is None:
            return
        body = body_of(self.rules, row)
        if (row.kind == Kind.BEGAN) == self.dealt or (row.kind != Kind.BEGAN and not self._stood):
            yield Check.FACTS, f"row {row.seq} is a {row.kind}, which cannot stand here"
            return
        match row.kind:
            case Kind.BEGAN:
                yield from self._begin(body)
            case Kind.ENTRY:
                yield from self._enter(row, body["turn"], body["entry"])
                self.entry_head = row.hash
            case Kind.SEALED:
                yield from self._seal(row, body["turn"], body["choice"])
            case Kind.WITHDRAWN:
                if self.box.pop(_seat(row), None) is None:
                    yield Check.CHOICES, f"row {row.seq} takes back a sealed choice that was not there"
            case Kind.UNDONE:
                yield from self._undo(row, body["from"])
                self.entry_head = row.hash
            case Kind.REWOUND:
                yield from self._rewind(row, body["from"], body["turn"])
                self.entry_head = row.hash
            case Kind.ORDER:
                yield from self._order(row, body["order"])
            case Kind.SEATED:
                self.orders.pop(_seat(row), None)
            case Kind.PAUSED | Kind.RESUMED:
                self.paused = row.kind == Kind.PAUSED
            case Kind.REDACTED:
                self.redacted.add(body["line"])
            case Kind.VOIDED:
                self.status, self.box, self.orders = "void", {}, {}
            case Kind.REVEALED:
                self.revealed = body["secret"]
                if commitment(bytes.fromhex(body["secret"])) != self.began["commitment"]:
                    yield Check.LUCK, f"the secret told in row {row.seq} is not the one that the server was bound to"

    def _begin(self, body: dict[str, Any]) -> Iterator[_Found]:
        self.began, self.status = body, "playing"
        seats: int = body["seats"]
        low, high = self.rules.seats
        if not low <= seats <= high:
            # Everything below makes something for each seat.
            raise ValueError(f"{seats} seats")
        start = self.rules.start(seats, body["options"])
        # The place before the deal: entry 0 leads on from here.
        self._stood.append(At(-1, 0, start, (start,) * (seats + 1)))
        if self.secret is None:
            return
        if commitment(self.secret) != body["commitment"]:
            yield Check.LUCK, "the server's secret is not the one that it was bound to"
        self.seed = seed_from(self.secret, body["words"])
        if Stream(self.seed, SEATING).shuffle(range(seats)) != list(body["seating"]):
            yield Check.LUCK, "the seats were not drawn from the seed"

    def _enter(self, row: Row, turn: int, entry: Entry) -> Iterator[_Found]:
        if turn != self.at.turn:
            yield Check.FACTS, f"entry {self.at.turn} was expected in row {row.seq}, but this is entry {turn}"
        if self.seed is not None and not follows(self.seed, turn, entry.drawn):
            yield Check.LUCK, f"the numbers drawn in row {row.seq} are not those that the seed gives"
        self.drawn.append((turn, entry.drawn))
        yield from self._by_order(row, entry.choices.get(-1 if row.seat is None else row.seat))
        yield from self._of_the_box(row, entry)
        if self.seed is not None and row.rules == self.rules.RULES:
            self.made_again += 1
            yield from self._make_again(row, turn, entry, self.seed)
        state, views = fold(self.at.state, entry.facts), watch(self.at.views, entry.facts)
        self._stood.append(At(turn, turn + 1, state, views))
        self._newest = max(self._newest, turn + 1)
        self.entries += 1
        self.box = {}
        for seat in range(self.began["seats"]):
            if self.rules.asks(state, seat) != self.rules.asks(views[seat], seat):
                yield Check.FACTS, f"after row {row.seq}, seat {seat} is not asked what its own view says"
        for reader in (*range(self.began["seats"]), SPECTATOR):
            self.rules.board(views[reader], reader)
        if self.rules.standing(state).over:
            self.status = "over"

    def _of_the_box(self, row: Row, entry: Entry) -> Iterator[_Found]:
        """A sealed choice is in the entry that its turn became, unless it was replaced, or a choice closed the turn."""
        closed = len(entry.choices) == 1 and not entry.alone and row.seat in entry.choices
        for seat, choice in self.box.items():
            if seat != row.seat and not closed and entry.choices.get(seat) != choice:
                yield Check.CHOICES, f"the sealed choice of seat {seat} is not in row {row.seq}"

    def _make_again(self, row: Row, turn: int, entry: Entry, seed: bytes) -> Iterator[_Found]:
        before = Position(self.rules, self.began["seats"], seed, self.at.state, turn)
        draw = Stream(seed, turn)
        try:
            for seat, choice in entry.choices.items():
                before.check(seat, choice)
        except Refused as refused:
            yield Check.CHOICES, f"a choice in row {row.seq} was against the rules: {refused.text}"
            return
        dealing = not entry.choices and turn == 0
        story = (
            self.rules.setup(before.state, draw) if dealing else self.rules.resolve(before.state, entry.choices, draw)
        )
        try:
            _, again = before.enter(story, draw, entry.choices, entry.alone)
        except _NONSENSE as error:
            yield Check.CHOICES, f"the choices of row {row.seq} cannot be made again: {error}"
            return
        if again != entry:
            yield Check.CHOICES, f"the choices of row {row.seq}, made again, lead to other facts"

    def _seal(self, row: Row, turn: int, choice: Choice) -> Iterator[_Found]:
        seat = _seat(row)
        if turn != self.at.turn:
            yield (
                Check.CHOICES,
                f"row {row.seq} seals a choice for turn {turn}, but turn {self.at.turn} is open",
            )
        yield from self._by_order(row, choice)
        self.box[seat] = choice
        if self.seed is not None and row.rules == self.rules.RULES:
            before = Position(self.rules, self.began["seats"], self.seed, self.at.state, turn)
            try:
                before.check(seat, choice)
            except Refused as refused:
                yield Check.CHOICES, f"the choice in row {row.seq} was against the rules: {refused.text}"

    def _undo(self, row: Row, first: int) -> Iterator[_Found]:
        while self.at.closed >= max(first, 0):
            self._stood.pop()
        self.box = {}
        if self.at.turn != first:
            yield Check.FACTS, f"row {row.seq} takes back the entries from {first} on, which are not there"

    def _rewind(self, row: Row, first: int, turn: int) -> Iterator[_Found]:
        yield from self._undo(row, first)
        if turn <= self._newest:
            yield (
                Check.LUCK,
                f"row {row.seq} opens turn {turn}, though {self._newest} has been open: known luck would come again",
            )
        self._newest = turn
        self._stood[-1] = replace(self.at, turn=turn)
        # They were left for turns that have never been.
        self.orders = {}

    def _order(self, row: Row, order: Order | None) -> Iterator[_Found]:
        seat = _seat(row)
        if row.by == By.ORDER:
            # It has a word for its owner, and may answer once more: then the choice is in the next row.
            given = self._answer(row, seat)
            if given is not None and given.choice is not None:
                self._announced[seat] = given.choice
        elif order is None:
            self.orders.pop(seat, None)
        else:
            self.orders[seat] = order
        yield from ()

    def _by_order(self, row: Row, choice: Choice | None) -> Iterator[_Found]:
        """An order's choice is what the order says; how often it has answered is known only by asking it again."""
        if row.by != By.ORDER:
            return
        seat = _seat(row)
        expected = self._announced.pop(seat, None)
        if expected is None:
            given = self._answer(row, seat)
            expected = None if given is None else given.choice
        if self.orders_known and expected != choice:
            yield Check.CHOICES, f"the choice in row {row.seq} is not what the standing order of seat {seat} says"

    def _answer(self, row: Row, seat: int) -> Answer | None:
        order = self.orders.get(seat)
        if row.rules != self.rules.RULES:
            # How an order goes on after an answer is for the rules that it answered under.
            self.orders_known = False
            return None
        if order is None:
            return None
        given = answer(order, self.rules, self.at.views[seat], seat)
        if given.order is None:
            del self.orders[seat]
        else:
            self.orders[seat] = given.order
        return given


def snapshot(replay: Replay, stored: Mapping[str, Any]) -> Iterator[str]:
    """What the stored snapshot has otherwise than the log says."""
    if not replay.dealt or replay.broken:
        return
    told: dict[str, Any] = {
        "state": replay.at.state,
        "box": tuple(sorted(replay.box.items())),
        "orders": tuple(sorted(replay.orders.items())),
    }
    if not replay.orders_known:
        del told["orders"]
    for name, value in told.items():
        text = stored[name]
        if text != written(value) and not _same(replay.rules, text, value):
            yield f"the stored {name} is not what the log says"
    if stored["turn"] != replay.at.turn:
        yield f"the stored turn is {stored['turn']}, but the log says {replay.at.turn}"
    if stored["entry_head"] != replay.entry_head:
        yield "the stored head of the last entry is not the log's"
    if stored["status"] not in (replay.status, "frozen"):
        yield f"the game is stored as {stored['status']}, but the log says {replay.status}"


def written(value: Any) -> str:
    """A value as a snapshot holds it."""
    return codec.dumps(value)


def _same(rules: Game[Any], text: str, value: Any) -> bool:
    """Whether a text of an older shape, or written otherwise, means the same."""
    try:
        found = codec.loads(rules, text)
    except codec.Malformed:
        return False
    return bool(written(found) == written(value))


def _seat(row: Row) -> int:
    if row.seat is None:
        raise ValueError("no seat is named")
    return row.seat
