"""Keys, and the tokens of links and email addresses made with them.

A token is 33 characters of base 32 in lower case, so that it fits in the path of a link and in the local part of an email
address, and survives mail systems that change the case of addresses:

    one character     id of the key
    8 characters      id of the link's row (40 bits), encrypted
    24 characters     MAC over purpose, row and the row's nonce (120 bits)

The pad that encrypts the row follows from the beginning of the MAC, and so from a nonce that nobody else knows: two tokens
tell nothing about each other, not even how many links were made in between. A row can be read before it is known what the
token is for, and also where a token was cut short.

A token is derived, never stored: from the key, the row and the row's nonce, a random number that is drawn again to revoke
it. The emails in the outbox hold placeholders of the same length, and the sender replaces them at the last moment. So
nobody who reads the database or a backup can act for a player. And a database that was put back to an earlier day gives
its row numbers out a second time, but never a nonce: a token made in between fits no row.

Players keep their emails, so the layout, the labels and the alphabet never change. This module must never store, log or
print a secret or a token, and it does not know the meaning of a row.
"""

import hashlib
import hmac
import re
from base64 import b32decode, b32encode, b64decode
from binascii import a2b_qp
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from functools import cache
from itertools import pairwise, takewhile
from urllib.parse import unquote_to_bytes

from itsdangerous import URLSafeTimedSerializer

from pbem.domain.errors import BadInput, Fault, NotFound

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
TOKEN_LENGTH = 33
MOST_ROW = 2**40 - 1
MOST_NONCE = 2**63 - 1
# 320 bits: more than HMAC-SHA256 can use, and 64 characters of base 32 without a remainder, so that a key has only one
# spelling.
SECRET_BYTES = 40
# An email left unread for six weeks still works after its key was replaced.
RETIREMENT_DELAY = timedelta(days=45)

_CORRECT = "Correct the list of keys, or put it back from the backup."
_MAC_BYTES = 15
_ROW_BYTES = 5
# All of the MAC that is left in the shortest piece of a token that is still hidden: 72 bits.
_PAD_FROM = 9
_TOKEN = re.compile(r"[a-z2-7]{33}", re.IGNORECASE | re.ASCII)


class Purpose(StrEnum):
    """The purpose of a link: the letter in its path. A token of one purpose is worthless for another."""

    MOVE = "m"
    SEAT = "s"
    REPLY = "r"
    BOUNCE = "b"
    STOP = "u"
    SIGN_IN = "l"
    API = "a"
    CONFIRM = "c"
    WRITTEN = "w"
    INVITE = "j"
    CALENDAR = "k"
    NEWS = "n"
    YES = "y"
    SHARE = "h"
    DISOWN = "d"


@cache
def _subkey(secret: bytes, label: str) -> bytes:
    """A derived key, cached because every token needs one. There are as many as keys and labels."""
    return hmac.digest(secret, b"pbem/1/" + label.encode(), "sha256")


@dataclass(frozen=True, slots=True)
class Key:
    """A root key: its id in tokens, the day it was made, and the secret from which all others are derived."""

    id: str
    made: date
    secret: bytes = field(repr=False)

    def subkey(self, label: str) -> bytes:
        """A key for one use only (HKDF's expansion step; the secret is random, so there is no extraction).

        A leaked subkey, or a signature made with it, reveals nothing about the others.
        """
        return _subkey(self.secret, label)


