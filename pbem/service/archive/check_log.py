"""Checking a log by reading it again from its first row: what it says, whether it could have happened, and the position
after it.

Facts are folded into the state and every seat's view. Every choice is made again by the rules that the game began with,
unless they cannot be played any more, and must lead to the same facts; numbers drawn must follow from the seed. If asked
for, bots choose again, too, from what their seats saw. This module reads no database and changes nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine import codec
from engine.bots import BOTS, signature
from engine.chance import Drawn, Stream, bot_seed, commitment, follows, seed_from
from engine.decisions import Choice, Refused
from engine.facts import SPECTATOR, fold
from engine.game import Game
from engine.orders import Order, answer
from engine.table import Entry, Position, watch
from pbem.bots import BotTurn, think_here
from pbem.domain.hash_chain import Row
from pbem.domain.states import TableStatus
from pbem.service.archive.fates import Fates
from pbem.service.play.log import CLOSES_TURN, Kind, body_of, is_canonical
from pbem.service.play.move import Actor
from pbem.service.play.seals import Seals
from pbem.service.tables.start import SEATING

MOST_PROBLEMS: Final = 20
"""The most problems reported by one check: later ones follow from the first."""

_KINDS: Final = frozenset(Kind)

NONSENSE: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, StopIteration),
    # What becomes of a StopIteration in a generator.
    RuntimeError,
)
"""Exceptions that altered data causes in code that trusts it. Any other is a bug and must be seen."""


class Check(StrEnum):
    """The checks, in the order they are made."""

    CHAIN = "chain"
    FACTS = "facts"
    CHOICES = "choices"
    LUCK = "luck"
    BESIDE = "beside"
    """The data beside the log, in the file or the database."""
    TALK = "talk"


class Problem(NamedTuple):
    """A problem: its row, the check that found it, and what is wrong."""

    seq: int
    check: Check
    says: str


_NUMBERS: Final = frozenset({"seats", "turn", "from", "line", "seat", "missed_limit"})
"""What is a number in the body of a row; other things there may be true or false."""

_Problems = Iterator[tuple[Check, str]]
"""The problems of one row: the check that found each, and what is wrong."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The position after an entry, and the turn that was open then."""

    closed: int
    turn: int
    state: Any
    views: tuple[Any, ...]


