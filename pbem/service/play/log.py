"""The log of a game: rows chained by hash, their kinds and bodies.

A body is canonical JSON that names seats, never people or addresses. This is the only place that defines the kinds of
rows and what their bodies hold.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any, Final, NamedTuple

from engine import codec
from engine.game import Game
from engine.table import Entry
from pbem import metrics
from pbem.clock import Randomness
from pbem.domain import hash_chain
from pbem.domain.causes import Cause
from pbem.lru import LRU
from pbem.plugins.away import loads
from pbem.service.play.seals import NO_SEALS, SEALS, seals_of
from pbem.service.server import Server
from pbem.store import games, log
from pbem.store.database import Tx
from pbem.store.games import GameRow


class Kind(StrEnum):
    """The kind of a row."""

    BEGAN = "Began"  # the game, its options, the players' words and the commitment
    ENTRY = "Entry"  # choices, facts and random draws
    SEALED = "Sealed"  # a sealed choice was put in the box
    WITHDRAWN = "Withdrawn"  # a sealed choice was taken back
    UNDONE = "Undone"  # entries were taken back before anyone had learnt of them
    REWOUND = "Rewound"  # the game continues from an earlier turn: later entries no longer stand
    ORDER = "Order"  # a standing order was set or dropped
    RESIGNED = "Resigned"  # a player has left a running game
    OFFERED = "Offered"  # a seat is offered to substitutes; until one takes it, its player keeps it
    SEATED = "Seated"  # a seat has a new player: a person, a substitute or a bot
    MERGED = "Merged"  # two addresses of the seat's player were merged; the player is the same
    PAUSED = "Paused"
    RESUMED = "Resumed"
    EXTENDED = "Extended"  # a seat was given more time
    DELAYED = "Delayed"  # an outage of the server or its email moved deadlines
    CORRECTED = "Corrected"  # a setting of the table or a player's name was corrected
    REDACTED = "Redacted"  # the text of a message was removed
    FROZEN = "Frozen"  # nothing can be decided until an organiser has checked the log
    UNFROZEN = "Unfrozen"
    VOIDED = "Voided"  # the game ended without a result
    REVEALED = "Revealed"  # the server's secret, once the game is over


TAKES_BACK: Final = frozenset({Kind.UNDONE, Kind.REWOUND})
"""Kinds of rows that cancel the entries from a turn on; their bodies name it as `from`.

