"""Everything that is written down of one person, table by table, as plain values: what they are given when they ask for it."""

from typing import Any, Final

from sqlalchemy import Connection, Table, select

from pbem.store.schema import (
    Ban,
    Block,
    Bounce,
    Call,
    Game,
    Invitation,
    Link,
    Place,
    Preference,
    Received,
    Said,
    Session,
    Unreachable,
    Vacation,
    Willing,
    Wish,
    table_of,
)

Rows = list[dict[str, Any]]

_ABOUT: Final = {
    "sessions": Session,
    "vacations": Vacation,
    "preferences": Preference,
    "willing": Willing,
    "blocks": Block,
    "bans": Ban,
    "invitations": Invitation,
    "wishes": Wish,
    "calls": Call,
    "failures": Unreachable,
    "bounces": Bounce,
}
"""What is about a person alone, by the name that it has in their file."""

_SECRET: Final = frozenset({"secret_hash", "person_id", "organiser_id", "blocked_id"})
"""What helps nobody who reads the file, or is not theirs to know."""

_GAME, _LINK, _PLACE = table_of(Game), table_of(Link), table_of(Place)
_RECEIVED, _SAID = table_of(Received), table_of(Said)


def about(tx: Connection, person_id: int) -> dict[str, Rows]:
    """The rows that are about a person and about no game in particular."""
    return {name: _rows(tx, table_of(kind), person_id) for name, kind in _ABOUT.items()}


def tables(tx: Connection, person_id: int) -> Rows:
    """The seats of a person, and the tables that they opened without taking one, the first first."""
    seated = (
        select(_GAME.c.id, _PLACE.c.seat, _PLACE.c.name, _PLACE.c.word, _PLACE.c.joined_at)
        .join_from(_PLACE, _GAME, _GAME.c.id == _PLACE.c.game_id)
        .where(_PLACE.c.person_id == person_id)
        .order_by(_GAME.c.id, _PLACE.c.place)
    )
    found: Rows = [dict(row._mapping) for row in tx.execute(seated)]
    known = {row["id"] for row in found}
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id).order_by(_GAME.c.id)
    found += [{"id": number} for number in tx.execute(hosted).scalars() if number not in known]
    return found


def said(tx: Connection, game_id: int, seat: int) -> list[tuple[str, str | None]]:
    """When a seat said something at a table, and what, if it was not redacted."""
    wanted = select(_SAID.c.at, _SAID.c.body).where(_SAID.c.game_id == game_id, _SAID.c.seat == seat)
    rows = tx.execute(wanted.order_by(_SAID.c.seq))
    return [(row.at.isoformat(), None if row.body is None else row.body.decode()) for row in rows]


def received(tx: Connection, person_id: int) -> Rows:
    """The mails that came in on a person's links: when, and what was done about them."""
    wanted = select(_RECEIVED.c.received_at, _RECEIVED.c.status, _RECEIVED.c.outcome, _RECEIVED.c.acts)
    mine = wanted.join(_LINK, _LINK.c.id == _RECEIVED.c.link_id).where(_LINK.c.person_id == person_id)
    return [dict(row._mapping) for row in tx.execute(mine.order_by(_RECEIVED.c.id))]


def _rows(tx: Connection, table: Table, person_id: int) -> Rows:
    named = [column for column in table.c if column.name not in _SECRET]
    wanted = select(*named).where(table.c.person_id == person_id).order_by(*table.primary_key)
    return [dict(row._mapping) for row in tx.execute(wanted)]
