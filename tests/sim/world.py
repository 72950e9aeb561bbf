"""The world of a simulation: one server in memory, its clock, its site, and a backup that it may be put back to."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pbem import config as settings
from pbem.domain.interval import ZERO
from pbem.domain.strangers import StrangerLimits
from pbem.mail.write.compose import Letterhead
from pbem.ops import backup
from pbem.service.incoming.authenticity import InboundSettings, inbound_settings
from pbem.service.play import seat_cache
from pbem.service.play.positions import POSITIONS
from pbem.service.server import Server
from pbem.store import database_copy, migrations
from pbem.store.database import Store, sqlite_module
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.app import create_app
from tests.fakes import FakeClock, SeededRandomness
from tests.service.archive.sample_review import sample_hint
from tests.sim.browser import Client

START: Final = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
SITE: Final = "http://localhost:8000"


@dataclass(slots=True)
class WallClock:
    """The clock of the server, which may be set; `off` says how far it is ahead of the true time."""

    true: FakeClock
    off: timedelta = ZERO

    def now(self) -> datetime:
        """The time that the server believes in."""
        return self.true.now() + self.off


@dataclass(slots=True)
class Site:
    """The site as browsers reach it; showing a page may write nothing."""

    client: Client
    only_looking: bool = False

    def open(self, *args: Any, method: str, **kwargs: Any) -> Any:
        """Make a request."""
        self.only_looking = method == "GET"
        try:
            return self.client.open(*args, method=method, **kwargs)
        finally:
            self.only_looking = False


class World:
    """A server that nobody else uses."""

    def __init__(self, seed: int, tables: int, folder: Path) -> None:
        # An earlier run with the same seed had the same games.
        seat_cache.CACHE.clear()
        POSITIONS.clear()
        self.clock = FakeClock(START)
        self.wall = WallClock(self.clock)
        self.letterhead = Letterhead("Simulated games", SITE, "localhost", "games@localhost", "organiser@localhost")
        self._folder = folder
        self._tables = tables
        self._randomness = SeededRandomness(seed)
        self._keys = Keyring.new(self._randomness.bytes(SECRET_BYTES), date(2026, 11, 1))
        self._config = settings.read({"PBEM_DATA_DIR": str(folder)})
        self.inbound: InboundSettings = inbound_settings(self._config)
        store = Store("sqlite://")
        migrations.upgrade(store)
        self.server = self._server(store)
        self.site = Site(self._client())

    @property
    def store(self) -> Store:
        """Its database."""
        return self.server.store

    def steady(self) -> float:
        """Seconds by a clock that nobody sets."""
        return (self.clock.now() - START).total_seconds()

    def back_up(self) -> None:
        """Keep the database as it is now."""
        database_copy.write_file(self.store, self._folder / "backup")

    def restore(self) -> None:
        """Put the database back to the backup, as an organiser does, and start again with it."""
        config = settings.read({"PBEM_DATA_DIR": str(self._folder / "restored")})
        backup.restore(config, self._folder / "backup")
        file = Store.file_of(config.database_url)
        assert file is not None
        self.close()
        self.server = self._server(_in_memory(file))
        self.site.client = self._client()

    def close(self) -> None:
        """Throw the database away."""
        self.store.close()

    def _server(self, store: Store) -> Server:
        strangers = StrangerLimits(0, 0, 0, 0)
        return Server(
            store, self.wall, self._randomness, self._keys, open_tables=10 * self._tables, strangers=strangers
        )

    def _client(self) -> Client:
        return create_app(self.server, self._config, sample_hint).test_client()


def _in_memory(file: Path) -> Store:
    store, source = Store("sqlite://"), sqlite_module().connect(str(file))
    try:
        with store.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            source.backup(driver)
    finally:
        source.close()
    return store
