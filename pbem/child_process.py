"""Child processes for work that may hang, fail or take long: with limits, and without our settings and keys."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

CPU: Final = resource.RLIMIT_CPU
MEMORY: Final = resource.RLIMIT_AS


def command(module: str, *words: str) -> list[str]:
    """The command that runs one of our modules, with nothing on its path but what is on ours."""
    return [sys.executable, "-P", "-s", "-m", module, *words]


def environment() -> dict[str, str]:
    """Of our environment, which holds keys and passwords, nothing but where the modules are."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def limit(kind: int, most: int) -> None:
    """Let this process take no more CPU seconds or bytes of memory than this; where less is allowed already, no more than that."""
    _soft, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def give_way(niceness: int) -> None:
    """Let this process have what others leave of the processors; pages and moves come first.

    Where Linux shares the processors out among sessions, a session of its own gives way as a whole: within it there's nobody else.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        # Without such groups there is no such file, and some containers let nobody write to it.
        with suppress(OSError):
            _GROUP.write_text(str(niceness))


_GROUP: Final = Path("/proc/self/autogroup")

_LOOK: Final = 1.0
"""Seconds between two looks at whether to go on waiting."""

_MOST_READ: Final = 2**16
"""Bytes that are read at once: as many as a pipe holds."""


class Failed(Exception):
    """A child ended, took too long, or answered with what can't be read."""


class Interrupted(Failed):
    """A child had no time to answer, or the system has killed it: that's no fault of the question's, which can be asked again."""


class Child:
    """One of our modules in a child process, which answers questions one after the other.

    It starts when it is first asked, and again after a question that it did not survive. Once its parent is `stopping`, nobody
    waits for an answer any more.
    """

    def __init__(self, module: str, longest_wait: float, stopping: Event | None = None) -> None:
        self._module = module
        self._longest_wait = longest_wait
        self._stopping = Event() if stopping is None else stopping
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = Lock()

    def ask(self, question: object) -> Any:
        """The child's answer, as JSON has it. Raises Failed if it has none, and Interrupted if that's the machine's fault."""
        with self._lock:
            try:
                return self._exchange(json.dumps(question).encode() + b"\n")
            except (OSError, ValueError) as error:
                interrupted = isinstance(error, TimeoutError) or self._was_killed()
                self._end()
                raise (Interrupted if interrupted else Failed)(f"{self._module}: {type(error).__name__}") from error
            except BaseException:
                # The next answer would be that of another question.
                self._end()
                raise

    def close(self) -> None:
        """End the child for good. Someone who waits for its answer gets none."""
        self._stopping.set()
        with self._lock:
            self._end()

    def _exchange(self, line: bytes) -> Any:
        process = self._ready()
        assert process.stdin is not None
        assert process.stdout is not None
        into, out = process.stdin.fileno(), process.stdout.fileno()
        until = time.monotonic() + self._longest_wait
        answer = b""
        # A child that is stopped takes in no more than its pipe holds, so nothing here may wait for it without looking.
        pipes = select.poll()
        pipes.register(out, select.POLLIN)
        pipes.register(into, select.POLLOUT)
        while not answer.endswith(b"\n"):
            ready = dict(pipes.poll(1_000 * _LOOK))
            if into in ready:
                line = line[os.write(into, line[: select.PIPE_BUF]) :]
                if not line:
                    pipes.unregister(into)
            if out in ready:
                piece = os.read(out, _MOST_READ)
                if not piece:
                    raise ConnectionError("it ended")
                answer += piece
            elif self._stopping.is_set() or time.monotonic() > until:
                raise TimeoutError
        return json.loads(answer)

    def _was_killed(self) -> bool:
        """Whether the child has been killed: what takes too much work or memory ends in another way."""
        if self._process is None:
            return False
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LOOK)
        return self._process.returncode == -signal.SIGKILL

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the child is the parent process's own.
            self._process = None
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process, self._owner = self._start(), os.getpid()
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module
            command(self._module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            # Ctrl-C is for the server, which ends its children when it has stopped.
            start_new_session=True,
        )

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.communicate()


def answer_lines(answer: Callable[[Any], object], seconds: float) -> None:
    """Answer the questions that come in, one a line, each within some seconds of CPU. For the main thread of a child."""
    for line in sys.stdin.buffer:
        # The signal ends this process, even within a search that does not return.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        text = json.dumps(answer(json.loads(line)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
