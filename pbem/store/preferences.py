"""Preferences for emails: one for all tables, and one for each table that differs.

Emails that a preference holds back stay in the outbox, so that a change can release them. `domain.delivery` decides
what a preference means.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    exists,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from pbem.domain.delivery import Delivery, Way, parse_delivery
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.store import queries
from pbem.store.schema import DEADLINE, OUTBOX, PERSON, PREFERENCE, UNREACHABLE

# Asked for all due emails, so these are built once.
_GENERAL = (
    select(
        PERSON.c.id,
        PERSON.c.address,
        PERSON.c.zone,
        PERSON.c.quiet,
        PERSON.c.delivery,
        PERSON.c.topics,
        UNREACHABLE.c.id.is_not(None).label("failing"),
    )
    .outerjoin(UNREACHABLE, and_(UNREACHABLE.c.person_id == PERSON.c.id, UNREACHABLE.c.end_at.is_(None)))
    .where(PERSON.c.id.in_(bindparam("these", expanding=True)))
)
_SPECIAL = select(PREFERENCE).where(
    tuple_(PREFERENCE.c.person_id, PREFERENCE.c.game_id).in_(bindparam("these", expanding=True))
)


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A person's preferences for emails about one table or none; `of_table` is None where there is no special one.

    `failing` says that email to them fails.
    """

    address: str = field(repr=False)
    zone: str
    quiet: str | None
    delivery: str
    topics: str
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
    special = {
        (row.person_id, row.game_id): row.delivery
        for row in tx.execute(_SPECIAL, {"these": [key for key in about if key[1] is not None]})
    }
    of_all = {row.id: row for row in tx.execute(_GENERAL, {"these": sorted({person_id for person_id, _ in about})})}
    preferences = {}
    for key in about:
        row = of_all[key[0]]
        preferences[key] = PreferenceRow(
            row.address, row.zone, row.quiet, row.delivery, row.topics, special.get(key), row.failing
        )
    return preferences


def of_tables(tx: Connection, person_id: int) -> dict[int, str]:
    query = select(PREFERENCE.c.game_id, PREFERENCE.c.delivery).where(PREFERENCE.c.person_id == person_id)
    return {row.game_id: row.delivery for row in tx.execute(query.order_by(PREFERENCE.c.game_id))}


def set_of_table(tx: Connection, person_id: int, game_id: int, delivery: str | None) -> None:
    """Set the preference of a person, who must be locked, for one table; None removes it."""
    same = (PREFERENCE.c.person_id == person_id, PREFERENCE.c.game_id == game_id)
    tx.execute(delete(PREFERENCE).where(*same))
    if delivery is not None:
        tx.execute(insert(PREFERENCE), {"person_id": person_id, "game_id": game_id, "delivery": delivery})


def forget_tables(tx: Connection, person_id: int) -> None:
    tx.execute(delete(PREFERENCE).where(PREFERENCE.c.person_id == person_id))


def was_emailed_about(tx: Connection, person_id: int, game_id: int) -> bool:
    """Whether a person was ever emailed about a table, and so may set a preference for it."""
    query = select(OUTBOX.c.id).where(OUTBOX.c.person_id == person_id, OUTBOX.c.game_id == game_id)
    return tx.execute(query.limit(1)).first() is not None


def digest_readers(tx: Connection) -> list[DigestRow]:
    """The people who read a digest of at least one table."""
    # The word is written out because only then the partial indexes are used.
    daily: ColumnElement[str] = literal_column(f"'{Way.DAILY}'")
    of_all = select(PERSON.c.id).where(PERSON.c.delivery == daily)
    of_one = select(PREFERENCE.c.person_id).where(PREFERENCE.c.delivery == daily)
    query = select(PERSON.c.id.label("person_id"), PERSON.c.zone, PERSON.c.digest_at, PERSON.c.digest_on)
    return queries.many(tx, DigestRow, query.where(PERSON.c.id.in_(union_all(of_all, of_one))).order_by(PERSON.c.id))


def take_digest(tx: Connection, person_id: int, day: date) -> bool:
    """Claim a person's digest of a day; False if another worker has it."""
    free = or_(PERSON.c.digest_on.is_(None), PERSON.c.digest_on < day)
    return tx.execute(update(PERSON).where(PERSON.c.id == person_id, free).values(digest_on=day)).rowcount == 1


def requeue_held_back(
    tx: Connection, person_id: int, game_id: int | None, now: datetime, hold_until: datetime
) -> list[int]:
    """Requeue emails that a changed preference had held back, not before `hold_until`; returns their ids.

    They wait for a digest or a later moment, or were withheld and their deadline is still open.
    """
    emails = update(OUTBOX).where(OUTBOX.c.person_id == person_id)
    if game_id is not None:
        emails = emails.where(OUTBOX.c.game_id == game_id)
    open_turn = exists().where(
        DEADLINE.c.game_id == OUTBOX.c.game_id,
        DEADLINE.c.turn == OUTBOX.c.turn,
        DEADLINE.c.seat == OUTBOX.c.seat,
        DEADLINE.c.status == TurnStatus.OPEN,
    )
    withheld = and_(OUTBOX.c.status == EmailStatus.WITHHELD, OUTBOX.c.kind == EmailKind.TURN, open_turn)
    again = emails.where(or_(OUTBOX.c.status == EmailStatus.DIGEST, withheld))
    again = again.values(status=EmailStatus.QUEUED, due_at=now, lease_id=None, attempts=0)
    requeued = list(tx.execute(again.returning(OUTBOX.c.id)).scalars())
    waiting = (OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.due_at > hold_until, OUTBOX.c.attempts == 0)
    tx.execute(emails.where(*waiting).values(due_at=hold_until))
    return requeued
