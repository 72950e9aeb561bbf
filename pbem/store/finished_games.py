"""Finished public games as rows of statistics: what each adds, who played it, and the sums by kind of game.

A transaction that adds or replaces rows has locked the task `TASK`. Its progress is even, or odd while all sums are made again.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, delete, exists, insert, literal_column, select, update

from pbem.domain.game_statistics import Sums
from pbem.domain.states import TableStatus
from pbem.store import queries, task_progress
from pbem.store.schema import FINISHED_GAME, FINISHED_SEAT, GAME, GAME_SUM, FinishedGameRow, FinishedSeatRow

TASK: Final = "statistics of games"

# Written out, so that the partial index fits.
_IS_OVER = GAME.c.status == literal_column(f"'{TableStatus.OVER}'")
_PUBLIC = ~GAME.c.private
_NOT_COUNTED = (_PUBLIC, _IS_OVER, GAME.c.counted.is_(None))


def missing(tx: Connection, limit: int) -> list[int]:
    """The ids of finished public games that have not been counted, in the order of endings."""
    query = select(GAME.c.id).where(*_NOT_COUNTED).order_by(GAME.c.ended_at, GAME.c.id).limit(limit)
    return list(tx.execute(query).scalars())


def try_again(tx: Connection) -> int:
    """Have games counted again that could not be. Returns how many."""
    return int(tx.execute(update(GAME).where(_PUBLIC, GAME.c.counted.is_(False)).values(counted=None)).rowcount)


def lock(tx: Connection) -> int:
    """Let nobody else change the sums until this transaction ends. Returns the progress of the task."""
    return task_progress.lock(tx, TASK)


def progress(tx: Connection) -> int:
    return task_progress.read(tx, TASK)


def set_progress(tx: Connection, number: int) -> None:
    """Set the progress of the task, which is locked."""
    task_progress.put(tx, TASK, number)


def add(tx: Connection, row: FinishedGameRow, seats: Iterable[FinishedSeatRow]) -> None:
    """Add what a game adds, in place of what it added before if it was counted already."""
    change = Counter(dict(counts_in(row)))
    before = queries.one(tx, FinishedGameRow, select(FINISHED_GAME).where(FINISHED_GAME.c.game_id == row.game_id))
    if before is not None:
        change.subtract(dict(counts_in(before)))
        for table in (FINISHED_SEAT, FINISHED_GAME):
            tx.execute(delete(table).where(table.c.game_id == row.game_id))
    tx.execute(insert(FINISHED_GAME), row._asdict())
    if values := [each._asdict() for each in seats]:
        tx.execute(insert(FINISHED_SEAT), values)
    insertion = queries.insertion(tx.dialect.name, GAME_SUM)
    upsert = insertion.on_conflict_do_update(
        index_elements=["kind", "what", "value"], set_={"count": GAME_SUM.c.count + insertion.excluded.count}
    )
    if sums := _sum_rows(row.kind, change):
        tx.execute(upsert, sums)


def counts_in(row: FinishedGameRow) -> Sums:
    """What a row adds to the sums of its kind."""
    return {(what, value): count for what, value, count in json.loads(row.counts)}


def dumps(counts: Sums) -> str:
    """Counts as a row has them."""
    return json.dumps([[what, value, count] for (what, value), count in sorted(counts.items())])


def of_kind(tx: Connection, kind: str) -> Sums:
    """The sums of a kind of game."""
    query = select(GAME_SUM.c.what, GAME_SUM.c.value, GAME_SUM.c.count).where(GAME_SUM.c.kind == kind)
    return {(what, value): count for what, value, count in tx.execute(query)}


def after(tx: Connection, game_id: int, limit: int) -> list[FinishedGameRow]:
    """The rows of games with ids above this one, by id."""
    query = select(FINISHED_GAME).where(FINISHED_GAME.c.game_id > game_id).order_by(FINISHED_GAME.c.game_id)
    return queries.many(tx, FinishedGameRow, query.limit(limit))


def replace_sums(tx: Connection, by_kind: Mapping[str, Sums]) -> None:
    """Put these sums in place of all."""
    tx.execute(delete(GAME_SUM))
    rows = [row for kind, counts in by_kind.items() for row in _sum_rows(kind, counts)]
    if rows:
        tx.execute(insert(GAME_SUM), rows)


def merge(tx: Connection, key: str, into: str) -> None:
    """Make the games of one player another's. Where both had the same seat, the second keeps what they had."""
    other = FINISHED_SEAT.alias("other")
    same_seat = (other.c.game_id == FINISHED_SEAT.c.game_id, other.c.seat == FINISHED_SEAT.c.seat)
    both = exists().where(*same_seat, other.c.player == into)
    tx.execute(delete(FINISHED_SEAT).where(FINISHED_SEAT.c.player == key, both))
    tx.execute(update(FINISHED_SEAT).where(FINISHED_SEAT.c.player == key).values(player=into))


def _sum_rows(kind: str, counts: Sums) -> list[dict[str, str | int]]:
    """Rows of sums in one order, so that no two transactions wait for each other."""
    return [
        {"kind": kind, "what": what, "value": value, "count": count}
        for (what, value), count in sorted(counts.items())
        if count
    ]