@dataclass(frozen=True, slots=True)
class Keyring:
    """The root keys, newest first: the newest signs, all are accepted."""

    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        if not self.keys:
            raise BadInput("There is no key.", remedy="Make one with `pbem init`.")
        for key in self.keys:
            if len(key.id) != 1 or key.id not in ALPHABET:
                raise BadInput("The id of a key is one letter, or a digit from 2 to 7.", remedy=_CORRECT)
            if len(key.secret) != SECRET_BYTES:
                raise BadInput(f"Key {key.id} does not have {SECRET_BYTES} bytes.", remedy=_CORRECT)
        if len({key.id for key in self.keys}) < len(self.keys):
            raise BadInput("Two keys have the same id.", remedy=_CORRECT)
        if len({key.secret for key in self.keys}) < len(self.keys):
            raise BadInput("Two keys have the same secret.", remedy=_CORRECT)

    @classmethod
    def new(cls, secret: bytes, today: date) -> "Keyring":
        """The keyring of a new server, with one key."""
        return cls((Key(ALPHABET[0], today, secret),))

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """Parse the keys of a secret file or an environment variable, in the form of `text`. Raises BadInput.

        Lines or commas separate them; a `#` begins a comment.
        """
        entries = re.sub(r"#.*", "", text).replace(",", " ").split()
        return cls(tuple(_key(at, entry) for at, entry in enumerate(entries, start=1)))

    def text(self) -> str:
        """The keys with their secrets, one a line. Show it to nobody."""
        return "".join(f"{k.id}:{k.made.isoformat()}:{_text(k.secret)}\n" for k in self.keys)

    @property
    def fingerprints(self) -> frozenset[str]:
        """A name for each key that nobody can turn back into it, to recognise it by."""
        return frozenset(key.subkey("fingerprint").hex() for key in self.keys)

    def make(self, purpose: Purpose, row: int, nonce: int) -> str:
        """The token of a row, under the newest key."""
        return _token(self.keys[0], purpose, row, nonce)

    def row_of(self, token: str) -> int:
        """The row that a token names, in upper or lower case: enough to look it up, and no proof. Raises NotFound."""
        key = self._find(token[0].lower()) if _TOKEN.fullmatch(token) else None
        if key is None:
            raise NotFound("There is nothing at this address.", why="It is not one of our links.")
        return _row(key, _bytes(token[1:]))

    def verify(self, token: str, purpose: Purpose, row: int, nonce: int) -> bool:
        """Whether this server made the token for exactly this, in the same time for yes and no."""
        if not _TOKEN.fullmatch(token):
            return False
        token = token.lower()
        key = self._find(token[0])
        return key is not None and hmac.compare_digest(token, _token(key, purpose, row, nonce))

    def alias(self, kind: str, row: int) -> str:
        """The name of a row in a form: it tells nothing of how many rows there are, and nobody can make one up."""
        return _signed(self.keys[0], f"alias/{kind}", row)

    def row_of_alias(self, kind: str, alias: str) -> int:
        """The row of this kind that a form names. Raises NotFound."""
        row = self.row_of(alias)
        key = self._find(alias[0].lower())
        if key is None or not hmac.compare_digest(alias.lower(), _signed(key, f"alias/{kind}", row)):
            raise NotFound("There is nothing of this name.")
        return row

    def placeholder(self, purpose: Purpose, row: int) -> str:
        """The placeholder of a token in a stored email.

        It is as long as a token, so that lines break at the same places, and it names the key, so that every try to send
        inserts the same token even if keys were rotated in between. It begins and ends with digits that no token contains, and
        it proves that this server made it: a player cannot write one, so no text of a player ever becomes a link.
        """
        return _placeholder(self.keys[0], purpose, row)

    def template(self, stored: bytes) -> "EmailTemplate":
        """A stored email with its placeholders found."""
        places = {}
        # An email has a placeholder for each choice, often several for one link.
        for placeholder in set(_PLACEHOLDER.findall(stored)):
            text = placeholder.decode()
            purpose, key = Purpose(text[1]), self._find(text[2])
            row = int.from_bytes(_bytes(text[3:11]))
            if key and hmac.compare_digest(text, _placeholder(key, purpose, row)):
                places[placeholder] = key, purpose, row
        return EmailTemplate(stored, places)

    def signer(self, salt: str) -> URLSafeTimedSerializer:
        """A signer for values that need not fit in an email address; the salt names the use."""
        return URLSafeTimedSerializer(
            [key.subkey("signer") for key in reversed(self.keys)],
            salt=salt,
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )

    def flask_secrets(self) -> list[bytes]:
        """Secrets for Flask: the first is SECRET_KEY, the others are SECRET_KEY_FALLBACKS."""
        return [key.subkey("flask") for key in self.keys]

    def _find(self, key_id: str) -> Key | None:
        return next((key for key in self.keys if key.id == key_id), None)


