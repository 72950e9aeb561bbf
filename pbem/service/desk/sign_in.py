"""Signing in to the desk: a passphrase, and a code where the organiser has set that up.

Nobody learns whether a name, a passphrase or a code was wrong, and wrong ones cost time: tries are counted in the database,
for each name and for all together, whichever process is asked. Hashing takes long on purpose, so it is done while no
transaction waits. What was typed is neither stored nor logged; that somebody was refused is.
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
from pbem.store import organisers, quotas
from pbem.store.database import Tx
from pbem.store.organisers import OrganiserRow
from pbem.store.sessions import Holder

TRIES_OF_NAME: Final = 5
EACH_OF_NAME: Final = timedelta(minutes=2)
"""So many tries for one name at once, and then one more every so often."""

TRIES_OF_ALL: Final = 30
EACH_OF_ALL: Final = timedelta(seconds=20)
"""The same for all names together: each try costs us a good part of a second."""

FRESH: Final = timedelta(minutes=10)
"""So long after a passphrase nobody is asked for it again."""

ALL: Final = "/desk"
"""The share of all names. A domain of mail, whose shares lie beside it, has no slash."""

_log = structlog.get_logger(__name__)

_BY_THEMSELVES: Final = "Done by themselves at the desk."


def sign_in(server: Server, name: str, passphrase: str, code: str, label: str) -> str:
    """Sign an organiser's browser in; the secret that it is to keep. `label` names the device in words."""
    found = _must_match(_tried(server, name.strip()), passphrase)

    def work(tx: Tx) -> str:
        row = _still(tx, found)
        if row.totp is not None:
            step = one_time_codes.step_of(row.totp, code, server.now(), row.totp_step)
            if step is None:
                raise _wrong()
            organisers.change(tx, row.id, totp_step=step)
        _forget_tries(tx, server, row)
        return sessions.start(tx, server, Holder(organiser_id=row.id), label)

    return server.store.write(work)


def fresh(server: Server, session: Session) -> bool:
    """Whether the passphrase was given so lately that a dangerous act needs it not again."""
    return session.checked_at is not None and server.now() - session.checked_at <= FRESH


def check_again(server: Server, session: Session, passphrase: str) -> None:
    """Ask an organiser who is signed in for the passphrase once more."""
    found = _tried_again(server, session, passphrase)

    def work(tx: Tx) -> None:
        _still(tx, found)
        _forget_tries(tx, server, found)
        sessions.note_check(tx, server, session)

    server.store.write(work)


def change(server: Server, session: Session, old: str, new: str) -> None:
    """Give an organiser another passphrase; all other browsers of theirs are signed out."""
    must_be_good(new)
    found = _tried_again(server, session, old)
    hashed = PasswordHasher().hash(as_hashed(new))

    def work(tx: Tx) -> None:
        row = _still(tx, found)
        organisers.change(tx, row.id, passphrase=hashed)
        sessions.end_others(tx, server, session.holder, session.id)
        _forget_tries(tx, server, row)
        audit.record(tx, server, actor_of(tx, row), Act.PASSPHRASE, _BY_THEMSELVES, organiser=row.id)

    server.store.write(work)


def has_codes(tx: Tx, server: Server, session: Session) -> bool:
    """Whether this organiser is asked for a code."""
    return organisers.read(tx, _organiser(session)).totp is not None


def ask_for_codes(server: Server, session: Session, secret: str, code: str) -> None:
    """Ask this organiser for a code from now on; they show by one that they have the secret."""

    def work(tx: Tx) -> None:
        row = organisers.lock(tx, _organiser(session))
        require_codes(tx, server, actor_of(tx, row), row, secret, code, _BY_THEMSELVES)

    server.store.write(work)


def ask_for_no_codes(server: Server, session: Session) -> None:
    """Ask this organiser for the passphrase alone; again changes nothing."""

    def work(tx: Tx) -> None:
        row = organisers.lock(tx, _organiser(session))
        drop_codes(tx, server, actor_of(tx, row), row, _BY_THEMSELVES)

    server.store.write(work)


def _tried(server: Server, name: str) -> OrganiserRow | None:
    """Whom a name means, once this try is counted; refused if there were too many."""

    def work(tx: Tx) -> OrganiserRow | None:
        now = server.now()
        used = quotas.lock(tx, [ALL, _of(name)])
        for share, most, each in ((ALL, TRIES_OF_ALL, EACH_OF_ALL), (_of(name), TRIES_OF_NAME, EACH_OF_NAME)):
            used[share] = max(now, used.get(share, now)) + each
            if used[share] > now + most * each:
                raise TooMany(
                    _("There have been too many tries to sign in."),
                    why=_("Somebody may be guessing."),
                    remedy=_("Please try again in %(seconds)s seconds.", seconds=round(each.total_seconds())),
                )
        quotas.write(tx, used)
        return organisers.by_name(tx, name)

    return server.store.write(work)


def _tried_again(server: Server, session: Session, passphrase: str) -> OrganiserRow:
    """The organiser of a session, if this is their passphrase; the try is counted."""
    with server.store.read() as tx:
        name = organisers.read(tx, _organiser(session)).name
    return _must_match(_tried(server, name), passphrase)


def _must_match(found: OrganiserRow | None, passphrase: str) -> OrganiserRow:
    """Refuse a wrong passphrase, and take as long where there is nobody of that name."""
    nobodys = _nobodys()
    try:
        PasswordHasher().verify(nobodys if found is None else found.passphrase, as_hashed(passphrase))
    except VerifyMismatchError:
        _log.warning("sign_in_refused", organiser=None if found is None else found.id)
        raise _wrong() from None
    assert found is not None, "nobody knows what was hashed for nobody"
    return found


@cache
def _nobodys() -> str:
    """A hash like any other, of something that nobody can type."""
    return PasswordHasher().hash(token_bytes())


def _still(tx: Tx, found: OrganiserRow) -> OrganiserRow:
    """The organiser whose passphrase was right, unless they were removed or changed it meanwhile."""
    row = organisers.lock(tx, found.id)
    if row.passphrase != found.passphrase:
        raise _wrong()
    return row


def _forget_tries(tx: Tx, server: Server, row: OrganiserRow) -> None:
    """Whoever knows the passphrase was not guessing."""
    quotas.write(tx, {_of(row.name): server.now()})


def _of(name: str) -> str:
    """The share of a name, which is as long for every name and shows in no list what was typed."""
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
