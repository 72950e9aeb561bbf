"""One-time codes of six digits beside the passphrase: the only module that knows their library. It stores nothing."""

from base64 import b32encode
from datetime import datetime
from hmac import compare_digest
from typing import Final

from pyotp import TOTP

from pbem.clock import Randomness

_SECRET_BYTES: Final = 20
"""As long as the hash used, as the standard recommends."""

_NEIGHBOURS: Final = (-1, 0, 1)
"""Codes of the steps before and after are accepted too: clocks differ, and people type slowly."""


def new_secret(randomness: Randomness) -> str:
    """A new secret, in the form that authenticator apps take."""
    return b32encode(randomness.bytes(_SECRET_BYTES)).decode()


def address(secret: str, name: str, site: str) -> str:
    """The secret as a URI for authenticator apps."""
    return TOTP(secret).provisioning_uri(name=name, issuer_name=site)


def step_of(secret: str, code: str, now: datetime, used: int | None) -> int | None:
    """The time step of a code; None if it is wrong, or not newer than the last one used."""
    totp = TOTP(secret)
    typed = "".join(code.split()).encode()
    for difference in _NEIGHBOURS:
        step = totp.timecode(now) + difference
        if (used is None or step > used) and compare_digest(totp.generate_otp(step).encode(), typed):
            return step
    return None
