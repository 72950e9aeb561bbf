"""Stopped tables: those whose rules are missing, have failed or have changed, and those an organiser stops to check their log.

A table whose rules failed waits for an organiser; one whose rules are missing continues by itself when they are back, and one
whose rules have changed when they play it as before. Its clocks are stopped meanwhile, and its players and the organisers
are told why.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, TypeVar

import structlog

from pbem.domain.states import TableStatus
from pbem.i18n.speech import mark
from pbem.plugins import foreign
from pbem.plugins.foreign import Fault
from pbem.service import alarms
from pbem.service.alarms import AlarmKind
from pbem.service.clocks import deadlines, pauses
from pbem.service.play.log import Kind, add_row
from pbem.service.play.rules import versions
from pbem.service.server import Server
from pbem.store import games, pauses as pause_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow

T = TypeVar("T")

_log = structlog.get_logger(__name__)


class Cause(StrEnum):
    """The reason why the server has stopped a table."""

    GONE = "gone"
    FAILED = "failed"
    CHANGED = "changed"


REASONS: Final[Mapping[Cause, str]] = {
    Cause.GONE: mark("Its rules aren't on this server right now. It will resume by itself when they're back."),
    Cause.FAILED: mark("Its rules failed. The organiser has been told."),
    Cause.CHANGED: mark("Its rules have changed on this server. It will resume by itself once that's fixed."),
}

_BACK: Final = mark("Its rules are back.")

_BY: Final = "table"
"""The author in the log of a stop by the server itself."""


def freeze(tx: Tx, server: Server, row: GameRow, by: str, reason: str, cause: Cause | None = None) -> None:
    """Stop a running table and its clocks, and tell its players why."""
    row = add_row(tx, server, row, Kind.FROZEN, None, by, {"reason": reason})
    if not row.paused:
        pause_rows.begin(tx, row.id, server.now())
    deadlines.settle_game(tx, server, row, tell=False)
    tables.change_game(tx, row.id, status=TableStatus.FROZEN, halted=cause)
    deadlines.notify_people(tx, server, row, "frozen", {"reason": reason, "by": by})


def unfreeze(tx: Tx, server: Server, row: GameRow, by: str, reason: str) -> None:
    """Resume a stopped table, and tell its players their new deadlines."""
    row = add_row(tx, server, row, Kind.UNFROZEN, None, by, {"reason": reason})
    if not row.paused:
        pause_rows.end(tx, row.id, server.now())
    tables.change_game(tx, row.id, status=TableStatus.PLAYING, halted=None)
    foreign.forgive(row.id)
    pauses.announce(tx, server, row, "unfrozen", {"reason": reason, "by": by, "paused": row.paused})


def stop_failed(server: Server) -> int:
    """Stop the tables whose rules have failed in this process since the last call; returns their number.

    Call it outside the transaction that met the fault, which is rolled back. A table that could not be stopped is tried
    again with the next call, and until then its rules are asked nothing.
    """
    stopped = 0
    for fault in foreign.take_faults():
        if _try(server, fault.game_id, _stop_failed, fault):
            # From now on the row says it.
            foreign.forgive(fault.game_id)
            stopped += 1
        else:
            foreign.FAULTS.append(fault)
    return stopped


def check_rules(server: Server) -> tuple[int, int]:
    """Stop the tables whose rules are missing and resume those whose rules are back; returns the number of each."""
    playable = versions()
    with server.store.read() as tx:
        away = games.running_without(tx, playable)
        back = games.halted_with(tx, Cause.GONE, playable)
    for game_id in away:
        _try(server, game_id, _stop_missing, game_id)
    for game_id in back:
        _try(server, game_id, _resume, game_id)
    return len(away), len(back)


def stop_changed(tx: Tx, server: Server, game_id: int, how: str) -> None:
    """Stop a table that the rules here would treat differently than before, and tell the organisers how."""
    row = games.lock(tx, game_id)
    if row.status == TableStatus.PLAYING:
        freeze(tx, server, row, _BY, REASONS[Cause.CHANGED], Cause.CHANGED)
    elif row.status != TableStatus.FROZEN or row.halted in (Cause.FAILED, Cause.CHANGED):
        return
    elif row.halted == Cause.GONE:
        # It must not go on just because there are rules again.
        tables.change_game(tx, row.id, halted=Cause.CHANGED)
    alarms.raise_alarm(
        tx,
        server,
        AlarmKind.GAME,
        f"{row.kind}: its rules have changed ({how}). See `pbem replay --game {row.id}`.",
        row.id,
    )
    _log.error("table_stopped", game=row.id, kind=row.kind, how=how)


def resume_unchanged(tx: Tx, server: Server, game_id: int) -> None:
    """Resume a table that was stopped because its rules had changed, now that they play it as before."""
    _resume(tx, server, game_id, Cause.CHANGED)


def _try(server: Server, game_id: int, use_case: Callable[[Tx, Server, T], None], what: T) -> bool:
    """Run a use case about one table; returns whether it was carried out."""
    try:
        server.run(use_case, what)
    except Exception:  # noqa: BLE001 - a fault at one table must not stop the others
        _log.exception("table_not_seen_to", game=game_id)
        return False
    return True


def _stop_failed(tx: Tx, server: Server, fault: Fault) -> None:
    row = games.lock(tx, fault.game_id)
    alarms.raise_alarm(tx, server, AlarmKind.GAME, f"{fault.kind}: {fault.how}.", row.id)
    if row.status == TableStatus.PLAYING:
        freeze(tx, server, row, _BY, REASONS[Cause.FAILED], Cause.FAILED)
        _log.error("table_stopped", game=row.id, kind=row.kind, how=fault.how)


def _stop_missing(tx: Tx, server: Server, game_id: int) -> None:
    row = games.lock(tx, game_id)
    if row.status == TableStatus.PLAYING:
        alarms.raise_alarm(
            tx, server, AlarmKind.GAME, f"{row.kind}: its rules are not here. See `pbem doctor`.", row.id
        )
        freeze(tx, server, row, _BY, REASONS[Cause.GONE], Cause.GONE)
        _log.warning("table_stopped", game=row.id, kind=row.kind, how="not here")


def _resume(tx: Tx, server: Server, game_id: int, cause: Cause = Cause.GONE) -> None:
    row = games.lock(tx, game_id)
    if row.status == TableStatus.FROZEN and row.halted == cause:
        unfreeze(tx, server, row, _BY, _BACK)
        _log.info("table_goes_on", game=row.id, kind=row.kind)
