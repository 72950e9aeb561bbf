"""Who may sign in to the desk, and in which role a visitor acts. Organisers are added on the command line, never over
the web.

A passphrase is hashed before anything is written, and is neither stored nor logged.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

from argon2 import PasswordHasher

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import BadInput, Forbidden, NotFound, quoted
from pbem.domain.user_text import parse_name
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit, one_time_codes
from pbem.service.people.addresses import find_or_add, join_spellings, normalised
from pbem.service.people.sessions import Session
from pbem.service.server import Server
from pbem.store import games, organisers, people, revocations
from pbem.store.database import Tx
from pbem.store.organisers import OrganiserRow
from pbem.store.sessions import Holder

SHORTEST_PASSPHRASE: Final = 12
LONGEST_PASSPHRASE: Final = 200
"""A limit, because hashing takes longer for longer ones."""

AT_THE_MACHINE: Final = "Done on the server."
"""The reason of acts from the command line."""


def add(server: Server, actor: Actor, name: str, address: str, passphrase: str) -> None:
    """Add an organiser with a passphrase. Raises BadInput."""
    name, (address, mailbox) = parse_name(name), normalised(address)
    must_be_good(passphrase)
    # Hashing is slow on purpose, so it is not done in a transaction.
    hashed = PasswordHasher().hash(as_hashed(passphrase))

    def work(tx: Tx) -> None:
        if organisers.by_name(tx, name) is not None:
            raise BadInput(
                _("There is already an organiser %(name)s.", name=quoted(name)), remedy=_("Choose another name.")
            )
        person_id = find_or_add(tx, server, address).id
        join_spellings(tx, person_id, mailbox)
        organiser_id = organisers.add(tx, name, address, person_id, hashed, server.now())
        audit.record(tx, server, actor, Act.ORGANISER_ADDED, AT_THE_MACHINE, organiser=organiser_id, name=name)

    server.store.write(work)


def must_be_good(passphrase: str) -> None:
    """Refuse a passphrase that is easy to guess. Raises BadInput."""
    if not SHORTEST_PASSPHRASE <= len(passphrase) <= LONGEST_PASSPHRASE:
        raise BadInput(
            _(
                "A passphrase needs %(shortest_passphrase)s to %(longest_passphrase)s characters.",
                shortest_passphrase=SHORTEST_PASSPHRASE,
                longest_passphrase=LONGEST_PASSPHRASE,
            ),
            why=_("This one has %(many)s.", many=len(passphrase)),
            remedy=_("Four unrelated words make a good one."),
        )
    if len(set(passphrase)) < SHORTEST_PASSPHRASE // 2:
        raise BadInput(_("This passphrase is too easy to guess."), why=_("It repeats the same few characters."))


def as_hashed(passphrase: str) -> str:
    """A passphrase as it is hashed: the same from every keyboard, without blanks around it, and cut to a limit."""
    # Cut before, too: the library takes minutes to sort the marks of an endless text.
    return unicodedata.normalize("NFC", passphrase.strip()[: 4 * LONGEST_PASSPHRASE]).strip()[: LONGEST_PASSPHRASE + 1]


def remove(tx: Tx, server: Server, actor: Actor, name: str) -> None:
    """Remove an organiser and end their sessions."""
    row = named(tx, server, name)
    # Their sessions end with them.
    revocations.begin(tx, Holder(organiser_id=row.id))
    organisers.remove(tx, row.name)
    audit.record(tx, server, actor, Act.ORGANISER_REMOVED, AT_THE_MACHINE, organiser=row.id, name=row.name)


def require_codes(
    tx: Tx, server: Server, actor: Actor, name: str, secret: str, code: str, reason: str = AT_THE_MACHINE
) -> None:
    """Turn on codes for an organiser, who proves with one that they have the secret."""
    row = named(tx, server, name)
    step = one_time_codes.step_of(secret, code, server.now(), None)
    if step is None:
        raise BadInput(
            _("This code doesn't match."),
            why=_("A code works for about a minute, and your device's clock must be right."),
            remedy=_("Enter the code shown now."),
        )
    organisers.change(tx, row.id, totp=secret, totp_step=step)
    audit.record(tx, server, actor, Act.CODES_ON, reason, organiser=row.id)


def drop_codes(tx: Tx, server: Server, actor: Actor, name: str, reason: str = AT_THE_MACHINE) -> None:
    """Turn off codes for an organiser; doing so again changes nothing."""
    row = named(tx, server, name)
    if row.totp is not None:
        organisers.change(tx, row.id, totp=None, totp_step=None)
        audit.record(tx, server, actor, Act.CODES_OFF, reason, organiser=row.id)


def acting(
    tx: Tx,
    server: Server,
    act: Act,
    organiser: Session | None,
    person: Session | None,
    *,
    game_id: int | None = None,
    person_id: int | None = None,
) -> Actor | None:
    """The actor who a visitor is for this act, by their sessions; None if neither organiser nor host. Raises Forbidden.

    An organiser who plays at a table and hosts it acts there as host only.
    """
    refusal: Forbidden | None = None
    for actor in _actors(tx, game_id, organiser, person):
        try:
            audit.must_be_allowed(tx, actor, act, game_id, person_id)
        except Forbidden as refused:
            refusal = refused
        else:
            return actor
    if refusal is not None:
        raise refusal
    return None


def _actors(tx: Tx, game_id: int | None, organiser: Session | None, person: Session | None) -> Iterator[Actor]:
    if organiser is not None and organiser.holder.organiser_id is not None:
        yield actor_of(tx, organisers.read(tx, organiser.holder.organiser_id))
    if person is not None and game_id is not None:
        try:
            host_id = games.read(tx, game_id).host_id
        except NotFound:
            # As for the tables of others: nobody may count the tables there are.
            return
        if host_id == person.holder.person_id:
            yield Actor(Role.HOST, people.read(tx, host_id).name, person_id=host_id)


def actor_of(tx: Tx, row: OrganiserRow) -> Actor:
    """An organiser as an actor, with the person they are, whichever address that person has by now."""
    return Actor(Role.ORGANISER, row.name, row.id, row.person_id)


def named(tx: Tx, server: Server, name: str) -> OrganiserRow:
    """The organiser with this name. Raises NotFound."""
    row = organisers.by_name(tx, name)
    if row is None:
        raise NotFound(
            _("There is no organiser %(name)s.", name=quoted(name)), remedy=_("List them with `pbem organiser list`.")
        )
    return row
