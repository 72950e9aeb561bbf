"""A server's parts, put together from its settings: here and nowhere else.

Opening changes nothing. `make_ready` is what makes a new server, and only commands call it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from pbem.clock import SystemClock, SystemRandomness
from pbem.config import save_keys
from pbem.config.settings import Config
from pbem.domain.errors import BadInput
from pbem.ops.process_lock import alone
from pbem.plugins import offers
from pbem.plugins.offers import Offer
from pbem.plugins.process import Limits
from pbem.service.server import Server
from pbem.store import migrations
from pbem.store.database import Store
from pbem.tokens import SECRET_BYTES, Keyring


@contextmanager
def open_store(config: Config, *, current: bool = True) -> Iterator[Store]:
    """The database of the settings; refused unless it is at the newest step, if it has to be."""
    must_be_there(config)
    offer_games(config)
    store = Store(config.database_url, threads=config.web.threads)
    try:
        if current:
            migrations.must_be_current(store)
        yield store
    finally:
        store.close()


@contextmanager
def open_server(config: Config) -> Iterator[Server]:
    """The house of the settings, for one command."""
    with open_store(config) as store:
        yield server_on(store, config)


def must_be_there(config: Config) -> None:
    """Refuse to make a database by merely looking for it."""
    file = Store.file_of(config.database_url)
    if file is not None and not file.exists():
        raise BadInput(f"There is no database at {file}.", remedy="Make one with `pbem init`.")


def offer_games(config: Config) -> tuple[Offer, ...]:
    """Let this process know the games of other packages; all that were found, with what is in their way."""
    limits = Limits(seconds=config.games.seconds, megabytes=config.games.megabytes)
    return offers.offer(config.games.trusted, limits)


def server_on(store: Store, config: Config) -> Server:
    """The house of these settings, on a database that is open already."""
    offer_games(config)
    return Server(
        store,
        SystemClock(),
        SystemRandomness(),
        config.keyring(),
        hold=timedelta(seconds=config.mail.hold),
        open_tables=config.limits.open_tables,
        zone=config.site.timezone.key,
        answers_a_turn=config.limits.answers_a_turn,
        answers_a_day=config.limits.answers_a_day,
    )


def make_ready(config: Config, say: Callable[[str], None] = lambda _: None) -> Config:
    """Make folder, keys and database, as far as they are not there, and say what; the settings with the keys."""
    if not config.data_dir.exists():
        config.data_dir.mkdir(parents=True, mode=0o700)
        say(f"Made the folder {config.data_dir}.")
    if config.keys is None:
        keys = Keyring.new(SystemRandomness().bytes(SECRET_BYTES), SystemClock().now().date())
        save_keys(config.data_dir, keys)
        config = replace(config, keys=keys)
        say(f"Made the keys of all links in {config.data_dir / 'keys'}; keep a copy in a safe place.")
    if ran := bring_up(config):
        say(f"Brought the database to step {ran[-1]}.")
    return config


def bring_up(config: Config) -> list[str]:
    """Run the database's missing steps; those that were run. On SQLite no server may be using it meanwhile."""
    store = Store(config.database_url)
    try:
        if migrations.current(store) == migrations.head():
            return []
        with alone(config.database_url):
            return migrations.upgrade(store)
    finally:
        store.close()
