"""Preferences for emails: one for all tables, and one for each table that differs.

Emails that a preference holds back stay in the outbox, so that a change can release them. `domain.delivery` decides
what a preference means.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, or_, select, tuple_, update

from pbem.domain.delivery import Delivery, parse_delivery
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.store.schema import Deadline, Outbox, Person, Preference, Unreachable, table_of

_DEADLINE, _OUTBOX, _PERSON, _PREFERENCE = table_of(Deadline), table_of(Outbox), table_of(Person), table_of(Preference)
_UNREACHABLE = table_of(Unreachable)

# Asked for all due emails, so these are built once.
_GENERAL = (
    select(
        _PERSON.c.id,
        _PERSON.c.address,
        _PERSON.c.zone,
        _PERSON.c.quiet,
        _PERSON.c.delivery,
        _UNREACHABLE.c.id.is_not(None).label("failing"),
    )
    .outerjoin(_UNREACHABLE, and_(_UNREACHABLE.c.person_id == _PERSON.c.id, _UNREACHABLE.c.end_at.is_(None)))
    .where(_PERSON.c.id.in_(bindparam("these", expanding=True)))
)
_SPECIAL = select(_PREFERENCE).where(
    tuple_(_PREFERENCE.c.person_id, _PREFERENCE.c.game_id).in_(bindparam("these", expanding=True))
)
_DAILY = "daily"


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A person's preferences for emails about one table or none; `of_table` is None where there is no special one.

    `failing` says that email to them fails.
    """

    address: str = field(repr=False)
    zone: str
    quiet: str | None
    delivery: str
    of_table: str | None
    failing: bool

    @property
    def preferred(self) -> Delivery:
        """How the person wants to be emailed about this table: as chosen for it, or else for all."""
        return parse_delivery(self.of_table or self.delivery)


About = tuple[int, int | None]
"""A person, and the table of the emails, if any."""


@dataclass(frozen=True, slots=True)
class DigestRow:
    """A person who reads a digest of at least one table."""

    person_id: int
    zone: str
    digest_at: str
    digest_on: date | None


def read_all(tx: Connection, about: Collection[About]) -> dict[About, PreferenceRow]:
    """The preferences of these people about these tables."""
    special = {
        (row.person_id, row.game_id): row.delivery
        for row in tx.execute(_SPECIAL, {"these": [key for key in about if key[1] is not None]})
    }
    of_all = {row.id: row for row in tx.execute(_GENERAL, {"these": sorted({person_id for person_id, _ in about})})}
    return {key: _wished(of_all[key[0]], special.get(key)) for key in about}


def of_tables(tx: Connection, person_id: int) -> dict[int, str]:
    """A person's special preferences, by table."""
    query = select(_PREFERENCE.c.game_id, _PREFERENCE.c.delivery).where(_PREFERENCE.c.person_id == person_id)
    return {row.game_id: row.delivery for row in tx.execute(query.order_by(_PREFERENCE.c.game_id))}


def set_of_table(tx: Connection, person_id: int, game_id: int, wish: str | None) -> None:
    """Set the preference of a person, who must be locked, for one table; None removes it."""
    same = (_PREFERENCE.c.person_id == person_id, _PREFERENCE.c.game_id == game_id)
    tx.execute(delete(_PREFERENCE).where(*same))
    if wish is not None:
        tx.execute(insert(_PREFERENCE), {"person_id": person_id, "game_id": game_id, "delivery": wish})


def forget_tables(tx: Connection, person_id: int) -> None:
    """Remove a person's preferences for single tables."""
    tx.execute(delete(_PREFERENCE).where(_PREFERENCE.c.person_id == person_id))


def mailed_about(tx: Connection, person_id: int, game_id: int) -> bool:
    """Whether a person was ever emailed about a table, and so may set a preference for it."""
    query = select(_OUTBOX.c.id).where(_OUTBOX.c.person_id == person_id, _OUTBOX.c.game_id == game_id)
    return tx.execute(query.limit(1)).first() is not None


def digest_readers(tx: Connection) -> list[DigestRow]:
    """The people who read a digest of at least one table."""
    of_one = select(_PREFERENCE.c.person_id).where(_PREFERENCE.c.delivery == _DAILY)
    query = select(_PERSON.c.id.label("person_id"), _PERSON.c.zone, _PERSON.c.digest_at, _PERSON.c.digest_on).where(
        or_(_PERSON.c.delivery == _DAILY, _PERSON.c.id.in_(of_one))
    )
    return [DigestRow(**row._mapping) for row in tx.execute(query.order_by(_PERSON.c.id))]


def take_digest(tx: Connection, person_id: int, day: date) -> bool:
    """Claim a person's digest of a day; False if another worker has it."""
    free = or_(_PERSON.c.digest_on.is_(None), _PERSON.c.digest_on < day)
    return tx.execute(update(_PERSON).where(_PERSON.c.id == person_id, free).values(digest_on=day)).rowcount == 1


def requeue_held_back(
    tx: Connection, person_id: int, game_id: int | None, now: datetime, hold_until: datetime
) -> list[int]:
    """Requeue emails that a changed preference had held back, and return their ids.

    These are emails that wait for a digest or a later moment, and withheld ones whose deadline is still open.
    `hold_until` is the earliest moment at which an email queued now could leave.
    """
    same = [_OUTBOX.c.person_id == person_id]
    if game_id is not None:
        same.append(_OUTBOX.c.game_id == game_id)
    asks = (
        select(_DEADLINE.c.seat)
        .where(
            _DEADLINE.c.game_id == _OUTBOX.c.game_id,
            _DEADLINE.c.turn == _OUTBOX.c.turn,
            _DEADLINE.c.seat == _OUTBOX.c.seat,
            _DEADLINE.c.status == TurnStatus.OPEN,
        )
        .exists()
    )
    held_back = or_(
        _OUTBOX.c.status == EmailStatus.DIGEST,
        and_(_OUTBOX.c.status == EmailStatus.WITHHELD, _OUTBOX.c.kind == EmailKind.TURN, asks),
    )
    again = (
        update(_OUTBOX)
        .where(*same, held_back)
        .values(status=EmailStatus.QUEUED, due_at=now, claimed_until=None, attempts=0)
    )
    requeued = list(tx.execute(again.returning(_OUTBOX.c.id)).scalars())
    waiting = (_OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.due_at > hold_until, _OUTBOX.c.attempts == 0)
    tx.execute(update(_OUTBOX).where(*same, *waiting).values(due_at=hold_until))
    return requeued


def _wished(row: Row[Any], of_table: str | None) -> PreferenceRow:
    return PreferenceRow(row.address, row.zone, row.quiet, row.delivery, of_table, row.failing)
