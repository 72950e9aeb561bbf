"""Signing in to the desk with a passphrase, and a code if the organiser uses them.

Nobody learns whether the name, the passphrase or the code was wrong. Attempts are limited in the database, whichever process
is asked: for each session and each device where the organiser has signed in before, for a browser where an emailed link has
signed them in, and for everyone else by name and by network, with a small part of a name's for each network. So strangers can
use up only those of a new browser, until a link opens it. Hashing is slow on purpose, so it is done outside transactions.
Nothing typed is stored or logged; refusals are.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import cache
from secrets import token_bytes
from threading import BoundedSemaphore
from typing import Final

import structlog
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from pbem.domain.acts import Act
from pbem.domain.errors import Forbidden, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit, devices, one_time_codes
from pbem.service.desk.organisers import actor_of, as_hashed, drop_codes, must_be_good, require_codes
from pbem.service.people import quota, sessions
from pbem.service.people.quota import Quota
from pbem.service.people.sessions import Session
from pbem.service.server import Server
from pbem.store import organisers
from pbem.store.database import Tx
from pbem.store.organisers import OrganiserRow
from pbem.store.sessions import Holder

TRIES: Final = 5
TRIES_WITHIN: Final = timedelta(minutes=10)
"""Attempts for a device, a session, or a name from one network: this many at once, all of them free again after this time."""

TRIES_OF_NAME: Final = 25
"""The same for a name from all networks together: more than any of them has. Once they're used up, an organiser needs a link."""

TRIES_OF_NETWORK: Final = 20
"""The same for a network from which people come without a device."""

MOST_AT_ONCE: Final = 2
"""Passphrases of strangers that a process checks at the same time: each costs a good part of a second."""

FRESH: Final = timedelta(minutes=10)
"""How long a passphrase need not be typed again."""

_strangers: Final = BoundedSemaphore(MOST_AT_ONCE)
_log = structlog.get_logger(__name__)

_BY_THEMSELVES: Final = "Done by themselves at the desk."


def sign_in(
    server: Server,
    name: str,
    passphrase: str,
    code: str,
    label: str,
    *,
    network: str = "",
    device: str = "",
    person_id: int | None = None,
) -> str:
    """Sign an organiser in; returns the secret for the browser. Raises Forbidden, TooMany.

    `label` names the kind of browser, `network` is where it is, and `device` is what an earlier sign-in has left there.
    `person_id` is the person signed in there by an emailed link.
    """
    name = name.strip()
    if devices.is_known(server, device, name):
        own = [_quota(server, "device", device)]
    elif person_id is not None and server.read(_is_organiser, name, person_id):
        own = [_quota(server, "person", str(person_id))]
    else:
        own = []
    quotas = own or [
        _quota(server, "name from", f"{name} {network}"),
        _quota(server, "name", name, TRIES_OF_NAME),
        _quota(server, "network", network, TRIES_OF_NETWORK),
    ]
    with nullcontext() if own else _one_of_few():
        organiser = _check_passphrase(server, name, passphrase, quotas)

    def work(tx: Tx, server: Server) -> str:
        row = _lock_unchanged(tx, organiser)
        if row.totp is not None:
            step = one_time_codes.step_of(row.totp, code, server.now(), row.totp_step)
            if step is None:
                raise _wrong()
            organisers.change(tx, row.id, totp_step=step)
        quota.give_back(tx, server, quotas[:2])
        return sessions.start(tx, server, Holder(organiser_id=row.id), label)

    return server.run(work)


def fresh(server: Server, session: Session) -> bool:
    """Whether the passphrase was typed recently enough for a dangerous act."""
    return session.checked_at is not None and server.now() - session.checked_at <= FRESH


def check_again(server: Server, session: Session, passphrase: str) -> None:
    """Check the passphrase of a signed-in organiser again. Raises Forbidden, TooMany."""
    quotas = [_quota(server, "session", str(session.id))]
    organiser = _check_passphrase(server, _name_of(server, session), passphrase, quotas)

    def work(tx: Tx, server: Server) -> None:
        _lock_unchanged(tx, organiser)
        quota.give_back(tx, server, quotas)
        sessions.note_check(tx, server, session)

    # While the passphrase was hashed, the session may have ended.
    server.run(work)


