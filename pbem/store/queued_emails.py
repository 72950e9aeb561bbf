"""The emails that an act of the desk has queued: those about its tables or people with ids above a mark."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from pbem.store.schema import OUTBOX


@dataclass(frozen=True, slots=True)
class QueuedEmailRow:
    """A queued email: its reader, its kind, and what it says if it is a notice."""

    person_id: int
    kind: str
    what: str


def newest_id(tx: Connection) -> int:
    """The id of the newest email; 0 if there is none."""
    return int(tx.execute(select(func.coalesce(func.max(OUTBOX.c.id), 0))).scalar_one())


def after(
    tx: Connection, outbox_id: int, game_ids: Iterable[int | None], person_ids: Iterable[int | None]
) -> list[QueuedEmailRow]:
    """The emails with higher ids about one of these games or to one of these people, oldest first."""
    concerned = or_(
        OUTBOX.c.game_id.in_([game_id for game_id in game_ids if game_id is not None]),
        OUTBOX.c.person_id.in_([person_id for person_id in person_ids if person_id is not None]),
    )
    query = select(OUTBOX.c.person_id, OUTBOX.c.kind, OUTBOX.c.facts).where(
        OUTBOX.c.id > outbox_id, OUTBOX.c.channel_id == 0, concerned
    )
    return [
        QueuedEmailRow(row.person_id, row.kind, str(json.loads(row.facts).get("what", "")))
        for row in tx.execute(query.order_by(OUTBOX.c.id))
    ]
