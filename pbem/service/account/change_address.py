"""Another address for a person: asked for on one's own page and said yes to at the new one, or changed by an organiser.

Both addresses are told, when it is asked for and when it is done: whoever reads the old one must hear of it, if it was not
they. The old address is nobody's afterwards. Links in older mails die, because others may read them by now, and every
browser is signed out; what is asked just now is mailed to the new address.
"""

from datetime import timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.domain.guests import is_guest
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.outgoing.prepare import ASKED_FOR
from pbem.service.people import addresses as persons
from pbem.service.people import sessions
from pbem.service.server import Server
from pbem.store import deadlines, games, merge, outbox, people
from pbem.store.database import Tx
from pbem.store.sessions import Holder

MAILS_A_DAY: Final = 5
"""So many mails about a change an address gets in a day, and as often one person asks for one."""


def ask(tx: Tx, server: Server, person_id: int, address: str) -> None:
    """Ask for a change: a mail to the new address asks for its yes, and one to the old address tells of it.

    Nothing says whether the new one is known here; who reads it is told.
    """
    given, mailbox = persons.normalised(address)
    person = people.lock(tx, person_id)
    if is_guest(person.address):
        raise Forbidden(_("A guest has no address to change."), remedy=_("Please join a table with yours."))
    if person.mailbox == mailbox:
        raise BadInput(_("This is your address already."), remedy=_("Nothing was changed."))
    newcomer = persons.find_or_add(tx, server, given)
    now = server.now()
    for each in (person.id, newcomer.id):
        if people.letters_since(tx, each, "new_address", now - timedelta(days=1)) >= MAILS_A_DAY:
            raise TooMany(
                _("As many mails about a change of address were sent as we send in a day."),
                why=_("%(mails_a_day)s are the most, to one address and from one person.", mails_a_day=MAILS_A_DAY),
                remedy=_("Please use the link in one of them, or try again tomorrow."),
            )
    asking = {"here": True, "person": person.id, "address": given}
    emails = [
        outbox.NewEmail(newcomer.id, "new_address", facts=asking),
        outbox.NewEmail(person.id, "new_address", facts={"here": False}),
    ]
    outbox.queue(tx, emails, now, now)


def change_address(tx: Tx, server: Server, person_id: int, address: str, reason: str = "") -> tuple[int, int]:
    """Change a person's address: the number under which the old one is known now, and how many turns are mailed again.

    `reason` is what an organiser says about it.
    """
    given, mailbox = persons.normalised(address)
    asked = deadlines.of_person(tx, person_id)
    # Games before people, as everywhere, so that nobody waits for us while we wait for them.
    locked = {number: games.lock(tx, number) for number in sorted({row.game_id for row in asked})}
    person = people.lock(tx, person_id)
    if person.mailbox == mailbox:
        raise Gone(_("This is their address already."), remedy=_("Nothing was changed."))
    if is_former(person.address) or is_guest(person.address):
        raise Gone(_("Nobody is mailed there."), why=_("This is a guest, or somebody who has left for good."))
    nobody = _nobody_at(tx, mailbox)
    now = server.now()
    people.change(tx, person_id, address=given, mailbox=mailbox, confirmed_at=now)
    if nobody is not None:
        people.change(tx, nobody, address=person.address, mailbox=person.mailbox, name="")
    before = persons.find_or_add(tx, server, person.address).id
    links.revoke_person(tx, person_id)
    sessions.end_all(tx, server, Holder(person_id=person_id))
    reachability.mark_reachable(tx, server, person_id)
    outbox.unwrite_to(tx, person_id)
    emails = [
        outbox.NewEmail(number, "moved", facts={"here": here, "reason": reason})
        for number, here in ((before, False), (person_id, True))
    ]
    on_their_way = {
        (email.game_id, email.turn, email.seat) for email in outbox.of_kind(tx, person_id, "turn", "queued")
    }
    current = [row for row in asked if row.turn == locked[row.game_id].turn]
    again = [row for row in current if (row.game_id, row.turn, row.seat) not in on_their_way]
    emails += [
        outbox.NewEmail(person_id, "turn", row.game_id, None, row.seat, row.turn, {ASKED_FOR: True}) for row in again
    ]
    outbox.queue(tx, emails, now, now)
    return before, len(again)


def _nobody_at(tx: Tx, mailbox: str) -> int | None:
    """The number of whoever has this address and nothing else, moved out of the way; refused if there is more to them."""
    known = people.by_mailbox(tx, mailbox)
    if known is None:
        return None
    if known.confirmed_at is not None or merge.tables_of(tx, known.id):
        raise BadInput(
            _("With this address somebody plays here already."),
            remedy=_("Nothing was changed; if both are one person, the organiser can make them one."),
        )
    # For a moment both have none: no two people ever have the same one.
    people.change(tx, known.id, address="", mailbox=f"moving {known.key}")
    return known.id
