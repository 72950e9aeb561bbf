"""Codes of six digits that change every half minute: what an organiser may be asked for beside the passphrase.

This module alone knows the library that makes them. It writes nothing: who has codes, and which was used last, is kept by
those who call it.
"""

from base64 import b32encode
from datetime import datetime
from hmac import compare_digest
from typing import Final

from pyotp import TOTP

from pbem.clock import Randomness

_SECRET_BYTES: Final = 20
"""As long as the hash that codes are made with, as the standard recommends."""

_NEIGHBOURS: Final = (-1, 0, 1)
"""A code of the half minute before or after is taken too: clocks differ, and people type slowly."""


def new_secret(randomness: Randomness) -> str:
    """The secret of somebody's codes, as programs that show them want it typed."""
    return b32encode(randomness.bytes(_SECRET_BYTES)).decode()


def address(secret: str, name: str, site: str) -> str:
    """The same as the address that such programs open."""
    return TOTP(secret).provisioning_uri(name=name, issuer_name=site)


def step_of(secret: str, code: str, now: datetime, used: int | None) -> int | None:
    """The half minute that a code is of; None if it is wrong, or not newer than the one used last."""
    made = TOTP(secret)
    typed = "".join(code.split()).encode()
    for step in (made.timecode(now) + each for each in _NEIGHBOURS):
        if (used is None or step > used) and compare_digest(made.generate_otp(step).encode(), typed):
            return step
    return None
