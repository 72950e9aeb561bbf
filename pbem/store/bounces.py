"""Days on which mails to a person came back."""

from datetime import date

from sqlalchemy import Connection, delete, func, insert, select, update

from pbem.store.schema import Bounce, table_of

_BOUNCE = table_of(Bounce)


def add(tx: Connection, person_id: int, day: date, points: int) -> None:
    """A mail came back on this day; the day counts once, by the worst. The person is locked."""
    this = (_BOUNCE.c.person_id == person_id, _BOUNCE.c.day == day)
    known = tx.execute(select(_BOUNCE.c.points).where(*this)).scalar_one_or_none()
    if known is None:
        tx.execute(insert(_BOUNCE), {"person_id": person_id, "day": day, "points": points})
    elif known < points:
        tx.execute(update(_BOUNCE).where(*this).values(points=points))


def points(tx: Connection, person_id: int, since: date) -> int:
    """What the days since then count together."""
    mine = (_BOUNCE.c.person_id == person_id, _BOUNCE.c.day >= since)
    return int(tx.execute(select(func.coalesce(func.sum(_BOUNCE.c.points), 0)).where(*mine)).scalar_one())


def forget(tx: Connection, person_id: int) -> None:
    """Mails to this person arrive again."""
    tx.execute(delete(_BOUNCE).where(_BOUNCE.c.person_id == person_id))


def forget_before(tx: Connection, day: date) -> None:
    """Drop days that count no more."""
    tx.execute(delete(_BOUNCE).where(_BOUNCE.c.day < day))
