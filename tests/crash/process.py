"""A real process of the server, that can be told to die at a point with a name, and whose clock stands in a file.

It kills itself with SIGKILL when it passes the point for that many times: no cleaning up, no answer, nothing said.
"""

import os
import signal
import tempfile
from datetime import date
from itertools import count
from pathlib import Path

from waitress.server import create_server

from pbem import config, failpoints
from pbem.clock import SystemRandomness
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.app import create_app
from tests.worker import process as worker
from tests.worker.process import FileClock

KEYS = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))


def die_at(point: str, number: int) -> None:
    """Die when this point is passed for the n-th time; never if `number` is 0."""
    passed = count(1)

    def strike(name: str) -> None:
        if name == point and next(passed) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.set_handler(strike if number else None)


def serve(database: str, clock_file: str, port: int) -> None:
    """Answer requests, like `pbem serve` with separate workers."""
    settings = config.read({"PBEM_DATA_DIR": tempfile.mkdtemp(), "PBEM_BASE_URL": "http://127.0.0.1:8000"})
    server = Server(Store(database), FileClock(Path(clock_file)), SystemRandomness(), KEYS)
    web_server = create_server(create_app(server, settings), host="127.0.0.1", port=port, threads=8)
    print("web_started", flush=True)
    web_server.run()


def main(what: str, database: str, clock_file: str, smtp_port: str, point: str, number: str, last: str) -> None:
    """Run the process until it is killed."""
    die_at(point, int(number))
    if what == "web":
        serve(database, clock_file, int(last))
    else:
        worker.main(database, clock_file, smtp_port, last)
