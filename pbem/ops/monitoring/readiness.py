"""Whether a process can do its work at this moment: the database, its steps, its own worker's heartbeat, the disk.

A process that is not ready says why. It looks only, takes no longer than the database does, and names no secret.
"""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from pbem.config.settings import Config
from pbem.domain.duration import duration_text
from pbem.domain.errors import PbemError
from pbem.domain.finding import Finding, Severity
from pbem.service.server import Server
from pbem.store import heartbeats, migrations
from pbem.store.database_errors import explained

LITTLE: Final = 1024**3
TOO_LITTLE: Final = 200 * 1024**2
"""The log of a busy server grows by some megabytes a day; a backup and a migration need room for a copy."""

SILENT: Final = timedelta(minutes=2)
"""A worker beats every fifteen seconds, and may wait for the database meanwhile."""


def readiness(server: Server, config: Config, worker: str | None) -> list[Finding]:
    """What this process needs, each with how it is; it is ready where none is in trouble.

    `worker` is the name of the worker in this process. Where it has none, somebody else's silence is told and stops
    nobody from answering requests: moves are kept, and their mails leave later.
    """
    found = [disk(config)]
    try:
        with explained():
            found += _database(server, worker)
    except PbemError as error:
        found.append(Finding("database", Severity.ERROR, " ".join(filter(None, (error.what, error.why))), error.remedy))
    return found


def free_bytes(config: Config) -> int:
    """How much room there is where the data folder lies, or will lie."""
    return shutil.disk_usage(next(each for each in (config.data_dir, *config.data_dir.parents) if each.exists())).free


def disk(config: Config) -> Finding:
    """Whether there is room."""
    free = free_bytes(config)
    says = f"{free // 1024**2:,} MB free at {config.data_dir}"
    if free < TOO_LITTLE:
        return Finding("disk", Severity.ERROR, f"{says}.", "Make room: moves are refused when the disk is full.")
    if free < LITTLE:
        return Finding("disk", Severity.WARNING, f"{says}.", "Make room soon; a migration and a backup need some.")
    return Finding("disk", Severity.OK, says)


def _database(server: Server, worker: str | None) -> Iterator[Finding]:
    at = migrations.current(server.store)
    yield Finding("database", Severity.OK, "it answers")
    yield _steps(at)
    yield _beat(server, worker)


def _steps(at: str) -> Finding:
    if at == migrations.head():
        return Finding("migrations", Severity.OK, f"the database is at step {at}")
    if at in migrations.steps() or at == migrations.EMPTY:
        says = f"The database is at step {at}, and this release needs {migrations.head()}."
        return Finding("migrations", Severity.ERROR, says, "Run `pbem migrate`.")
    # Steps that came after this release only add, so that it goes on until it is its turn to be replaced.
    says = f"The database is at step {at}, which is newer than this release."
    return Finding("migrations", Severity.WARNING, says, "Install the newer release here, too.")


def _beat(server: Server, worker: str | None) -> Finding:
    with server.store.read() as tx:
        beats = heartbeats.beats(tx)
    heard = [beat.beat_at for beat in beats if worker in (None, beat.worker)]
    bad = Severity.WARNING if worker is None else Severity.ERROR
    if not heard:
        return Finding("worker", bad, "No worker was ever heard of.", "Start one: `pbem worker`.")
    silent = server.now() - max(heard)
    if silent > SILENT:
        says = f"The last sign of {'any worker' if worker is None else 'the worker in here'} is {duration_text(silent)} old."
        return Finding("worker", bad, says, "See the log: `tick_failed` says what is in its way.")
    return Finding("worker", Severity.OK, f"heard of {max(silent, timedelta(0)).total_seconds():.0f} s ago")
