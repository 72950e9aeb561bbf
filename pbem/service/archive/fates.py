"""Fates of sealed choices: what became of each, by the fingerprint that its player was shown.

A log binds the server to every choice that was sealed, but only the player knows which one should count. So a verifier
tells for a fingerprint whether its choice is in an entry, and if not, why.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine.decisions import Choice
from pbem.domain import hash_chain
from pbem.service.play.log import CLOSES_TURN, TAKES_BACK, Kind

SHORTEST: Final = hash_chain.FINGERPRINT_DIGITS
"""Digits of a fingerprint that are enough: nobody can make another choice that begins with them."""


class Fate(StrEnum):
    """What became of a sealed choice."""

    COUNTS = "counts"
    EXCHANGED = "exchanged"
    """Its seat has another choice in the entry. No honest server writes such a log, and a problem says so too."""
    REPLACED = "replaced"
    TAKEN_BACK = "taken back"
    DROPPED = "dropped"
    """Its turn ended early, or was taken back, and it counted for nothing."""
    UNDONE = "undone"
    """It counted in an entry that was taken back later."""
    WAITS = "waits"


class SealedFate(NamedTuple):
    """The fate of one sealed choice: its row and turn, and the last row that had to do with it."""

    fingerprint: str
    seat: int
    turn: int
    seq: int
    fate: Fate
    by: int

    def __str__(self) -> str:
        """A sentence about it."""
        return f"{self.fingerprint}: sealed by seat {self.seat} in turn {self.turn}, row {self.seq}; {self._what}."

    @property
    def _what(self) -> str:
        row = f"row {self.by}"
        return {
            Fate.COUNTS: f"it counts: {row} has it",
            Fate.EXCHANGED: f"another choice of this seat is in its place in {row}",
            Fate.REPLACED: f"replaced in {row}",
            Fate.TAKEN_BACK: f"taken back in {row}",
            Fate.DROPPED: f"dropped when {row} ended its turn",
            Fate.UNDONE: f"it counted until {row}, which took its turn back",
            Fate.WAITS: "it is still sealed",
        }[self.fate]


@dataclass(slots=True)
class Fates:
    """The fates of all sealed choices of a log read so far, by row."""

    of: dict[int, SealedFate] = field(default_factory=dict)
    _box: dict[int, tuple[int, Choice]] = field(default_factory=dict)

    def read(self, row: hash_chain.Row, body: Mapping[str, Any]) -> None:
        """Read the next row, with its body as values of the engine."""
        seat = -1 if row.seat is None else row.seat
        if row.kind == Kind.SEALED:
            self._end(seat, Fate.REPLACED, row.seq)
            self.of[row.seq] = SealedFate(row.body_hash.hex(), seat, body["turn"], row.seq, Fate.WAITS, row.seq)
            self._box[seat] = row.seq, body["choice"]
        elif row.kind == Kind.WITHDRAWN:
            self._end(seat, Fate.TAKEN_BACK, row.seq)
        elif row.kind in CLOSES_TURN:
            choices = body["entry"].choices if row.kind == Kind.ENTRY else {}
            for each, (_seq, choice) in [*self._box.items()]:
                self._end(each, _fate(each, choice, choices, seat), row.seq)
        if row.kind in TAKES_BACK:
            for seq, fate in self.of.items():
                if fate.fate is Fate.COUNTS and fate.turn >= body["from"]:
                    self.of[seq] = fate._replace(fate=Fate.UNDONE, by=row.seq)

    def with_fingerprints(self, fingerprints: Collection[str]) -> Iterator[SealedFate]:
        """The fates of the choices with these fingerprints; their first digits are enough."""
        asked = tuple(digits for each in fingerprints if len(digits := digits_of(each)) >= SHORTEST)
        return (fate for fate in self.of.values() if fate.fingerprint.startswith(asked))

    def missing(self, fingerprints: Collection[str]) -> list[str]:
        """Those of these fingerprints that no sealed choice has."""
        return [each for each in fingerprints if not any(self.with_fingerprints([each]))]

    def _end(self, seat: int, fate: Fate, by: int) -> None:
        sealed = self._box.pop(seat, None)
        if sealed is not None:
            self.of[sealed[0]] = self.of[sealed[0]]._replace(fate=fate, by=by)


def digits_of(fingerprint: str) -> str:
    """A fingerprint as logs have it, however it was typed."""
    return "".join(fingerprint.lower().split())


def _fate(seat: int, choice: Choice, choices: Mapping[int, Choice], closer: int) -> Fate:
    """The fate of a choice in the box when its turn ends."""
    if seat not in choices:
        return Fate.DROPPED
    if seat == closer and len(choices) == 1:
        return Fate.REPLACED
    return Fate.COUNTS if seat != closer and choices[seat] == choice else Fate.EXCHANGED
