"""The sources of time and random bytes, so that both can be arguments.

The edges (web, worker, commands) hold one Clock and one Randomness and pass their values down. `domain/` and `engine/` may
not import this module. A moment always has a time zone.
"""

import random
import secrets
from datetime import UTC, datetime, timedelta
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


class FakeClock:
    """A clock that moves only when told to, for tests and simulations."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def now(self) -> datetime:
        """The time it was last set or advanced to, in UTC."""
        return self._now

    def set(self, now: datetime) -> None:
        """Set the clock, also back, as real clocks sometimes are. Raises ValueError for a moment without a time zone."""
        if now.utcoffset() is None:
            raise ValueError(f"{now.isoformat()} has no time zone, so it is not a moment")
        self._now = now.astimezone(UTC)

    def advance(self, by: timedelta) -> datetime:
        """Advance the clock and return the new time. Raises ValueError for a negative step."""
        if by < timedelta(0):
            raise ValueError(f"time does not pass by {by}; use set to step a clock back")
        self._now += by
        return self._now


class Randomness(Protocol):
    """A source of unpredictable bytes: seeds, nonces, keys, names of games."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""


class SystemRandomness:
    """The operating system's cryptographic source; the only one for a server with real players."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""
        return secrets.token_bytes(count)


class SeededRandomness:
    """A source that gives the same bytes for the same seed, so that a simulation can be repeated. It is not secret."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)  # noqa: S311 - predictability is its purpose

    def bytes(self, count: int, /) -> bytes:
        """The next bytes of the seed's stream."""
        return self._source.randbytes(count)
