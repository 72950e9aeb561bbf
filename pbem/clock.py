"""The sources of time and random bytes, so that both can be arguments.

The edges (web, worker, commands) hold one Clock and one Randomness and pass their values down. `domain/` and `engine/` may
not import this module. A moment always has a time zone.
"""

import secrets
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time, in UTC."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)


class Randomness(Protocol):
    """A source of unpredictable bytes: seeds, nonces, keys, names of games."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""


class SystemRandomness:
    """The operating system's cryptographic source; the only one for a server with real players."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""
        return secrets.token_bytes(count)
