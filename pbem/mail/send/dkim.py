"""DKIM signatures, for relays that make none: the domain's word that a mail left here as it is.

A mail is signed when its tokens are in their places, anew on every try, and with the moment at which it was written: the
same mail gets the same signature, byte for byte. This module needs an extra library, so whoever has a key to sign with
imports it, and nobody else. No error in here may show the key.
"""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from dkim import DKIM, DKIMException
from dkim.crypto import UnparsableKeyError, parse_pem_private_key

from pbem.config import Dkim
from pbem.domain.errors import BadInput

LEAST_BITS: Final = 1024
"""What receivers still believe (RFC 8301); 2048 is what they ask for."""

_ONCE_MORE: Final = (
    b"from",
    b"to",
    b"subject",
    b"date",
    b"reply-to",
    b"content-type",
    b"list-unsubscribe",
    b"list-unsubscribe-post",
)
"""Named once more than they are there, so that nobody adds another one on the way: a mail program might show that."""

_AS_OFTEN: Final = (
    b"message-id",
    b"in-reply-to",
    b"references",
    b"list-id",
    b"feedback-id",
    b"auto-submitted",
    b"content-language",
    b"content-transfer-encoding",
    b"mime-version",
)

_SEQUENCE: Final = 0x30
_INTEGER: Final = 0x02
_BIT_STRING: Final = 0x03
_RSA: Final = bytes.fromhex("06092a864886f70d0101010500")
"""The name of the algorithm, rsaEncryption, which takes no parameters."""

_RELAXED: Final = (b"relaxed", b"relaxed")
"""Relays fold headers anew and drop blanks at the ends of lines, which changes nothing that a reader sees."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs for one domain, with the key whose other half stands in the domain's DNS under the selector."""

    domain: str
    selector: str
    _key: bytes = field(repr=False)

    def signed(self, content: bytes, written_at: datetime) -> bytes:
        """The mail with a signature on top."""
        mail = _Dated(content, int(written_at.timestamp()))
        try:
            signature: bytes = mail.sign(
                self.selector.encode(),
                self.domain.encode(),
                self._key,
                canonicalize=_RELAXED,
                include_headers=list(_names(mail)),
            )
        except DKIMException as error:
            raise BadInput(f"A mail could not be signed ({type(error).__name__}).") from None
        return signature + content

    def record(self) -> str:
        """What has to stand in the DNS, so that receivers can check the signatures."""
        key = parse_pem_private_key(self._key)
        return f"v=DKIM1; k=rsa; p={b64encode(_public(key['modulus'], key['publicExponent'])).decode()}"


def signer(settings: Dkim) -> Signer:
    """What signs by these settings, or why nothing can."""
    key = settings.private_key.encode()
    try:
        bits = parse_pem_private_key(key)["modulus"].bit_length()
    except (UnparsableKeyError, AssertionError, ValueError, IndexError, TypeError):
        raise BadInput(
            "Mails cannot be signed.",
            why="The key in PBEM_DKIM_PRIVATE_KEY is no RSA key.",
            remedy="Make one with `openssl genrsa -out dkim.pem 2048`, and name its file in PBEM_DKIM_PRIVATE_KEY_FILE.",
        ) from None
    if bits < LEAST_BITS:
        raise BadInput(
            "Mails cannot be signed.",
            why=f"The key has {bits} bits, and receivers believe none below {LEAST_BITS}.",
            remedy="Make one with `openssl genrsa -out dkim.pem 2048`, and publish its other half.",
        )
    return Signer(settings.domain, settings.selector, key)


class _Dated(DKIM):  # type: ignore[misc]  # dkimpy says no types
    """A mail to be signed, with a moment that is not the present."""

    def __init__(self, content: bytes, signed_at: int) -> None:
        super().__init__(content)
        self._signed_at = signed_at

    def gen_header(self, fields: list[tuple[bytes, bytes]], *rest: Any, **given: Any) -> Any:
        """The signature; the library would read the clock for it."""
        dated = [(name, str(self._signed_at).encode() if name == b"t" else value) for name, value in fields]
        return super().gen_header(dated, *rest, **given)


def _public(modulus: int, exponent: int) -> bytes:
    """The public half of an RSA key as it is published (SubjectPublicKeyInfo in DER)."""
    key = _der(_SEQUENCE, _der(_INTEGER, _signed(modulus)) + _der(_INTEGER, _signed(exponent)))
    return _der(_SEQUENCE, _der(_SEQUENCE, _RSA) + _der(_BIT_STRING, b"\0" + key))


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def _signed(number: int) -> bytes:
    """A positive number whose first bit says so."""
    return number.to_bytes(number.bit_length() // 8 + 1)


def _names(mail: DKIM) -> Iterator[bytes]:
    there = [name.lower() for name, _ in mail.headers]
    yield from (name for name in there if name in _ONCE_MORE or name in _AS_OFTEN)
    yield from _ONCE_MORE
