"""Seals of sealed choices: what binds the server to a choice before it tells anyone.

The fingerprint of a choice is the body hash of its row, which covers a nonce, the game, the turn, the seat and the choice.
The player of the seat gets fingerprint and nonce at once. The row that closes the turn lists the fingerprints of the choices
that count, and has one hash over those of all, so that none can be exchanged or left out afterwards.

A fingerprint tells nothing without its nonce, but how many there are does: who has answered, or has thought again. So a
seal of an open turn is shown to its own seat alone, and of a closed turn only the list, which is sorted by hash.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from engine import codec
from engine.decisions import Choice
from engine.table import Entry
from pbem.domain import hash_chain
from pbem.store.games import GameRow


class Proof(NamedTuple):
    """What a player can check a sealed choice by: its fingerprint is the SHA-256 of nonce and text."""

    fingerprint: str
    nonce: str
    text: str


@dataclass(frozen=True, slots=True)
class Seals:
    """The seals of the open turn: the latest proof of each seat, and the hash over the fingerprints of all.

    They take no more room however often players think again.
    """

    all: str = ""
    latest: tuple[tuple[int, Proof], ...] = ()

    def after(self, row: hash_chain.Row) -> "Seals":
        """The seals after one more sealed choice."""
        assert row.seat is not None
        others = (each for each in self.latest if each[0] != row.seat)
        hashed = hashlib.sha256(bytes.fromhex(self.all) + row.body_hash).hexdigest()
        return Seals(hashed, (*others, (row.seat, proof_of(row))))

    def of(self, seat: int) -> Proof | None:
        """The proof of the seat's choice; None if it has none, or one that was sealed before there were seals."""
        return dict(self.latest).get(seat)

    def closing(self, body: Mapping[str, Any], closer: int | None) -> dict[str, Any]:
        """What the row that closes the turn says of its seals; the choice of the seat that closes it was never sealed."""
        entry: Entry | None = body.get("entry")
        counting = () if entry is None else entry.choices.keys() - entry.alone - {closer}
        sealed = sorted(proof.fingerprint for seat, proof in self.latest if seat in counting)
        return ({"sealed": sealed} if sealed else {}) | ({"all_sealed": self.all} if self.all else {})

    def dumps(self) -> str:
        """The seals as the snapshot has them."""
        return codec.dumps([self.all, *((seat, *proof) for seat, proof in self.latest)]) if self.all else _NONE


SEALS: Final = frozenset({"sealed", "all_sealed"})
"""The fields of a body that `Seals.closing` adds."""

NO_SEALS: Final = Seals()
_NONE: Final = "[]"
"""No seals, as the snapshot has them. Most turns are answered by one seat alone."""


def seals_of(row: GameRow) -> Seals:
    """The seals of the open turn, from the snapshot."""
    if row.seals == _NONE:
        return NO_SEALS
    hashed, *latest = json.loads(row.seals)
    return Seals(hashed, tuple((seat, Proof(*proof)) for seat, *proof in latest))


def body(game: str, turn: int, seat: int, choice: Choice) -> dict[str, Any]:
    """The body of a sealed choice's row. It names everything, so that its hash alone binds the server."""
    return {"game": game, "turn": turn, "seat": seat, "choice": choice}


def proof_of(row: hash_chain.Row) -> Proof:
    """The proof of the choice that was sealed in this row."""
    assert row.body is not None
    assert row.nonce is not None, "a game's own rows are never redacted"
    return Proof(row.body_hash.hex(), row.nonce.hex(), row.body.decode())
