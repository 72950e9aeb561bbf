"""What was said at tables: rows of a chain of their own, whose text can be taken out without breaking it."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    and_,
    bindparam,
    false,
    func,
    insert,
    not_,
    or_,
    select,
    true,
    update,
)

from pbem.domain.hash_chain import Row as ChainRow
from pbem.domain.talk import Line
from pbem.store import blocks, players, queries
from pbem.store.limits import Period, within
from pbem.store.schema import FORMER_PLAYER, TALK, FormerPlayerRow

KIND: Final = "Said"
"""What every row of such a chain is."""

_BY: Final = "person"

_OF_GAME, _OF_SEAT = bindparam("of_game", type_=Integer), bindparam("of_seat", type_=Integer)
_TAKEN_OVER = (
    select(func.coalesce(func.max(FORMER_PLAYER.c.lines), 0))
    .where(FORMER_PLAYER.c.game_id == _OF_GAME, FORMER_PLAYER.c.seat == _OF_SEAT)
    .scalar_subquery()
)
_OWN = and_(TALK.c.seat == _OF_SEAT, TALK.c.seq > _TAKEN_OVER)
_SPOKEN = select(func.max(TALK.c.seq)).where(TALK.c.game_id == _OF_GAME, _OWN).scalar_subquery()
NEW: Final = select(func.count()).where(
    TALK.c.game_id == _OF_GAME,
    not_(_OWN),
    TALK.c.seat.not_in(blocks.BLOCKED_SEATS),
    TALK.c.seq > func.coalesce(_SPOKEN, 0),
    TALK.c.log_seq >= bindparam("since_seq", type_=Integer),
)
"""The number of lines others have said since a row of the log and since this seat's player last spoke, blocked players left
out. A former player of the seat is another."""


def chain_name(key: str) -> str:
    """The name that the chain of a game's talk has beside that of its log."""
    return f"{key}/talk"


_COUNTS = (
    select(TALK.c.game_id, func.max(TALK.c.seq).label("lines"))
    .where(TALK.c.game_id.in_(bindparam("these", expanding=True)))
    .group_by(TALK.c.game_id)
)


def add(tx: Connection, game_id: int, row: ChainRow, log_seq: int) -> None:
    """Add a line, said after a row of the log. The game must be locked."""
    columns = (column.name for column in TALK.c if column.name not in ("game_id", "log_seq"))
    of_row = {name: getattr(row, name) for name in columns}
    tx.execute(insert(TALK), {"game_id": game_id, "log_seq": log_seq} | of_row)


def chain(tx: Connection, game_id: int, key: str) -> Iterator[ChainRow]:
    """What was said at a table, oldest line first."""
    for row in tx.execute(select(TALK).where(TALK.c.game_id == game_id).order_by(TALK.c.seq)):
        yield _row(row, key)


def lines(tx: Connection, game_id: int, key: str, most: int | None = None) -> list[Line]:
    """The same, or the newest of it, as lines that know whether their seat has changed hands since."""
    return _newest(tx, game_id, key, players.former_of_game(tx, game_id), true(), most)


def line(tx: Connection, game_id: int, key: str, seq: int) -> Line | None:
    """One line, by its number; None if there is none."""
    found = _newest(tx, game_id, key, players.former_of_game(tx, game_id), TALK.c.seq == seq, 1)
    return found[0] if found else None


def hash_of(tx: Connection, game_id: int, seq: int) -> bytes | None:
    """The hash of a line; None if there is none."""
    return tx.execute(select(TALK.c.hash).where(TALK.c.game_id == game_id, TALK.c.seq == seq)).scalar()


def heard(
    tx: Connection, game_id: int, key: str, seat: int, after: int, until: int, most: int | None = None
) -> list[Line]:
    """The newest lines of the others after one line and until another, without those of players that this seat has blocked."""
    if after >= until:
        return []
    former = players.former_of_game(tx, game_id)
    own = _between(seat, _taken_over(former, seat))
    later = and_(TALK.c.seq > after, TALK.c.seq <= until)
    return _newest(tx, game_id, key, former, and_(later, not_(own), not_(_muted(tx, game_id, seat, former))), most)


def unmuted(tx: Connection, game_id: int, key: str, seat: int, most: int | None = None) -> tuple[list[Line], int]:
    """The newest lines without those of players that this seat has blocked, whichever seat they have now, and how many those are."""
    former = players.former_of_game(tx, game_id)
    muted = _muted(tx, game_id, seat, former)
    left_out = queries.count(tx, TALK, TALK.c.game_id == game_id, muted)
    return _newest(tx, game_id, key, former, not_(muted), most), left_out


