"""Waiting for other processes and threads, with a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

PATIENCE: Final = 120
"""Seconds: far above what anything here takes on a slow machine; no test may depend on it."""

_T = TypeVar("_T")


def until(happened: Callable[[], _T], what: str) -> _T:
    """Wait for a truthy result and return it; fail with the name of the event after the limit."""
    start = time.monotonic()
    while not (found := happened()):
        waited = time.monotonic() - start
        assert waited < PATIENCE, f"this never happened: {what}"
        # There is no notification from another process, so poll, and leave it the processor: the longer it takes, the
        # less often, and never more than a tenth longer than it takes.
        time.sleep(min(max(waited / 10, 0.01), 0.25))
    return found
