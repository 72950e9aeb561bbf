"""Strangers as rows: people who never confirmed their address, and what was asked for in their name."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, or_, select

from pbem.domain.delivery import AT_ONCE
from pbem.domain.states import EmailKind, EmailStatus, TableStatus, TournamentStatus
from pbem.store import guests
from pbem.store.schema import (
    ALARM,
    BOUNCE,
    GAME,
    GROUP_MEMBERS,
    INVITATION,
    JOIN_REQUEST,
    LINK,
    METADATA,
    OUTBOX,
    PERSON,
    PLAYER,
    SIGN_UP,
    TOURNAMENT,
    UNREACHABLE,
)

_OF_A_PLAN: Final = frozenset({INVITATION, JOIN_REQUEST, LINK, OUTBOX, PLAYER})
_THEIR_OWN: Final = (_OF_A_PLAN - {PLAYER}) | {ALARM, BOUNCE, GAME, GROUP_MEMBERS, SIGN_UP, UNREACHABLE}
"""Tables whose rows go with a table that was never opened, and with a stranger. Rows of any other keep them."""

_TO_STRANGERS: Final = (
    EmailKind.CONFIRM,
    EmailKind.GROUP_INVITATION,
    EmailKind.INVITATION,
    EmailKind.NEW_ADDRESS,
    EmailKind.SIGN_UP,
)


def forget_join_requests_before(tx: Connection, moment: datetime) -> None:
    """Delete the join requests that nobody has answered since."""
    tx.execute(delete(JOIN_REQUEST).where(JOIN_REQUEST.c.created_at < moment))


def ids_before(tx: Connection, moment: datetime, after: int, limit: int) -> list[int]:
    """Strangers who were last emailed before this moment, with ids above `after`, by id."""
    strangers = select(PERSON.c.id).where(PERSON.c.id > after, *_is_over(moment))
    return list(tx.execute(strangers.order_by(PERSON.c.id).limit(limit)).scalars())


def forget(tx: Connection, person_id: int, moment: datetime) -> bool:
    """Delete a stranger who was last emailed before this moment, and tables they never opened; False for anyone else."""
    this = select(PERSON.c.id).where(PERSON.c.id == person_id)
    if tx.execute(this.with_for_update()).first() is None or tx.execute(this.where(*_is_over(moment))).first() is None:
        return False
    guests.forget(tx, person_id)
    return True


def _is_over(moment: datetime) -> tuple[ColumnElement[bool], ...]:
    """Whether a person is a stranger, and no row but those of a stranger refers to them."""
    return (
        PERSON.c.confirmed_at.is_(None),
        PERSON.c.created_at < moment,
        # That someone wants no email is not forgotten. Guests and deleted people want none either.
        PERSON.c.delivery == str(AT_ONCE),
        ~_exists(UNREACHABLE.c.person_id, PERSON, UNREACHABLE.c.cause == "complained"),
        *_unmentioned(PERSON, _THEIR_OWN),
        ~_exists(OUTBOX.c.person_id, PERSON, or_(*_keeps(moment))),
        ~_exists(JOIN_REQUEST.c.person_id, PERSON, JOIN_REQUEST.c.created_at >= moment),
        ~_exists(INVITATION.c.person_id, PERSON, _can_be_accepted()),
        # One without a typed address was asked for by anyone, in the stranger's name.
        ~_exists(SIGN_UP.c.person_id, PERSON, SIGN_UP.c.typed.is_not(None), _can_be_signed_up_for()),
        ~_exists(GAME.c.host_id, PERSON, ~and_(*_never_opened())),
    )


def _keeps(moment: datetime) -> tuple[ColumnElement[bool], ...]:
    """Why an email keeps its reader: its link may still be used, it may be on its way, or someone knows the reader."""
    return (OUTBOX.c.queued_at >= moment, OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.kind.not_in(_TO_STRANGERS))


def _never_opened() -> tuple[ColumnElement[bool], ...]:
    """Whether a table has only what its host planned."""
    return (
        GAME.c.status.in_((TableStatus.PLANNED, TableStatus.EXPIRED, TableStatus.CLOSED)),
        *_unmentioned(GAME, _OF_A_PLAN),
        ~_exists(PLAYER.c.game_id, GAME, PLAYER.c.person_id.is_not(None)),
        ~_exists(OUTBOX.c.game_id, GAME, OUTBOX.c.person_id != GAME.c.host_id),
    )


def _can_be_accepted() -> ColumnElement[bool]:
    """Whether the table of an invitation still waits for players."""
    return (
        select(1)
        .where(GAME.c.id == INVITATION.c.game_id, GAME.c.status == TableStatus.OPEN)
        .correlate(INVITATION)
        .exists()
    )


def _can_be_signed_up_for() -> ColumnElement[bool]:
    """Whether the tournament of an invitation still waits for entrants, or its host has sent it since the start."""
    is_open = TOURNAMENT.c.status == TournamentStatus.OPEN
    is_late = (TOURNAMENT.c.status == TournamentStatus.PLAYING) & (SIGN_UP.c.round > 0)
    query = select(1).where(TOURNAMENT.c.id == SIGN_UP.c.tournament_id, is_open | is_late)
    return query.correlate(SIGN_UP).exists()


def _unmentioned(subject: Table, harmless: Collection[Table]) -> list[ColumnElement[bool]]:
    """Whether no row refers to one of these, but for rows of harmless tables."""
    return [
        ~_exists(key.parent, subject)
        for table in METADATA.sorted_tables
        if table not in harmless
        for key in table.foreign_keys
        if key.column.table is subject
    ]


def _exists(column: ColumnElement[Any], subject: Table, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return select(1).where(column == subject.c.id, *conditions).correlate(subject).exists()
