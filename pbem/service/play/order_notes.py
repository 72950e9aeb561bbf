"""What a seat's standing orders tell its player: which of a list has answered, what was passed over, and why one has ended."""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any, Final

from engine.orders import Order
from engine.tell import Text
from pbem.domain import hash_chain
from pbem.service.play.log import TAKES_BACK, Kind, body_of
from pbem.service.play.rules import rules_of
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_IN_EMAIL: Final = 5
"""The most notes in one email, the latest."""

MOST_READ: Final = 40
"""The latest rows that are read for a page."""

_KINDS: Final = (Kind.ORDER, Kind.SEATED, Kind.WITHDRAWN, *sorted(TAKES_BACK))


def since(tx: Tx, row: GameRow, seat: int, seq: int) -> list[Text]:
    """The latest notes to a seat's present player after a row of the log, without those that an undo has made untrue."""
    return _notes(row, seat, takewhile(lambda each: each.seq > seq, _rows(tx, row, seat)))[-MOST_IN_EMAIL:]


def latest(tx: Tx, row: GameRow, seat: int, most: int) -> tuple[Text, ...]:
    """The last of these notes."""
    return tuple(_notes(row, seat, islice(_rows(tx, row, seat), MOST_READ))[-most:])


def _rows(tx: Tx, row: GameRow, seat: int) -> Iterator[hash_chain.Row]:
    """The rows that matter since the player has the seat, newest first."""
    rows = log.chain_back(tx, row.id, row.key, _KINDS)
    return takewhile(lambda each: (each.kind, each.seat) != (Kind.SEATED, seat), rows)


def _notes(row: GameRow, seat: int, rows_back: Iterator[hash_chain.Row]) -> list[Text]:
    found: list[dict[str, Any]] = []
    for each in reversed(list(rows_back)):
        if each.kind not in TAKES_BACK and each.seat != seat:
            continue
        body = body_of(rules_of(row), each)
        if each.kind in TAKES_BACK:
            found = [row_body for row_body in found if row_body.get("turn", -1) < body["from"]]
        elif each.kind == Kind.WITHDRAWN:
            found = [row_body for row_body in found if row_body.get("turn") != body["turn"]]
        elif each.kind == Kind.ORDER and body.get("note") is not None:
            found.append(body)
        elif each.kind == Kind.ORDER and each.by == "table" and body["order"] is not None:
            found = _without_ending_of(found, body["order"])
    return [row_body["note"] for row_body in found]


def _without_ending_of(found: list[dict[str, Any]], order: Order) -> list[dict[str, Any]]:
    """The notes without those of an order's ending, and of what ended after it, because an undo has brought it back."""
    ended = [number for number, row_body in enumerate(found) if row_body.get("ended") == order]
    return [row_body for number, row_body in enumerate(found) if not ended or number < ended[-1] or "turn" in row_body]
