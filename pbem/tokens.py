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
from base64 import b32decode, b32encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from functools import cache
from itertools import pairwise

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

_CORRECT = "Correct the list of keys, or restore it from the backup."
_MAC_BYTES = 15
_ROW_BYTES = 5
# All of the MAC that is left in the shortest piece of a token that is still hidden: 72 bits.
_PAD_FROM = 9
_PROOF_LENGTH = 21
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
    ENTRY = "e"


PLACEHOLDER = re.compile(rb"0[%s][a-z2-7]{30}1" % "".join(Purpose).encode())
"""The placeholder of a token in a stored email, or what a player wrote to look like one."""


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

    def token(self, purpose: Purpose, row: int, nonce: int) -> str:
        """The token of a row under this key."""
        if not (0 <= row <= MOST_ROW and 0 <= nonce <= MOST_NONCE):
            raise ValueError(f"no link has row {row} and nonce {nonce}")
        return _signed(self, f"link/{purpose}", row, nonce.to_bytes(8))

    def row_in(self, token: bytes) -> int:
        """The row in the bytes of a token, without the id of its key; the last may be missing."""
        return int.from_bytes(token[:_ROW_BYTES]) ^ _pad(self, token[_ROW_BYTES:])


@dataclass(frozen=True, slots=True)
class Keyring:
    """The root keys, newest first: the newest signs, all are accepted."""

    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        if not self.keys:
            raise BadInput("There is no key.", remedy="Create one with `pbem init`.")
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
        return self.keys[0].token(purpose, row, nonce)

    def row_of(self, token: str) -> int:
        """The row that a token names, in upper or lower case: enough to look it up, and no proof. Raises NotFound."""
        key = self._find(token[0].lower()) if _TOKEN.fullmatch(token) else None
        if key is None:
            raise NotFound("There is nothing at this address.", why="It is not one of our links.")
        return key.row_in(_bytes(token[1:]))

    def verify(self, token: str, purpose: Purpose, row: int, nonce: int) -> bool:
        """Whether this server made the token for exactly this, in the same time for yes and no."""
        if not _TOKEN.fullmatch(token):
            return False
        token = token.lower()
        key = self._find(token[0])
        return key is not None and hmac.compare_digest(token, key.token(purpose, row, nonce))

    def alias(self, kind: str, row: int, mark: str = "") -> str:
        """The name of a row in a form: it tells nothing of how many rows there are, and nobody can make one up.

        A mark is something that no other row ever has, so that the name fits no row which gets this number after a restore.
        """
        return _signed(self.keys[0], f"alias/{kind}", row, mark.encode())

    def row_of_alias(self, kind: str, alias: str, mark_of: Callable[[int], str] = lambda _row: "") -> int:
        """The row of this kind that a form names, if it still has its mark. Raises NotFound."""
        row = self.row_of(alias)
        key = self._find(alias[0].lower())
        if key is None or not hmac.compare_digest(
            alias.lower(), _signed(key, f"alias/{kind}", row, mark_of(row).encode())
        ):
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
        for placeholder in set(PLACEHOLDER.findall(stored)):
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
            sent = sent.replace(placeholder, key.token(purpose, row, nonces[row]).encode())
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


def _signed(key: Key, label: str, row: int, more: bytes = b"") -> str:
    mac = hmac.digest(key.subkey(label), row.to_bytes(_ROW_BYTES) + more, "sha256")[:_MAC_BYTES]
    return key.id + _text((row ^ _pad(key, mac)).to_bytes(_ROW_BYTES) + mac)


def _pad(key: Key, mac: bytes) -> int:
    """The pad of a token's row. A MAC is as good as random, and so is its pad."""
    return int.from_bytes(hashlib.blake2b(mac[:_PAD_FROM], key=key.subkey("row"), digest_size=_ROW_BYTES).digest())


def _placeholder(key: Key, purpose: Purpose, row: int) -> str:
    number = row.to_bytes(_ROW_BYTES)
    proof = hmac.digest(key.subkey(f"placeholder/{purpose}"), number, "sha256")
    return f"0{purpose}{key.id}{_text(number)}{_text(proof)[:_PROOF_LENGTH]}1"


def _key(at: int, entry: str) -> Key:
    try:
        id_, made, secret = entry.split(":")
        return Key(id_, date.fromisoformat(made), _bytes(secret))
    except ValueError:
        # `from None`: the entry is a secret, and a traceback would show it.
        raise BadInput(
            f"Key {at} of the list can't be read.",
            why="A key is written id:date:secret, newest first.",
            remedy=_CORRECT,
        ) from None


def _text(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=").lower()


def _bytes(text: str) -> bytes:
    return b32decode(text.upper())
