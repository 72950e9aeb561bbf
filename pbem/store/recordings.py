"""Recordings: what a release made of each table, and which tables some code has not replayed yet.

A new release replays the games of a database that it has not migrated yet, so this module names each column that it reads,
and a migration that changes one of these must come in two releases.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, false, not_, or_, select

from pbem.domain.states import TableStatus
from pbem.i18n.speech import mark
from pbem.store import queries
from pbem.store.schema import GAME, RECORDING, VIEW, RecordingRow, ViewRow


class StoredGame(NamedTuple):
    """A game that has begun, as far as its log vouches for it."""

    id: int
    key: str
    kind: str
    rules: int
    status: str
    halted: str | None
    secret: bytes
    seq: int
    turn: int
    head: bytes
    entry_head: bytes
    state: str
    box: str
    seals: str
    orders: str

    def __repr__(self) -> str:
        # As of a GameRow: the secret reveals every card.
        return f"StoredGame(id={self.id}, kind={self.kind!r}, status={self.status!r}, seq={self.seq})"


_BEGUN: Final = GAME.c.started_at.is_not(None)
_RUNNING: Final = GAME.c.status.in_((TableStatus.PLAYING, TableStatus.FROZEN))
_GAME: Final = select(*(GAME.c[name] for name in StoredGame._fields))
_VIEWS: Final = select(VIEW.c.game_id, VIEW.c.seat, VIEW.c.turn, VIEW.c.seq, VIEW.c.body)


def game(tx: Connection, game_id: int) -> StoredGame:
    """A game that has begun. Raises NotFound."""
    query = _GAME.where(GAME.c.id == game_id, _BEGUN)
    return queries.only(tx, StoredGame, query, mark("There is no such game here."))


def views(tx: Connection, game_id: int) -> list[ViewRow]:
    """All stored views of a game."""
    query = _VIEWS.where(VIEW.c.game_id == game_id).order_by(VIEW.c.seq, VIEW.c.seat)
    return queries.many(tx, ViewRow, query)


def of_game(tx: Connection, game_id: int) -> RecordingRow | None:
    return queries.one(tx, RecordingRow, select(RECORDING).where(RECORDING.c.game_id == game_id))


def keep(tx: Connection, rows: Collection[RecordingRow]) -> None:
    """Store recordings in place of those of the same games; without those of games that were deleted meanwhile."""
    still = select(GAME.c.id).where(GAME.c.id.in_([row.game_id for row in rows])).order_by(GAME.c.id)
    there = set(tx.execute(still.with_for_update(read=True, key_share=True)).scalars())
    values = [asdict(row) for row in rows if row.game_id in there]
    if values:
        new = queries.insertion(tx.dialect.name, RECORDING)
        changes = {column.name: new.excluded[column.name] for column in RECORDING.c if not column.primary_key}
        tx.execute(new.on_conflict_do_update(index_elements=["game_id"], set_=changes), values)


def begun(tx: Connection) -> dict[int, int]:
    """The rows of each game that has begun, by id, oldest first."""
    return dict(_sizes(tx, _BEGUN))


def not_replayed(tx: Connection, codes: Mapping[str, str], *, whole: bool) -> dict[int, int]:
    """The rows of each running game that this code, by kind of game, has not replayed, by id; with `whole`, not to its end."""
    by_code = or_(false(), *(and_(GAME.c.kind == kind, RECORDING.c.code == code) for kind, code in codes.items()))
    to_the_end = [RECORDING.c.seq == GAME.c.seq] if whole else []
    replayed = select(RECORDING.c.game_id).where(RECORDING.c.game_id == GAME.c.id, by_code, *to_the_end)
    return dict(_sizes(tx, _BEGUN, _RUNNING, not_(replayed.exists())))


def by_other_code(tx: Connection, codes: Mapping[str, str]) -> list[int]:
    """The running games that were recorded by other code than this, by kind of game, and not replayed by this one since."""
    by_other = or_(false(), *(and_(GAME.c.kind == kind, RECORDING.c.code != code) for kind, code in codes.items()))
    recorded = select(RECORDING.c.game_id).where(RECORDING.c.game_id == GAME.c.id, by_other)
    query = select(GAME.c.id).where(GAME.c.status == TableStatus.PLAYING, recorded.exists()).order_by(GAME.c.id)
    return list(tx.execute(query).scalars())


def _sizes(tx: Connection, *conditions: ColumnElement[bool]) -> Iterator[tuple[int, int]]:
    for row in tx.execute(select(GAME.c.id, GAME.c.seq).where(*conditions).order_by(GAME.c.id)):
        yield row.id, row.seq
