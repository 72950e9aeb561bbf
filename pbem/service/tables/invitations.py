"""Invitations by email to a table, and declining them. Accepting one is in `joining`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany
from pbem.domain.states import EmailKind, InvitationStatus, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import blocks as block_rows, games, outbox, people, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow

MOST_INVITED: Final = 20
"""Invitations to one table."""

INVITATIONS_A_DAY: Final = 5
"""Invitations to one address in a day, from all tables together."""


def invite(tx: Tx, server: Server, game_id: int, host_id: int, addresses: tuple[str, ...]) -> int:
    """Invite more addresses to a table. Returns how many are new."""
    row = games.lock(tx, game_id)
    if row.host_id != host_id:
        raise Forbidden(_("Only its host invites people to a table."))
    must_be_open(row)
    host = people.read(tx, host_id)
    invited = invite_addresses(tx, server, game_id, host, addresses)
    email_invitations(tx, server, row, host.name, invited)
    return len(invited)


def decline(tx: Tx, server: Server, game_id: int, person_id: int) -> None:
    """Decline an invitation. Declining twice changes nothing."""
    row = games.lock(tx, game_id)
    invitation = next((row for row in tables.invitations(tx, game_id) if row.person_id == person_id), None)
    if invitation is None:
        raise NotFound(_("You were not invited to this table."))
    if invitation.status == InvitationStatus.ACCEPTED:
        raise Gone(_("You have a place at this table."), remedy=_("You can leave it on its page."))
    now = server.now()
    is_news = tables.answer_invitation(tx, game_id, person_id, InvitationStatus.DECLINED, now)
    if is_news and row.status == TableStatus.OPEN:
        # What the host typed, never an address that they may not know: it can have changed since.
        facts = {"who": invitation.typed or people.read(tx, person_id).name}
        outbox.queue(tx, [outbox.NewEmail(row.host_id, EmailKind.DECLINED, game_id, facts=facts)], now)


def invite_addresses(tx: Tx, server: Server, game_id: int, host: PersonRow, addresses: tuple[str, ...]) -> list[int]:
    """Record invitations of typed addresses. Returns the people not invited before."""
    typed: dict[int, str] = {}
    for address in addresses:
        typed.setdefault(persons.find_or_add(tx, server, address).id, address.strip())
    return invite_people(tx, server, game_id, host.id, typed)


def invite_people(tx: Tx, server: Server, game_id: int, host_id: int, typed: Mapping[int, str]) -> list[int]:
    """Record invitations of people, each with the address that the host typed, if any. Returns those not invited before."""
    now = server.now()
    earlier = {invitation.person_id for invitation in tables.invitations(tx, game_id)}
    new = [person_id for person_id in typed if person_id not in earlier and person_id != host_id]
    for person_id in new:
        if tables.invited_since(tx, person_id, now - timedelta(days=1)) >= INVITATIONS_A_DAY:
            raise _too_often(typed[person_id])
        tables.invite(tx, game_id, person_id, typed[person_id], now)
    count = len(earlier) + len(new)
    if count > MOST_INVITED:
        raise BadInput(
            _("%(value)s invitations are too many.", value=count),
            why=_("A table is offered to %(most_invited)s at most.", most_invited=MOST_INVITED),
        )
    return new


def email_invitations(tx: Tx, server: Server, row: GameRow, host_name: str, to: list[int] | None = None) -> None:
    """Email invitations to these people, or to everyone invited."""
    invited = [invitation.person_id for invitation in tables.invitations(tx, row.id)] if to is None else to
    facts = {"host": host_name}
    # People who block the host get no email, and the host is not told.
    blockers = block_rows.blockers_of(tx, row.host_id)
    readers = [person for person in invited if person not in blockers]
    emails = [outbox.NewEmail(person, EmailKind.INVITATION, row.id, facts=facts) for person in readers]
    outbox.queue(tx, emails, server.now())


def must_be_open(row: GameRow) -> None:
    """Raise NotFound or Gone unless the table is waiting for players."""
    if row.status == TableStatus.PLANNED:
        raise NotFound(_("There is no such table in the lobby."))
    if row.status != TableStatus.OPEN:
        raise Gone(
            _("This table does not wait for players any more."),
            why={
                "playing": _("It was full, and its game has begun."),
                "closed": _("Its host has closed it."),
                "expired": _("It waited for players for too long."),
            }.get(row.status, _("Its game is over.")),
            remedy=_("Other tables wait in the lobby, and you can open one yourself."),
        )


def _too_often(address: str) -> TooMany:
    """The refusal for an address that the host typed, or for someone whose address they may not know."""
    if not address:
        return TooMany(_("Someone at this table was invited to many tables today."), remedy=_("Try again tomorrow."))
    return TooMany(
        _("%(address)s was invited to many tables today.", address=address),
        why=_(
            "We send an address %(invitations_a_day)s invitations in a day at most.",
            invitations_a_day=INVITATIONS_A_DAY,
        ),
        remedy=_("Please leave it out for now."),
    )
