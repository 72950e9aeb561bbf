"""A child process that runs one game: started when it is needed, asked one thing at a time, ended when it fails.

Someone waits for a request, and it occupies one of a web server's threads: a few of them may wait for one game at a time, and all
that one of them asks takes no longer than a single call may.

A child that has failed is not asked again: the next call starts another one. The limit that counts is the time the child
has worked, so that a slow moment of the machine is no fault of a game; a call that just does not come back is given up
after some times as long by the clock.
"""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from pbem import child_process
from pbem.plugins import wire

THINKING: Final = 10
"""A bot may work this many times as long as a rule: it plays many games to find its choice."""

MOST_VISITS: Final = 3
"""Requests that may wait for one game at a time: the other threads of a web server are for other tables."""

STARTING: Final = 10.0
"""Seconds that an import may work."""

_MEGABYTE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call of a game: seconds of work, and megabytes of memory. The import has seconds of its own.

    By the clock, a call is given up after `patience` times its seconds of work.
    """

    seconds: float = 2.0
    megabytes: int = 256
    starting: float = STARTING
    patience: float = 5


class Failed(Exception):
    """A call that came to nothing, and in what way."""


class Busy(Exception):
    """Enough requests wait for this game already, or one has kept it for too long."""


@dataclass(slots=True)
class Visit:
    """A request to the web server, and for how many seconds it has kept children busy."""

    used: float = 0.0


class Process:
    """One game in a child process. Safe to use from several threads; each call waits for those before it."""

    def __init__(self, place: str, limits: Limits) -> None:
        self._place = place
        self._limits = limits
        self._lock = threading.Lock()
        self._visits = threading.Semaphore(MOST_VISITS)
        self._child: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._owner = 0
        self._given_up = False

    def ask(
        self, do: str, request: dict[str, Any], draw: Callable[[int], int] | None = None, visit: Visit | None = None
    ) -> str:
        """What the child replies. Raises Failed if it ends, takes too long or says what can't be read; Busy where a visit can't wait, or nobody waits any more.

        `draw` is asked for each number that the rules draw on the way.
        """
        seconds = self._limits.seconds * (THINKING if do == "bot" else 1)
        text = wire.dumps({"do": do, "milliseconds": int(seconds * 1000), **request})
        with self._admitted(visit), self._lock:
            began, used = time.monotonic(), 0.0 if visit is None else visit.used
            try:
                line = self._ready()
                if self._given_up:
                    raise Busy
                return self._exchanged(line, text, max(0.0, seconds * self._limits.patience - used), draw)
            except (wire.Ended, TimeoutError, ValueError, ArithmeticError) as error:
                if self._given_up or (isinstance(error, TimeoutError) and used):
                    # This call alone may not have been at fault.
                    self._end()
                    raise Busy from error
                raise Failed(self._ended(error, do)) from error
            except BaseException:
                # After any other error, the next answer on this line would be that of another question.
                self._end()
                raise
            finally:
                if visit is not None:
                    visit.used += time.monotonic() - began

    @contextmanager
    def _admitted(self, visit: Visit | None) -> Iterator[None]:
        """Wait for other visits as long as one call may work, and raise Busy if there are too many still."""
        if visit is None:
            yield
            return
        if not self._visits.acquire(timeout=self._limits.seconds):
            raise Busy
        try:
            yield
        finally:
            self._visits.release()

    def give_up(self) -> None:
        """End the child for good, whatever it's doing: this process is told to stop."""
        self._given_up = True
        child = self._child
        if child is not None and self._owner == os.getpid():
            child.kill()

    def end(self) -> None:
        with self._lock:
            self._end()

    def _ready(self) -> socket.socket:
        if self._owner != os.getpid():
            # After a fork the child is the parent process's own: it is left alone, and here another one is started.
            self._child = self._line = None
        if self._line is None or self._child is None or self._child.poll() is not None:
            self._end()
            self._start()
        assert self._line is not None
        return self._line

    def _start(self) -> None:
        line, end_of_child = socket.socketpair()
        number = end_of_child.fileno()
        words = [self._place, str(number), str(self._limits.megabytes * _MEGABYTE), str(self._limits.starting)]
        with end_of_child:
            self._child = subprocess.Popen(  # noqa: S603 - our own program
                child_process.command("pbem.plugins.child", *words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[number],
                env=child_process.environment(),
                # Ctrl-C is for the server, which ends its children when it has stopped.
                start_new_session=True,
            )
        self._line, self._owner = line, os.getpid()
        reply = wire.receive(line, time.monotonic() + self._limits.starting * self._limits.patience)
        request = wire.decoder({}).decode(reply)
        if "raised" in request:
            self._end()
            raise Failed(f"it can't be imported: {request['raised']}")

    def _exchanged(self, line: socket.socket, text: str, seconds: float, draw: Callable[[int], int] | None) -> str:
        until = time.monotonic() + seconds
        line.settimeout(seconds)
        wire.send(line, text)
        while True:
            reply = wire.receive(line, until)
            if draw is None or not reply.startswith('{"draw":'):
                return reply
            bound = wire.decoder({}).decode(reply)["draw"]
            if type(bound) is not int:
                raise ValueError("a number is drawn below a number")
            wire.send(line, str(draw(bound)))

    def _ended(self, error: Exception, do: str) -> str:
        """End the child, and say in what way it has failed."""
        child = self._child
        if isinstance(error, wire.Ended) and child is not None:
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=1)
        status = None if child is None else child.poll()
        self._end()
        seconds = self._limits.seconds * (THINKING if do == "bot" else 1)
        if isinstance(error, TimeoutError):
            return f"“{do}” didn't answer for {seconds * self._limits.patience:g} seconds"
        if status == -signal.SIGPROF:
            return f"“{do}” took more than {seconds:g} seconds of work"
        if status == wire.OUT_OF_MEMORY:
            return f"“{do}” needed more than {self._limits.megabytes} megabytes of memory"
        if isinstance(error, wire.Ended):
            return f"“{do}” ended its process" + ("" if status is None else f" (status {status})")
        return f"“{do}” sent something unreadable"

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._child is not None and self._owner == os.getpid():
            self._child.kill()
            self._child.wait()
        self._child = self._line = None