def change(server: Server, session: Session, old: str, new: str) -> None:
    """Change an organiser's passphrase and sign out their other browsers."""
    must_be_good(new)
    quotas = [_quota(server, "session", str(session.id))]
    organiser = _check_passphrase(server, _name_of(server, session), old, quotas)
    hashed = PasswordHasher().hash(as_hashed(new))

    def work(tx: Tx, server: Server) -> None:
        row = _lock_unchanged(tx, organiser)
        organisers.change(tx, row.id, passphrase=hashed)
        sessions.end_all(tx, server, session.holder, session.id)
        quota.give_back(tx, server, quotas)
        audit.record(tx, server, actor_of(tx, row), Act.PASSPHRASE, _BY_THEMSELVES, organiser=row.id)

    server.run(work)


def has_codes(tx: Tx, server: Server, session: Session) -> bool:
    """Whether this organiser uses codes."""
    return organisers.read(tx, _organiser(session)).totp is not None


def ask_for_codes(tx: Tx, server: Server, session: Session, secret: str, code: str) -> None:
    """Turn on codes for this organiser, who proves with one that they have the secret."""
    row = organisers.lock(tx, _organiser(session))
    require_codes(tx, server, actor_of(tx, row), row.name, secret, code, _BY_THEMSELVES)


def ask_for_no_codes(tx: Tx, server: Server, session: Session) -> None:
    """Turn off codes for this organiser; doing so again changes nothing."""
    row = organisers.lock(tx, _organiser(session))
    drop_codes(tx, server, actor_of(tx, row), row.name, _BY_THEMSELVES)


def _is_organiser(tx: Tx, _server: Server, name: str, person_id: int) -> bool:
    """Whether the organiser with this name is this person."""
    organiser = organisers.by_name(tx, name)
    return organiser is not None and organiser.person_id == person_id


def _check_passphrase(server: Server, name: str, passphrase: str, quotas: Sequence[Quota]) -> OrganiserRow:
    """Count an attempt, and refuse a wrong passphrase, taking as long for an unknown name. Raises Forbidden, TooMany."""
    organiser = server.run(_count_attempt, name, quotas)
    no_match = _hash_of_nobody()
    try:
        PasswordHasher().verify(no_match if organiser is None else organiser.passphrase, as_hashed(passphrase))
    except VerifyMismatchError:
        _log.warning("sign_in_refused", organiser=None if organiser is None else organiser.id)
        raise _wrong() from None
    assert organiser is not None, "nobody knows what was hashed for nobody"
    return organiser


def _count_attempt(tx: Tx, server: Server, name: str, quotas: Sequence[Quota]) -> OrganiserRow | None:
    """Count an attempt and return the organiser with this name, if there is one. Raises TooMany."""
    if used_up := quota.take(tx, server, quotas):
        raise _too_many(used_up.apart)
    return organisers.by_name(tx, name)


@contextmanager
def _one_of_few() -> Iterator[None]:
    """Let in few at once, so that strangers cannot occupy the whole server. Raises TooMany."""
    if not _strangers.acquire(blocking=False):
        raise _too_many(timedelta(seconds=5))
    try:
        yield
    finally:
        _strangers.release()


def _quota(server: Server, what: str, of: str, most: int = TRIES) -> Quota:
    return quota.quota_of(server, f"desk/{what}", of, most, TRIES_WITHIN)


def _name_of(server: Server, session: Session) -> str:
    with server.store.read() as tx:
        return organisers.read(tx, _organiser(session)).name


@cache
def _hash_of_nobody() -> str:
    """The hash of random bytes, to compare with for an unknown name."""
    return PasswordHasher().hash(token_bytes())


def _lock_unchanged(tx: Tx, organiser: OrganiserRow) -> OrganiserRow:
    """Lock the organiser, unless they were removed or have changed the passphrase meanwhile."""
    row = organisers.lock(tx, organiser.id)
    if row.passphrase != organiser.passphrase:
        raise _wrong()
    return row


def _organiser(session: Session) -> int:
    assert session.holder.organiser_id is not None, "a person has no passphrase"
    return session.holder.organiser_id


def _too_many(wait: timedelta) -> TooMany:
    return TooMany(
        _("Too many sign-in attempts."),
        why=_("Someone may be guessing."),
        remedy=_(
            "Please try again in %(seconds)s seconds. If it keeps happening, sign in here with an emailed link first.",
            seconds=round(wait.total_seconds()),
        ),
    )


def _wrong() -> Forbidden:
    return Forbidden(
        _("That didn't work."),
        why=_("The name, the passphrase or the code is wrong. For security, we don't say which."),
        remedy=_("Try again. If you're locked out, someone with access to the server can add you again."),
    )
