import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pbem.domain.hash_chain import (
    MOST_FLAWS,
    NONCE_BYTES,
    ChainCheck,
    FlawKind,
    Row,
    fingerprint,
    genesis,
    next_row,
    verify,
)

GAME = "bq7xk2m4"
BEGAN = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
ROWS = 6


def written(game: str = GAME, count: int = ROWS) -> list[Row]:
    """A short history of a game with two seats and some table talk."""
    rows: list[Row] = []
    head = genesis(game)
    for seq in range(1, count + 1):
        kind = ("Began", "Sealed", "Entry", "Talk")[(seq - 1) % 4]
        row = next_row(
            head,
            game=game,
            seq=seq,
            kind=kind,
            seat=None if kind == "Began" else seq % 2,
            by="clock" if kind == "Began" else "person",
            at=BEGAN + timedelta(hours=seq, microseconds=seq),
            rules=1,
            body=b'{"n":%d}' % seq,
            nonce=bytes([seq]) * NONCE_BYTES,
        )
        rows.append(row)
        head = row.hash
    return rows


def read(rows: list[Row]) -> ChainCheck:
    """Verified as the server does it, which stores the head apart from the rows."""
    return verify(rows, game=GAME, head=written()[-1].hash, redactable=("Talk",))


def test_an_unchanged_history_is_sound() -> None:
    outcome = read(written())
    assert outcome.sound
    assert (outcome.rows, outcome.head, outcome.redacted) == (ROWS, written()[-1].hash, ())


def test_a_game_that_has_not_begun_has_a_sound_chain_of_its_own() -> None:
    assert verify([], game=GAME, head=genesis(GAME)).sound
    assert genesis(GAME) != genesis("another")


# Fixed values, so that no change of the code invalidates the fingerprints in old emails. The second form is the recipe of
# the module's docstring, spelled out by hand.
GENESIS = "514ee5253413d4221222690794d9aa0f70d8138ee53af92c43b04f729ef10372"
BODY_HASH = "a1d7499e8489be695648a610e3d46e1b3d87345c6336b923ac6cf081e0aeebda"
HASH = "0cb447cfa269fc1005b2fb20084a1bf7112162e14cfffcef0b3192d7c0be7ac6"


def test_the_golden_chain_has_not_changed() -> None:
    row = written()[1]
    assert genesis(GAME).hex() == GENESIS
    assert row.body_hash.hex() == BODY_HASH
    assert row.hash.hex() == HASH
    assert fingerprint(row.hash) == HASH[:20]


def test_the_recipe_is_the_documented_one() -> None:
    def field(text: bytes) -> bytes:
        return len(text).to_bytes(4, "big") + text

    first, second = written()[:2]
    body_hash = hashlib.sha256(b"\x02" * 16 + b'{"n":2}').digest()
    fields = (b"bq7xk2m4", b"2", b"Sealed", b"0", b"person", b"2026-11-21T10:30:00.000002Z", b"1")
    text = b"\x01" + first.hash + b"".join(map(field, fields)) + body_hash
    assert second.hash == hashlib.sha256(text).digest()
    assert genesis(GAME) == hashlib.sha256(b"\x01" + field(b"genesis") + field(b"bq7xk2m4")).digest()


texts = st.text(st.characters(codec="utf-8"), max_size=8)


def flipped(data: bytes, bit: int) -> bytes:
    at, bit = bit // 8 % len(data), bit % 8
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@dataclass(frozen=True)
class Forgery:
    """A way to change one field of a row to another value."""

    field: str
    values: st.SearchStrategy[Any]
    forge: Callable[[Any, Any], Any] = lambda old, new: new

    def __str__(self) -> str:
        return f"a-bit-of-{self.field}" if self.forge is flipped else self.field


bits = st.integers(0, 8 * 64)
FORGERIES = [
    Forgery("game", texts),
    Forgery("seq", st.integers(0, 2**40)),
    Forgery("kind", texts),
    Forgery("seat", st.none() | st.integers(0, 9)),
    Forgery("by", texts),
    Forgery("at", st.integers(1, 10**9), lambda at, us: at + timedelta(microseconds=us)),
    Forgery("rules", st.integers(0, 99)),
    Forgery("body", bits, flipped),
    Forgery("body", st.binary(max_size=20)),
    Forgery("nonce", bits, flipped),
    Forgery("nonce", st.none() | st.binary(max_size=20)),
    Forgery("body_hash", bits, flipped),
    Forgery("hash", bits, flipped),
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=str)
@given(data=st.data())
def test_any_change_of_any_field_of_any_row_is_detected(forgery: Forgery, data: st.DataObject) -> None:
    rows = written()
    at = data.draw(st.integers(0, ROWS - 1))
    old = getattr(rows[at], forgery.field)
    new = forgery.forge(old, data.draw(forgery.values))
    if new == old:
        return
    rows[at] = replace(rows[at], **{forgery.field: new})
    outcome = read(rows)
    assert not outcome.sound
    assert outcome.flaws[0].seq in (at + 1, rows[at].seq)


