"""A real worker in a process of its own, with a clock that a test sets by writing a file.

Everything is as on a server, only woken up more often: what counts as an outage, how long a worker settles and how mails
are sent are the real rules.
"""

from datetime import date, datetime
from pathlib import Path

from pbem import logs
from pbem.clock import SystemRandomness
from pbem.config import Dkim, Security, Smtp
from pbem.links import SECRET_BYTES, Keyring
from pbem.mail.compose import Letterhead
from pbem.mail.send import Relay
from pbem.mail.sign import signer
from pbem.service.delivery import Post, deliver
from pbem.service.heartbeat import Worker
from pbem.service.house import House
from pbem.store.database import Store
from pbem.worker import loop
from pbem.worker.ticks import TICKS, Shift

OFTEN = {tick.name: tick.every / 40 for tick in TICKS} | {"beat": 0.05}
"""Forty times as often as on a server; beats still more often, because tests wait for each."""

SIGNING = Dkim("example.org", "pbem", (Path(__file__).parents[1] / "mail" / "dkim.pem").read_text())
HEAD = Letterhead("Test house", "http://127.0.0.1:8000", "example.org", "games@example.org", "help@example.org")


class FileClock:
    """The time that stands in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def now(self) -> datetime:
        """The moment that was last written."""
        return datetime.fromisoformat(self.file.read_text())


def main(database: str, clock_file: str, smtp_port: str, name: str) -> None:
    """Work until told to stop."""
    logs.configure()
    clock = FileClock(Path(clock_file))
    keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
    house = House(Store(database), clock, SystemRandomness(), keys)
    relay = Relay(Smtp("127.0.0.1", Security.NONE, int(smtp_port), "", "", 5))
    post = Post(HEAD, relay, signer=signer(SIGNING))
    loop.run(Shift(house, Worker(name, clock.now()), lambda hands: deliver(hands, post).dealt_with), OFTEN)
    house.store.close()
