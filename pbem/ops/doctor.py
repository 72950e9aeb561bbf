"""The doctor: checks everything a server needs, with a remedy for each error.

It changes nothing, but for one email that it sends to the server itself. A finding is ok, a warning (it works, and something needs attention) or an error (it does not work,
or not for long).
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Final

from pbem import paths
from pbem.clock import SystemClock
from pbem.config.settings import KEYS_FILE, Config
from pbem.domain import finding
from pbem.domain.duration import duration_text
from pbem.domain.errors import BadInput, PbemError
from pbem.domain.finding import Finding, Severity
from pbem.domain.localtime import is_known
from pbem.domain.outage import CLOCK_TOLERANCE, LONGEST_GAP
from pbem.domain.pace import Calendar, read_pace
from pbem.mail.send.relay import Relay
from pbem.ops import mail_checks, mail_intake
from pbem.ops.domains import look_at_domains
from pbem.ops.monitoring import admin_port, readiness
from pbem.ops.rules_code import codes
from pbem.ops.setup import must_be_ours, must_be_there, must_not_need_keys, offer_games
from pbem.plugins import offers
from pbem.service.clocks import clock_doubt, web_servers
from pbem.store import (
    calls,
    database_copy,
    database_health,
    due_turns,
    flaws,
    games,
    heartbeats,
    known_keys,
    migrations,
    outbox,
    people,
    recordings,
    schema_check,
    web_servers as web_server_rows,
)
from pbem.store.database import Store
from pbem.store.database_errors import explained

_NEEDED: Final = ("database", "migrations", "schema")
_PATIENCE: Final = timedelta(seconds=15)
"""How long an email to ourselves may take: a worker reads what came in every few seconds."""

_STUCK: Final = timedelta(minutes=15)
_MOST_CALLS: Final = 1000
_MOST_LISTED: Final = 20
_BACK: Final = "`pbem restore BACKUP --game N` restores one from a backup."
_OLD_KEY: Final = timedelta(days=2 * 365)


def examine(config: Config) -> Iterator[Finding]:
    """Check everything; without a database, everything else."""
    yield from _files()
    yield from _keys(config)
    yield readiness.disk(config)
    yield from _games(config)
    yield from _proxies(config)
    yield from admin_port.look_at_port(config)
    yield from _relay(config)
    yield from mail_intake.look_at_settings(config)
    try:
        with explained():
            must_be_there(config)
            store = Store(config.database_url)
    except PbemError as error:
        yield finding.of_error("database", error)
        return
    with closing(store):
        found = list(_database(store))
        yield from found
        if config.keys is None or any(each.what in _NEEDED and each.severity is Severity.ERROR for each in found):
            return
        try:
            with explained(), store.read() as tx:
                must_be_ours(tx, config)
                newest = known_keys.newest(tx)
        except PbemError as error:
            yield finding.of_error("keys", error)
            return
        if newest - config.keys.fingerprints:
            says = "The key that new links are made with is missing here, so links from other machines don't open."
            yield finding.error(
                "keys",
                says,
                f"Copy {config.data_dir / KEYS_FILE} from the machine where it was made, and start the server again. If it's lost"
                " for good, run `pbem keys rotate`; links made with it stay dead.",
            )
        yield from _replayed(config, store)
        yield from mail_intake.try_forgery(config, store, _PATIENCE)


def _files() -> Iterator[Finding]:
    missing = [folder for folder in (paths.templates(), paths.migrations(), paths.handbook()) if not folder.is_dir()]
    if missing:
        says = f"{', '.join(map(str, missing))} can't be found."
        yield finding.error("installation", says, "Install pbem again, from a wheel or a whole checkout.")
    else:
        yield finding.ok("installation", "templates, migrations and handbook found")


def _keys(config: Config) -> Iterator[Finding]:
    if config.keys is None:
        try:
            with explained():
                must_not_need_keys(config)
            says, remedy = "There are no keys, so no links can be made.", "Create them with `pbem init`."
        except BadInput as refusal:
            says, remedy = f"{refusal.what} {refusal.why}", refusal.remedy
        except PbemError:
            says, remedy = "There are no keys, and the database doesn't say whether there were any.", "See `database`."
        yield finding.error("keys", says, remedy)
        return
    newest = config.keys.keys[0]
    if SystemClock().now().date() - newest.made > _OLD_KEY:
        says = f"The newest key, {newest.id}, is from {newest.made}."
        yield finding.warning("keys", says, "Make a new one with `pbem keys rotate`.")
    else:
        yield finding.ok("keys", f"{len(config.keys.keys)}, the newest made on {newest.made}")


def _games(config: Config) -> Iterator[Finding]:
    """Games of other packages; the others are always there."""
    offered = offer_games(config)
    if unknown := offers.unknown(config.games.trusted, offered):
        says = f"PBEM_GAMES_TRUSTED names {', '.join(unknown)}, but no such package or game is installed."
        yield finding.warning("games", says, "Correct the name or remove it.")
    for each in offered:
        if each.trouble is not None:
            yield finding.warning("games", each.trouble.says, each.trouble.remedy)
    if played := [each for each in offered if each.trouble is None]:
        ways = {True: "inside the server", False: "in a process of its own"}
        listed = ", ".join(f"{each.found.name} ({each.found.source}, {ways[each.trusted]})" for each in played)
        yield finding.ok("games", f"from other packages: {listed}")


def _proxies(config: Config) -> Iterator[Finding]:
    """The web server in front: there is one if the site speaks HTTPS, which this server does not."""
    if config.base_url.startswith("https:") and not config.web.proxies:
        says = "No web server in front is named, so all visitors count as one."
        remedy = "Put its address, such as 127.0.0.1, into PBEM_WEB_PROXIES, and have it set X-Forwarded-For."
        yield finding.warning("proxies", says, remedy)


def _relay(config: Config) -> Iterator[Finding]:
    if config.smtp is None:
        yield finding.ok("mail", f"no relay: emails stay in the local mailbox, {config.base_url}/mailbox")
        return
    relay = f"{config.smtp.host}, port {config.smtp.port}, {config.smtp.security}"
    if answer := Relay(config.smtp).problem():
        says = f"The relay ({relay}) refuses email. It said: {answer}."
        remedy = "Check PBEM_SMTP_HOST, _PORT, _SECURITY, _USER and _PASSWORD, and the firewall."
        yield finding.error("mail", says, remedy)
        return
    yield finding.ok("mail", f"the relay answers ({relay})")
    yield from mail_checks.check_records(config)


def _database(store: Store) -> Iterator[Finding]:
    looks: tuple[tuple[str, Callable[[Store], Iterator[Finding]]], ...] = (
        ("database", _version),
        ("migrations", _steps),
        ("schema", _schema),
        ("clock", _clock),
        ("worker", _worker),
        ("web server", _web_server),
        ("queue", _queue),
        ("arrivals", mail_intake.look_at_arrivals),
        ("domains", look_at_domains),
        ("tables", _tables),
        ("time zones", _zones),
    )
    for what, look in looks:
        try:
            with explained():
                found = list(look(store))
        except PbemError as error:
            yield finding.of_error(what, error)
            return
        yield from found
        if any(each.severity is Severity.ERROR for each in found) and what in _NEEDED:
            return


def _version(store: Store) -> Iterator[Finding]:
    version = database_health.version(store)
    broken = database_copy.damage(store)
    if broken is not None:
        remedy = "Stop the server, move the file away, and restore the last backup with `pbem restore`."
        yield finding.error("database", f"The file is damaged. SQLite says: {broken}.", remedy)
    elif database_health.unsafe_sqlite(store):
        says = f"{version} can damage a database in rare cases (fixed in 3.51.3)."
        yield finding.warning("database", says, "Install a newer one: pip install pysqlite3")
    else:
        yield finding.ok("database", f"{version}, can be read")


def _steps(store: Store) -> Iterator[Finding]:
    migrations.must_be_current(store)
    database_health.takes_writes(store)
    yield finding.ok("migrations", f"the database is at the newest step, {migrations.head()}, and writable")


def _schema(store: Store) -> Iterator[Finding]:
    found = schema_check.differences(store)
    for each in found:
        yield (finding.warning if each.slow_only else finding.error)("schema", each.says, each.remedy)
    if not found:
        yield finding.ok("schema", "tables, columns, checks, keys and indexes match this release")


def _clock(store: Store) -> Iterator[Finding]:
    database, here = database_health.clock(store), SystemClock().now()
    if database is None:
        yield finding.ok("clock", f"{here:%Y-%m-%d %H:%M:%S} UTC")
    elif abs(database - here) > CLOCK_TOLERANCE:
        says = (
            f"The database's clock is {duration_text(abs(database - here))} {'ahead' if database > here else 'behind'}."
        )
        yield finding.error("clock", says, "Run a time service (chrony, systemd-timesyncd) on both machines.")
    else:
        yield finding.ok("clock", f"{here:%Y-%m-%d %H:%M:%S} UTC, as in the database")
    with store.read() as tx:
        yield from readiness.clock_steps(tx, here)


def _worker(store: Store) -> Iterator[Finding]:
    now = SystemClock().now()
    with store.read() as tx:
        last, doubted = heartbeats.newest(tx), clock_doubt.doubt(tx, now)
    start = "Start the server with `pbem serve`, or a worker with `pbem worker`."
    if last is None:
        yield finding.warning("worker", "No worker has ever run here, so no email leaves.", start)
    elif last - now > CLOCK_TOLERANCE:
        says = f"The last sign of a worker is {duration_text(last - now)} in the future, so nothing times out."
        yield finding.error("worker", says, "Correct this machine's clock, and run a time service.")
    elif doubted is not None:
        yield finding.error("clock", doubted.says, doubted.remedy)
    elif now - last > LONGEST_GAP:
        says = f"No worker for {duration_text(now - last)}: no email leaves, and no clock runs out."
        yield finding.warning("worker", says, start)
    else:
        yield finding.ok("worker", f"last seen {(now - last).total_seconds():.0f} s ago")


def _web_server(store: Store) -> Iterator[Finding]:
    now = SystemClock().now()
    with store.read() as tx:
        last, missing = web_server_rows.newest(tx), web_servers.why_not_up(tx, now)
    if missing is not None:
        says = f"{missing[0].upper()}{missing[1:]}, and no clock runs out."
        yield finding.warning("web server", says, "Start the server with `pbem serve`, or gunicorn beside a worker.")
    elif last is not None:
        yield finding.ok("web server", f"last seen {max(now - last, timedelta(0)).total_seconds():.0f} s ago")


def _queue(store: Store) -> Iterator[Finding]:
    now = SystemClock().now()
    with store.read() as tx:
        waiting, oldest = outbox.queue_length(tx, "queued")
        parked, _ = outbox.queue_length(tx, "parked")
        undeliverable, _ = outbox.queue_length(tx, "undeliverable")
        stuck_turns = len(due_turns.parked(tx))
        paused = list(readiness.email_pause(tx))
    yield from paused
    if paused:
        yield finding.ok("queue", f"{waiting} emails waiting")
    elif oldest is not None and now - oldest > _STUCK:
        says = f"{waiting} emails are waiting, the oldest for {duration_text(now - oldest)}."
        yield finding.error("queue", says, "Fix `mail` and `worker` above; then they leave.")
    else:
        yield finding.ok("queue", f"{waiting} emails waiting")
    if parked:
        remedy = "The ledger says why. Fix that, then send them again from the desk."
        yield finding.warning("queue", f"{parked} emails were given up after many tries.", remedy)
    if undeliverable:
        remedy = "Reach their readers another way, or give their seats to others."
        yield finding.warning("queue", f"{undeliverable} emails went to addresses that accept none.", remedy)
    if stuck_turns:
        remedy = "The server's log has the error (deadline_failed). Report it, or end those turns by hand."
        yield finding.error("queue", f"{stuck_turns} turns couldn't be timed out.", remedy)


def _replayed(config: Config, store: Store) -> Iterator[Finding]:
    """This release has not replayed these running games: it could not, or has not begun."""
    with store.read() as tx:
        left = recordings.by_other_code(tx, codes(config))
    if left:
        listed = ", ".join(map(str, left[:_MOST_LISTED])) + (" ..." if len(left) > _MOST_LISTED else "")
        says = f"This release has not replayed these running games: {listed}."
        remedy = (
            "The server does so when it starts. If it's running, `pbem replay` says why not. The games go on meanwhile."
        )
        yield finding.warning("tables", says, remedy)


def _zones(store: Store) -> Iterator[Finding]:
    """People and tables have time zones that this machine knows: others count as UTC."""
    with store.read() as tx:
        calendars = [pace for pace in map(read_pace, games.paces(tx)) if isinstance(pace, Calendar)]
        names = {*people.zones(tx), *(calendar.zone.key for calendar in calendars)}
    if unknown := sorted(name for name in names if not is_known(name)):
        says = f"This machine doesn't know the time zone {', '.join(unknown[:_MOST_LISTED])}. Times in it count as UTC."
        remedy = "Upgrade the package tzdata where pbem is installed, or that of the system, and restart the server."
        yield finding.error("time zones", says, remedy)


def _tables(store: Store) -> Iterator[Finding]:
    with store.read() as tx:
        number, halted = games.count(tx), games.halted(tx)
        frozen = [each for each in games.ids_with_status(tx, "frozen") if each not in halted]
        flawed = [each for each in flaws.ids(tx) if each not in frozen]
        calling = calls.with_status(tx, "open", _MOST_CALLS)
    if halted:
        says = f"Games {', '.join(map(str, halted))} were stopped because their rules are missing, have failed or have changed."
        remedy = (
            "If rules are missing, install them and restart the server; `pbem replay` says more about changed ones; "
            "the desk can resume the others."
        )
        yield finding.error("tables", says, remedy)
    if frozen:
        says = f"Games {', '.join(map(str, frozen))} were stopped because their records failed a check."
        yield finding.error("tables", says, f"See `pbem verify --game N`; `pbem rebuild --game N` resumes one. {_BACK}")
    if flawed:
        says = f"The records of games {', '.join(map(str, flawed))} failed their last check."
        yield finding.error("tables", says, f"See `pbem verify --game N`. {_BACK}")
    if not halted and not frozen and not flawed:
        yield finding.ok("tables", f"{number} in all")
    if calling:
        yield finding.warning("tables", f"{len(calling)} messages wait for the organiser.", "Reply at the desk.")