@given(st.integers(1, 5), st.integers(0, ROWS - 1))
def test_bytes_moved_between_nonce_and_body_are_detected(count: int, at: int) -> None:
    rows = written()
    row = rows[at]
    assert row.nonce is not None
    assert row.body is not None
    rows[at] = replace(row, nonce=row.nonce + row.body[:count], body=row.body[count:])
    assert [flaw.kind for flaw in read(rows).flaws] == [FlawKind.BODY]


@given(st.permutations(written()))
def test_any_other_order_is_detected(rows: list[Row]) -> None:
    assert read(rows).sound == (rows == written())


@given(st.integers(0, ROWS - 1))
def test_a_missing_row_is_detected_and_named(at: int) -> None:
    rows = written()
    del rows[at]
    flaw = read(rows).flaws[0]
    if at == ROWS - 1:
        assert flaw.kind is FlawKind.HEAD
    else:
        assert flaw.kind is FlawKind.SEQ
        assert flaw.says == f"row {at + 1} was expected here, but this is row {at + 2}"


@given(st.integers(0, ROWS - 1))
def test_a_repeated_row_is_detected(at: int) -> None:
    rows = written()
    rows.insert(at, rows[at])
    assert [flaw.kind for flaw in read(rows).flaws] == [FlawKind.SEQ]


def test_a_row_of_another_game_is_detected() -> None:
    rows = written()
    rows[2] = written("another")[2]
    assert read(rows).flaws[0].kind is FlawKind.GAME


def test_a_rewritten_history_does_not_match_the_separate_head() -> None:
    rows = written(count=ROWS - 1)
    rewritten = next_row(
        rows[-1].hash,
        game=GAME,
        seq=ROWS,
        kind="Entry",
        seat=0,
        by="person",
        at=BEGAN,
        rules=1,
        body=b"{}",
        nonce=bytes(NONCE_BYTES),
    )
    assert [flaw.kind for flaw in read([*rows, rewritten]).flaws] == [FlawKind.HEAD]


def test_a_printed_fingerprint_can_be_anywhere_in_the_history() -> None:
    printed = [fingerprint(row.hash) for row in written()]
    assert verify(written(), game=GAME, printed=[printed[2], printed[-1].upper()]).sound
    forged = verify(written(), game=GAME, printed=[printed[2], "0" * 20])
    assert forged.missing == ("0" * 20,)
    assert not forged.sound


def redacted(row: Row) -> Row:
    return replace(row, body=None, nonce=None)


def test_a_redacted_text_leaves_the_chain_sound_and_is_listed() -> None:
    rows = [redacted(row) if row.kind == "Talk" else row for row in written()]
    outcome = read(rows)
    assert outcome.sound
    assert outcome.redacted == (4,)


def test_a_move_cannot_lose_its_body() -> None:
    rows = [redacted(row) if row.kind == "Sealed" else row for row in written()]
    assert {flaw.kind for flaw in read(rows).flaws} == {FlawKind.GONE}


def test_a_redacted_text_loses_its_nonce_so_that_it_cannot_be_guessed() -> None:
    rows = [replace(row, body=None) if row.kind == "Talk" else row for row in written()]
    assert [flaw.kind for flaw in read(rows).flaws] == [FlawKind.BODY]


def test_one_flaw_does_not_hide_another() -> None:
    rows = written()
    rows[1] = replace(rows[1], by="bot")
    rows[4] = replace(rows[4], body=b"{}")
    assert [(flaw.seq, flaw.kind) for flaw in read(rows).flaws] == [(2, FlawKind.HASH), (5, FlawKind.BODY)]


def test_a_report_has_a_limited_number_of_flaws() -> None:
    rows = [replace(row, by="bot") for row in written(count=2 * MOST_FLAWS)]
    assert len(verify(rows, game=GAME).flaws) == MOST_FLAWS


def test_a_sealed_bid_cannot_be_guessed_from_its_hash() -> None:
    row = written()[1]
    assert row.body is not None
    other = next_row(
        genesis(GAME),
        game=GAME,
        seq=1,
        kind="Sealed",
        seat=0,
        by="person",
        at=BEGAN,
        rules=1,
        body=row.body,
        nonce=b"\xff" * NONCE_BYTES,
    )
    assert other.body_hash != row.body_hash


def test_a_moment_is_the_same_in_every_zone() -> None:
    rows = [replace(row, at=row.at.astimezone(timezone(timedelta(hours=5, minutes=45)))) for row in written()]
    assert read(rows).sound


def test_a_moment_without_a_zone_is_refused() -> None:
    rows = [replace(row, at=row.at.replace(tzinfo=None)) for row in written()]
    with pytest.raises(ValueError, match="no time zone"):
        read(rows)


@pytest.mark.parametrize("length", [0, NONCE_BYTES - 1, NONCE_BYTES + 1])
def test_a_nonce_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        next_row(
            genesis(GAME),
            game=GAME,
            seq=1,
            kind="Began",
            seat=None,
            by="clock",
            at=BEGAN,
            rules=1,
            body=b"{}",
            nonce=bytes(length),
        )
