"""The hash chain that makes the log of a game tamper-evident.

Every row of a log carries a hash of itself and of the row before it, so that the last hash, the head, vouches for the
whole history. Its first digits, the fingerprint, are printed in every email, which makes the players' mailboxes
witnesses. A body is hashed together with a random nonce: neither a sealed bid, which is one of a few values, nor a
redacted text can be guessed from its hash.

    body hash = SHA-256(nonce || body)
    hash      = SHA-256(version byte || hash of the row before || fields || body hash)
    fields    = game, seq, kind, seat, by, at, rules; each as four bytes of length and UTF-8 text
    genesis   = SHA-256(version byte || "genesis" || game), the two as fields: before the first row

Players keep their emails, so the recipe is permanent: a change to any byte of it needs a new version byte, and this
module must go on verifying the old one. It knows nothing of the meaning of a body, and never reads the world: nonces and
moments are arguments.
"""

import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

VERSION = b"\x01"
NONCE_BYTES = 16
# Nonces are free to choose, so a forger who rewrites a history can try many to match a printed fingerprint; 80 bits are
# out of reach for that, and twenty digits can still be compared by eye.
FINGERPRINT_DIGITS = 20
# A report is for a person: after this many flaws, the next one says nothing new.
MOST_FLAWS = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a chain. A redacted row has lost its body and nonce, and kept everything else.

    `game` names the chain: a random public name, given to the game when it was created. It is not an id of this database,
    so a game can move to another server and still verify.
    """

    game: str
    seq: int
    kind: str
    seat: int | None
    by: str
    at: datetime
    rules: int
    body: bytes | None
    nonce: bytes | None
    body_hash: bytes
    hash: bytes


def genesis(game: str) -> bytes:
    """The head of a chain that has no row yet."""
    return hashlib.sha256(VERSION + _field("genesis") + _field(game)).digest()


def next_row(
    head: bytes,
    *,
    game: str,
    seq: int,
    kind: str,
    seat: int | None,
    by: str,
    at: datetime,
    rules: int,
    body: bytes,
    nonce: bytes,
) -> Row:
    """The row that follows the given head; its `hash` is the next head. Raises ValueError if the nonce has another length."""
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    body_hash = _body_hash(nonce, body)
    row = Row(game, seq, kind, seat, by, at, rules, body, nonce, body_hash, hash=b"")
    return replace(row, hash=_hash(head, row))


def fingerprint(head: bytes) -> str:
    """The fingerprint of a head, as printed in emails."""
    return head.hex()[:FINGERPRINT_DIGITS]


class FlawKind(StrEnum):
    """The kinds of flaw in a row or a chain."""

    GAME = "game"
    SEQ = "seq"
    BODY = "body"
    GONE = "gone"
    HASH = "hash"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Flaw:
    """One flaw: its row, its kind, and a sentence about it."""

    seq: int
    kind: FlawKind
    says: str


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """The result of verifying a whole chain."""

    rows: int
    head: bytes
    redacted: tuple[int, ...]
    """The rows without a text; the caller checks that each has a row that says who redacted it and why."""
    flaws: tuple[Flaw, ...]
    missing: tuple[str, ...]
    """What was printed and asked about, and no row of this chain has."""

    @property
    def sound(self) -> bool:
        """Whether the history is as written, as far as the given heads can tell."""
        return not self.flaws and not self.missing


def verify(
    rows: Iterable[Row],
    *,
    game: str,
    head: bytes | None = None,
    printed: Collection[str] = (),
    redactable: Collection[str] = (),
) -> ChainCheck:
    """Check a chain from its first row, one row at a time, and collect its flaws.

    A chain alone cannot show that its last rows were cut off, nor that it was rewritten from some row on. For that, pass
    the `head` stored elsewhere, and what was `printed` in emails: fingerprints, and whole body hashes. Only rows of the `redactable` kinds may have lost
    their text.
    """
    reading = _Reading(game, redactable, missing=dict.fromkeys(map(str.lower, printed)))
    for row in rows:
        reading.read(row)
        if len(reading.flaws) >= MOST_FLAWS:
            break
    else:
        reading.end(head)
    return ChainCheck(
        reading.rows, reading.head, tuple(reading.redacted), tuple(reading.flaws[:MOST_FLAWS]), tuple(reading.missing)
    )


class _Reading:
    """The state of a chain while it is being read."""

    def __init__(self, game: str, redactable: Collection[str], missing: dict[str, None]) -> None:
        self.game = game
        self.redactable = redactable
        self.missing = missing
        self.rows = 0
        self.seq = 0
        self.head = genesis(game)
        self.redacted: list[int] = []
        self.flaws: list[Flaw] = []

    def read(self, row: Row) -> None:
        self.flaws += (Flaw(row.seq, kind, says) for kind, says in self._flaws(row))
        if row.body is None:
            self.redacted.append(row.seq)
        self.missing.pop(fingerprint(row.hash), None)
        self.missing.pop(row.body_hash.hex(), None)
        # From here on the row counts as it is, so that one flaw is not reported at every row.
        self.rows, self.seq, self.head = self.rows + 1, row.seq, row.hash

    def end(self, head: bytes | None) -> None:
        if head is not None and not hmac.compare_digest(head, self.head):
            says = (
                f"the chain ends at row {self.seq} with head {fingerprint(self.head)}, but {fingerprint(head)} "
                "was expected: rows are missing at the end, or were added or replaced"
            )
            self.flaws.append(Flaw(self.seq, FlawKind.HEAD, says))

    def _flaws(self, row: Row) -> Iterator[tuple[FlawKind, str]]:
        if row.game != self.game:
            yield FlawKind.GAME, f"row {row.seq} belongs to another game"
        if row.seq != self.seq + 1:
            yield FlawKind.SEQ, f"row {self.seq + 1} was expected here, but this is row {row.seq}"
        elif not hmac.compare_digest(_hash(self.head, row), row.hash):
            # If the row before is missing, there is nothing to compare this one with.
            says = "one of its fields or its hash was altered, or the row before it was replaced"
            yield FlawKind.HASH, f"row {row.seq} breaks the chain: {says}"
        if row.body is None and row.nonce is None:
            if row.kind not in self.redactable:
                yield FlawKind.GONE, f"row {row.seq} ({row.kind}) has lost its text, which it may not"
        elif not _fits(row):
            yield FlawKind.BODY, f"the text of row {row.seq}, its nonce or its hash was altered"


def _fits(row: Row) -> bool:
    """Whether text and nonce are those hashed. The nonce's length counts, or bytes could move between the two."""
    if row.body is None or row.nonce is None or len(row.nonce) != NONCE_BYTES:
        return False
    return hmac.compare_digest(_body_hash(row.nonce, row.body), row.body_hash)


def _hash(head: bytes, row: Row) -> bytes:
    fields = (
        row.game,
        str(row.seq),
        row.kind,
        "" if row.seat is None else str(row.seat),
        row.by,
        _moment(row.at),
        str(row.rules),
    )
    hashed = b"".join((VERSION, head, *map(_field, fields), row.body_hash))
    return hashlib.sha256(hashed).digest()


def _body_hash(nonce: bytes, body: bytes) -> bytes:
    return hashlib.sha256(nonce + body).digest()


def _field(text: str) -> bytes:
    """A text with its length first: otherwise "ab" and "c" would hash like "a" and "bc"."""
    data = text.encode()
    return len(data).to_bytes(4, "big") + data


def _moment(at: datetime) -> str:
    """The same text for the same moment, whichever zone a database returns it in."""
    if at.utcoffset() is None:
        raise ValueError(f"{at.isoformat()} has no time zone, so it is not a moment")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
