"""Forked server processes, for tests that start and kill many: each is a copy of a process that has imported everything.

Importing the server takes most of the time until a process works. The copy is made before anything else has happened: no
connection, no thread, no clock and no random number. It has its own memory, and dies like any other process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Final

_BEGIN: Final = get_context("forkserver")
_BEGIN.set_forkserver_preload(["pytest", "tests.crash.process"])


class Copy:
    """A process that calls a function with these arguments and writes its output to a file."""

    def __init__(self, do: Callable[..., None], words: tuple[str, ...], log: Path) -> None:
        self._process = _BEGIN.Process(target=_live, args=(do, words, log), daemon=True)
        # The exit code is reported only once, and several threads may ask for it.
        self._asking = threading.Lock()
        self._process.start()

    def poll(self) -> int | None:
        """Its exit code if it has ended, like `subprocess.Popen`."""
        with self._asking:
            return self._process.exitcode

    def wait(self, patience: float | None = None) -> int | None:
        """Wait at most this many seconds for its end, and return its exit code."""
        with self._asking:
            self._process.join(patience)
            return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Kill it without warning."""
        self._process.kill()


def _live(do: Callable[..., None], words: tuple[str, ...], log: Path) -> None:
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    with log.open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    do(*words)


def _end_with_the_tests() -> None:
    """Tests that are killed take their copies with them, which would work on for nobody."""
    tests = parent_process()
    assert tests is not None, "copies are made by another process"
    tests.join()
    os.kill(os.getpid(), signal.SIGKILL)
