"""Moving one person's rows to another. Queued emails stay; whether the two may be merged is decided elsewhere."""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Column, Connection, Table, and_, delete, exists, or_, select, update

from pbem.domain.states import EmailKind, EmailStatus, InvitationStatus, TableStatus
from pbem.store import groups, insiders, profiles, queries, tournaments
from pbem.store.schema import (
    ALARM,
    BAN,
    BLOCK,
    CALL,
    CHANNEL,
    FORMER_PLAYER,
    FRIEND,
    GAME,
    INVITATION,
    JOIN_REQUEST,
    NOTE,
    OFFER,
    ORGANISER,
    OUTBOX,
    PERSON_NAME,
    PLAYER,
    PREFERENCE,
    REVIEW,
    SIGN_UP,
    TOURNAMENT,
    VACATION,
    VOLUNTEER,
    EmailRow,
)

_WITH_SEATS: Final = (TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN, TableStatus.OVER, TableStatus.VOID)

_ANY_NUMBER: Final[tuple[Column[Any], ...]] = (
    PLAYER.c.person_id,
    FORMER_PLAYER.c.person_id,
    REVIEW.c.person_id,
    GAME.c.host_id,
    OFFER.c.person_id,
    OFFER.c.taken_by,
    BAN.c.person_id,
    CALL.c.person_id,
    ALARM.c.person_id,
    PERSON_NAME.c.person_id,
    CHANNEL.c.person_id,
    VACATION.c.person_id,
    ORGANISER.c.person_id,
    TOURNAMENT.c.host_id,
)
"""Columns in which a person may occur any number of times."""

_ONCE: Final[tuple[tuple[Column[Any], str], ...]] = (
    (INVITATION.c.person_id, "game_id"),
    (JOIN_REQUEST.c.person_id, "game_id"),
    (SIGN_UP.c.person_id, "tournament_id"),
    (PREFERENCE.c.person_id, "game_id"),
    (BLOCK.c.person_id, "blocked_id"),
    (BLOCK.c.blocked_id, "person_id"),
    (FRIEND.c.person_id, "friend_id"),
    (FRIEND.c.friend_id, "person_id"),
)
"""Columns in which a person may occur once beside another value: rows the remaining person has stay as they are."""


INVITING: Final = (EmailKind.INVITATION, EmailKind.GROUP_INVITATION, EmailKind.SIGN_UP)
"""Kinds of emails that invite someone."""

_ANSWERED: Final = ((INVITATION, "game_id"), (SIGN_UP, "tournament_id"))
"""Tables of invitations that a person answers once, beside another value."""


def tables_of(tx: Connection, person_id: int) -> dict[int, str]:
    """The tables a person plays at or hosts, with their status."""
    joined = select(PLAYER.c.game_id).where(PLAYER.c.person_id == person_id)
    hosted = select(GAME.c.id).where(GAME.c.host_id == person_id)
    query = select(GAME.c.id, GAME.c.status).where(GAME.c.id.in_(joined.union(hosted))).order_by(GAME.c.id)
    return {row.id: row.status for row in tx.execute(query)}


def plays(tx: Connection, person_id: int) -> bool:
    """Whether a person has a seat, or had one when a game ended."""
    seat = (PLAYER.c.game_id == GAME.c.id, PLAYER.c.person_id == person_id, GAME.c.status.in_(_WITH_SEATS))
    return tx.execute(select(PLAYER.c.number).where(*seat).limit(1)).first() is not None


def move_rows(tx: Connection, old: int, new: int) -> list[int]:
    """Move the rows of one person to another. Returns the tournaments in which both took part."""
    insiders.join(tx, old, new)
    groups.join_people(tx, old, new)
    for column in _ANY_NUMBER:
        tx.execute(update(column.table).where(column == old).values({column.name: new}))
    _join_notes(tx, old, new)
    entered_by_both = tournaments.join_people(tx, old, new)
    for table, beside in _ANSWERED:
        _keep_accepted(tx, table, beside, old, new)
    for column, beside in _ONCE:
        _move_once(tx, column, beside, old, new)
    # Nobody blocks themselves, or is their own friend.
    tx.execute(delete(BLOCK).where(BLOCK.c.person_id == new, BLOCK.c.blocked_id == new))
    tx.execute(delete(FRIEND).where(FRIEND.c.person_id == new, FRIEND.c.friend_id == new))
    tx.execute(delete(VOLUNTEER).where(VOLUNTEER.c.person_id == old))
    profiles.join(tx, old, new)
    return entered_by_both


def unsent_emails(tx: Connection, person_id: int) -> list[EmailRow]:
    """The unsent emails about tables to a person, and their invitations."""
    unsent = (
        OUTBOX.c.person_id == person_id,
        OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST)),
        or_(OUTBOX.c.game_id.is_not(None), OUTBOX.c.kind.in_(INVITING)),
        # What a table's channel says is for everyone.
        or_(OUTBOX.c.channel_id == 0, OUTBOX.c.seat.is_not(None)),
    )
    return queries.many(tx, EmailRow, select(OUTBOX).where(*unsent).order_by(OUTBOX.c.id))


def _join_notes(tx: Connection, old: int, new: int) -> None:
    """Move the notes of a person, below those that the other has about the same seat: nobody can write them again."""
    both = NOTE.alias("both")
    same_seat = (both.c.game_id == NOTE.c.game_id, both.c.seat == NOTE.c.seat)
    rows = tx.execute(
        select(NOTE, both.c.text.label("above"))
        .join(both, and_(*same_seat))
        .where(NOTE.c.person_id == old, both.c.person_id == new)
    )
    for row in rows.all():
        tx.execute(delete(NOTE).where(NOTE.c.game_id == row.game_id, NOTE.c.seat == row.seat, NOTE.c.person_id == old))
        seat = (NOTE.c.game_id == row.game_id, NOTE.c.seat == row.seat, NOTE.c.person_id == new)
        tx.execute(update(NOTE).where(*seat).values(text=f"{row.above}\n\n{row.text}"))
    tx.execute(update(NOTE).where(NOTE.c.person_id == old).values(person_id=new))


def _keep_accepted(tx: Connection, table: Table, beside: str, old: int, new: int) -> None:
    """Let an invitation of both people be accepted if one of them has accepted it."""
    other = table.alias("other")
    accepted = exists().where(
        other.c[beside] == table.c[beside], other.c.person_id == old, other.c.status == InvitationStatus.ACCEPTED
    )
    tx.execute(update(table).where(table.c.person_id == new, accepted).values(status=InvitationStatus.ACCEPTED))


def _move_once(tx: Connection, column: Column[Any], beside: str, old: int, new: int) -> None:
    table: Table = column.table
    other = table.c[beside]
    existing: Iterable[int] = tx.execute(select(other).where(column == new)).scalars().all()
    tx.execute(delete(table).where(column == old, other.in_(existing)))
    tx.execute(update(table).where(column == old).values({column.name: new}))
