"""What happens to a game becomes rows of its log, each chained to the one before.

A body is canonical JSON that names seats, never people or addresses. Which kinds there are, and what their bodies hold,
stands here and nowhere else.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any, Final

from engine import codec
from engine.game import Game
from engine.table import Entry
from pbem import metrics
from pbem.clock import Randomness
from pbem.domain import hash_chain
from pbem.plugins.away import loads
from pbem.service.server import Server
from pbem.store import games, log
from pbem.store.database import Tx
from pbem.store.games import GameRow


class Kind(StrEnum):
    """What a row of a log can be."""

    BEGAN = "Began"  # the game, its options, the words and the commitment
    ENTRY = "Entry"  # choices, facts and numbers drawn
    SEALED = "Sealed"  # a choice that waits in the box
    WITHDRAWN = "Withdrawn"  # a sealed choice was taken back
    UNDONE = "Undone"  # entries were taken back before they had told anybody anything
    REWOUND = "Rewound"  # the game goes on from an earlier place: the entries since then no longer stand
    ORDER = "Order"  # a standing order was set or dropped
    RESIGNED = "Resigned"  # a player has left a running game
    OFFERED = "Offered"  # others are asked to take a seat over; until one does, it stays its player's
    SEATED = "Seated"  # who plays a seat from now on: a person, a substitute or a bot
    MERGED = "Merged"  # two addresses of whoever plays a seat became one; nobody else plays it
    PAUSED = "Paused"
    RESUMED = "Resumed"
    EXTENDED = "Extended"  # a seat was given more time
    DELAYED = "Delayed"  # the server, or the way of its mails, was not there, and deadlines moved by that
    CORRECTED = "Corrected"  # something that was agreed, or how a player is called, had been wrong
    REDACTED = "Redacted"  # the text of something said at the table was taken away
    FROZEN = "Frozen"  # nothing can be decided until somebody has looked at the record
    UNFROZEN = "Unfrozen"
    VOIDED = "Voided"  # the game ended without a result
    REVEALED = "Revealed"  # the server's secret, when the game is over


TAKES_BACK: Final = frozenset({Kind.UNDONE, Kind.REWOUND})
"""Rows after which the entries from a number on no longer stand; their bodies name it as `from`.

What was undone told nobody anything, so its number is used again. What was rewound did: the turn that opens then has a
number that never was one, so no luck is drawn from a stream that was used, and no link or form of before fits it.
"""


class LogWriter:
    """Rows being added to the log of one game."""

    def __init__(self, game: GameRow, at: datetime, randomness: Randomness) -> None:
        self.rows: list[hash_chain.Row] = []
        self.seq = game.seq
        self.head = game.head
        self.entry_head = game.entry_head
        self._game = game
        self._at = at
        self._randomness = randomness

    def add(self, kind: Kind, seat: int | None, by: str, body: Any) -> None:
        """One row more."""
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
        if kind is Kind.ENTRY or kind in TAKES_BACK:
            self.entry_head = row.hash

    def entries(self, first: int, entries: Iterable[Entry], seat: int | None, by: str) -> None:
        """Entries made by one choice; those after the first answered themselves."""
        for turn, entry in enumerate(entries, start=first):
            self.add(Kind.ENTRY, seat, by, {"turn": turn, "entry": entry})
            seat, by = None, "table"


_RENAMED: Final = {"window": "turn", "number": "turn", "silent_limit": "missed_limit"}
"""Names in bodies of version 1 of the game file, and what they are called now."""


def body_of(game: Game[Any], row: hash_chain.Row) -> Any:
    """What a row says, as values of the engine."""
    assert row.body is not None, "a game's own rows are never redacted"
    return _as_now(loads(game, row.body.decode()))


def json_body_of(row: hash_chain.Row) -> Any:
    """What a row says, as it stands there: for what must be read where the rules may not be there."""
    assert row.body is not None, "a game's own rows are never redacted"
    return _as_now(json.loads(row.body))


def _as_now(body: Any) -> Any:
    return {_RENAMED.get(name, name): value for name, value in body.items()} if isinstance(body, dict) else body


@dataclass(frozen=True, slots=True)
class StandingEntry:
    """An entry that stands: its turn, the row of the log that holds it, and who made it."""

    turn: int
    seq: int
    by: str
    entry: Entry


def standing_entries(game: Game[Any], rows: Iterable[hash_chain.Row]) -> list[StandingEntry]:
    """The entries that still stand: those taken back are left out."""
    kept: list[StandingEntry] = []
    for row in rows:
        if row.kind == Kind.ENTRY:
            body = body_of(game, row)
            kept.append(StandingEntry(body["turn"], row.seq, row.by, body["entry"]))
        elif row.kind in TAKES_BACK:
            since = body_of(game, row)["from"]
            kept = [standing for standing in kept if standing.turn < since]
    return kept


def latest_entries(game: Game[Any], rows_back: Iterable[hash_chain.Row], since: int) -> list[StandingEntry]:
    """The entries from this number on that still stand, from the log read backwards, and no further than needed."""
    return list(takewhile(lambda standing: standing.turn >= since, entries_back(game, rows_back)))[::-1]


def entries_back(game: Game[Any], rows_back: Iterable[hash_chain.Row]) -> Iterator[StandingEntry]:
    """The entries that still stand, the last one first, from the log read backwards; it reads as far as it is asked."""
    undone_from: int | None = None
    for row in rows_back:
        if row.kind in TAKES_BACK:
            taken_back = body_of(game, row)["from"]
            undone_from = taken_back if undone_from is None else min(undone_from, taken_back)
        elif row.kind == Kind.ENTRY:
            body = body_of(game, row)
            if undone_from is not None and body["turn"] >= undone_from:
                continue
            undone_from = None
            yield StandingEntry(body["turn"], row.seq, row.by, body["entry"])


def write(tx: Tx, row: GameRow, record: LogWriter, **changes: Any) -> GameRow:
    """Write rows that are no moves, and the game after them; the game as it is then."""
    log.append(tx, row.id, record.rows)
    new: dict[str, Any] = {"seq": record.seq, "head": record.head, "entry_head": record.entry_head} | changes
    games.advance(tx, row, new)
    record.rows.clear()
    return row._replace(**new)


def add_row(
    tx: Tx, server: Server, game: GameRow, kind: Kind, seat: int | None, by: str, body: dict[str, str]
) -> GameRow:
    record = LogWriter(game, server.now(), server.randomness)
    record.add(kind, seat, by, body)
    return write(tx, game, record)
