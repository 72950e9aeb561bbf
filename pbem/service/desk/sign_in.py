"""Signing in to the desk with a passphrase, and a code if the organiser uses them.

Nobody learns whether the name, the passphrase or the code was wrong. Attempts are limited in the database, for each
name and for all together, whichever process is asked. Hashing is slow on purpose, so it is done outside transactions.
Nothing typed is stored or logged; refusals are.
"""

from datetime import timedelta
from functools import cache
from hashlib import sha256
from secrets import token_bytes
from typing import Final

import structlog
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from pbem.domain.acts import Act
from pbem.domain.errors import Forbidden, TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit, one_time_codes
from pbem.service.desk.organisers import actor_of, as_hashed, drop_codes, must_be_good, require_codes
from pbem.service.people import sessions
from pbem.service.people.sessions import Session
from pbem.service.server import Server
from pbem.store import organisers, rate_limits
from pbem.store.database import Tx
from pbem.store.organisers import OrganiserRow
from pbem.store.sessions import Holder

TRIES_OF_NAME: Final = 5
EACH_OF_NAME: Final = timedelta(minutes=2)
"""For each name this many attempts at once, then one more each time this has passed."""

TRIES_OF_ALL: Final = 30
EACH_OF_ALL: Final = timedelta(seconds=20)
"""The same for all names together: each attempt costs a good part of a second."""

FRESH: Final = timedelta(minutes=10)
"""How long a passphrase need not be typed again."""

ALL: Final = "/desk"
"""The quota of all names. A domain, whose quotas are in the same table, has no slash."""

_log = structlog.get_logger(__name__)

_BY_THEMSELVES: Final = "Done by themselves at the desk."


def sign_in(server: Server, name: str, passphrase: str, code: str, label: str) -> str:
    """Sign an organiser in; returns the secret for the browser. `label` names the device. Raises Forbidden, TooMany."""
    organiser = _check_passphrase(server, name.strip(), passphrase)

    def work(tx: Tx) -> str:
        row = _lock_unchanged(tx, organiser)
        if row.totp is not None:
            step = one_time_codes.step_of(row.totp, code, server.now(), row.totp_step)
            if step is None:
                raise _wrong()
            organisers.change(tx, row.id, totp_step=step)
        _clear_attempts(tx, server, row)
        return sessions.start(tx, server, Holder(organiser_id=row.id), label)

    return server.store.write(work)


def fresh(server: Server, session: Session) -> bool:
    """Whether the passphrase was typed recently enough for a dangerous act."""
    return session.checked_at is not None and server.now() - session.checked_at <= FRESH


def check_again(server: Server, session: Session, passphrase: str) -> None:
    """Check the passphrase of a signed-in organiser again. Raises Forbidden, TooMany."""
    organiser = _check_passphrase(server, _name_of(server, session), passphrase)

    def work(tx: Tx) -> None:
        _lock_unchanged(tx, organiser)
        _clear_attempts(tx, server, organiser)
        sessions.note_check(tx, server, session)

    server.store.write(work)


def change(server: Server, session: Session, old: str, new: str) -> None:
    """Change an organiser's passphrase and sign out their other browsers."""
    must_be_good(new)
    organiser = _check_passphrase(server, _name_of(server, session), old)
    hashed = PasswordHasher().hash(as_hashed(new))

    def work(tx: Tx) -> None:
        row = _lock_unchanged(tx, organiser)
        organisers.change(tx, row.id, passphrase=hashed)
        sessions.end_all(tx, server, session.holder, session.id)
        _clear_attempts(tx, server, row)
        audit.record(tx, server, actor_of(tx, row), Act.PASSPHRASE, _BY_THEMSELVES, organiser=row.id)

    server.store.write(work)


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


def _check_passphrase(server: Server, name: str, passphrase: str) -> OrganiserRow:
    """Count an attempt, and refuse a wrong passphrase, taking as long for an unknown name. Raises Forbidden, TooMany."""
    organiser = server.run(_count_attempt, name)
    no_match = _hash_of_nobody()
    try:
        PasswordHasher().verify(no_match if organiser is None else organiser.passphrase, as_hashed(passphrase))
    except VerifyMismatchError:
        _log.warning("sign_in_refused", organiser=None if organiser is None else organiser.id)
        raise _wrong() from None
    assert organiser is not None, "nobody knows what was hashed for nobody"
    return organiser


def _count_attempt(tx: Tx, server: Server, name: str) -> OrganiserRow | None:
    """Count an attempt and return the organiser with this name, if there is one. Raises TooMany."""
    now = server.now()
    used = rate_limits.lock(tx, [ALL, _quota_of(name)])
    for quota, most, apart in ((ALL, TRIES_OF_ALL, EACH_OF_ALL), (_quota_of(name), TRIES_OF_NAME, EACH_OF_NAME)):
        used[quota] = max(now, used.get(quota, now)) + apart
        if used[quota] > now + most * apart:
            raise TooMany(
                _("There have been too many tries to sign in."),
                why=_("Somebody may be guessing."),
                remedy=_("Please try again in %(seconds)s seconds.", seconds=round(apart.total_seconds())),
            )
    rate_limits.write(tx, used)
    return organisers.by_name(tx, name)


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


def _clear_attempts(tx: Tx, server: Server, row: OrganiserRow) -> None:
    """Clear the attempts of an organiser who knew the passphrase."""
    rate_limits.write(tx, {_quota_of(row.name): server.now()})


def _quota_of(name: str) -> str:
    """The quota of a name: a hash, so that it does not show what was typed."""
    return f"{ALL}/{sha256(name.encode()).hexdigest()}"


def _organiser(session: Session) -> int:
    assert session.holder.organiser_id is not None, "a person has no passphrase"
    return session.holder.organiser_id


def _wrong() -> Forbidden:
    return Forbidden(
        _("That was not right."),
        why=_("The name, the passphrase or the code is wrong; which of them is told to nobody."),
        remedy=_("Please try again. Somebody at the machine can make you an organiser anew."),
    )
