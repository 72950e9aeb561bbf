"""Building a server from its settings: the only place that does.

Opening changes nothing. `make_ready` makes a new server, and only commands call it.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta

from pbem.clock import SystemClock, SystemRandomness
from pbem.config import save_keys
from pbem.config.settings import KEYS_FILE, Config
from pbem.domain.errors import BadInput, Fault, Forbidden
from pbem.domain.strangers import StrangerLimits
from pbem.ops.process_lock import alone
from pbem.plugins import offers
from pbem.plugins.offers import Offer
from pbem.plugins.process import Limits
from pbem.service.server import Server
from pbem.store import games, known_keys, links, migrations, schema_check
from pbem.store.database import Store, Tx
from pbem.tokens import SECRET_BYTES, Keyring


@contextmanager
def open_store(config: Config, *, current: bool = True) -> Iterator[Store]:
    """The database of the settings.

    Raises BadInput if it is missing. When `current` it has to be at the newest migration, and any keys have to be its own.
    """
    must_be_there(config)
    offer_games(config)
    with closing(Store(config.database_url, threads=config.web.threads)) as store:
        if current:
            migrations.must_be_current(store)
            with store.read() as tx:
                must_be_ours(tx, config)
        yield store


@contextmanager
def open_server(config: Config) -> Iterator[Server]:
    """The server of the settings, for one command."""
    with open_store(config) as store:
        yield server_on(store, config)


def must_be_there(config: Config) -> None:
    """Refuse to create a database just by opening it. Raises BadInput."""
    file = Store.file_of(config.database_url)
    if file is not None and not file.exists():
        again = "Restore a backup with `pbem restore`, or start from scratch with `pbem init`."
        raise BadInput(
            f"There is no database at {file}.", remedy=again if config.keys else "Create one with `pbem init`."
        )


def offer_games(config: Config) -> tuple[Offer, ...]:
    """Register the games of other packages in this process; returns all that were found, with their problems."""
    limits = Limits(seconds=config.games.seconds, megabytes=config.games.megabytes)
    return offers.offer(config.games.trusted, limits)


def server_on(store: Store, config: Config) -> Server:
    """The server of these settings, on an open database."""
    offer_games(config)
    return Server(
        store,
        SystemClock(),
        SystemRandomness(),
        keyring(store, config),
        hold=timedelta(seconds=config.mail.hold),
        open_tables=config.limits.open_tables,
        demos=config.limits.demos,
        zone=config.site.timezone.key,
        answers_a_turn=config.limits.answers_a_turn,
        answers_a_day=config.limits.answers_a_day,
        strangers=_stranger_limits(config),
        channels=config.channel_rules(),
    )


def _stranger_limits(config: Config) -> StrangerLimits:
    lifetime = timedelta(days=config.limits.unconfirmed_days)
    if config.smtp is None:
        # Emails stay in the local mailbox, so nobody can be bothered with them.
        return StrangerLimits(network=0, mailbox=0, domain=0, all=0, lifetime=lifetime)
    return StrangerLimits(
        network=config.limits.network_an_hour,
        mailbox=config.limits.mailbox_a_day,
        domain=config.limits.domain_an_hour,
        all=config.limits.strangers_a_day,
        lifetime=lifetime,
    )


def keyring(store: Store, config: Config) -> Keyring:
    """The keys of links. Raises BadInput if there are none."""
    if config.keys is None:
        _must_not_need_keys(store, config)
    return config.keyring()


def must_be_ours(tx: Tx, config: Config) -> None:
    """Refuse keys if this database knows none of them. After a rotation it knows the older ones. Raises Forbidden."""
    known = known_keys.all_of_them(tx)
    if config.keys is not None and known and not known & config.keys.fingerprints:
        raise Forbidden(
            "These keys are another server's.",
            why="None of the links it has sent works with these.",
            remedy=f"Restore its own from the backup: the file ending in .keys belongs at {config.data_dir / KEYS_FILE}. "
            "If they are lost for good, move these away and run `pbem keys new`; then every link sent so far is dead.",
        )


def remember_keys(server: Server) -> None:
    """Note that links are made with these keys from now on."""
    server.store.write(lambda tx: known_keys.add(tx, server.keys.fingerprints, server.now()))


def must_not_need_keys(config: Config) -> None:
    """Refuse to go on without keys where games need those that are missing. Raises BadInput."""
    file = Store.file_of(config.database_url)
    if file is None or file.exists():
        with open_store(config, current=False) as store:
            _must_not_need_keys(store, config)


def _must_not_need_keys(store: Store, config: Config) -> None:
    if migrations.current(store) == migrations.EMPTY:
        return
    with store.read() as tx:
        number, needed = games.count(tx), links.any_made(tx)
    if number or needed:
        raise BadInput(
            "The keys of this server are missing.",
            why=f"Every link of its {number} games was made with them." if number else "Links were made with them.",
            remedy=f"Restore them from the backup: the file ending in .keys belongs at {config.data_dir / 'keys'}. "
            "If they are lost for good, run `pbem keys new`; then every link sent so far is dead.",
        )


def new_keys() -> Keyring:
    """Keys that nobody has ever had."""
    return Keyring.new(SystemRandomness().bytes(SECRET_BYTES), SystemClock().now().date())


def make_ready(config: Config, say: Callable[[str], None] = lambda _: None) -> Config:
    """Create the folder, the keys and the database as needed; returns the settings with the keys."""
    if config.keys is None:
        must_not_need_keys(config)
    if not config.data_dir.exists():
        config.data_dir.mkdir(parents=True, mode=0o700)
        say(f"Created the folder {config.data_dir}.")
    if config.keys is None:
        keys = new_keys()
        save_keys(config.data_dir, keys)
        config = replace(config, keys=keys)
        say(f"Created the keys of all links in {config.data_dir / 'keys'}. Keep a copy in a safe place.")
    if ran := migrate(config):
        say(f"Migrated the database to step {ran[-1]}.")
    return config


def check_schema(config: Config) -> None:
    """Compare the database with the schema of this release. Raises Fault with all differences."""
    with open_store(config) as store:
        found = schema_check.differences(store)
    if found:
        listed = "".join(f"\n- {each.says} {each.remedy}" for each in found)
        raise Fault("The database is at the newest step, but differs from what this release creates:", remedy=listed)


def migrate(config: Config) -> list[str]:
    """Run missing migrations and return them. On SQLite no other process may use the database meanwhile."""
    with closing(Store(config.database_url)) as store:
        if migrations.current(store) == migrations.head():
            return []
        with alone(config.database_url):
            return migrations.upgrade(store)
