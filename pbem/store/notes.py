"""Private notes of players, a text for each of a person's seats. Only their own page and their export read them."""

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pbem.store.schema import NOTE


def read(tx: Connection, game_id: int, seat: int, person_id: int) -> str:
    """The notes of a person about a table; empty if there are none."""
    same = (NOTE.c.game_id == game_id, NOTE.c.seat == seat, NOTE.c.person_id == person_id)
    return tx.execute(select(NOTE.c.text).where(*same)).scalar() or ""


def write(tx: Connection, game_id: int, seat: int, person_id: int, text: str, now: datetime) -> None:
    """Replace the notes of a person about a table, which must be locked; an empty text deletes them."""
    key = {"game_id": game_id, "seat": seat, "person_id": person_id}
    tx.execute(delete(NOTE).where(*(NOTE.c[name] == value for name, value in key.items())))
    if text:
        tx.execute(insert(NOTE), key | {"text": text, "at": now})
