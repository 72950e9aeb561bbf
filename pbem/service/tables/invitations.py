"""Invitations by email to a table, and declining them. Accepting one is in `joining`."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import Final

from pbem.domain.deleted_people import PersonName
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, TooMany, read_fields
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind, InvitationStatus, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.people import addresses as persons, strangers
from pbem.service.server import Server
from pbem.store import blocks as block_rows, games, limits, outbox, people, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow

MOST_INVITED: Final = 20
"""Invitations to one table."""

MOST_AT_ONCE: Final = 50
"""Addresses in one list of people to invite to a group or a tournament: each takes a while to read."""

INVITATIONS_A_DAY: Final = 5
"""Invitations to one address in a day, from all tables together."""


def invite(tx: Tx, server: Server, game_id: int, host_id: int, addresses: tuple[str, ...], network: str = "") -> int:
    """Invite more addresses to a table. Returns how many are new."""
    row = games.lock(tx, game_id)
    if row.host_id != host_id:
        raise Forbidden(_("Only a table's host can invite people."))
    must_be_open(row)
    host = people.read(tx, host_id)
    return invite_addresses(tx, server, row, host, addresses, host.name, network)


def decline(tx: Tx, server: Server, game_id: int, person_id: int) -> None:
    """Decline an invitation. Declining twice changes nothing."""
    row = games.lock(tx, game_id)
    invitation = next((row for row in tables.invitations(tx, game_id) if row.person_id == person_id), None)
    if invitation is None:
        raise NotFound(_("You weren't invited to this table."))
    if invitation.status == InvitationStatus.ACCEPTED:
        raise Gone(_("You have a seat at this table."), remedy=_("You can leave it on its page."))
    now = server.now()
    is_news = tables.answer_invitation(tx, game_id, person_id, InvitationStatus.DECLINED, now)
    if is_news and row.status == TableStatus.OPEN:
        outbox.queue(tx, [outbox.NewEmail(row.host_id, EmailKind.DECLINED, game_id, facts={"person": person_id})], now)


def name_for_host(tx: Tx, game_id: int, person_id: int) -> str:
    """What the host calls someone they invited: the address as the host typed it, and never another, or their name.

    Empty if they are not here any more.
    """
    invited = next((row for row in tables.invitations(tx, game_id) if row.person_id == person_id), None)
    return "" if invited is None else invited.typed or people.read(tx, person_id).name


def check_addresses(addresses: tuple[str, ...], most: int = MOST_INVITED) -> None:
    """Raise BadInput where these are more than can be invited, or for all of them that cannot be emailed."""
    # Before any is read: a form has room for thousands, and reading one takes longer than most statements.
    if (count := len(set(addresses))) > most:
        raise BadInput(
            _("%(value)s addresses are too many.", value=count),
            why=_("You can invite up to %(most)s people at once.", most=most),
        )
    try:
        read_fields({each: partial(persons.normalised, each) for each in addresses})
    except BadInput as wrong:
        # They are typed in one field.
        raise BadInput(wrong.what, why=wrong.why, remedy=wrong.remedy) from wrong


def invite_addresses(
    tx: Tx, server: Server, row: GameRow, host: PersonRow, addresses: tuple[str, ...], host_name: str, network: str = ""
) -> int:
    """Invite typed addresses, for a host whose own is confirmed. Returns how many are new. Raises BadInput or TooMany."""
    check_addresses(addresses)
    invited = dict[int, str]()
    for address, person in persons.invitees(tx, server, addresses).items():
        invited.setdefault(person.id, address.strip())
    new = _invite(tx, server, row, host, invited, host_name)
    strangers.count_emails(tx, server, persons.mailboxes_of(invited[each] for each in new), network, by_player=True)
    return len(new)


def invite_people(
    tx: Tx, server: Server, row: GameRow, host: PersonRow, person_ids: Collection[int], host_name: str
) -> None:
    """Invite players whose addresses the host does not know, but who know the host by this name."""
    _invite(tx, server, row, host, dict.fromkeys(person_ids), host_name)


def must_be_open(row: GameRow) -> None:
    """Raise NotFound or Gone unless the table is waiting for players."""
    if row.status == TableStatus.PLANNED:
        raise NotFound(_("There's no such table."))
    if row.status != TableStatus.OPEN:
        raise Gone(
            _("This table is no longer waiting for players."),
            why={
                "playing": _("It was full, and its game has started."),
                "closed": _("Its host has closed it."),
                "expired": _("It didn't fill up in time."),
            }.get(row.status, _("Its game is over.")),
            remedy=_("Join another open table, or start your own."),
        )


def _invite(
    tx: Tx, server: Server, row: GameRow, host: PersonRow, invited: Mapping[int, str | None], host_name: str
) -> list[int]:
    """Record invitations to these people with what was typed, and email them. Returns those not invited before."""
    persons.must_be_confirmed(host)
    now = server.now()
    earlier = {invitation.person_id for invitation in tables.invitations(tx, row.id)}
    new = [person_id for person_id in invited if person_id not in earlier and person_id != host.id]
    if new and is_guest(host.address):
        raise Forbidden(_("A guest can't invite anyone."), remedy=_("Start a table with your email address."))
    for person_id in new:
        if tables.count_invitations_in(tx, person_id, limits.last(timedelta(days=1), now)) >= INVITATIONS_A_DAY:
            raise TooMany(
                _("%(address)s has been invited to many tables today.", address=invited[person_id] or _("Someone")),
                why=_(
                    "We send an address at most %(invitations_a_day)s invitations a day.",
                    invitations_a_day=INVITATIONS_A_DAY,
                ),
                remedy=_("Leave it out for now."),
            )
        tables.invite(tx, row.id, person_id, invited[person_id], now)
    if (count := len(earlier) + len(new)) > MOST_INVITED:
        raise BadInput(
            _("%(value)s invitations are too many.", value=count),
            why=_("You can invite up to %(most_invited)s people to a table.", most_invited=MOST_INVITED),
        )
    # People who block the host get no email, and the host is not told.
    blockers = block_rows.blockers_of(tx, row.host_id)
    facts = {"host": PersonName(host.id, host_name)}
    emails = [outbox.NewEmail(each, EmailKind.INVITATION, row.id, facts=facts) for each in new if each not in blockers]
    outbox.queue(tx, emails, now)
    return new