Nobody had been asked by email after an undone entry, so its turns are used again: their links are ended, and a form names
the head, so none from before fits.
After a rewind the game continues with a new turn: no random stream is used twice, and no earlier link fits.
"""

CLOSES_TURN: Final = TAKES_BACK | {Kind.ENTRY, Kind.VOIDED}
"""Kinds of rows that close the open turn; their bodies bind the server to its sealed choices."""

PUBLIC: Final = frozenset(
    {Kind.PAUSED, Kind.RESUMED, Kind.EXTENDED, Kind.DELAYED, Kind.REWOUND, Kind.CORRECTED, Kind.REDACTED, Kind.FROZEN}
    | {Kind.UNFROZEN, Kind.VOIDED, Kind.OFFERED, Kind.SEATED, Kind.RESIGNED, Kind.MERGED}
)
"""Kinds of rows whose bodies everyone at the table may read, by `public_body_of`."""


class LogWriter:
    """Rows being added to the log of one game, with the head of its chain."""

    def __init__(self, game: GameRow, at: datetime, randomness: Randomness) -> None:
        self.rows: list[hash_chain.Row] = []
        self.seq = game.seq
        self.head = game.head
        self.entry_head = game.entry_head
        self.seals = seals_of(game)
        self._game = game
        self._at = at
        self._randomness = randomness

    def add(self, kind: Kind, seat: int | None, by: str, body: Any) -> None:
        if kind in CLOSES_TURN:
            body, self.seals = body | self.seals.closing(body, seat), NO_SEALS
        row = hash_chain.next_row(
            self.head,
            game=self._game.key,
            seq=self.seq + 1,
            kind=kind,
            seat=seat,
            by=by,
            at=self._at,
            rules=self._game.rules,
            body=codec.dumps(body).encode(),
            nonce=self._randomness.bytes(hash_chain.NONCE_BYTES),
        )
        self.rows.append(row)
        metrics.count_row(kind, by)
        self.seq, self.head = row.seq, row.hash
        if kind is Kind.SEALED:
            self.seals = self.seals.after(row)
        if kind is Kind.ENTRY or kind in TAKES_BACK:
            self.entry_head = row.hash

    def entries(
        self, first: int, entries: Iterable[Entry], seat: int | None, by: str, maker: Mapping[str, Any] | None = None
    ) -> None:
        """Append the entries of one choice; those after the first followed automatically.

        `maker` says more of who made the choice: `public` that it was the clock, and that anyone at the table could have
        named it; `bot` the signature of the bot.
        """
        for turn, entry in enumerate(entries, start=first):
            self.add(Kind.ENTRY, seat, by, {"turn": turn, "entry": entry, **(maker or {})})
            seat, by, maker = None, "table", None

    def snapshot(self) -> dict[str, Any]:
        """The columns of the game that follow its log."""
        heads = {"seq": self.seq, "head": self.head, "entry_head": self.entry_head}
        return heads | {"seals": self.seals.dumps()}


_RENAMED: Final = {"window": "turn", "number": "turn", "silent_limit": "missed_limit"}
"""Field names in bodies of version 1 of the game file, with their current names."""


MOST_READ: Final = 1000
"""Bodies in memory: some megabytes."""

READ: Final[LRU[dict[str, Any]]] = LRU(MOST_READ)
"""Bodies of late rows, by their rules and the hash of the row: the page of every seat begins with the same ones."""


def body_of(game: Game[Any], row: hash_chain.Row) -> Any:
    """The body of a row, as values of the engine."""
    assert row.body is not None, "a game's own rows are never redacted"
    return _with_current_names(loads(game, row.body.decode()))


def json_body_of(row: hash_chain.Row) -> Any:
    """The body of a row as plain JSON, readable where the rules may be missing."""
    assert row.body is not None, "a game's own rows are never redacted"
    return _with_current_names(json.loads(row.body))


def is_canonical(row: hash_chain.Row) -> bool:
    """Whether a body is as a log writes it, so that every program reads the same: whole numbers, and no name twice."""
    assert row.body is not None, "a game's own rows are never redacted"
    text = row.body.decode()
    return codec.dumps(json.loads(text, parse_float=str)) == text


def public_body_of(row: hash_chain.Row) -> Mapping[str, Any]:
    """What everyone at the table may read of a row's body: nothing for other kinds than PUBLIC.

    The seals of a turn that it closed are left out, because they tell who had answered it: anyone can work out what they
    would be if nobody else had.
    """
    body = json_body_of(row) if row.kind in PUBLIC else {}
    return {name: value for name, value in body.items() if name not in SEALS}


def _with_current_names(body: Any) -> Any:
    return {_RENAMED.get(name, name): value for name, value in body.items()} if isinstance(body, dict) else body


SECRET: Final = frozenset({Kind.SEALED, Kind.WITHDRAWN, Kind.ORDER})
"""Kinds of rows that show that a seat has decided something the others do not know of. Nor may they learn how many there are."""

KNOWN_TO_ALL: Final = tuple(kind for kind in Kind if kind not in SECRET)
"""All other kinds. Everyone at the table knows, or may know, of these rows."""


class Maker(NamedTuple):
    """Who or what made a choice; `public` if it was the clock and anyone at the table could have named the choice."""

    by: str
    public: bool


@dataclass(frozen=True, slots=True)
class StandingEntry:
    """An entry that was not taken back: its turn, the row that holds it, and who made it, for each seat where several did.

    `sealed` are the fingerprints of the choices in it that were sealed; `at` is when the turn ended.
    """

    turn: int
    seq: int
    by: str
    entry: Entry
    at: datetime
    makers: Mapping[int, Maker] = field(default_factory=dict)
    sealed: tuple[str, ...] = ()

    def is_clocks(self, seat: int) -> bool:
        """Whether the clock made this seat's choice."""
        maker = self.makers.get(seat)
        return maker is not None and maker.by == Cause.CLOCK


def causes(standing: StandingEntry, reader: int, *, ended: bool) -> dict[int, Cause]:
    """Why choices of an entry were made that no person made, by seat, as far as a reader may know.

    While the game runs, a standing order is its player's secret, and so is the clock unless anyone could have named the
    choice: the default may follow from a hand, and so tell of it.
    """
    found: dict[int, Cause] = dict.fromkeys(standing.entry.alone & standing.entry.choices.keys(), Cause.ONLY)
    for seat, maker in standing.makers.items():
        known = ended or seat == reader or maker.public or maker.by == Cause.BOT
        if known and maker.by in _CAUSES and seat in standing.entry.choices.keys() - standing.entry.alone:
            found[seat] = Cause(maker.by)
    return found


