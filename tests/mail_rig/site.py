"""A pbem server in the rig: a real process with the settings of a public server, and tables prepared before its start.

Its pages are requested as behind a TLS proxy: by name, at its port. This module must never open the database while the
process runs, since on SQLite the file belongs to that process.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from engine import registry
from pbem import config
from pbem.ops.setup import make_ready, open_store, server_on
from pbem.service.incoming import authenticity, processing
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import received as arrivals
from tests.mail_rig.fast_server import LIVED, PASSED
from tests.mail_rig.rig import READER_DOMAIN, SITE_DOMAIN, Rig
from tests.ops.processes import environment
from tests.ports import free_port
from tests.waiting import PATIENCE, until

FAST_SERVER = (sys.executable, "-m", "tests.mail_rig.fast_server")


class Site:
    """A server: its folder and settings, before, while and after it runs."""

    def __init__(self, rig: Rig, folder: Path, domain: str = SITE_DOMAIN, **given: str) -> None:
        self.folder, self.domain = folder, domain
        self.port, admin_port = free_port(), free_port()
        self.settings = {
            "PBEM_DATA_DIR": str(folder / "data"),
            "PBEM_BASE_URL": f"https://{domain}",
            "PBEM_WEB_PORT": str(self.port),
            "PBEM_WEB_ADMIN_PORT": str(admin_port),
            "PBEM_SMTP_HOST": "127.0.0.1",
            "PBEM_SMTP_PORT": str(rig.ports["relay"]),
            "PBEM_SMTP_SECURITY": "none",
            "PBEM_MAIL_DOMAIN": domain,
            "PBEM_MAIL_HOLD": "0",
            "PBEM_MAIL_PER_SECOND": "0",
            "PBEM_MAIL_PER_DOMAIN": "0",
            "PBEM_MAIL_NEW_DOMAIN": "0",
            "PBEM_INBOUND_REPLIES": "yes",
            "PBEM_INBOUND_LMTP_PORT": str(rig.lmtp[domain]),
        } | given
        self.output = folder / "said"
        self._passed = timedelta(0)
        make_ready(config.read(self.settings))

    @property
    def url(self) -> str:
        """The origin of the site."""
        return self.settings["PBEM_BASE_URL"]

    @contextmanager
    def opened(self) -> Iterator[Server]:
        """Its database, while no process runs."""
        settings = config.read(self.settings)
        with open_store(settings) as store:
            yield server_on(store, settings)

    def begin(self, kind: str, names: Sequence[str], seats: int = 0, bot: str = "random") -> int:
        """Begin a game with people on some seats, by default at example.net, and bots on the rest."""
        with self.opened() as server:
            persons = [self.person(server, name if "@" in name else f"{name}@{READER_DOMAIN}") for name in names]
            seats = seats or registry.load(kind).seats[0]
            table = TableSettings(
                kind, seats, dict(registry.load(kind).short), "60m", bots=(bot,) * (seats - len(names))
            )
            game_id = server.run(joining.create_table, persons[0], table).game_id
            for person in persons:
                server.run(joining.join, game_id, person)
        return game_id

    def invite(self, kind: str, names: Sequence[str], bot: str = "random") -> int:
        """Open a private table of the first of these people at example.net; the others are invited, and bots take the rest."""
        with self.opened() as server:
            seats = registry.load(kind).seats[0]
            bots = (bot,) * (seats - len(names))
            invited = tuple(f"{name}@{READER_DOMAIN}" for name in names)
            table = TableSettings(
                kind, seats, dict(registry.load(kind).short), "60m", bots=bots, invited=invited[1:], private=True
            )
            host = self.person(server, invited[0])
            game_id = server.run(joining.create_table, host, table).game_id
            server.run(joining.join, game_id, host)
        return game_id

    @staticmethod
    def person(server: Server, address: str) -> int:
        """Someone at this address, which is confirmed."""
        return server.run(
            addresses.confirm, server.run(addresses.register, address, address.partition("@")[0][:20].capitalize()).id
        ).id

    @contextmanager
    def running(self) -> Iterator[None]:
        """The running process. Its output goes to a file, since nobody reads it meanwhile."""
        with self.output.open("a") as output:
            process = subprocess.Popen(
                [*FAST_SERVER, "serve"], cwd=self.folder, env=environment(**self.settings),
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            until(lambda: "Stop it with Ctrl-C" in self.output.read_text() or process.poll() is not None, "pbem starts")
            assert process.poll() is None, self.output.read_text()
            yield
            assert process.poll() is None, self.output.read_text()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0, self.output.read_text()
        except AssertionError:
            # The folder is deleted, and if a test hangs, the output is the only trace.
            print(*(line for line in self.output.read_text().splitlines() if '"sqlalchemy.' not in line), sep="\n")
            raise
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def passes(self, time: timedelta) -> None:
        """Let this much time pass for the running process, which takes it a moment."""
        self._passed += time
        text = str(self._passed.total_seconds())
        # Not to be read half written.
        (half := self.folder / f"{PASSED}.half").write_text(text)
        half.replace(self.folder / PASSED)

    def has_lived(self) -> bool:
        """Whether all that time has passed for it."""
        text = str(self._passed.total_seconds())
        lived = self.folder / LIVED
        return lived.exists() and lived.read_text() == text

    def arrivals(self) -> dict[str, int]:
        """The outcomes of received emails with their numbers, after all of them were processed; the process must have ended."""
        with self.opened() as server:
            box = authenticity.inbound_settings(config.read(self.settings))
            while processing.process(server, box):
                pass
            with server.store.read() as tx:
                return arrivals.counts_since(tx, date.min)

    def client(self) -> "Client":
        """A new client for its pages."""
        return Client(self.port)


@dataclass(frozen=True)
class Answer:
    """A response of the server."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    def get_data(self, as_text: bool) -> str:
        """The page."""
        assert as_text
        return self.content.decode()


@dataclass(frozen=True)
class Client:
    """An HTTP client with the interface of the application's own test client."""

    port: int

    def open(
        self, path: str, *, method: str, base_url: str, headers: Mapping[str, str] | None = None, data: Any = None
    ) -> Answer:
        """Make a request, as a proxy in front of the process would."""
        output = dict(headers or {}) | {"Host": urlsplit(base_url).netloc}
        body = None
        if data is not None:
            body = urlencode(data, doseq=True)
            output["Content-Type"] = "application/x-www-form-urlencoded"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, output)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()
