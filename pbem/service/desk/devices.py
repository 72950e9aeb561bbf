"""Devices: browsers in which an organiser has signed in before, so that strangers cannot use up their attempts.

A device is a signed text in a cookie, for one organiser's name. It is no proof of anything else: signing in takes the
passphrase all the same. It is stored nowhere.
"""

import hmac
from base64 import b32decode, b32encode
from binascii import Error
from datetime import UTC, datetime, timedelta
from typing import Final

from pbem.service.server import Server
from pbem.tokens import Key

LIFETIME: Final = timedelta(days=365)

_TIME_BYTES: Final = 5
_KEY_BYTES: Final = 15
_MAC_BYTES: Final = 15
_LENGTH: Final = 56


def issue(server: Server, name: str) -> str:
    """A new device of the organiser with this name, who has just signed in there."""
    body = int(server.now().timestamp()).to_bytes(_TIME_BYTES) + server.randomness.bytes(_KEY_BYTES)
    return _text(body + _mac(server.keys.keys[0], body, name))


def is_known(server: Server, device: str, name: str) -> bool:
    """Whether the organiser with this name has signed in on this device within its lifetime."""
    try:
        data = b32decode(device.upper()) if len(device) == _LENGTH else b""
    except (Error, ValueError):
        data = b""
    if _text(data) != device:
        # Attempts are counted by the text, so there is one for each device.
        return False
    body, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
    if not any(hmac.compare_digest(mac, _mac(key, body, name)) for key in server.keys.keys):
        return False
    return server.now() < datetime.fromtimestamp(int.from_bytes(body[:_TIME_BYTES]), UTC) + LIFETIME


def _text(data: bytes) -> str:
    # In base 32, so that logs hide it as they hide tokens.
    return b32encode(data).decode().lower()


def _mac(key: Key, body: bytes, name: str) -> bytes:
    return hmac.digest(key.subkey("device"), body + name.encode(), "sha256")[:_MAC_BYTES]