def last(tx: Connection, game_id: int, key: str) -> ChainRow | None:
    """The last line."""
    newest = select(TALK).where(TALK.c.game_id == game_id).order_by(TALK.c.seq.desc()).limit(1)
    row = tx.execute(newest).one_or_none()
    return None if row is None else _row(row, key)


def text_of(tx: Connection, game_id: int, seq: int) -> str | None:
    """The text of a line; None if it was redacted."""
    body = tx.execute(select(TALK.c.body).where(TALK.c.game_id == game_id, TALK.c.seq == seq)).scalar()
    return None if body is None else body.decode()


def count(tx: Connection, game_id: int) -> int:
    """The number of lines said at a table, which is that of the last one."""
    last = select(func.max(TALK.c.seq)).where(TALK.c.game_id == game_id)
    return tx.execute(last).scalar_one() or 0


def counts(tx: Connection, game_ids: Collection[int]) -> dict[int, int]:
    """The same for each of these tables."""
    found = {row.game_id: row.lines for row in tx.execute(_COUNTS, {"these": list(game_ids)})} if game_ids else {}
    return {game_id: found.get(game_id, 0) for game_id in game_ids}


def log_rows(tx: Connection, game_id: int) -> dict[int, int]:
    """The row of the log after which each line was said, by the number of the line."""
    return {
        row.seq: row.log_seq for row in tx.execute(select(TALK.c.seq, TALK.c.log_seq).where(TALK.c.game_id == game_id))
    }


def count_in(tx: Connection, game_id: int, seat: int, period: Period) -> int:
    """The number of lines a seat has said in a period."""
    of_seat = (TALK.c.game_id == game_id, TALK.c.seat == seat, within(TALK.c.at, period))
    return queries.count(tx, TALK, *of_seat)


def redact(tx: Connection, game_id: int, seq: int) -> bool:
    """Take the text out of a line for good, with the nonce, so that it cannot be guessed; False if there is no such line."""
    line = update(TALK).where(TALK.c.game_id == game_id, TALK.c.seq == seq)
    return tx.execute(line.values(body=None, nonce=None)).rowcount == 1


def _newest(
    tx: Connection,
    game_id: int,
    key: str,
    former: Sequence[FormerPlayerRow],
    which: ColumnElement[bool],
    most: int | None,
) -> list[Line]:
    """Some lines, oldest first. A table can say tens of thousands, so the database leaves out the others."""
    newest = select(TALK).where(TALK.c.game_id == game_id, which).order_by(TALK.c.seq.desc()).limit(most)
    return [_line(_row(row, key), former) for row in reversed(tx.execute(newest).all())]


def _muted(tx: Connection, game_id: int, seat: int, former: Sequence[FormerPlayerRow]) -> ColumnElement[bool]:
    """Whether a line is by a player that a seat has blocked, in their seat or in one they had before."""
    seats, people = blocks.blocked_seats(tx, game_id, seat), blocks.blocked_people(tx, game_id, seat)
    now = [_between(each, _taken_over(former, each)) for each in sorted(seats)]
    before = [
        _between(each.seat, _taken_over(former[:earlier], each.seat), each.lines)
        for earlier, each in enumerate(former)
        if each.person_id in people
    ]
    return or_(false(), *now, *before)


def _taken_over(former: Sequence[FormerPlayerRow], seat: int) -> int:
    """The number of the last line before the last of these players left a seat."""
    return max((each.lines for each in former if each.seat == seat), default=0)


def _between(seat: int, after: int, until: int | None = None) -> ColumnElement[bool]:
    return and_(TALK.c.seat == seat, TALK.c.seq > after, true() if until is None else TALK.c.seq <= until)


def _line(row: ChainRow, former: Sequence[FormerPlayerRow]) -> Line:
    assert row.seat is not None
    text = None if row.body is None else row.body.decode()
    author = next((each for each in former if each.seat == row.seat and row.seq <= each.lines), None)
    if author is None:
        return Line(row.seq, row.seat, row.at, text)
    return Line(row.seq, row.seat, row.at, text, author.name, author.person_id)


def _row(row: Row[Any], key: str) -> ChainRow:
    fields = dict(row._mapping)
    del fields["game_id"], fields["log_seq"]
    return ChainRow(game=chain_name(key), kind=KIND, by=_BY, **fields)
