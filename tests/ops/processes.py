"""Real processes of `pbem`, each in a folder of its own, on loopback, ended by the test that started them."""

import os
import resource
import signal
import subprocess
import sys
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
    """A process that stays, and its output so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.output: list[str] = []

    def until(self, words: str) -> str:
        """Read along until it says these words; the line with them."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}:\n{''.join(self.output)}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(how)
        rest, _ = self.process.communicate(timeout=WAIT)
        self.output.append(rest)
        return self.process.returncode


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
    try:
        yield Serving(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def get(port: int, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """What a server on this machine answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT)
    try:
        connection.request("GET", path, headers=dict(headers or {"Host": f"localhost:{port}"}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()
