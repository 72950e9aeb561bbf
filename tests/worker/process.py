"""A real worker in its own process, with a clock that a test sets by writing a file.

Everything is as on a server, except that ticks run more often: outages, settling time and sending follow the real rules.
"""

import threading
from datetime import date, datetime
from pathlib import Path

from pbem import program_log
from pbem.clock import SystemRandomness
from pbem.config.settings import Dkim, Security, Smtp
from pbem.mail.send.dkim import signer
from pbem.mail.send.relay import Relay
from pbem.mail.write.compose import Letterhead
from pbem.service.clocks.outages import Worker
from pbem.service.outgoing.deliver import Post, deliver, end_leases, keep_lease
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.worker import loop
from pbem.worker.ticks import TICKS, WorkerContext
from tests.service.archive.sample_review import sample

OFTEN = {tick.name: tick.every / 40 for tick in TICKS} | {"beat": 0.05}
"""Forty times as often as on a server; beats still more often, because tests wait for each."""

SIGNING = Dkim("example.org", "pbem", (Path(__file__).parents[1] / "mail" / "dkim.pem").read_text())
HEAD = Letterhead("Test house", "http://127.0.0.1:8000", "example.org", "games@example.org", "help@example.org")


class FileClock:
    """A clock that reads its time from a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def now(self) -> datetime:
        """The time last written to the file."""
        return datetime.fromisoformat(self.file.read_text())


def main(database: str, clock_file: str, smtp_port: str, name: str) -> None:
    """Run until told to stop."""
    program_log.configure()
    clock = FileClock(Path(clock_file))
    keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
    server = Server(Store(database), clock, SystemRandomness(), keys)
    stopping = threading.Event()
    relay = Relay(Smtp("127.0.0.1", Security.NONE, int(smtp_port), "", "", 60), stopping=stopping)
    post = Post(HEAD, relay, signer=signer(SIGNING), stopping=stopping)
    worker = Worker(name, clock.now())
    end_leases(server)
    context = WorkerContext(
        server,
        worker,
        lambda hands: deliver(hands, post).dealt_with,
        lambda hands: keep_lease(hands, post),
        review=sample,
        stopping=stopping,
    )
    loop.run(context, OFTEN)
    server.store.close()
