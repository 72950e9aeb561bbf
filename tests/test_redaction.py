import re
import sys
from base64 import b64encode
from datetime import date, timedelta
from types import FrameType

import pytest
from hypothesis import given, strategies as st

from pbem.redaction import has_many_words, hide_links, hide_tokens, redact, rows_in
from pbem.tokens import MOST_ROW, TOKEN_LENGTH, Keyring, Purpose, rotate

TODAY = date(2026, 11, 21)
RING = Keyring.new(bytes(range(40)), TODAY)
ROTATED = rotate(RING, bytes(range(100, 140)), TODAY + timedelta(days=100))

purposes = st.sampled_from(Purpose)
rows = st.integers(0, MOST_ROW)


def test_a_stored_email_contains_no_token() -> None:
    stored = RING.placeholder(Purpose.MOVE, 9).encode()
    sent = RING.template(stored).fill({9: 2})
    nonces = {8: 1, 9: 2}
    assert hide_tokens(stored, RING, nonces) == stored
    assert hide_tokens(b"r+" + sent.upper() + b"@play.example.org", RING, nonces) == b"r+***@play.example.org"
    assert hide_tokens(b"abc" + sent + b"def", RING, nonces) == b"abc***def"
    assert hide_tokens(sent, ROTATED, nonces) == b"***"
    assert rows_in(b"abc" + sent + b"def", RING) >= {9}
    assert hide_tokens(sent, RING, {8: 2, 9: 3}) == sent
    assert hide_tokens(b"a" * 40, RING, nonces | {0: 0}) == b"a" * 40


@given(purposes, rows, st.integers(24, TOKEN_LENGTH))
def test_no_token_reaches_a_log(purpose: Purpose, row: int, length: int) -> None:
    token = RING.make(purpose, row, 0)[:length]
    for path in (f"/{purpose}/{token}/2", f"/{purpose}/{token.upper()}/2"):
        assert redact(f'"GET {path} HTTP/1.1" 200') == f'"GET /{purpose}/***/2 HTTP/1.1" 200'


def test_no_disguised_token_reaches_a_log() -> None:
    token = RING.make(Purpose.MOVE, 9, 0)
    assert redact(f"/m/%{ord(token[0]):x}{token[1:]}") == "/m/***"
    assert redact(f"/m/{token}{token}") == "/m/***"
    assert redact(RING.text()) == "a:2026-11-21:***\n"


def test_no_signed_value_reaches_a_log() -> None:
    for value in ({"seat": 3}, "x" * 2000):
        signed = RING.signer("feed").dumps(value)
        assert redact(f"/feed/{signed}?x") in ("/feed/***?x", "/feed/.***?x")


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("from anna@example.org: ok", "from <address>: ok"),
        ("Anna <anna.b+c@example.org>, you", "Anna <address>, you"),
        (f"RCPT TO:<r+{33 * 'a'}@play.example.org>", "RCPT TO:<address>"),
        ("zoë@münchen.example", "<address>"),
        ("/open?mail=anna%40example.org&x=1", "/open?<address>&x=1"),
        ("postgresql://pbem:hunter2@db/pbem", "postgresql://pbem:<address>/pbem"),
    ],
)
def test_no_address_reaches_a_log(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "deadline_passed_without_a_word game=12 seq=34",
        "head 0f3a9c1be8d27746a5f0",
        "2026-11-21T08:30:00.000001Z pbem.worker.ticks",
        "@ 3 o'clock, 5 @ 6",
    ],
)
def test_anything_else_stays_in_the_log(text: str) -> None:
    assert redact(text) == text


def test_an_email_shown_to_others_has_no_placeholder_and_no_token() -> None:
    token, place = RING.make(Purpose.SEAT, 9, 0), RING.placeholder(Purpose.SEAT, 9)
    stars = "*" * TOKEN_LENGTH
    stored = f"See https://play.example.org/s/{place} or /s/{token.upper()}/play"
    hidden = hide_tokens(hide_links(stored.encode()), RING, {9: 0}).decode()
    assert hidden == f"See https://play.example.org/s/{stars} or /s/***/play"
    subject = b"Subject: =?utf-8?b?%s?="
    plain = subject % b64encode("“Bid!”: the game starts".encode())
    assert hide_tokens(plain, RING, {9: 0}) == plain
    assert b"?b?" not in hide_tokens(subject % b64encode(f"“{token}”".encode()), RING, {9: 0})


@given(st.text())
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_many_tokens_are_hidden_with_no_more_passes_than_one() -> None:
    """A pass over an email of a megabyte takes some milliseconds, and one may quote hundreds of tokens."""

    def passes(many: int) -> int:
        nonces = {row: row * 7 for row in range(1, many + 1)}
        sent = b" ".join(RING.make(Purpose.MOVE, row, nonce).encode() for row, nonce in nonces.items())
        count = 0

        def note(_frame: FrameType, event: str, called: object) -> None:
            nonlocal count
            count += event == "c_call" and isinstance(getattr(called, "__self__", None), re.Pattern)

        sys.setprofile(note)
        try:
            hidden = hide_tokens(sent + b" =?utf-8?q?x?= " * 10, RING, nonces)
        finally:
            sys.setprofile(None)
        assert hidden.count(b"***") == many
        return count - many * PATTERNS_A_TOKEN

    assert passes(1) == passes(10) == passes(300)


PATTERNS_A_TOKEN = 2
"""Patterns that are looked for in the letters of one token alone."""


@pytest.mark.timeout(method="thread")
@pytest.mark.parametrize("text", ["<%40", "%40", "a@", "<a%40b@", "aaaaa.", "%4", "<", "a%40"])
def test_the_longest_line_of_a_log_is_redacted_at_once(text: str) -> None:
    """What goes back and forth takes hours for this, and ends the run by its limit for what hangs."""
    redact(text * (2**20 // len(text)))


def test_encoded_words_without_end_are_not_looked_at_one_by_one() -> None:
    assert has_many_words(b"=?utf-8?b?YQ==?= " * 4000)
    assert not has_many_words(b"To: " + b"=?utf-8?q?J=C3=B6rg?= <jo@example.org>,\r\n " * 800)
