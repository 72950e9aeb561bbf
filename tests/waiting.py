"""How tests wait for what other processes and threads do: until it has happened, and no longer than anybody would."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

PATIENCE: Final = 120
"""Seconds: far above what anything here takes on a slow machine; no test may depend on it."""

_T = TypeVar("_T")


def until(happened: Callable[[], _T], what: str) -> _T:
    """Wait for something, and hand it back; fail, naming it, where it never comes."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end, f"this never happened: {what}"
        # Nobody tells us what goes on in another process, so we look again and again, and leave it the processor.
        time.sleep(0.01)
    return found
