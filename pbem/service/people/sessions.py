"""Sessions: browsers that stay signed in, a person's by an emailed link, an organiser's by a passphrase.

The browser holds a random secret and the database only its hash, so nobody can sign in from a copy of the database. A
session belongs to a person or to an organiser, never both. It ends with its lifetime, or at once from any browser of its
holder. Finding a session writes nothing, because showing a page must not; its use is recorded when a button is pressed.
"""

import hashlib
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from pbem.domain.errors import Forbidden, NotFound
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import outages
from pbem.service.server import Server
from pbem.store import revocations, sessions
from pbem.store.database import Tx
from pbem.store.sessions import Holder, SessionRow

PERSON_LIFETIME: Final = timedelta(days=30)
ORGANISER_LIFETIME: Final = timedelta(hours=12)
"""A working day at the desk: the browser is signed out the next morning."""

MOST_OPEN: Final = 20
"""Open sessions of one holder; one more ends the oldest."""

KEPT_FOR: Final = timedelta(days=90)

_SECRET_BYTES: Final = 32
_LONGEST_SECRET: Final = 100
_LONGEST_LABEL: Final = 80


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser. `checked_at` is when an organiser last gave the passphrase."""

    id: int
    holder: Holder
    label: str
    made_at: datetime
    used_on: date
    until: datetime
    checked_at: datetime | None


@dataclass(frozen=True, slots=True)
class SessionProof:
    """A session as the proof that a visitor may act: everything runs only while it is open."""

    session: Session

    def check(self, tx: Tx, server: Server) -> None:
        """Raise Forbidden unless the session is open, and keep it from being ended until the transaction is done."""
        revocations.hold_off(tx, self.session.holder)
        row = sessions.read(tx, self.session.id)
        if row is None or row.ended_at is not None or server.now() >= self.session.until:
            raise ended(self.session.holder)

    def is_given(self, values: Sequence[object]) -> bool:
        return False


def ended(holder: Holder | None = None) -> Forbidden:
    """The refusal of a visitor whose session has ended; of a person, if nobody knows whose it was."""
    if holder is not None and holder.organiser_id is not None:
        return Forbidden(_("You're no longer signed in."), remedy=_("Nothing changed. Sign in again."))
    return Forbidden(
        _("You're no longer signed in."),
        why=_("A sign-in lasts thirty days, and you can end it from any device."),
        remedy=_("Nothing changed. Get a new link with “My games” below."),
    )


def start(tx: Tx, server: Server, holder: Holder, label: str) -> str:
    """Sign a browser in. Returns its secret, which is not stored. `label` describes the device."""
    now = server.now()
    # In base 32, so that logs hide it as they hide tokens.
    secret = b32encode(server.randomness.bytes(_SECRET_BYTES)).decode().rstrip("=").lower()
    sessions.add(tx, holder, _hash(secret), label[:_LONGEST_LABEL], now)
    for surplus in _open(tx, holder, now)[MOST_OPEN:]:
        sessions.end(tx, holder, surplus.id, now)
    return secret


def find(tx: Tx, server: Server, secret: str) -> Session | None:
    """The session with this secret; None if there is none or it has ended."""
    if not secret or len(secret) > _LONGEST_SECRET:
        return None
    row = sessions.find(tx, _hash(secret))
    if row is None or row.ended_at is not None:
        return None
    session = _session(row)
    return session if server.now() < session.until else None


def open_sessions(tx: Tx, server: Server, holder: Holder) -> list[Session]:
    """The open sessions of a holder, newest first."""
    return [_session(row) for row in _open(tx, holder, server.now())]


def note_use(server: Server, session: Session) -> None:
    """Record that a session was used, once a day."""
    today = server.now().date()
    if session.used_on != today:
        server.store.write(lambda tx: sessions.used(tx, session.id, today))


def note_check(tx: Tx, server: Server, session: Session) -> None:
    """Record that an organiser has just given the passphrase."""
    sessions.checked(tx, session.id, server.now())


def end(tx: Tx, server: Server, holder: Holder, session_id: int) -> None:
    """End one session of this holder. Raises NotFound."""
    if not sessions.end(tx, holder, session_id, server.now()):
        raise NotFound(_("You have no such sign-in."), why=_("It may already have ended."))


def end_all(tx: Tx, server: Server, holder: Holder, but: int | None = None) -> int:
    """End all sessions of a holder, perhaps but one. Returns how many."""
    return sessions.end_all(tx, holder, server.now(), but)


def tidy(tx: Tx, server: Server) -> int:
    """Delete sessions from long ago. Returns how many."""
    return sessions.forget_before(tx, outages.ago(tx, server, KEPT_FOR))


def _open(tx: Tx, holder: Holder, now: datetime) -> list[SessionRow]:
    return sessions.open_since(tx, holder, now - _lifetime(holder))


def _session(row: SessionRow) -> Session:
    holder = Holder(row.person_id, row.organiser_id)
    until = row.made_at + _lifetime(holder)
    return Session(row.id, holder, row.label, row.made_at, row.used_on, until, row.checked_at)


def _lifetime(holder: Holder) -> timedelta:
    return PERSON_LIFETIME if holder.organiser_id is None else ORGANISER_LIFETIME


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