_CAUSES: Final = frozenset(Cause)


def standing_entries(game: Game[Any], rows: Iterable[hash_chain.Row]) -> list[StandingEntry]:
    """The entries that were not taken back, oldest first."""
    standing: list[StandingEntry] = []
    makers: dict[int, Maker] = {}
    for row in rows:
        if row.kind == Kind.SEALED:
            makers |= _maker(row)
        elif row.kind == Kind.ENTRY:
            standing.append(_standing(row, body_of(game, row), makers))
            makers = {}
        elif row.kind in TAKES_BACK:
            since = body_of(game, row)["from"]
            standing, makers = [entry for entry in standing if entry.turn < since], {}
    return standing


def unopened_turn(rows: Iterable[hash_chain.Row]) -> int:
    """The number after those of all turns that have ever been open, whether or not they still stand.

    It is one more than the open turn's, and higher after an undo: the turn that was taken back with it had its number too.
    """
    opening = (Kind.ENTRY, Kind.REWOUND)
    return 1 + max(
        (json_body_of(row)["turn"] + (row.kind == Kind.ENTRY) for row in rows if row.kind in opening), default=0
    )


def latest_entries(game: Game[Any], rows_back: Iterable[hash_chain.Row], since: int) -> list[StandingEntry]:
    """The standing entries from a turn on, oldest first; reads the log backwards, only as far as needed."""
    return list(takewhile(lambda entry: entry.turn >= since, entries_back(game, rows_back)))[::-1]


def entries_back(game: Game[Any], rows_back: Iterable[hash_chain.Row]) -> Iterator[StandingEntry]:
    """The standing entries, newest first, from the log read backwards on demand."""
    undone_from: int | None = None
    entry: StandingEntry | None = None
    makers: dict[int, Maker] = {}
    for row in rows_back:
        if row.kind == Kind.SEALED:
            # The last one of a seat is met first.
            makers = _maker(row) | makers
            continue
        if row.kind != Kind.ENTRY and row.kind not in TAKES_BACK:
            continue
        if entry is not None:
            yield replace(entry, makers={**makers, **entry.makers})
            entry = None
        makers = {}
        body = READ.get((game, row.hash)) or READ.put((game, row.hash), body_of(game, row))
        if row.kind in TAKES_BACK:
            undone_from = body["from"] if undone_from is None else min(undone_from, body["from"])
        elif undone_from is None or body["turn"] < undone_from:
            undone_from = None
            entry = _standing(row, body, {})
    if entry is not None:
        yield replace(entry, makers={**makers, **entry.makers})


def _standing(row: hash_chain.Row, body: dict[str, Any], makers: Mapping[int, Maker]) -> StandingEntry:
    """The entry of a row; `makers` made its sealed choices."""
    sealed = tuple(body.get("sealed", ()))
    return StandingEntry(body["turn"], row.seq, row.by, body["entry"], row.at, {**makers, **_maker(row)}, sealed)


def _maker(row: hash_chain.Row) -> dict[int, Maker]:
    """Who made the choice of a row, by its seat."""
    if row.seat is None:
        return {}
    return {row.seat: Maker(row.by, row.by == Cause.CLOCK and bool(json_body_of(row).get("public")))}


def sealed_in(entries: Collection[StandingEntry], seat: int) -> tuple[int, tuple[str, ...]] | None:
    """The last of these turns with sealed choices and their fingerprints, one in which the seat has chosen if there is any."""
    with_seals = (standing for standing in entries if standing.sealed)
    last = max(with_seals, key=lambda each: (seat in each.entry.choices, each.turn), default=None)
    return None if last is None else (last.turn, last.sealed)


def write(tx: Tx, row: GameRow, record: LogWriter, **changes: Any) -> GameRow:
    """Write rows that are not moves, and the game with its new head; returns that game."""
    log.append(tx, row.id, record.rows)
    new = record.snapshot() | changes
    games.advance(tx, row, new)
    record.rows.clear()
    return row._replace(**new)


def add_row(
    tx: Tx, server: Server, game: GameRow, kind: Kind, seat: int | None, by: str, body: Mapping[str, str | int]
) -> GameRow:
    """Append one row to the log of a game; returns the game with its new head."""
    record = LogWriter(game, server.now(), server.randomness)
    record.add(kind, seat, by, body)
    return write(tx, game, record)
