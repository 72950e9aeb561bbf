"""Real processes of `pbem`, each in a folder of its own, on loopback, ended by the test that started them."""

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

PBEM = (sys.executable, "-m", "pbem")
WAIT = 120
"""A stop for what hangs, and no measure of anything."""


def environment(**settings: str) -> dict[str, str]:
    """The environment of this process with these settings and no others."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith("PBEM_")}
    root = str(Path(__file__).resolve().parents[2])
    return rest | {"PYTHONPATH": root, "PYTHONUNBUFFERED": "1"} | settings


def run(
    *arguments: str, folder: Path, program: Sequence[str] = PBEM, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its output and its messages together are its `stdout`."""
    return _run(None, [*program, *arguments], folder, settings)


def run_on_a_full_disk(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The same where no file may grow beyond a hundred kilobytes."""
    return _run(
        lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)), [*PBEM, *arguments], folder, settings
    )


def _run(
    prepare: Callable[[], None] | None, command: list[str], folder: Path, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WAIT,
        check=False,
        preexec_fn=prepare,
    )


class Serving:
    """A process that stays, and its output so far: it is read all the time, so that no process waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.output: list[str] = []
        self._seen = 0
        self._ended = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read_along, daemon=True)
        self._reader.start()

    def until(self, words: str) -> str:
        """Wait for the next line with these words; that line."""
        with self._changed:
            while True:
                for line in self.output[self._seen :]:
                    self._seen += 1
                    if words in line:
                        return line
                assert not self._ended, f"it ended without saying {words!r}:\n{''.join(self.output)}"
                assert self._changed.wait(WAIT), f"it never said {words!r}:\n{''.join(self.output)}"

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(how)
        return self.ends()

    def ends(self) -> int:
        """Wait for its end, and for the end of its output; its exit code."""
        code = self.process.wait(WAIT)
        self._reader.join(WAIT)
        return code

    def _read_along(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._add([line])
        self._add([], ended=True)

    def _add(self, lines: list[str], *, ended: bool = False) -> None:
        with self._changed:
            self.output += lines
            self._ended = ended
            self._changed.notify_all()


@contextmanager
def serving(*arguments: str, folder: Path, program: Sequence[str] = PBEM, **settings: str) -> Iterator[Serving]:
    """A process that stays until the end of the block."""
    process = subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    started = Serving(process)
    try:
        yield started
    finally:
        if process.poll() is None:
            process.kill()
        started.ends()


def get(port: int, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """What a server on this machine answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT)
    try:
        connection.request("GET", path, headers=dict(headers or {"Host": f"localhost:{port}"}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
