"""Looking at the record of one table after the other, a little at a time, so that a fault is known before somebody needs it.

Every day a round begins; each look reads a few tables and no more. What is found is kept for the desk, and the organisers
hear of a table that did not check for the first time. Nothing is mended or stopped here: people decide that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from pbem.domain.errors import Unplayable
from pbem.service import alarms
from pbem.service.alarms import What
from pbem.service.server import Server
from pbem.store import flaws, tally, task_runs
from pbem.store.database import Tx
from pbem.store.flaws import FlawRow

ROWS: Final = 300
"""So many rows are read in one look, and the table that is being read to its end: a fraction of a second."""

_TASK: Final = "checking"
_AT_ONCE: Final = 20

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a look at one table has found: its rows, how many things are wrong, and the row in which the first shows.

    What is wrong is told at the machine only (`pbem verify`): it may speak of cards that nobody has seen.
    """

    rows: int
    wrong: int = 0
    first: int = 0


Look = Callable[[Tx, int], Checked]


def check_some(server: Server, look: Look) -> int:
    """Look at the next tables of today's round; how many those were."""
    mark = server.run(_begun)
    if mark is None:
        return 0
    with server.store.read() as tx:
        following = flaws.next_tables(tx, mark, _AT_ONCE)
    rows = done = 0
    for game_id in following:
        found = _looked(server, look, game_id)
        _keep(server, game_id, found)
        rows, done = rows + found.rows, done + 1
        if rows >= ROWS:
            break
    if not following:
        server.store.write(_over)
    return done


def _looked(server: Server, look: Look, game_id: int) -> Checked:
    try:
        with server.store.read() as tx:
            return look(tx, game_id)
    except Unplayable:
        # The table is stopped for it, and the organisers hear of that; its record is looked at when it goes on.
        return Checked(0)
    except Exception:  # noqa: BLE001 - a record that cannot even be read must not hold up the round
        _log.exception("table_not_checked", game=game_id)
        return Checked(0, wrong=1)


def _begun(tx: Tx, server: Server) -> int | None:
    """How far the round has come, of which one begins where none is under way; None where today's is over."""
    mark = tally.lock_progress(tx, _TASK)
    if mark == 0 and not task_runs.take(tx, _TASK, server.now().date().isoformat()):
        return None
    return mark


def _keep(server: Server, game_id: int, found: Checked) -> None:
    says = f"{found.wrong} faults, the first in row {found.first}. `pbem verify --game {game_id}` tells them."
    flaw = FlawRow(game_id, server.now(), found.first, says) if found.wrong else None

    def work(tx: Tx) -> None:
        if flaws.replace(tx, game_id, flaw) and flaw is not None:
            alarms.raise_alarm(tx, server, What.RECORD, flaw.says, game_id)
        # Another worker may have come further meanwhile.
        tally.set_progress(tx, _TASK, max(tally.lock_progress(tx, _TASK), game_id))

    server.store.write(work)


def _over(tx: Tx) -> None:
    tally.lock_progress(tx, _TASK)
    tally.set_progress(tx, _TASK, 0)
