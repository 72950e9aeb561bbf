"""Changing a person's address: by request and consent from the new address, or by an organiser.

Both addresses are emailed when a change is requested and when it is done, so the owner of the old one learns of a change
they did not ask for. Links in older emails stop working and every browser is signed out, because others may read the old
mailbox; open turns are emailed again to the new address.
"""

import json
from datetime import timedelta
from typing import Any, Final

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.domain.guests import is_guest
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service import links as service_links
from pbem.service.account import merge
from pbem.service.clocks import reachability
from pbem.service.outgoing import new_links
from pbem.service.people import addresses as persons, strangers
from pbem.service.server import Server
from pbem.store import (
    channels,
    deadlines,
    insiders,
    limits,
    links,
    merge as merge_rows,
    outbox,
    people,
    personal_data,
    revocations,
)
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.store.sessions import Holder
from pbem.tokens import Purpose

EMAILS_A_DAY: Final = 5
"""Requests of one person in a day."""

UNDONE_WITHIN: Final = timedelta(days=14)
"""How long after a change of address nothing final is done to an account: as long as “This wasn't me” puts the address back.

A stranger who has taken it over could otherwise have it deleted, or merged into their own, before its owner reads the warning.
"""


def ask(tx: Tx, server: Server, person_id: int, address: str, network: str = "") -> None:
    """Request a change: email the new address for consent, and the old one for its information.

    Never reveals whether the new address is known. Raises Forbidden, BadInput or TooMany.
    """
    given, mailbox = persons.normalised(address)
    person = people.lock(tx, person_id)
    if is_guest(person.address):
        raise Forbidden(_("Guests have no address to change."), remedy=_("Join a table with your address first."))
    if person.mailbox == mailbox:
        raise BadInput(_("That's already your address."), remedy=_("Nothing changed."))
    newcomer = persons.find_or_add(tx, server, given)
    now = server.now()
    if people.count_emails_in(tx, person.id, "new_address", limits.last(timedelta(days=1), now)) >= EMAILS_A_DAY:
        raise TooMany(
            _("You've reached today's limit for emails about changing your address."),
            why=_("We send at most %(mails_a_day)s a day.", mails_a_day=EMAILS_A_DAY),
            remedy=_("Use the link in one of them, or try again tomorrow."),
        )
    strangers.count_emails(tx, server, [mailbox], network, by_player=True)
    # The request is as good as this link: when the person's links are revoked, it ends too.
    granted = service_links.read(tx, service_links.make(tx, server, LinkKey(Purpose.STOP, person.id))).nonce
    request = {"here": True, "person": person.id, "address": given, "granted": granted}
    emails = [
        outbox.NewEmail(newcomer.id, EmailKind.NEW_ADDRESS, facts=request),
        outbox.NewEmail(person.id, EmailKind.NEW_ADDRESS, facts={"here": False, "address": person.address}),
    ]
    outbox.queue(tx, emails, now)


def must_be_granted(tx: Tx, person_id: int, granted: int) -> None:
    """Raise Gone if the links of the person who asked were revoked since."""
    link = links.find(tx, LinkKey(Purpose.STOP, person_id))
    if link is None or link.nonce != granted:
        raise Gone(_("This link has been replaced with a new one."), why=_("Its owner got new links."))


def must_be_settled(tx: Tx, server: Server, person_id: int, remedy: str) -> None:
    """Raise Forbidden while a change of address can still be undone by the owner of the old one."""
    since = server.now() - UNDONE_WITHIN
    if any(
        email.queued_at > since and json.loads(email.facts).get("here")
        for email in outbox.later_of_kind(tx, person_id, EmailKind.MOVED, 0)
    ):
        raise Forbidden(
            _("This address was changed less than two weeks ago."),
            why=_("For two weeks, the owner of the old address can undo the change."),
            remedy=remedy,
        )


def change_address(
    tx: Tx, server: Server, person_id: int, address: str, reason: str = "", undoes: int | None = None
) -> tuple[int, int]:
    """Change a person's address. Returns who has the old one now, and how many turns are emailed again.

    `undoes` is the email that warned of a change which this one takes back. An organiser's change, which has a reason, is
    final: no earlier warning takes it back.
    """
    given, mailbox = persons.normalised(address)
    _lock(tx, person_id, mailbox)
    person = people.read(tx, person_id)
    if person.mailbox == mailbox:
        raise Gone(_("That's already their address."), remedy=_("Nothing changed."))
    if is_former(person.address) or is_guest(person.address):
        raise Gone(_("We don't email this address."), why=_("It belongs to a guest or a deleted account."))
    _free_mailbox(tx, server, person_id, mailbox, is_back=undoes is not None)
    now = server.now()
    people.change(tx, person_id, address=given, mailbox=mailbox, confirmed_at=now)
    persons.recognise(tx, person_id, mailbox)
    before = persons.find_or_add(tx, server, person.address).id
    # An organiser who is added later with the old address knows what this player has seen.
    insiders.join(tx, before, person_id)
    reachability.mark_reachable(tx, server, person_id)
    at_old: dict[str, Any] = {"here": False, "reason": reason}
    here: dict[str, Any] = {"here": True, "reason": reason, "channels_off": channels.any_in_use(tx, person_id)}
    if reason or undoes is not None:
        here["undoes"] = undoes or 0
    else:
        at_old |= {"person": person_id, "address": person.address}
    emails = [
        outbox.NewEmail(before, EmailKind.MOVED, facts=at_old),
        outbox.NewEmail(person_id, EmailKind.MOVED, facts=here),
    ]
    outbox.queue(tx, emails, now)
    return before, new_links.replace_all(tx, server, person_id)


def _lock(tx: Tx, person_id: int, mailbox: str) -> None:
    """Lock a person, the holder of a mailbox, the games that ask the person something, and all that the holder takes part in."""
    revocations.begin(tx, Holder(person_id=person_id))
    holder = people.by_mailbox(tx, mailbox)
    both = {person_id} if holder is None else {person_id, holder.id}
    merge.lock_tournaments(tx, both)
    asking = {row.game_id for row in deadlines.of_person(tx, person_id)}
    for each in both - {person_id}:
        merge.lock_games(tx, each, asking)
    new_links.lock_games(tx, person_id)
    merge.lock_people(tx, both)


def _free_mailbox(tx: Tx, server: Server, person_id: int, mailbox: str, *, is_back: bool) -> None:
    """Free a mailbox for its owner, whose is everything that was asked for with it. Raises BadInput if someone plays there.

    Anyone can type an address, so a planned table is nobody's seat. A confirmed address is kept, unless it goes back
    to the person who had it.
    """
    found = people.by_mailbox(tx, mailbox)
    if found is None:
        return
    # Its owner may be confirming it and taking a seat at this moment.
    holder = people.lock(tx, found.id)
    if holder.mailbox != mailbox:
        _free_mailbox(tx, server, person_id, mailbox, is_back=is_back)
        return
    if merge_rows.plays(tx, holder.id) or (holder.confirmed_at is not None and not is_back):
        raise BadInput(
            _("Someone already plays here with this address."),
            remedy=_("If that's you, ask the organiser to merge the two addresses."),
        )
    # Until this lock they may have entered another tournament.
    merge.lock_tournaments(tx, [holder.id])
    merge.move_rows(tx, server, holder.id, person_id)
    if is_back:
        links.revoke_person(tx, server.randomness, holder.id)
    # The row is used for nobody else: its emails name this address.
    personal_data.forget(tx, holder, server.zone)
