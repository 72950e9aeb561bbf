"""Keys, and the tokens of the links and mail addresses that are made with them.

A token is 33 characters of base 32 in lower case, so that it fits in the path of a link and in the
local part of a mail address, and survives mail systems that change the case of addresses:

    one character     id of the key
    8 characters      number of the row that says what the link is for (40 bits)
    24 characters     MAC over purpose, row and the row's generation (120 bits)

A token is derived, never kept: from the key, the row and the generation of the row, which is raised
to revoke. What is stored (the mails in the outbox) holds placeholders of the same length, and the
sender fills them in at the last moment. So nobody who reads the database or a backup can act.

The layout, the labels and the alphabet are in the mails that people have: they never change. This
module must never store, log or print a secret or a token, and it does not know what a row means.
"""

import hashlib
import hmac
import re
from base64 import b32decode, b32encode, b64decode
from collections.abc import Collection, Iterator, Mapping
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
MOST_GENERATION = 2**32 - 1
# 320 bits: more than HMAC-SHA256 can use, and 64 characters of base 32 without a remainder, so
# that a key has only one spelling.
SECRET_BYTES = 40
# A mail that lay unread for six weeks still works after its key went out of use.
LINGER = timedelta(days=45)

_CORRECT = "Correct the list of keys, or put it back from the backup."
_ROW = slice(1, 9)
_MAC_BYTES = 15
_TOKEN = re.compile(r"[a-z2-7]{33}", re.IGNORECASE | re.ASCII)


class Purpose(StrEnum):
    """What a link is for: the letter in its path. A token of one purpose is worthless for another."""

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


def row_of(token: str) -> int:
    """The row that a token names, in whatever case it came back: enough to look it up, and no reason to believe it.

    Anything that is no token is not found.
    """
    if not _TOKEN.fullmatch(token):
        raise NotFound("There is nothing at this address.", why="It is not one of our links.")
    return int.from_bytes(_bytes(token[_ROW]))


@cache
def _subkey(secret: bytes, label: str) -> bytes:
    """Made once: every token that is read or written needs one. There are as many as keys and labels."""
    return hmac.digest(secret, b"pbem/1/" + label.encode(), "sha256")


