"""The sources of time and random bytes, so that both can be arguments.

The edges (web, worker, commands) hold one Clock and one Randomness and pass their values down. `domain/` and `engine/` may
not import this module. A moment always has a time zone.
"""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_UNBROKEN: Final = 0.5


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time, in UTC."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)


class StepWatch:
    """A comparison of a clock with a steady one, which nobody sets. It starts at the last `rebase`."""

    def __init__(self, clock: Clock, steady: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._steady = steady
        self._offset = self._measured()

    def step(self) -> timedelta:
        """How far the clock was set forward since, or back if negative."""
        return self._measured() - self._offset

    def rebase(self, step: timedelta) -> None:
        """Take this step as dealt with."""
        self._offset += step

    def _measured(self) -> timedelta:
        """The clock's lead over the steady one, in one unbroken look at both."""
        while True:
            before = self._steady()
            now = self._clock.now()
            after = self._steady()
            if after - before < _UNBROKEN:
                return now - _EPOCH - timedelta(seconds=after)


class ClockSetError(Exception):
    """Raised by a `WatchedClock` that was set forward."""


class WatchedClock:
    """A clock for work that cannot be undone: it tells no time after it was set forward. `is_ahead` says whether it was."""

    def __init__(self, clock: Clock, is_ahead: Callable[[], bool]) -> None:
        self._clock = clock
        self._is_ahead = is_ahead

    def now(self) -> datetime:
        """The current time, in UTC. Raises ClockSetError."""
        now = self._clock.now()
        # Asked afterwards, so that no step before this moment is missed.
        if self._is_ahead():
            raise ClockSetError
        return now


class Randomness(Protocol):
    """A source of unpredictable bytes: seeds, nonces, keys, names of games."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""


class SystemRandomness:
    """The operating system's cryptographic source; the only one for a server with real players."""

    def bytes(self, count: int, /) -> bytes:
        """That many random bytes."""
        return secrets.token_bytes(count)