@dataclass(frozen=True, slots=True)
class EmailTemplate:
    """A stored email, with placeholders for its tokens."""

    stored: bytes = field(repr=False)
    places: Mapping[bytes, tuple[Key, Purpose, int]] = field(repr=False)

    @property
    def rows(self) -> frozenset[int]:
        """The rows whose tokens it needs."""
        return frozenset(row for _, _, row in self.places.values())

    def fill(self, nonces: Mapping[int, int]) -> bytes:
        """The email as it is sent, with tokens by the nonce of each row. Raises Fault if a nonce is missing.

        Pass only rows of the email's reader: other people's links must never be in it.
        """
        sent = self.stored
        for placeholder, (key, purpose, row) in self.places.items():
            if row not in nonces:
                raise Fault(f"An email has a place for link {row}, which is not its reader's.")
            sent = sent.replace(placeholder, _token(key, purpose, row, nonces[row]).encode())
        return sent


def rotate(keyring: Keyring, secret: bytes, today: date) -> Keyring:
    """The keyring with a new key that signs from now on; links made with the others still work. Raises BadInput."""
    # Ids are used in a cycle, so that the id of a leaked key is used again as late as possible.
    newest = ALPHABET.index(keyring.keys[0].id)
    taken = {key.id for key in keyring.keys}
    free = [id_ for id_ in ALPHABET[newest + 1 :] + ALPHABET[:newest] if id_ not in taken]
    if not free:
        raise BadInput("There are as many keys as there are ids.", remedy="Retire old ones first.")
    return Keyring((Key(free[0], today, secret), *keyring.keys))


def retire(keyring: Keyring, key_id: str, today: date) -> Keyring:
    """The keyring without a key that signed so long ago that no link still needs it. Raises BadInput."""
    without = revoke(keyring, key_id)
    for newer, key in pairwise(keyring.keys):
        if key.id == key_id and today < newer.made + RETIREMENT_DELAY:
            raise BadInput(
                f"Key {key_id} signed links until {newer.made}, and they are still in use.",
                remedy=f"Retire it on {newer.made + RETIREMENT_DELAY}; if it leaked, revoke it now.",
            )
    return without


def revoke(keyring: Keyring, key_id: str) -> Keyring:
    """The keyring without a leaked key: every link made with it stops working at once. Raises BadInput.

    Emails in the outbox with its placeholders have to be rendered again.
    """
    if key_id == keyring.keys[0].id:
        raise BadInput(f"Key {key_id} is the one that signs.", remedy="Rotate first.")
    left = tuple(key for key in keyring.keys if key.id != key_id)
    if len(left) == len(keyring.keys):
        raise BadInput("There is no key with this id.", remedy="`pbem keys list` shows them.")
    return Keyring(left)


def rows_in(data: bytes, keyring: Keyring) -> set[int]:
    """The rows named by all that looks like a token of these keys in the bytes, genuine or not."""
    return {row for run in _runs(data) for row, _at in _places(run, keyring)}


def hide_links(stored: bytes) -> bytes:
    """A stored email with stars instead of its links, for its own reader."""
    return _PLACEHOLDER.sub(b"*" * TOKEN_LENGTH, stored)


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


_PLACEHOLDER = re.compile(rb"0[%s][a-z2-7]{30}1" % "".join(Purpose).encode())
_PROOF_LENGTH = 21

