"""Processes of the server for tests that start and kill many: each begins as a copy of one that has imported everything.

To import the server takes a process most of its time until it works. A copy is made before anything else has happened: no
connection, no thread, no clock and no number drawn. It has its own memory, and dies as any other process does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Final

_BEGIN: Final = get_context("forkserver")
_BEGIN.set_forkserver_preload(["pytest", "tests.crash.process"])


class Copy:
    """A process that does this with these words, and writes what it says into a file."""

    def __init__(self, do: Callable[..., None], words: tuple[str, ...], log: Path) -> None:
        self._process = _BEGIN.Process(target=_live, args=(do, words, log), daemon=True)
        # How it ended is told once, and several threads may ask.
        self._asking = threading.Lock()
        self._process.start()

    def poll(self) -> int | None:
        """What it ended with, if it has ended: as `subprocess.Popen` tells it."""
        with self._asking:
            return self._process.exitcode

    def wait(self, patience: float | None = None) -> int | None:
        """Wait for its end, and for no longer than this many seconds; what it ended with."""
        with self._asking:
            self._process.join(patience)
            return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it without a warning."""
        self._process.kill()


def _live(do: Callable[..., None], words: tuple[str, ...], log: Path) -> None:
    with log.open("w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    do(*words)
