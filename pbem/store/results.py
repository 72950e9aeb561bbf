"""Results of rated games, as rows that are only ever added: endings, corrections and merges, in one sequence.

A transaction that adds rows has locked the task `TASK`, so the sequence has no gaps and is the order of commits. Ratings follow from
these rows alone (see `ratings`).
"""

from collections.abc import Collection, Iterable
from typing import Final

from sqlalchemy import Connection, func, insert, literal_column, select, update

from pbem.domain.states import ResultKind
from pbem.store import queries, task_progress
from pbem.store.schema import GAME, HAS_NO_RESULT, RESULT, ResultRow

TASK: Final = "ratings"
"""The task whose progress is the last correction or merge that the ratings take account of."""

NOT_COUNTED: Final = 0
"""The `result_seq` of a game whose ending could not be added."""

# Written out, so that the partial index fits.
_IS_CHANGE = RESULT.c.what != literal_column(f"'{ResultKind.ENDED}'")
_IS_MERGE = RESULT.c.what == literal_column(f"'{ResultKind.MERGED}'")
_LATER = RESULT.alias("later")
_LAST_CHANGE = select(func.max(RESULT.c.seq)).where(_IS_CHANGE)


def missing(tx: Connection, limit: int) -> list[int]:
    """The ids of finished rated games whose ending has not been added, in the order of endings."""
    query = select(GAME.c.id).where(HAS_NO_RESULT).order_by(GAME.c.ended_at, GAME.c.id).limit(limit)
    return list(tx.execute(query).scalars())


def lock(tx: Connection) -> int:
    """Let nobody else add rows or change ratings until this transaction ends. Returns the progress of the task."""
    return task_progress.lock(tx, TASK)


def progress(tx: Connection) -> int:
    """The progress of the task."""
    return task_progress.read(tx, TASK)


def set_progress(tx: Connection, seq: int) -> None:
    """Set the progress of the task, which is locked."""
    task_progress.put(tx, TASK, seq)


def last_change(tx: Connection) -> int:
    """The number of the last correction or merge; 0 if there is none."""
    return int(tx.execute(_LAST_CHANGE).scalar_one() or 0)


def last(tx: Connection) -> int:
    """The number of the last ending, correction or merge; 0 if there is none."""
    return int(tx.execute(select(func.max(RESULT.c.seq))).scalar_one() or 0)


def add(tx: Connection, rows: Iterable[ResultRow]) -> int:
    """Add the rows of an ending, a correction or a merge under the next number, which is returned. The task is locked."""
    seq = last(tx) + 1
    tx.execute(insert(RESULT), [row._replace(seq=seq, number=number)._asdict() for number, row in enumerate(rows)])
    return seq


def of_games(tx: Connection, game_ids: Collection[int]) -> dict[int, list[ResultRow]]:
    """The rows of these games as last corrected, by game; none where its ending has not been added."""
    newest = select(func.max(_LATER.c.seq)).where(_LATER.c.game_id == RESULT.c.game_id).scalar_subquery()
    query = select(RESULT).where(RESULT.c.game_id.in_(list(game_ids)), RESULT.c.seq == newest)
    found: dict[int, list[ResultRow]] = {game_id: [] for game_id in game_ids}
    for row in queries.many(tx, ResultRow, query.order_by(RESULT.c.number)):
        assert row.game_id is not None, "these are rows of games"
        found[row.game_id].append(row)
    return found


def first_of_game(tx: Connection, game_id: int) -> int:
    """The number of a game's ending, which corrections leave as it is; 0 if it has not been added."""
    return int(tx.execute(select(func.min(RESULT.c.seq)).where(RESULT.c.game_id == game_id)).scalar_one() or 0)


def all_changes(tx: Connection) -> list[ResultRow]:
    """All corrections and merges, in their order."""
    return queries.many(tx, ResultRow, select(RESULT).where(_IS_CHANGE).order_by(RESULT.c.seq, RESULT.c.number))


def merged(tx: Connection) -> dict[str, str]:
    """The key that each merged player has now."""
    return merged_by(
        queries.many(tx, ResultRow, select(RESULT).where(_IS_CHANGE, RESULT.c.into.is_not(None)).order_by(RESULT.c.seq))
    )


def present_keys(tx: Connection, players: Collection[str]) -> dict[str, str]:
    """The key that each of these players has now: another one for those who were merged."""
    now, since = {player: player for player in players}, dict.fromkeys(players, 0)
    while True:
        query = select(RESULT.c.player, RESULT.c.seq, RESULT.c.into).where(
            _IS_MERGE, RESULT.c.player.in_(set(now.values()))
        )
        merges = list(tx.execute(query.order_by(RESULT.c.seq)))
        found = {
            player: later[0]
            for player, key in now.items()
            if (later := [row for row in merges if row.player == key and row.seq > since[player]])
        }
        if not found:
            return now
        for player, row in found.items():
            now[player], since[player] = row.into, row.seq


def merged_by(rows: Iterable[ResultRow]) -> dict[str, str]:
    """The same after these corrections and merges alone."""
    keys: dict[str, str] = {}
    for row in rows:
        if row.into is not None:
            keys = {old: row.into if now == row.player else now for old, now in keys.items()} | {row.player: row.into}
    return keys


def endings(tx: Connection, first: int, last: int) -> list[ResultRow]:
    """The rows of the endings with these numbers, in their order."""
    query = select(RESULT).where(RESULT.c.seq.between(first, last), RESULT.c.what == ResultKind.ENDED)
    return queries.many(tx, ResultRow, query.order_by(RESULT.c.seq, RESULT.c.number))


def games_of(tx: Connection, seqs: Collection[int]) -> dict[int, int]:
    """The games whose endings have these numbers, by number."""
    query = select(RESULT.c.seq, RESULT.c.game_id).where(RESULT.c.seq.in_(list(seqs)), RESULT.c.number == 0)
    return {row.seq: row.game_id for row in tx.execute(query)}


def try_again(tx: Connection) -> int:
    """Have games counted again whose ending could not be added. Returns how many."""
    failed = update(GAME).where(GAME.c.result_seq == NOT_COUNTED)
    return int(tx.execute(failed.values(result_seq=None)).rowcount)
