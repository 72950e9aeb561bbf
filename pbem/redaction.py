"""Redaction: no token, signed value or address in a log, and no link in an email that is kept or shown to others.

A log loses all that looks like one of them. A kept email loses what is a token of this server, and nothing else, because
its reader needs the rest. This module must never store or log what it finds.
"""

import re
from base64 import b64decode
from binascii import a2b_qp
from collections.abc import Iterator, Mapping
from itertools import takewhile
from urllib.parse import unquote_to_bytes

from pbem.tokens import ALPHABET, PLACEHOLDER, TOKEN_LENGTH, Keyring, Purpose


def rows_in(data: bytes, keyring: Keyring) -> set[int]:
    """The rows named by all that looks like a token of these keys in the bytes, genuine or not."""
    return {row for run in _runs(data) for row, _at in _places(run, keyring)}


def has_many_words(data: bytes) -> bool:
    """Whether the bytes have more that may contain a token than people send, so that it is not looked at one by one."""
    return len(_PIECE.findall(data)) > _MOST_ENCODED or sum(map(len, _runs(data))) > _MOST_LETTERS


def hide_words(stored: bytes) -> bytes:
    """An email with stars instead of everything that is long enough for a token, in whatever spelling."""
    return _SPELLED.sub(b"***", _ENCODED.sub(b"***", stored))


def hide_links(stored: bytes) -> bytes:
    """A stored email with stars instead of its links, for its own reader."""
    return PLACEHOLDER.sub(b"*" * TOKEN_LENGTH, stored)


def hide_tokens(stored: bytes, keyring: Keyring, nonces: Mapping[int, int]) -> bytes:
    """An email with stars instead of the tokens of these rows, each given with its nonce, and of nothing else.

    A token is found in upper case, cut short, broken by quoted-printable, in an encoded header, or with letters as %61.
    """
    tokens = _Tokens(keyring, nonces)
    # One pass, however many there are: an email of a megabyte may quote hundreds.
    stored = _ENCODED.sub(lambda found: b"***" if tokens.are_in(_decoded(found)) else found[0], stored)
    return _SPELLED.sub(lambda found: tokens.hidden(found[0]), stored)


def redact(text: str) -> str:
    """The text without tokens, signed values and email addresses, for logs."""
    if len(text) < _SHORTEST_SECRET and "@" not in text and "%" not in text:
        return text
    text = _SIGNED.sub("***", text)
    text = _ADDRESS.sub("<address>", text)
    return _SECRET.sub("***", text)


# A truncated token is redacted too: a piece shorter than this lacks ten characters (50 bits), which nobody can guess over a
# network. A client may write a letter as %61.
_SHORTEST_SECRET = 24
# A token may begin at each of these letters, which takes a microsecond or two to rule out. Newsletters have a few thousand.
_MOST_LETTERS = 2**14
# A header with many recipients may have hundreds of encoded names, each of a few pieces.
_MOST_ENCODED = 3000
_SECRET = re.compile(rf"(?:[a-z2-7]|%[0-9a-f]{{2}}){{{_SHORTEST_SECRET},}}", re.IGNORECASE | re.ASCII)
# Encoded words of a header, which together may contain a token.
_ENCODED = re.compile(rb"=\?[\w-]+\?([bq])\?[!->@-~]*\?=(?:\s+=\?[\w-]+\?\1\?[!->@-~]*\?=)*", re.IGNORECASE)
_PIECE = re.compile(rb"=\?[\w-]+\?[bq]\?([!->@-~]*)\?=", re.IGNORECASE)
_SOFT_BREAK = re.compile(rb"=\r?\n")
_RUN = re.compile(rb"(?<![A-Za-z2-7])[A-Za-z2-7]{%d,}" % _SHORTEST_SECRET)
# A letter as it may be spelled in an email, and a run of them; quoted-printable may break a line after each.
_LETTER = re.compile(rb"[A-Za-z2-7]|%(?:3[2-7]|[46][1-9A-Fa-f]|[57][0-9Aa])")
_SPELLED = re.compile(
    rb"(?<![A-Za-z2-7])(?:(?:%s)(?:=\r?\n(?=[A-Za-z2-7%%]))?){%d,}" % (_LETTER.pattern, _SHORTEST_SECRET)
)
_DIGITS = bytes.maketrans(ALPHABET.encode(), bytes(range(32)))
# A value from `signer`: payload, time and SHA-256 in URL-safe base 64. Here, above and below, the lookbehind keeps the search linear:
# a run of characters is only matched from its beginning. No bracket needs another one, or a run would be tried from each %40.
_SIGNED = re.compile(r"(?<![\w-])[\w-]+\.[\w-]{5,8}\.[\w-]{43}", re.ASCII)
# Wider than an address: in a database URL it includes the password, which comes before the @.
_ADDRESS_PART = r"[^\s@<>()\[\]\"',:;/\\?&]"
_AT = rf"{_ADDRESS_PART}+(?:@|%40){_ADDRESS_PART}+"
_ADDRESS = re.compile(rf"<{_AT}>?|(?<!{_ADDRESS_PART}){_AT}")


