"""Finished public games as rows of statistics: what each adds, who played it, and the sums by kind of game.

A transaction that adds or replaces rows has locked the task `TASK`. Its progress is even, or odd while all sums are made again.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, case, delete, exists, func, insert, select, update

from pbem.domain.game_statistics import Sums
from pbem.domain.player_record import Played
from pbem.store import profiles, queries, task_progress
from pbem.store.schema import (
    FINISHED_GAME,
    FINISHED_SEAT,
    GAME,
    GAME_SUM,
    IS_NOT_COUNTED,
    PERSON,
    PROFILE,
    FinishedGameRow,
    FinishedSeatRow,
)

TASK: Final = "statistics of games"


MOST_LOOKED_AT: Final = 200
"""Opponents whose profiles are looked for, those met most often."""

_LATEST = (FINISHED_SEAT.c.ended_at.desc(), FINISHED_SEAT.c.game_id.desc())


@dataclass(frozen=True, slots=True)
class Against:
    """How games against one opponent went, by the name and the end of the address of their profile; empty for all others.

    `games` counts each game once for each opponent in it, `ahead` those where the player's rank was better, `level` ties.
    """

    name: str
    key: str
    games: int
    ahead: int
    level: int


_NUMBERS: Final = ("games", "ahead", "level")


def missing(tx: Connection, limit: int) -> list[int]:
    """The ids of finished public games that have not been counted, in the order of endings."""
    query = select(GAME.c.id).where(IS_NOT_COUNTED).order_by(GAME.c.ended_at, GAME.c.id).limit(limit)
    return list(tx.execute(query).scalars())


def try_again(tx: Connection) -> int:
    """Have games counted again that could not be. Returns how many."""
    return int(tx.execute(update(GAME).where(GAME.c.counted.is_(False)).values(counted=None)).rowcount)


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


def of_player(tx: Connection, player: str, limit: int) -> list[Played]:
    """The latest games of a player, in the order in which they ended."""
    query = select(FINISHED_SEAT).where(FINISHED_SEAT.c.player == player).order_by(*_LATEST).limit(limit)
    return [
        Played(row.kind, row.seat, row.seats, row.rank, row.score, row.margin, json.loads(row.choices))
        for row in queries.many(tx, FinishedSeatRow, query)
    ][::-1]


def against(
    tx: Connection, player: str, reader: int | None, games: int, opponents: int
) -> tuple[list[Against], Against]:
    """How a player's latest games went against each opponent whose profile the reader may see, and against all others.

    Those with a profile are the ones met most often, up to a number, among the `MOST_LOOKED_AT`; everyone else is among the others.
    """
    own = select(FINISHED_SEAT.c.game_id, FINISHED_SEAT.c.rank).where(FINISHED_SEAT.c.player == player)
    mine, other = own.order_by(*_LATEST).limit(games).subquery("mine"), FINISHED_SEAT.alias("other")
    met = mine.join(other, other.c.game_id == mine.c.game_id)
    numbers = [func.count(), *(func.count(case((each, 1))) for each in _outcomes(mine.c.rank, other.c.rank))]
    total = select(*numbers).select_from(met).where(other.c.player != player)
    labelled = [number.label(name) for name, number in zip(_NUMBERS, numbers, strict=True)]
    by_player = (
        select(other.c.player, *labelled).select_from(met).where(other.c.player != player).group_by(other.c.player)
    )
    often = by_player.order_by(func.count().desc(), other.c.player).limit(MOST_LOOKED_AT).subquery("often")
    known = often.join(PERSON, PERSON.c.key == often.c.player).join(PROFILE, PROFILE.c.person_id == PERSON.c.id)
    each = select(PROFILE.c.name, PROFILE.c.key, *(often.c[name] for name in _NUMBERS)).select_from(known)
    most = each.where(profiles.may_see(reader)).order_by(often.c.games.desc(), PROFILE.c.key).limit(opponents)
    shown = queries.many(tx, Against, most)
    in_all = [int(number) for number in tx.execute(total).one()]
    rest = [count - sum(getattr(one, name) for one in shown) for name, count in zip(_NUMBERS, in_all, strict=True)]
    return shown, Against("", "", *rest)


def _outcomes(own: ColumnElement[int], other: ColumnElement[int]) -> tuple[ColumnElement[bool], ...]:
    return own < other, own == other


def _sum_rows(kind: str, counts: Sums) -> list[dict[str, str | int]]:
    """Rows of sums in one order, so that no two transactions wait for each other."""
    return [
        {"kind": kind, "what": what, "value": value, "count": count}
        for (what, value), count in sorted(counts.items())
        if count
    ]
