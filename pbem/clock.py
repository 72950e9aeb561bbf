"""Where the time and the random bytes of the server come from, so that both can be arguments.

The edges (the web, the worker, the commands) hold one Clock and one Randomness and hand down what
these say. Nothing in `domain/` or `engine/` may import this module, nothing here may know what the
time or the bytes are for, and a moment without a time zone never passes.
"""

import random
import secrets
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The present moment, aware and in UTC."""
        return datetime.now(UTC)


class FakeClock:
    """A clock that moves only when it is told to: for tests, and for the simulator's fast time."""

    def __init__(self, now: datetime) -> None:
        self.set(now)

    def now(self) -> datetime:
        """The moment it was last set or advanced to, in UTC."""
        return self._now

    def set(self, now: datetime) -> None:
        """Jump to a moment, backwards too: real clocks are stepped, and the server must bear it."""
        if now.utcoffset() is None:
            raise ValueError(f"{now.isoformat()} has no time zone, so it is not a moment")
        self._now = now.astimezone(UTC)

    def advance(self, by: timedelta) -> datetime:
        """Let time pass, and say what time it is then. Going back is `set`, never a slip of a sign."""
        if by < timedelta(0):
            raise ValueError(f"time does not pass by {by}; use set to step a clock back")
        self._now += by
        return self._now


class Randomness(Protocol):
    """Gives bytes that nobody outside can foresee: seeds, nonces, keys, names of games."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""


class SystemRandomness:
    """The operating system's cryptographic source; the only one for a server with real players."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""
        return secrets.token_bytes(count)


class SeededRandomness:
    """The same bytes for the same seed, so that a simulated month can be run again. No secret."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)  # noqa: S311 - to be foreseen is its purpose

    def bytes(self, count: int, /) -> bytes:
        """The next bytes of this seed's stream."""
        return self._source.randbytes(count)
