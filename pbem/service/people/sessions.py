"""Sessions: a browser that stays signed in, a person's by a mailed link, an organiser's by a passphrase.

The browser gets a random secret to keep, and we keep its hash, so whoever reads the database or a backup can sign in as
nobody. A session is for one kind of holder and opens nothing of the other. It ends when its time is over, or at once when
its holder says so from any browser. Finding a session writes nothing, so that looking at a page changes nothing; that it
is used is noted when a button is pressed.
"""

import hashlib
from base64 import b32encode
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.server import Server
from pbem.store import people, sessions
from pbem.store.database import Tx
from pbem.store.sessions import Holder, SessionRow
from pbem.tokens import Purpose

LASTS_OF_PERSON: Final = timedelta(days=30)
LASTS_OF_ORGANISER: Final = timedelta(hours=12)
"""A day at the desk: whoever finds the browser open the next morning finds it signed out."""

MOST_OPEN: Final = 20
"""Browsers in which one holder is signed in; one more ends the oldest."""

KEPT: Final = timedelta(days=90)

_SECRET_BYTES: Final = 32
_LONGEST_SECRET: Final = 100
_LONGEST_LABEL: Final = 80


@dataclass(frozen=True, slots=True)
class Session:
    """One browser that is signed in. `checked_at` is when an organiser was asked for the passphrase last."""

    id: int
    holder: Holder
    label: str
    made_at: datetime
    used_on: date
    until: datetime
    checked_at: datetime | None


def start(tx: Tx, server: Server, holder: Holder, label: str) -> str:
    """Sign a browser in; the secret that it is to keep, which is told this once. `label` names the device in words."""
    now = server.now()
    # In base 32, so that a log that came to hold it would blank it as it blanks tokens.
    secret = b32encode(server.randomness.bytes(_SECRET_BYTES)).decode().rstrip("=").lower()
    sessions.add(tx, holder, _hash(secret), label[:_LONGEST_LABEL], now)
    for surplus in _open(tx, holder, now)[MOST_OPEN:]:
        sessions.end(tx, holder, surplus.id, now)
    return secret


def find(tx: Tx, server: Server, secret: str) -> Session | None:
    """The session of a browser by what it keeps; None if it has ended or never was."""
    if not secret or len(secret) > _LONGEST_SECRET:
        return None
    row = sessions.find(tx, _hash(secret))
    if row is None or row.ended_at is not None:
        return None
    found = _session(row)
    return found if server.now() < found.until else None


def listed(tx: Tx, server: Server, holder: Holder) -> list[Session]:
    """The browsers in which somebody is signed in, the newest first."""
    return [_session(row) for row in _open(tx, holder, server.now())]


def used(server: Server, session: Session) -> None:
    """Note that a button was pressed; a day is written once."""
    today = server.now().date()
    if session.used_on != today:
        server.store.write(lambda tx: sessions.used(tx, session.id, today))


def note_check(tx: Tx, server: Server, session: Session) -> None:
    """Note that an organiser has just given the passphrase again."""
    sessions.checked(tx, session.id, server.now())


def end(tx: Tx, server: Server, holder: Holder, session_id: int) -> None:
    """Sign a browser of this holder's out."""

    if not sessions.end(tx, holder, session_id, server.now()):
        raise NotFound(_("There is no such sign-in of yours."), why=_("It may have ended already."))


def end_others(tx: Tx, server: Server, holder: Holder, but: int) -> int:
    """Sign all browsers of this holder out but one; how many that were."""
    return sessions.end_all(tx, holder, server.now(), but)


def end_all(tx: Tx, server: Server, holder: Holder) -> int:
    """Sign all browsers of this holder out; how many that were."""
    return sessions.end_all(tx, holder, server.now())


def tidy(tx: Tx, server: Server) -> int:
    """Drop sessions that have long been over; how many that were."""
    return sessions.forget_before(tx, server.now() - KEPT)


def _open(tx: Tx, holder: Holder, now: datetime) -> list[SessionRow]:
    return sessions.open_since(tx, holder, now - _lasts(holder))


def _session(row: SessionRow) -> Session:
    holder = Holder(row.person_id, row.organiser_id)
    until = row.made_at + _lasts(holder)
    return Session(row.id, holder, row.label, row.made_at, row.used_on, until, row.checked_at)


def _lasts(holder: Holder) -> timedelta:
    return LASTS_OF_PERSON if holder.organiser_id is None else LASTS_OF_ORGANISER


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True, slots=True)
class Welcome:
    """Who would sign in by a link."""

    name: str


def welcome(tx: Tx, server: Server, token: str) -> Welcome:
    """What the page of a link says, before anybody has pressed its button."""
    link = links.follow_person(tx, server, token, Purpose.SIGN_IN)
    return Welcome(people.read(tx, link.person_id).name)


def sign_in(tx: Tx, server: Server, token: str, device: str) -> str:
    """Sign a browser in; the secret that it is to keep. The link works as often as its owner has browsers, for a day."""
    link = links.follow_person(tx, server, token, Purpose.SIGN_IN)
    reachability.note_contact(tx, server, link.person_id, link.created_at)
    people.lock(tx, link.person_id)
    return start(tx, server, Holder(person_id=link.person_id), device)
