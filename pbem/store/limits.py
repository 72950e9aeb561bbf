"""What limits count: the rows of the last hour or day.

A clock that was set back leaves rows behind that are dated in the future. No limit counts these: each asks with `within`,
which has an end. A step that is noticed also brings them back with their age (see `clock_steps`), except where a hash holds
their date.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, and_

from pbem.domain.outage import CLOCK_TOLERANCE
from pbem.domain.states import EmailStatus
from pbem.store.schema import (
    ALARM,
    CALL,
    INVITATION,
    JOIN_REQUEST,
    LEDGER,
    OUTBOX,
    PERSON,
    RECEIVED,
    SESSION,
    SIGN_UP,
    TALK,
)

COUNTED: Final[Mapping[Column[Any], tuple[ColumnElement[bool], ...]]] = {
    # Those that are queued wait, and have not happened.
    OUTBOX.c.queued_at: (OUTBOX.c.status != EmailStatus.QUEUED,),
    # An email tells what was said since the one before it was written.
    OUTBOX.c.rendered_at: (OUTBOX.c.status == EmailStatus.SENT,),
    LEDGER.c.at: (LEDGER.c.what == "resent",),
    RECEIVED.c.received_at: (),
    INVITATION.c.created_at: (),
    JOIN_REQUEST.c.created_at: (),
    SIGN_UP.c.created_at: (),
    CALL.c.at: (),
    PERSON.c.created_at: (),
    ALARM.c.at: (ALARM.c.emailed_at.is_not(None),),
    SESSION.c.made_at: (),
    SESSION.c.checked_at: (),
}
"""The columns by which limits count or ages are told, each with the rows whose age a step of the clock keeps."""

HASHED: Final = frozenset({TALK.c.at})
"""Those whose dates are never changed."""


class Period(NamedTuple):
    """The time in which rows count, from just after `since` until `until`."""

    since: datetime
    until: datetime

    def contains(self, moment: datetime) -> bool:
        return self.since < moment <= self.until


def last(length: timedelta, now: datetime) -> Period:
    """The last hour, day or other length. It ends a little later than now: the clocks of two machines may differ."""
    return Period(now - length, now + CLOCK_TOLERANCE)


def within(column: Column[Any], period: Period) -> ColumnElement[bool]:
    """Whether a row counts in a period."""
    assert column in COUNTED or column in HASHED, f"a step of the clock does not know {column}"
    return and_(column > period.since, column <= period.until)
