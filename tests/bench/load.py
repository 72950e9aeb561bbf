"""Servers under load: each application in a process of its own, and wrk in front of one at a time.

Every connection has a list of requests of its own, which it sends in order.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

CONNECTIONS = 16
_SCRIPT = Path(__file__).with_name("load.lua")


@dataclass
class Contender:
    """One application under load: the requests of each connection that are still to be sent, and its rounds."""

    name: str
    port: int
    folder: Path
    paths: list[list[str]]
    rates: list[float] = field(default_factory=list)
    tails: list[float] = field(default_factory=list)

    def round(self, seconds: int) -> None:
        """Send for this many seconds, as fast as the answers come."""
        for number, waiting in enumerate(self.paths):
            assert waiting, f"{self.name}: nothing is left to send"
            (self.folder / str(number)).write_text("\n".join(waiting) + "\n")
        command = ["wrk", f"-t{CONNECTIONS}", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(_SCRIPT)]
        out = subprocess.run(
            [*command, f"http://127.0.0.1:{self.port}", "--", str(self.folder)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        figures = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
        assert figures["bad"] == 0, f"{self.name}: {out}"
        for number, sent in enumerate(figures["sent"]):
            assert sent < len(self.paths[number]), f"{self.name}: there was more time than there were requests"
            del self.paths[number][:sent]
        self.rates.append(sum(figures["sent"]) / figures["seconds"])
        self.tails.append(figures["p99"] / figures["p50"])

    def forget(self) -> None:
        """What was measured so far was only to get warm."""
        self.rates.clear()
        self.tails.clear()

    def share_of(self, floor: "Contender") -> float:
        """The median, over all rounds, of this rate as a share of another's."""
        return median(product / bare for product, bare in zip(self.rates, floor.rates, strict=True))

    def __str__(self) -> str:
        best, middle = max(self.rates), median(self.rates)
        return f"{self.name} {middle:,.0f}/s (at best {best:,.0f}, p99/p50 {median(self.tails):.1f})"


@contextmanager
def served(what: str, url: str, *rest: str) -> Iterator[int]:
    """One of the applications of `floors`, in a process of its own; its port."""
    # A measurement must not run with assertions switched off or a profiler on.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.floors", what, url, *rest],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def compare(*contenders: Contender, rounds: int, seconds: int) -> None:
    """Let each run in turn, round after round, so that the machine's moods are shared."""
    for contender in contenders:
        contender.round(1)
        contender.forget()
    for _ in range(rounds):
        for contender in contenders:
            contender.round(seconds)