@dataclass(frozen=True, slots=True)
class Key:
    """One root key: its id in tokens, the day it was made, and the secret all others come from."""

    id: str
    made: date
    secret: bytes = field(repr=False)

    def subkey(self, label: str) -> bytes:
        """A key for one use only (HKDF's expansion step; the secret is random, so none to extract).

        Whoever learns a subkey, or makes us sign with it, learns nothing about the others.
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
        """The keys of a new server: one."""
        return cls((Key(ALPHABET[0], today, secret),))

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """The keys of a secret file or an environment variable, as `text` writes them.

        Lines or commas separate them; what follows a `#` on a line is a comment.
        """
        entries = re.sub(r"#.*", "", text).replace(",", " ").split()
        return cls(tuple(_key(at, entry) for at, entry in enumerate(entries, start=1)))

    def text(self) -> str:
        """All that is secret about a server, one key a line. Show it to nobody."""
        return "".join(f"{k.id}:{k.made.isoformat()}:{_text(k.secret)}\n" for k in self.keys)

    def make(self, purpose: Purpose, row: int, generation: int) -> str:
        """The token of a row, under the newest key."""
        return _token(self.keys[0], purpose, row, generation)

    def verify(self, token: str, purpose: Purpose, row: int, generation: int) -> bool:
        """Whether we made this token, for this and nothing else. Takes as long for yes as for no."""
        if not _TOKEN.fullmatch(token):
            return False
        token = token.lower()
        key = self._find(token[0])
        return key is not None and hmac.compare_digest(token, _token(key, purpose, row, generation))

    def placeholder(self, purpose: Purpose, row: int) -> str:
        """What stands in a stored mail in the place of a token.

        It is as long as a token, so that lines break at the same places, and it names the key, so
        that every try to send fills in the same token, whatever was rotated in between. Digits that
        no token has enclose it, and it proves that we made it: what a player writes at the table,
        even on purpose, never becomes a link.
        """
        return _placeholder(self.keys[0], purpose, row)

    def unfilled(self, stored: bytes) -> "Unfilled":
        """A stored mail with its places found."""
        found = {}
        # A mail has one place for each choice, and all of them stand for one link.
        for place in set(_PLACEHOLDER.findall(stored)):
            text = place.decode()
            purpose, key = Purpose(text[1]), self._find(text[2])
            row = int.from_bytes(_bytes(text[3:11]))
            if key and hmac.compare_digest(text, _placeholder(key, purpose, row)):
                found[place] = key, purpose, row
        return Unfilled(stored, found)

    def signer(self, salt: str) -> URLSafeTimedSerializer:
        """Signs what need not live in a mail address; the salt says what for."""
        return URLSafeTimedSerializer(
            [key.subkey("signer") for key in reversed(self.keys)],
            salt=salt,
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )

    def flask_secrets(self) -> list[bytes]:
        """For Flask: the first is SECRET_KEY, the others are SECRET_KEY_FALLBACKS."""
        return [key.subkey("flask") for key in self.keys]

    def _find(self, key_id: str) -> Key | None:
        return next((key for key in self.keys if key.id == key_id), None)


@dataclass(frozen=True, slots=True)
class Unfilled:
    """A mail as it is stored, with placeholders of ours where its tokens go."""

    stored: bytes = field(repr=False)
    places: Mapping[bytes, tuple[Key, Purpose, int]] = field(repr=False)

    @property
    def rows(self) -> frozenset[int]:
        """The rows whose tokens it waits for."""
        return frozenset(row for _, _, row in self.places.values())

    def filled(self, generations: Mapping[int, int]) -> bytes:
        """The mail as it is sent: a token in each place, by the generation of each row.

        Give it only the rows of the mail's reader: the others' links have no business in it.
        """
        sent = self.stored
        for placeholder, (key, purpose, row) in self.places.items():
            if row not in generations:
                raise Fault(f"A mail has a place for link {row}, which is not its reader's.")
            sent = sent.replace(placeholder, _token(key, purpose, row, generations[row]).encode())
        return sent


def rotate(keyring: Keyring, secret: bytes, today: date) -> Keyring:
    """A new key that signs from now on; links made with the others go on working."""
    # Ids go round, so that the id of a key that leaked comes back as late as possible.
    newest = ALPHABET.index(keyring.keys[0].id)
    taken = {key.id for key in keyring.keys}
    free = [id_ for id_ in ALPHABET[newest + 1 :] + ALPHABET[:newest] if id_ not in taken]
    if not free:
        raise BadInput("There are as many keys as there are ids.", remedy="Retire old ones first.")
    return Keyring((Key(free[0], today, secret), *keyring.keys))


def retire(keyring: Keyring, key_id: str, today: date) -> Keyring:
    """Without a key that has not signed anything for so long that nobody still needs it."""
    without = revoke(keyring, key_id)
    for newer, key in pairwise(keyring.keys):
        if key.id == key_id and today < newer.made + LINGER:
            raise BadInput(
                f"Key {key_id} signed links until {newer.made}, and they are still in use.",
                remedy=f"Retire it on {newer.made + LINGER}; if it leaked, revoke it now.",
            )
    return without


def revoke(keyring: Keyring, key_id: str) -> Keyring:
    """Without a key that leaked: every link made with it is dead at once.

    Mails that wait in the outbox with its placeholders have to be written anew.
    """
    if key_id == keyring.keys[0].id:
        raise BadInput(f"Key {key_id} is the one that signs.", remedy="Rotate first.")
    left = tuple(key for key in keyring.keys if key.id != key_id)
    if len(left) == len(keyring.keys):
        raise BadInput("There is no key with this id.", remedy="`pbem keys list` shows them.")
    return Keyring(left)


def contains_token(data: bytes, keyring: Keyring, generations: Collection[int] = range(8)) -> bool:
    """Whether a token that we made stands in these bytes: for checking that none is ever stored.

    It looks at the bytes as they are; whoever asks about a mail undoes transfer encodings first. A
    MAC can only be checked for a known generation: give those that the rows can have.
    """
    return any(
        keyring.verify(token, purpose, row_of(token), generation)
        for token in _runs(data)
        for purpose in Purpose
        for generation in generations
    )


def without_links(stored: bytes) -> bytes:
    """A stored mail with stars where its links would stand: fit to be shown to whoever it was for."""
    return _PLACEHOLDER.sub(b"*" * TOKEN_LENGTH, stored)


def without_tokens(stored: bytes) -> bytes:
    """The same, and without a token that somebody has written into it: fit to be shown to whoever may not act for its reader."""
    return _WRITTEN_SECRET.sub(_hidden, without_links(stored))


def redact(text: str) -> str:
    """The text without tokens, signed values and mail addresses: fit for a log."""
    if len(text) < _SHORTEST_SECRET and "@" not in text and "%" not in text:
        return text
    text = _SIGNED.sub("***", text)
    text = _ADDRESS.sub("<address>", text)
    return _SECRET.sub("***", text)


_PLACEHOLDER = re.compile(rb"0[%s][a-z2-7]{30}1" % "".join(Purpose).encode())
_PROOF_LENGTH = 21

# A token that was cut short is redacted too: from a piece that is shorter than this, ten characters
# (50 bits) are missing, which nobody guesses over a network. A client may write a letter as %61.
_SHORTEST_SECRET = 24
_SECRET = re.compile(rf"(?:[a-z2-7]|%[0-9a-f]{{2}}){{{_SHORTEST_SECRET},}}", re.IGNORECASE | re.ASCII)
# In a mail, the letters of a subject that is encoded look like one, and may hold one.
_WRITTEN_SECRET = re.compile(
    rb"=\?[\w-]+\?b\?(?P<encoded>[A-Za-z0-9+/=]*)\?=|" + _SECRET.pattern.encode(), re.IGNORECASE | re.ASCII
)
# What `signer` makes: payload, time and SHA-256 in URL-safe base 64. Here and below, looking behind
# keeps the search linear: a run of characters is entered at its beginning only.
_SIGNED = re.compile(r"(?<![\w-])[\w-]+\.[\w-]{5,8}\.[\w-]{43}", re.ASCII)
# Wider than an address: in a database's URL the password, which stands before the @, goes with it.
_ADDRESS_PART = r"[^\s@<>()\[\]\"',:;/\\?&]"
_AT = rf"{_ADDRESS_PART}+(?:@|%40){_ADDRESS_PART}+"
_ADDRESS = re.compile(rf"<{_AT}>|(?<!{_ADDRESS_PART}){_AT}")


def _hidden(found: re.Match[bytes]) -> bytes:
    """What is shown where something looks like a token: itself, if it is a word in base 64 that holds none."""
    encoded = found["encoded"]
    if encoded is not None and not _SECRET.search(b64decode(encoded).decode("utf-8", "replace")):
        return found[0]
    return b"*" * len(found[0])


def _token(key: Key, purpose: Purpose, row: int, generation: int) -> str:
    if not (0 <= row <= MOST_ROW and 0 <= generation <= MOST_GENERATION):
        raise ValueError(f"no link has row {row} and generation {generation}")
    number = row.to_bytes(5)
    mac = hmac.digest(key.subkey(f"link/{purpose}"), number + generation.to_bytes(4), "sha256")
    # Five bytes are eight letters, so what is written in one go is the same as piece by piece.
    return key.id + _text(number + mac[:_MAC_BYTES])


def _placeholder(key: Key, purpose: Purpose, row: int) -> str:
    number = row.to_bytes(5)
    proof = hmac.digest(key.subkey(f"placeholder/{purpose}"), number, "sha256")
    return f"0{purpose}{key.id}{_text(number)}{_text(proof)[:_PROOF_LENGTH]}1"


def _runs(data: bytes) -> Iterator[str]:
    """Every piece of the bytes that could be a token, wherever in a longer word it stands."""
    for run in re.findall(rb"[A-Za-z2-7]{33,}", data):
        for start in range(len(run) - TOKEN_LENGTH + 1):
            yield run[start : start + TOKEN_LENGTH].decode()


def _key(at: int, entry: str) -> Key:
    try:
        id_, made, secret = entry.split(":")
        return Key(id_, date.fromisoformat(made), _bytes(secret))
    except ValueError:
        # `from None`: the entry is a secret, and a trace would show it.
        raise BadInput(
            f"Key {at} of the list cannot be read.",
            why="A key is written id:date:secret, newest first.",
            remedy=_CORRECT,
        ) from None


def _text(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=").lower()


def _bytes(text: str) -> bytes:
    return b32decode(text.upper())
