"""DKIM signatures, for relays that add none.

An email is signed after its tokens are inserted, again on every try, and with the time at which it was rendered, so the
same email gets the same signature, byte for byte. This module needs an extra library, so only a server with a signing key
imports it. No error in here may show the key.
"""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from dkim import DKIM, DKIMException
from dkim.crypto import UnparsableKeyError, parse_pem_private_key

from pbem.config.settings import Dkim
from pbem.domain.errors import BadInput

LEAST_BITS: Final = 1024
"""The shortest key that receivers accept (RFC 8301); they recommend 2048."""

_OVERSIGNED: Final = (
    b"from",
    b"to",
    b"subject",
    b"date",
    b"reply-to",
    b"content-type",
    b"list-unsubscribe",
    b"list-unsubscribe-post",
)
"""Signed once more than they occur, so that nobody can add another on the way, which a mail program might show."""

_SIGNED: Final = (
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
"""The identifier of the algorithm, rsaEncryption, which takes no parameters."""

_RELAXED: Final = (b"relaxed", b"relaxed")
"""Relays refold headers and drop blanks at the ends of lines, which readers never see."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A signer for one domain, with the private key whose public key is in the DNS under the selector."""

    domain: str
    selector: str
    _key: bytes = field(repr=False)

    def sign(self, content: bytes, written_at: datetime) -> bytes:
        """The email with a signature on top. Raises BadInput if the library cannot sign it."""
        message = _Dated(content, int(written_at.timestamp()))
        try:
            signature: bytes = message.sign(
                self.selector.encode(),
                self.domain.encode(),
                self._key,
                canonicalize=_RELAXED,
                include_headers=list(_names(message)),
            )
        except DKIMException as error:
            raise BadInput(f"An email couldn't be signed ({type(error).__name__}).") from None
        return signature + content

    def record(self) -> str:
        """The DNS record of the public key."""
        key = parse_pem_private_key(self._key)
        return f"v=DKIM1; k=rsa; p={b64encode(_public(key['modulus'], key['publicExponent'])).decode()}"


def signer(settings: Dkim) -> Signer:
    """The signer of these settings. Raises BadInput if the key is unusable."""
    key = settings.private_key.encode()
    try:
        bits = parse_pem_private_key(key)["modulus"].bit_length()
    except (UnparsableKeyError, AssertionError, ValueError, IndexError, TypeError):
        raise BadInput(
            "Emails can't be signed.",
            why="The key in PBEM_DKIM_PRIVATE_KEY isn't an RSA key.",
            remedy="Make one with `openssl genrsa -out dkim.pem 2048`, and name its file in PBEM_DKIM_PRIVATE_KEY_FILE.",
        ) from None
    if bits < LEAST_BITS:
        raise BadInput(
            "Emails can't be signed.",
            why=f"The key has {bits} bits, and receivers ignore keys below {LEAST_BITS}.",
            remedy="Make one with `openssl genrsa -out dkim.pem 2048`, and publish its public half.",
        )
    return Signer(settings.domain, settings.selector, key)


class _Dated(DKIM):  # type: ignore[misc]  # dkimpy has no types
    """A signature of an email with a given time."""

    def __init__(self, content: bytes, signed_at: int) -> None:
        super().__init__(content)
        self._signed_at = signed_at

    def gen_header(self, fields: list[tuple[bytes, bytes]], *rest: Any, **given: Any) -> Any:
        """The signature; the library would take the current time."""
        dated = [(name, str(self._signed_at).encode() if name == b"t" else value) for name, value in fields]
        return super().gen_header(dated, *rest, **given)


def _public(modulus: int, exponent: int) -> bytes:
    """The public half of an RSA key in its published form (SubjectPublicKeyInfo in DER)."""
    key = _der(_SEQUENCE, _der(_INTEGER, _unsigned_bytes(modulus)) + _der(_INTEGER, _unsigned_bytes(exponent)))
    return _der(_SEQUENCE, _der(_SEQUENCE, _RSA) + _der(_BIT_STRING, b"\0" + key))


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def _unsigned_bytes(number: int) -> bytes:
    """The bytes of a positive number, whose first bit is 0."""
    return number.to_bytes(number.bit_length() // 8 + 1)


def _names(message: DKIM) -> Iterator[bytes]:
    present = [name.lower() for name, _ in message.headers]
    yield from (name for name in present if name in _OVERSIGNED or name in _SIGNED)
    yield from _OVERSIGNED
