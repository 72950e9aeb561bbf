"""Views that are kept: what a seat knew at some row of the log."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from pbem.store.schema import View, table_of

_VIEW = table_of(View)
_OF_SEAT = (_VIEW.c.game_id == bindparam("of_game"), _VIEW.c.seat == bindparam("of_seat"))
_READ = select(_VIEW).where(*_OF_SEAT)
_CHANGE = update(_VIEW).where(*_OF_SEAT).values(seq=bindparam("new_seq"), body=bindparam("new_body"))


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A view as it is kept. The body is canonical JSON."""

    game_id: int
    seat: int
    seq: int
    body: str


def read(tx: Connection, game_id: int, seat: int) -> ViewRow | None:
    """The kept view of a seat."""
    row = tx.execute(_READ, {"of_game": game_id, "of_seat": seat}).one_or_none()
    return None if row is None else ViewRow(**row._mapping)


def keep(tx: Connection, game_id: int, seat: int, seq: int, body: str) -> None:
    """Keep a view in the place of an older one. The game must be locked."""
    known = tx.execute(_CHANGE, {"of_game": game_id, "of_seat": seat, "new_seq": seq, "new_body": body})
    if known.rowcount == 0:
        tx.execute(insert(_VIEW), {"game_id": game_id, "seat": seat, "seq": seq, "body": body})


def forget(tx: Connection, game_id: int) -> None:
    """Drop all kept views of a game, because part of its log no longer stands."""
    tx.execute(delete(_VIEW).where(_VIEW.c.game_id == game_id))


def of_game(tx: Connection, game_id: int) -> list[ViewRow]:
    """All kept views of a game."""
    wanted = select(_VIEW).where(_VIEW.c.game_id == game_id).order_by(_VIEW.c.seq, _VIEW.c.seat)
    return [ViewRow(**row._mapping) for row in tx.execute(wanted)]
