"""The daily check of all logs, a few at a time.

Flaws are stored, and raise an alarm; nothing is repaired. A table whose rules have changed is stopped. What the rules made of
a sound game is recorded, for the release that comes next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from pbem.domain.errors import Unplayable
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import stopped_tables
from pbem.service.server import Server
from pbem.store import flaws, heartbeats, recordings, task_progress
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.flaws import FlawRow
from pbem.store.recordings import RecordingRow

ROWS: Final = 300
"""Rows read in one call, besides the rest of the last table: a fraction of a second."""

_TASK: Final = "checking"
_AT_ONCE: Final = 20
_BEGUN: Final = -1
"""The progress of a round that has checked no table yet; it is 0 where none is under way."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Rows, problems, and the row of the first. Only `pbem verify` shows the problems: they may reveal hidden cards.

    `changed` says where the rules treat the game differently than they did; `recording` is what to keep of a sound one.
    """

    rows: int
    wrong: int = 0
    first: int = 0
    changed: str = ""
    recording: RecordingRow | None = None


CheckTable = Callable[[Tx, int], CheckResult]


def check_some(server: Server, check: CheckTable) -> int:
    """Check the next tables of today's round; returns how many."""
    mark = server.run(_progress)
    if mark is None:
        return 0
    following = server.query(flaws.next_tables, mark, _AT_ONCE)
    rows = checked = 0
    for game_id in following:
        result = _check(server, check, game_id)
        _store(server, game_id, result)
        rows, checked = rows + result.rows, checked + 1
        if rows >= ROWS:
            break
    if not following:
        server.store.write(_end_round)
    return checked


def _check(server: Server, check: CheckTable, game_id: int) -> CheckResult:
    try:
        return server.query(check, game_id)
    except Unplayable:
        # Its rules are missing or have failed: the table is stopped, and is checked when it goes on.
        return CheckResult(0)
    except Exception as error:
        if is_outage(error):
            # It says nothing about the record, which is checked when the database is back.
            raise
        # A record that cannot even be read must not hold up the round.
        _log.exception("table_not_checked", game=game_id)
        return CheckResult(0, wrong=1)


def _progress(tx: Tx, server: Server) -> int | None:
    """Today's progress, starting a round if none runs; None once today's is checked."""
    mark = task_progress.lock(tx, _TASK)
    if mark != 0:
        return mark
    if not heartbeats.take_task(tx, _TASK, server.now().date().isoformat()):
        return None
    # Noted at once, so that a round that breaks off at its first table goes on.
    task_progress.put(tx, _TASK, _BEGUN)
    return _BEGUN


def _store(server: Server, game_id: int, result: CheckResult) -> None:
    says = f"{result.wrong} faults, the first in row {result.first}. `pbem verify --game {game_id}` lists them."
    flaw = FlawRow(game_id, server.now(), result.first, says) if result.wrong else None

    def work(tx: Tx) -> None:
        if result.recording is not None:
            recordings.keep(tx, [result.recording])
        if result.changed:
            stopped_tables.stop_changed(tx, server, game_id, result.changed)
        if flaws.replace(tx, game_id, flaw) and flaw is not None:
            alarms.raise_alarm(tx, server, AlarmKind.RECORD, flaw.says, game_id)
        # Another worker may have got further meanwhile.
        task_progress.put(tx, _TASK, max(task_progress.lock(tx, _TASK), game_id))

    server.store.write(work)


def _end_round(tx: Tx) -> None:
    task_progress.lock(tx, _TASK)
    task_progress.put(tx, _TASK, 0)
