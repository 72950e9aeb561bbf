"""Emails that show a table as it was when they were written, whatever they are about."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, or_, select

from pbem.domain.states import EmailKind, EmailStatus
from pbem.store.schema import OUTBOX, PLAYER

_SHOWS: Final = (EmailKind.TURN, EmailKind.REMINDER, EmailKind.RECEIPT, EmailKind.MENTION, EmailKind.SEATED)
"""Kinds that show their table, or whose replies count for its present turn. A digest does, too."""

_LONGEST_WAIT: Final = timedelta(days=1)
"""For how long an email may be queued before it is written: what waits longer is about a table that does, too."""


def to_others(tx: Connection, game_id: int, seat: int, since: datetime) -> bool:
    """Whether an email to another player of a table was written since a moment, and has left or may have."""
    others = select(PLAYER.c.person_id).where(
        PLAYER.c.game_id == game_id, PLAYER.c.seat != seat, PLAYER.c.person_id.is_not(None)
    )
    about = (OUTBOX.c.game_id == game_id) & OUTBOX.c.kind.in_(_SHOWS) & (OUTBOX.c.seat != seat)
    found = select(OUTBOX.c.id).where(
        OUTBOX.c.person_id.in_(others),
        OUTBOX.c.queued_at > since - _LONGEST_WAIT,
        OUTBOX.c.channel_id == 0,
        or_(about, OUTBOX.c.kind == EmailKind.DIGEST),
        OUTBOX.c.rendered_at >= since,
        or_(OUTBOX.c.status == EmailStatus.SENT, OUTBOX.c.attempts > 0),
    )
    return tx.execute(found.limit(1)).first() is not None
