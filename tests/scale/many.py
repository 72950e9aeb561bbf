"""A server with as many games as a measurement needs: a few that were really played, and copies of all their rows.

Copy `n` of a row has every id moved on by `n` strides of its table, so that references stay whole. Moments of the past are
spread into the past and deadlines into the future, names and keys are made different. The first games are the originals: they
can be played, opened and verified. The copies could be played too, but their logs were hashed under another key.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import Column, Table, func, select

from engine import game
from pbem.domain.states import EmailStatus
from pbem.service.desk.statistics import _LINES_MARK
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.server import Server
from pbem.store.database import Tx
from pbem.store.database_copy import unhurried
from pbem.store.schema import METADATA, OUTBOX, TASK_PROGRESS
from pbem.store.types import Moment
from tests.bench.tables import begin, crowd, server_on
from tests.fakes import FakeClock
from tests.mail.transports import StoringTransport
from tests.service.outgoing.test_deliver import HEAD
from tests.service.running_game import RunningGame
from tests.service.table_copies import analyse

START: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SEATS: Final = 3
EMAILS: Final = 10
"""Finished emails of each game."""

AT_ONCE: Final = 2_000
"""Copies in one transaction."""

_COPIED: Final = ("person", "game", "player", "log", "deadline", "outbox", "ledger", "link", "view", "search_word")
_DIFFERENT: Final = {("person", "key"), ("person", "mailbox"), ("game", "key"), ("outbox", "message_id")}
_AHEAD: Final = {"due_at", "remind_at", "expires_at"}
_APART: Final = timedelta(minutes=10)
"""The time between what happened to one copy and to the next: more games, and no more moves an hour."""


def served(url: str, *, make: bool = False) -> tuple[Server, FakeClock]:
    """A server on this database, with a clock of its own."""
    clock = FakeClock(START)
    return replace(server_on(url, make=make), clock=clock), clock


def originals(server: Server, clock: FakeClock, kinds: list[str] | None = None) -> list[int]:
    """A running game of each kind, whose emails are all sent: at least so many of each."""
    post = Post(HEAD, StoringTransport())
    found = [begin(server, kind, crowd(server, SEATS)) for kind in kinds or game.names()]
    _send(server, clock, post)
    for game_id in found:
        running = RunningGame(server, game_id)
        while len(running.emails()) < EMAILS:
            seat, decision = next(iter(running.asked().items()))
            running.play(seat, decision.default)
            _send(server, clock, post)
    return found


def copy(server: Server, games: int) -> None:
    """Add copies until there are about so many games."""
    with server.store.read() as tx:
        here = {table.name: _count(tx, table) for table in _tables()}
        stride = {table.name: _highest(tx, table) + 1 for table in _tables() if "id" in table.c}
    times = max(games // here["game"] - 1, 0)
    for first in range(1, times + 1, AT_ONCE):
        last = min(first + AT_ONCE - 1, times)
        server.store.write(partial(_copy, stride=stride, first=first, last=last))
    server.store.write(_go_on_after)
    analyse(server)


def _send(server: Server, clock: FakeClock, post: Post) -> None:
    clock.advance(timedelta(minutes=2))
    while deliver(server, post).dealt_with:
        pass


def _tables() -> list[Table]:
    return [table for table in METADATA.sorted_tables if table.name in _COPIED]


def _count(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


def _highest(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.max(table.c.id))).scalar_one() or 0)


def _copy(tx: Tx, stride: dict[str, int], first: int, last: int) -> None:
    unhurried(tx)
    on_sqlite = tx.dialect.name == "sqlite"
    if not on_sqlite:
        # The references of copies are right, and asking for each takes most of the time.
        tx.exec_driver_sql("SET LOCAL session_replication_role = replica")
    for table in _tables():
        columns = ", ".join(f'"{column.name}"' for column in table.c)
        values = ", ".join(_value(column, stride, on_sqlite=on_sqlite) for column in table.c)
        # The originals alone, not what was copied before.
        ids = {f't."{name}"': of for name, of in _ids(table).items() if not table.c[name].nullable}
        own = " AND ".join(f"{name} < {stride[of]}" for name, of in ids.items())
        if table.name == "search_word":
            own = f"t.subject_id < {_of_subject(stride)}"
        numbers = f"WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {last})"
        sql = f'INSERT INTO "{table.name}" ({columns}) {numbers} SELECT {values} FROM s, "{table.name}" t WHERE {own}'
        tx.exec_driver_sql(sql if on_sqlite else sql.replace("%", "%%"))


def _of_subject(stride: dict[str, int]) -> str:
    """The stride of what a word of the search is about."""
    return f"CASE t.about WHEN 'table' THEN {stride['game']} ELSE {stride['person']} END"


def _ids(table: Table) -> dict[str, str]:
    """The columns that hold an id, and whose."""
    found = {key.parent.name: key.column.table.name for key in table.foreign_keys}
    if "id" in table.c:
        found["id"] = table.name
    return {name: of for name, of in found.items() if of in _COPIED}


def _value(column: Column[object], stride: dict[str, int], *, on_sqlite: bool) -> str:
    """What a copy has in this column."""
    own, table = f't."{column.name}"', column.table
    if of := _ids(table).get(column.name):
        return f"{own} + s.n * {stride[of]}"
    if (table.name, column.name) == ("search_word", "subject_id"):
        return f"{own} + s.n * {_of_subject(stride)}"
    if (table.name, column.name) in _DIFFERENT:
        return f"s.n || 'x' || {own}"
    if isinstance(column.type, Moment):
        seconds = (
            f"s.n * {_APART.total_seconds():.0f} * {1 if column.name in _AHEAD and table.name != 'outbox' else -1}"
        )
        if on_sqlite:
            return f"strftime('%Y-%m-%d %H:%M:%f', {own}, ({seconds}) || ' seconds') || '000'"
        return f"{own} + ({seconds}) * interval '1 second'"
    if (table.name, column.name) == ("outbox", "body"):
        return f"CASE WHEN s.n % {WITH_BODY} = 0 THEN {own} END"
    return own


WITH_BODY: Final = 100
"""One copy in this number has the bytes of its emails: no list and no tick reads them, and they would fill the disk."""


def _go_on_after(tx: Tx) -> None:
    """Let ids go on after the copies, and let the counting of activity begin now."""
    if tx.dialect.name == "postgresql":
        for table in _tables():
            if "id" in table.c:
                tx.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
                )
    tx.execute(TASK_PROGRESS.delete())
    last = _highest(tx, METADATA.tables["ledger"])
    tx.execute(TASK_PROGRESS.insert(), [{"task": _LINES_MARK, "last_id": last}])


def finished(server: Server) -> int:
    """How many emails are finished."""
    with server.store.read() as tx:
        return int(
            tx.execute(select(func.count()).select_from(OUTBOX).where(OUTBOX.c.status == EmailStatus.SENT)).scalar_one()
        )
