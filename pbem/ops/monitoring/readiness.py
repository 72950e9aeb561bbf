"""Whether a process can do its work: database, migrations, its worker's heartbeat, disk. No secret is shown."""

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from pbem.config.settings import Config
from pbem.domain import finding
from pbem.domain.duration import duration_text
from pbem.domain.errors import PbemError
from pbem.domain.finding import Finding
from pbem.domain.moments import relative_text
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import clock_doubt
from pbem.service.server import Server
from pbem.store import alarms, heartbeats, migrations, outages
from pbem.store.database import Tx
from pbem.store.database_errors import explained
from pbem.store.limits import last

LITTLE: Final = 1024**3
TOO_LITTLE: Final = 200 * 1024**2
"""A busy server's log grows by some megabytes a day; a backup and a migration need room for a copy."""

STEPS_SHOWN: Final = timedelta(days=1)
"""How long a step of the clock is shown."""

SILENT: Final = timedelta(minutes=2)
"""A worker beats every five seconds, and may have to wait for the database."""


def readiness(server: Server, config: Config, worker: str | None) -> list[Finding]:
    """What this process needs, each with its state; it is ready if none is an error.

    `worker` is the worker of this process. Without one, a missing worker elsewhere is a warning: requests are still
    answered, and emails leave later.
    """
    found = [disk(config)]
    try:
        with explained():
            found += _database(server, worker)
    except PbemError as error:
        found.append(finding.of_error("database", error))
    return found


def free_bytes(config: Config) -> int:
    """The free space where the data folder is or will be."""
    return shutil.disk_usage(next(each for each in (config.data_dir, *config.data_dir.parents) if each.exists())).free


def disk(config: Config) -> Finding:
    """Whether there is enough space."""
    free = free_bytes(config)
    says = f"{free // 1024**2:,} MB free at {config.data_dir}"
    if free < TOO_LITTLE:
        return finding.error("disk", f"{says}.", "Free some space: moves are refused when the disk is full.")
    if free < LITTLE:
        return finding.warning("disk", f"{says}.", "Free some space soon: migrations and backups need it.")
    return finding.ok("disk", says)


def _database(server: Server, worker: str | None) -> Iterator[Finding]:
    at = migrations.current(server.store)
    yield finding.ok("database", "it answers")
    yield _steps(at)
    yield _beat(server, worker)
    with server.store.read() as tx:
        yield from clock_steps(tx, server.now())
        yield from email_pause(tx)


def clock_steps(tx: Tx, now: datetime) -> Iterator[Finding]:
    """The last step of the server's clock, for a day."""
    if (step := alarms.newest(tx, AlarmKind.CLOCK, last(STEPS_SHOWN, now))) is not None:
        says = f"{step.says} That was {relative_text(now, step.at)}, by its time now."
        remedy = "Run a time service (chrony, systemd-timesyncd), and find out what else sets the clock."
        yield finding.warning("clock steps", says, remedy)


def email_pause(tx: Tx) -> Iterator[Finding]:
    """The pause of outgoing email, while it lasts."""
    if (pause := outages.email_pause(tx)) is not None:
        says = f"Outgoing email has been paused since {pause.start_at:%Y-%m-%d %H:%M} UTC: {pause.why}"
        yield finding.warning("email pause", says, "To resume: `pbem mail resume`.")


def _steps(at: str) -> Finding:
    if at == migrations.head():
        return finding.ok("migrations", f"the database is at step {at}")
    if at in migrations.steps() or at == migrations.EMPTY:
        says = f"The database is at step {at}, and this release needs {migrations.head()}."
        return finding.error("migrations", says, "Run `pbem migrate`.")
    # Newer migrations only add, so this process works until it is replaced.
    says = f"The database is at step {at}, which is newer than this release."
    return finding.warning("migrations", says, "Install the newer release here too.")


def _beat(server: Server, worker: str | None) -> Finding:
    with server.store.read() as tx:
        beats = heartbeats.all_workers(tx)
        doubted = clock_doubt.doubt(tx, server.now())
    heard = [beat.beat_at for beat in beats if worker in (None, beat.worker)]
    bad = finding.warning if worker is None else finding.error
    if doubted is not None:
        return bad("clock", doubted.says, doubted.remedy)
    if not heard:
        return bad("worker", "No worker has ever run.", "Start one: `pbem worker`.")
    silent = server.now() - max(heard)
    if silent > SILENT:
        says = f"The last sign of {'any worker' if worker is None else 'this worker'} is {duration_text(silent)} old."
        return bad("worker", says, "See the log: `tick_failed` says what is wrong.")
    return finding.ok("worker", f"last heartbeat {max(silent, timedelta(0)).total_seconds():.0f} s ago")
