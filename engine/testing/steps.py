"""The steps of a game: how much work one call into it may be, counted and never timed.

A step is a call of a function, or a line of the game's own modules. The same game takes the same steps on every machine,
so an endless loop becomes a trouble with a place, and not a check that hangs. The count begins again with every call that
the kit or a bot makes. A loop inside one built-in function, as in `sum(itertools.count())`, has no steps and is not seen.
This module must never look at a clock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

from engine import bots
from engine.game import Game, modules_of

MOST: Final = 1_000_000
"""The most steps of one call. The longest that our games take is a fiftieth of this."""

_HERE: Final = Path(__file__).parent
_OF_THE_GAME: Final = frozenset({str(_HERE / "faults.py")})
"""Planted faults are part of the game that they are planted in."""

_NO_CALLERS: Final = frozenset({str(_HERE / "coupled.py"), *_OF_THE_GAME})
"""Modules of the kit that a game calls back: chance is one."""

_CALLERS: Final = frozenset({str(path) for path in _HERE.glob("*.py")} | {str(bots.__file__)}) - _NO_CALLERS


class TooManySteps(BaseException):
    """Raised in the middle of a call that goes on too long. No `except Exception` of a game keeps it."""


@contextmanager
def bounded(game: Game[Any]) -> Iterator[None]:
    """Count the steps of everything that is called meanwhile, and raise TooManySteps in a call beyond the most.

    A debugger or a coverage tool sees nothing of it; a bench without `counting` leaves them alone.
    """
    before = sys.gettrace()
    sys.settrace(_Count(game).call)
    try:
        yield
    finally:
        # Python ends a trace that raised, so an outer one is always set again.
        sys.settrace(before)


class _Count:
    """The steps since the kit's last call."""

    def __init__(self, game: Game[Any]) -> None:
        self._files = _OF_THE_GAME | {str(module.__file__) for module in modules_of(game)}
        self._steps = 0

    def call(self, frame: FrameType, event: str, argument: Any) -> Any:
        caller = frame.f_back
        # A method for both kinds of step would double the time of a check.
        self._steps = 0 if caller is not None and caller.f_code.co_filename in _CALLERS else self._steps + 1
        # Where lines of the game follow, one of them stops: a traceback lacks a call that was stopped as it began.
        if self._steps > 2 * MOST:
            self._stop(frame)
        return self._line if frame.f_code.co_filename in self._files else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._steps += 1
        # As it returns, a call is no longer in the traceback.
        if self._steps > MOST and event == "line":
            self._stop(frame)
        return self._line

    def _stop(self, frame: FrameType) -> NoReturn:
        raise TooManySteps(f"{self._entrance(frame)}() goes on after {MOST:,} steps, and was stopped")

    def _entrance(self, frame: FrameType) -> str:
        """Return the function of the game that the kit or the engine called, or else the engine's."""
        name, at = frame.f_code.co_name, frame.f_back
        found = name if frame.f_code.co_filename in self._files else ""
        while at is not None and at.f_code.co_filename not in _CALLERS:
            found = at.f_code.co_name if at.f_code.co_filename in self._files else found
            at = at.f_back
        return found or name
