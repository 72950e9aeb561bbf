"""The far end of a measurement: the relay of the tests, in a process of its own so that it is not measured with us.

`python -m tests.bench.relay` listens on loopback and prints its port.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.mail.sink import Sink


@contextmanager
def relay() -> Iterator[int]:
    """The relay, as long as it is needed; its port."""
    command = [sys.executable, "-m", "tests.bench.relay"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    with Sink() as sink:
        print(sink.port, flush=True)
        sys.stdin.read()