# A truncated token is redacted too: a piece shorter than this lacks ten characters (50 bits), which nobody can guess over a
# network. A client may write a letter as %61.
_SHORTEST_SECRET = 24
_SECRET = re.compile(rf"(?:[a-z2-7]|%[0-9a-f]{{2}}){{{_SHORTEST_SECRET},}}", re.IGNORECASE | re.ASCII)
# Encoded words of a header, which together may contain a token.
_ENCODED = re.compile(rb"=\?[\w-]+\?([bq])\?[!->@-~]*\?=(?:\s+=\?[\w-]+\?\1\?[!->@-~]*\?=)*", re.IGNORECASE)
_PIECE = re.compile(rb"=\?[\w-]+\?[bq]\?([!->@-~]*)\?=", re.IGNORECASE)
_SOFT_BREAK = re.compile(rb"=\r?\n")
_RUN = re.compile(rb"[A-Za-z2-7]{%d,}" % _SHORTEST_SECRET)
# A letter as it may be spelled in an email, and a run of them; quoted-printable may break a line after each.
_LETTER = re.compile(rb"[A-Za-z2-7]|%(?:3[2-7]|[46][1-9A-Fa-f]|[57][0-9Aa])")
_SPELLED = re.compile(rb"(?:(?:%s)(?:=\r?\n(?=[A-Za-z2-7%%]))?){%d,}" % (_LETTER.pattern, _SHORTEST_SECRET))
_DIGITS = bytes.maketrans(ALPHABET.encode(), bytes(range(32)))
# A value from `signer`: payload, time and SHA-256 in URL-safe base 64. Here and below, the lookbehind keeps the search linear:
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
            _token(key, purpose, row, nonces[row])
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


def _token(key: Key, purpose: Purpose, row: int, nonce: int) -> str:
    if not (0 <= row <= MOST_ROW and 0 <= nonce <= MOST_NONCE):
        raise ValueError(f"no link has row {row} and nonce {nonce}")
    return _signed(key, f"link/{purpose}", row, nonce.to_bytes(8))


def _signed(key: Key, label: str, row: int, more: bytes = b"") -> str:
    mac = hmac.digest(key.subkey(label), row.to_bytes(_ROW_BYTES) + more, "sha256")[:_MAC_BYTES]
    return key.id + _text((row ^ _pad(key, mac)).to_bytes(_ROW_BYTES) + mac)


def _row(key: Key, token: bytes) -> int:
    """The row in the bytes of a token, even if the last are missing."""
    return int.from_bytes(token[:_ROW_BYTES]) ^ _pad(key, token[_ROW_BYTES:])


def _pad(key: Key, mac: bytes) -> int:
    """The pad of a token's row. A MAC is as good as random, and so is its pad."""
    return int.from_bytes(hashlib.blake2b(mac[:_PAD_FROM], key=key.subkey("row"), digest_size=_ROW_BYTES).digest())


def _placeholder(key: Key, purpose: Purpose, row: int) -> str:
    number = row.to_bytes(_ROW_BYTES)
    proof = hmac.digest(key.subkey(f"placeholder/{purpose}"), number, "sha256")
    return f"0{purpose}{key.id}{_text(number)}{_text(proof)[:_PROOF_LENGTH]}1"


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
            yield _row(key, (letters >> bits - 8 * size).to_bytes(size)), at


def _runs(data: bytes) -> Iterator[str]:
    """The words in the bytes that are long enough for a token, in lower case and without transfer encodings."""
    joined = _SOFT_BREAK.sub(b"", data)
    views = [data, joined, *(_decoded(found) for found in _ENCODED.finditer(data))]
    plain = dict.fromkeys([*views, *map(unquote_to_bytes, views)])
    return (run.decode().lower() for view in plain for run in _RUN.findall(view))


def _key(at: int, entry: str) -> Key:
    try:
        id_, made, secret = entry.split(":")
        return Key(id_, date.fromisoformat(made), _bytes(secret))
    except ValueError:
        # `from None`: the entry is a secret, and a traceback would show it.
        raise BadInput(
            f"Key {at} of the list cannot be read.",
            why="A key is written id:date:secret, newest first.",
            remedy=_CORRECT,
        ) from None


def _text(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=").lower()


def _bytes(text: str) -> bytes:
    return b32decode(text.upper())