@dataclass(slots=True)
class LogReader:
    """A log read so far. With the secret, draws are checked and choices made again; `with_bots`, bots choose again, too.

    `drawn` includes undone entries. `bots_retired` counts choices that no bot here can make again, by its signature.
    """

    rules: Game[Any]
    secret: bytes | None
    with_bots: bool = False
    began: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    seed: bytes | None = None
    seq: int = 0
    entry_head: bytes = b""
    box: dict[int, Choice] = field(default_factory=dict)
    seals: Seals = field(default_factory=Seals)
    orders: dict[int, Order] = field(default_factory=dict)
    orders_known: bool = True
    fates: Fates = field(default_factory=Fates)
    status: str = "open"
    paused: bool = False
    entries: int = 0
    made_again: int = 0
    bots_again: int = 0
    bots_retired: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    broken: bool = False
    revealed: str | None = None
    redacted: set[int] = field(default_factory=set)
    drawn: list[tuple[int, tuple[Drawn, ...]]] = field(default_factory=list)
    _newest: int = 0
    _positions: list[LogPosition] = field(default_factory=list)
    _announced: dict[int, Choice] = field(default_factory=dict)

    @property
    def position(self) -> LogPosition:
        return self._positions[-1]

    @property
    def can_play(self) -> bool:
        """Whether the rules that the game was played by are there, so that choices can be made again."""
        return self.rules.version == self.version

    @property
    def dealt(self) -> bool:
        """Whether the game has begun."""
        return bool(self._positions)

    def read(self, row: Row) -> None:
        """Read the next row. After a row that makes no sense the rest is skipped."""
        self.seq = row.seq
        if self.broken:
            return
        try:
            for check, says in self._check_row(row):
                if sum(each.check == check for each in self.problems) < MOST_PROBLEMS:
                    self.problems.append(Problem(row.seq, check, says))
        except NONSENSE as error:
            self.broken = True
            what = f"{type(error).__name__}: {error}"[:200]
            says = f"row {row.seq} ({row.kind}) makes no sense here, so the replay ends: {what}"
            self.problems.append(Problem(row.seq, Check.FACTS, says))

    def end(self) -> None:
        """Report what only the end of a log shows."""
        if not self.broken and self.status in (TableStatus.OVER, TableStatus.VOID) and self.revealed is None:
            self.problems.append(Problem(self.seq, Check.LUCK, "the game is over, but its secret was never revealed"))

    def _check_row(self, row: Row) -> _Problems:
        if row.body is None:
            return
        if not is_canonical(row):
            yield Check.FACTS, f"the text of row {row.seq} is not written in the canonical way"
        body = body_of(self.rules, row)
        numbers = {name: value for name, value in body.items() if name in _NUMBERS or type(value) is not bool}
        if not codec.tells_truth_from_numbers(numbers):
            yield Check.FACTS, f"row {row.seq} has true or false in place of a number, or the reverse"
        if self.dealt and row.rules != self.version:
            yield Check.CHOICES, f"row {row.seq} names rules {row.rules}, but the game began with rules {self.version}"
        if row.kind not in _KINDS or (row.kind == Kind.BEGAN) == self.dealt:
            yield Check.FACTS, f"row {row.seq} is a {row.kind}, which can't come here"
            return
        self.fates.read(row, body)
        if self.revealed is not None and row.kind in CLOSES_TURN | {Kind.REVEALED}:
            yield Check.LUCK, f"row {row.seq} comes after the secret was revealed"
        if row.kind in CLOSES_TURN:
            yield from self._check_lists(row, body)
        match row.kind:
            case Kind.BEGAN:
                yield from self._begin(row, body)
            case Kind.ENTRY:
                yield from self._check_bot(row, body, body["entry"].choices.get(row.seat))
                yield from self._enter(row, body["turn"], body["entry"])
                self.entry_head = row.hash
            case Kind.SEALED:
                yield from self._check_names(row, body)
                yield from self._check_bot(row, body, body["choice"])
                yield from self._seal(row, body["turn"], body["choice"])
            case Kind.WITHDRAWN:
                if self.box.pop(_seat(row), None) is None or body["turn"] != self.position.turn:
                    yield Check.CHOICES, f"row {row.seq} takes back a sealed choice that was not there"
            case Kind.UNDONE:
                yield from self._undo(row, body["from"])
                self.entry_head = row.hash
            case Kind.REWOUND:
                yield from self._rewind(row, body["from"], body["turn"])
                self.entry_head = row.hash
            case Kind.ORDER:
                self._set_order(row, body["order"])
            case Kind.SEATED:
                self.orders.pop(_seat(row), None)
            case Kind.PAUSED | Kind.RESUMED:
                self.paused = row.kind == Kind.PAUSED
            case Kind.REDACTED:
                self.redacted.add(body["line"])
            case Kind.VOIDED:
                self.status, self.box, self.orders = "void", {}, {}
            case Kind.REVEALED:
                if self.status not in (TableStatus.OVER, TableStatus.VOID):
                    yield Check.LUCK, f"row {row.seq} reveals the secret before the game is over"
                self.revealed = body["secret"]
                if commitment(bytes.fromhex(body["secret"])) != self.began["commitment"]:
                    yield Check.LUCK, f"the secret revealed in row {row.seq} doesn't match the commitment"

    def _begin(self, row: Row, body: dict[str, Any]) -> _Problems:
        # All of it must be there and be read, or the game has not begun: it is compared with what stands elsewhere.
        listed = {name: tuple(body[name]) for name in ("words", "seating")}
        self.began = {name: body[name] for name in ("kind", "seats", "options", "commitment")} | body | listed
        self.status, self.version = "playing", row.rules
        with suppress(Refused):
            self.rules = self.rules.by_version(row.rules)
        seats: int = body["seats"]
        low, high = self.rules.seats
        if not low <= seats <= high:
            # Refused first, because the code below builds something for each seat.
            raise ValueError(f"{seats} seats")
        start = self.rules.start(seats, body["options"])
        # The position before the deal, which is entry 0.
        self._positions.append(LogPosition(-1, 0, start, (start,) * (seats + 1)))
        if self.secret is None:
            return
        if commitment(self.secret) != body["commitment"]:
            yield Check.LUCK, "the server's secret doesn't match its commitment"
        self.seed = seed_from(self.secret, body["words"])
        # A tournament gives its tables their seats, and its own file shows how.
        given = "tournament" in body
        if list(body["seating"]) != (list(range(seats)) if given else Stream(self.seed, SEATING).shuffle(range(seats))):
            yield Check.LUCK, "the seats were not drawn from the seed"

    def _enter(self, row: Row, turn: int, entry: Entry) -> _Problems:
        if turn != self.position.turn:
            yield Check.FACTS, f"entry {self.position.turn} was expected in row {row.seq}, but this is entry {turn}"
        if self.seed is not None and not follows(self.seed, turn, entry.drawn):
            yield Check.LUCK, f"the numbers drawn in row {row.seq} are not those that the seed gives"
        self.drawn.append((turn, entry.drawn))
        yield from self._check_order(row, entry.choices.get(-1 if row.seat is None else row.seat))
        yield from self._check_box(row, entry)
        if self.seed is not None and self.can_play:
            self.made_again += 1
            yield from self._make_again(row, turn, entry, self.seed)
        state, views = fold(self.position.state, entry.facts), watch(self.position.views, entry.facts)
        self._positions.append(LogPosition(turn, turn + 1, state, views))
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

    def _check_box(self, row: Row, entry: Entry) -> _Problems:
        """Each sealed choice must be in its turn's entry, unless one choice alone ended the turn early.

        The seat of the row has closed the turn, so it had sealed nothing: it could have exchanged its choice after seeing the others.
        """
        if len(entry.choices) == 1 and not entry.alone and row.seat in entry.choices:
            return
        for seat, choice in self.box.items():
            if seat == row.seat or entry.choices.get(seat) != choice:
                yield Check.CHOICES, f"the sealed choice of seat {seat} is not in row {row.seq}"

    def _make_again(self, row: Row, turn: int, entry: Entry, seed: bytes) -> _Problems:
        before = Position(self.rules, self.began["seats"], seed, self.position.state, turn)
        draw = Stream(seed, turn)
        try:
            for seat, choice in entry.choices.items():
                before.check(seat, choice)
        except Refused as refused:
            yield Check.CHOICES, f"a choice in row {row.seq} was against the rules: {refused.text}"
            return
        dealing = not entry.choices and turn == 0
        if not dealing and not _closes(before, entry):
            yield Check.CHOICES, f"row {row.seq} closes its turn without the choices of everyone who was asked"
        state, rules = before.state, self.rules
        story = rules.setup(state, draw) if dealing else rules.resolve(state, entry.choices, draw)
        try:
            _, again = before.enter(story, draw, entry.choices, entry.alone)
        except NONSENSE as error:
            yield Check.CHOICES, f"the choices of row {row.seq} can't be replayed: {error}"
            return
        # As they are written: a 1 equals true, and is another record.
        if codec.dumps(again) != codec.dumps(entry):
            yield Check.CHOICES, f"the choices of row {row.seq}, made again, lead to other facts"

    def _seal(self, row: Row, turn: int, choice: Choice) -> _Problems:
        seat = _seat(row)
        opened = self.position.turn
        if turn != opened:
            yield Check.CHOICES, f"row {row.seq} seals a choice for turn {turn}, but turn {opened} is open"
        yield from self._check_order(row, choice)
        self.box[seat] = choice
        if self.seed is not None and self.can_play:
            before = Position(self.rules, self.began["seats"], self.seed, self.position.state, turn)
            try:
                before.check(seat, choice)
            except Refused as refused:
                yield Check.CHOICES, f"the choice in row {row.seq} was against the rules: {refused.text}"

    def _check_bot(self, row: Row, body: Mapping[str, Any], choice: Choice | None) -> _Problems:
        """A bot must choose the same again with what its seat saw; choices of other versions can't be made again."""
        if row.by != Actor.BOT or not self.with_bots:
            return
        written, seat, turn = str(body.get("bot", "no version")), _seat(row), self.position.turn
        bot = next((name for name in BOTS if signature(name) == written), None)
        decision = self.rules.asks(self.position.views[seat], seat)
        if bot is None or decision is None or self.seed is None or not self.can_play:
            self.bots_retired[written] += 1
            return
        self.bots_again += 1
        seed = bot_seed(self.seed, turn, seat)
        if think_here(BotTurn(bot, self.rules, self.position.views[seat], decision, seed)) != choice:
            yield Check.CHOICES, f"row {row.seq} is not what the bot {written} chooses with what seat {seat} saw"

    def _check_names(self, row: Row, body: dict[str, Any]) -> _Problems:
        """A sealed choice must name its game and seat, so that its fingerprint stands for no other."""
        named = "game" in body or "seat" in body
        if named and (body.get("game"), body.get("seat")) != (row.game, row.seat):
            yield Check.CHOICES, f"the sealed choice in row {row.seq} names another game or seat than its row"
        if named:
            self.seals = self.seals.after(row)
        if not named and self.began.get("fingerprints"):
            yield Check.CHOICES, f"the sealed choice in row {row.seq} names no game and seat"

    def _check_lists(self, row: Row, body: dict[str, Any]) -> _Problems:
        """A row that closes a turn must have the fingerprints of all choices that were sealed in it."""
        stated = {name: body[name] for name in ("sealed", "all_sealed") if name in body}
        expected, self.seals = self.seals.closing(body, row.seat), Seals()
        if stated != expected:
            yield Check.CHOICES, f"row {row.seq} does not have the fingerprints of the choices sealed in its turn"

    def _undo(self, row: Row, first: int) -> _Problems:
        while self.position.closed >= max(first, 0):
            self._positions.pop()
        self.box = {}
        if self.position.turn != first:
            yield Check.FACTS, f"row {row.seq} takes back the entries from {first} on, which are not there"

    def _rewind(self, row: Row, first: int, turn: int) -> _Problems:
        yield from self._undo(row, first)
        newest = self._newest
        if turn <= newest:
            says = f"row {row.seq} opens turn {turn}, though {newest} has been open: known luck would come again"
            yield Check.LUCK, says
        self._newest = turn
        self._positions[-1] = replace(self.position, turn=turn)
        if row.seat is None:
            # The orders were left for turns that no longer exist. Where a player took a missed turn back, they stay.
            self.orders = {}

    def _set_order(self, row: Row, order: Order | None) -> None:
        seat = _seat(row)
        if row.by == Actor.ORDER:
            # The order has a message for its owner, and may answer as well: then the choice is in the next row.
            choice = self._answer(row, seat)
            if choice is not None:
                self._announced[seat] = choice
        elif order is None:
            self.orders.pop(seat, None)
        else:
            self.orders[seat] = order

    def _check_order(self, row: Row, choice: Choice | None) -> _Problems:
        """A standing order's choice must be its answer, which only asking it again shows."""
        if row.by != Actor.ORDER:
            return
        seat = _seat(row)
        expected = self._announced.pop(seat, None) or self._answer(row, seat)
        if self.orders_known and expected != choice:
            yield Check.CHOICES, f"the choice in row {row.seq} is not what the standing order of seat {seat} says"

    def _answer(self, row: Row, seat: int) -> Choice | None:
        """The choice of the seat's standing order, which then continues."""
        if not self.can_play:
            # Only the rules of that version know how the order continued after an answer.
            self.orders_known = False
            return None
        order = self.orders.pop(seat, None)
        if order is None:
            return None
        result = answer(order, self.rules, self.position.views[seat], seat)
        if result.order is not None:
            self.orders[seat] = result.order
        return result.choice


def _closes(before: Position, entry: Entry) -> bool:
    """Whether these choices could close the turn: everyone's who is asked, or one that ends it early."""
    asks, choices = before.asks(), entry.choices
    if choices.keys() == asks.keys():
        return True
    return len(choices) == 1 and all(choice.verb in asks[seat].closes for seat, choice in choices.items())


def _seat(row: Row) -> int:
    if row.seat is None:
        raise ValueError("no seat is named")
    return row.seat
