"""Tables that are stopped because their rules cannot be asked, and those that an organiser stops to look at their record.

A table whose game has failed waits for an organiser. One whose game is not on this server goes on by itself when the game is
back. Either way its clocks stand still, and its players and the organisers read why.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, TypeVar

import structlog

from engine import game as games_known
from pbem.i18n.speech import mark
from pbem.plugins import foreign
from pbem.plugins.foreign import Fault
from pbem.service import alarms
from pbem.service.alarms import What
from pbem.service.clocks import deadlines, pauses
from pbem.service.clocks.deadlines import people_at
from pbem.service.play.log import Kind, add_row
from pbem.service.server import Server
from pbem.store import games, tables
from pbem.store import pauses as pause_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow

T = TypeVar("T")

_log = structlog.get_logger(__name__)


class Cause(StrEnum):
    """Why the server has stopped a table."""

    GONE = "gone"
    FAILED = "failed"


REASONS: Final[Mapping[Cause, str]] = {
    Cause.GONE: mark("Its rules are not on this server just now. It goes on by itself when they are back."),
    Cause.FAILED: mark("Its rules have failed. The organiser has been told."),
}

_BACK: Final = mark("Its rules are back.")

_BY: Final = "table"
"""In whose name the log says that the server itself has stopped a table."""


def freeze(tx: Tx, server: Server, row: GameRow, by: str, reason: str, cause: Cause | None = None) -> None:
    """Let nothing be decided at a table that is being played, and no clock run; tell its players why."""
    row = add_row(tx, server, row, Kind.FROZEN, None, by, {"reason": reason})
    if not row.paused:
        pause_rows.pause(tx, row.id, server.now())
    deadlines.settle_game(tx, server, row, tell=False)
    tables.change_game(tx, row.id, status="frozen", halted=cause)
    for person_id in people_at(tx, row.id):
        deadlines.queue_notice(tx, server, person_id, row, None, "frozen", {"reason": reason, "by": by})


def unfreeze(tx: Tx, server: Server, row: GameRow, by: str, reason: str) -> None:
    """Let a table that was stopped go on, and tell its players until when they have time now."""
    row = add_row(tx, server, row, Kind.UNFROZEN, None, by, {"reason": reason})
    if not row.paused:
        pause_rows.end_pause(tx, row.id, server.now())
    tables.change_game(tx, row.id, status="playing", halted=None)
    foreign.forgive(row.id)
    facts = {"reason": reason, "by": by, "paused": row.paused}
    pauses.announce(tx, server, row, "unfrozen", facts)


def stop_failed(server: Server) -> int:
    """Stop the tables whose games have failed in this process since this was asked last; how many those were.

    To be asked after whatever has met the fault, and outside of its transaction, which is undone.
    """
    faults = foreign.take_faults()
    for fault in faults:
        _tried(server, fault.game_id, _stop, fault)
        # What the row says counts from now on.
        foreign.forgive(fault.game_id)
    return len(faults)


def check_rules(server: Server) -> tuple[int, int]:
    """Stop the tables whose games are not on this server, and let those go on whose games are back; how many of each."""
    with server.store.read() as tx:
        away = games.running_without(tx, games_known.names())
        back = games.halted_with(tx, Cause.GONE, games_known.names())
    for game_id in away:
        _tried(server, game_id, _leave, game_id)
    for game_id in back:
        _tried(server, game_id, _come_back, game_id)
    return len(away), len(back)


def _tried(server: Server, game_id: int, use_case: Callable[[Tx, Server, T], None], what: T) -> None:
    try:
        server.run(use_case, what)
    except Exception:  # noqa: BLE001 - whatever is wrong with one table, the others are seen to
        _log.exception("table_not_seen_to", game=game_id)


def _stop(tx: Tx, server: Server, fault: Fault) -> None:
    row = games.lock(tx, fault.game_id)
    alarms.raise_alarm(tx, server, What.GAME, f"{fault.kind}: {fault.how}.", row.id)
    if row.status == "playing":
        freeze(tx, server, row, _BY, REASONS[Cause.FAILED], Cause.FAILED)
        _log.error("table_stopped", game=row.id, kind=row.kind, how=fault.how)


def _leave(tx: Tx, server: Server, game_id: int) -> None:
    row = games.lock(tx, game_id)
    if row.status == "playing":
        alarms.raise_alarm(tx, server, What.GAME, f"{row.kind}: its rules are not here. See `pbem doctor`.", row.id)
        freeze(tx, server, row, _BY, REASONS[Cause.GONE], Cause.GONE)
        _log.warning("table_stopped", game=row.id, kind=row.kind, how="not here")


def _come_back(tx: Tx, server: Server, game_id: int) -> None:
    row = games.lock(tx, game_id)
    if row.status == "frozen" and row.halted == Cause.GONE:
        unfreeze(tx, server, row, _BY, _BACK)
        _log.info("table_goes_on", game=row.id, kind=row.kind)
