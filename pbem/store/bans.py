"""Bans, as rows: who takes no new seat, why, and until when. What a ban keeps somebody from is decided elsewhere."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, or_, select, update

from pbem.store.schema import Ban, table_of

_BAN = table_of(Ban)


@dataclass(frozen=True, slots=True)
class BanRow:
    """One ban. `until` is empty where it has no end; `lifted_at` is when somebody ended it before."""

    id: int
    person_id: int
    at: datetime
    until: datetime | None
    reason: str
    lifted_at: datetime | None


def add(tx: Connection, person_id: int, at: datetime, until: datetime | None, reason: str) -> None:
    """Somebody is banned. The person is locked."""
    tx.execute(insert(_BAN), {"person_id": person_id, "at": at, "until": until, "reason": reason})


def in_force(tx: Connection, person_id: int, now: datetime) -> BanRow | None:
    """The ban of a person that holds at this moment, the longest where there are several."""
    holds = (_BAN.c.person_id == person_id, _BAN.c.lifted_at.is_(None), or_(_BAN.c.until.is_(None), _BAN.c.until > now))
    row = tx.execute(select(_BAN).where(*holds).order_by(_BAN.c.until.desc(), _BAN.c.id.desc())).first()
    return None if row is None else BanRow(**row._mapping)


def lift(tx: Connection, person_id: int, now: datetime) -> None:
    """No ban of a person holds any more."""
    tx.execute(update(_BAN).where(_BAN.c.person_id == person_id, _BAN.c.lifted_at.is_(None)).values(lifted_at=now))


def of_person(tx: Connection, person_id: int) -> list[BanRow]:
    """All bans of a person, the newest first."""
    wanted = select(_BAN).where(_BAN.c.person_id == person_id).order_by(_BAN.c.id.desc())
    return [BanRow(**row._mapping) for row in tx.execute(wanted)]