class _Tokens:
    """The tokens of these rows, to be found in a text."""

    def __init__(self, keyring: Keyring, nonces: Mapping[int, int]) -> None:
        self._keyring = keyring
        whole = [
            key.token(purpose, row, nonces[row])
            for row in sorted(nonces)
            for key in keyring.keys
            for purpose in Purpose
        ]
        self._whole = {token[:_SHORTEST_SECRET]: token for token in whole}
        self._rows = nonces.keys()

    def are_in(self, text: bytes) -> bool:
        """Whether one of them is in a text, in whatever spelling."""
        return any(self._places(_letters(found[0])) for found in _SPELLED.finditer(text))

    def hidden(self, run: bytes) -> bytes:
        """A run of spelled letters with stars instead of these tokens."""
        places = self._places(_letters(run))
        if not places:
            return run
        ends = [0, *(found.end() for found in _LETTER.finditer(run))]
        pieces, shown_to = [], 0
        for begin, end in places:
            # A soft break before a token is no part of it.
            pieces += [run[shown_to : ends[begin]], b"***"]
            shown_to = ends[end]
        return b"".join([*pieces, run[shown_to:]])

    def _places(self, letters: str) -> list[tuple[int, int]]:
        """Where these tokens begin and end in a run of letters."""
        found: list[tuple[int, int]] = []
        for row, at in _places(letters, self._keyring):
            token = self._whole.get(letters[at : at + _SHORTEST_SECRET]) if row in self._rows else None
            if token is not None and (not found or at >= found[-1][1]):
                same = takewhile(
                    lambda pair: pair[0] == pair[1], zip(token, letters[at : at + TOKEN_LENGTH], strict=False)
                )
                found.append((at, at + sum(1 for _ in same)))
        return found


def _letters(run: bytes) -> str:
    """The letters that a run spells."""
    return unquote_to_bytes(_SOFT_BREAK.sub(b"", run)).decode().lower()


def _decoded(found: re.Match[bytes]) -> bytes:
    """The bytes of encoded words."""
    if found[1] in b"qQ":
        return b"".join(map(a2b_qp, _PIECE.findall(found[0])))
    # Without a strict check, the library leaves out what is not of the alphabet.
    pieces = (re.sub(rb"[^A-Za-z0-9+/]", b"", piece) for piece in _PIECE.findall(found[0]))
    return b"".join(b64decode(piece[: len(piece) - (len(piece) % 4 == 1)] + b"==") for piece in pieces)


def _places(run: str, keyring: Keyring) -> Iterator[tuple[int, int]]:
    """Where in a run of letters a token of these keys may begin, each with the row that it would name."""
    keys = {key.id: key for key in keyring.keys}
    bits = 5 * (_SHORTEST_SECRET - 1)
    size = bits // 8
    letters, most = 0, 2**bits - 1
    # What each place reads follows from the one before, letter by letter: a long email has a million places.
    for at, digit in enumerate(run.encode().translate(_DIGITS), start=1 - _SHORTEST_SECRET):
        letters = (letters << 5 | digit) & most
        if at >= 0 and (key := keys.get(run[at])) is not None:
            yield key.row_in((letters >> bits - 8 * size).to_bytes(size)), at


def _runs(data: bytes) -> Iterator[str]:
    """The words in the bytes that are long enough for a token, in lower case and without transfer encodings."""
    joined = _SOFT_BREAK.sub(b"", data)
    views = [data, joined, *(_decoded(found) for found in _ENCODED.finditer(data))]
    plain = dict.fromkeys([*views, *map(unquote_to_bytes, views)])
    return (run.decode().lower() for view in plain for run in _RUN.findall(view))
