"""“This wasn't me”: the link of every email that warns of a stranger, which puts things back as they were.

It always ends everything outstanding. If the address was changed since, it is again the one that the warning was sent to,
whatever a stranger has done with that address, unless someone else plays with it by now. So taking an account over lasts
only until its owner reads a warning. A link that was itself made by the stranger does nothing
any more once an earlier warning, or an organiser, has put the address right.
"""

import json
from typing import Any, Final

from pbem.domain.duration import HOUR
from pbem.domain.errors import Forbidden, Gone, Refusal
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.account import change_address
from pbem.service.outgoing import new_links
from pbem.service.people.addresses import normalised
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.tokens import Purpose

_NEVER: Final = 2**62


def check(tx: Tx, server: Server, token: str) -> None:
    """Raise NotFound or Gone unless the link still works."""
    _open(tx, server, token)


def disown(tx: Tx, server: Server, token: str) -> Refusal | None:
    """End everything of the person who was warned, restore their address, and email them fresh links.

    Everything ends even where someone plays with that address now. Then it stays theirs, nobody is emailed, and the refusal
    to show is returned. A link does this once an hour, so that nobody who got hold of it can end the fresh ones as well; what
    happens in that hour brings a warning of its own.
    """
    email_id, person_id, facts = _open(tx, server, token)
    address = facts.get("address")
    if address is not None and people.read(tx, person_id).mailbox != normalised(address)[1]:
        try:
            # A refusal may undo nothing but the change of address.
            with tx.begin_nested():
                change_address.change_address(tx, server, person_id, address, undoes=email_id)
        except Refusal:
            new_links.end_all(tx, server, person_id)
            return Forbidden(
                _("Someone plays here with your old address, so we couldn't restore it."),
                why=_(
                    "All links, sign-ins, tokens and requests are cancelled, but emails still go to the other address."
                ),
                remedy=_("Contact the organiser now to get your account back."),
            )
    elif _has_just_sent(tx, server, email_id, person_id):
        return None
    new_links.send(tx, server, person_id, warned=email_id)
    return None


def _has_just_sent(tx: Tx, server: Server, email_id: int, person_id: int) -> bool:
    """Whether the link of this email has sent fresh links in the last hour."""
    now, later = server.now(), outbox.later_of_kind(tx, person_id, EmailKind.LINKS, email_id)
    # A moment to come is that of a clock which has been set back.
    sent = [row.queued_at for row in later if json.loads(row.facts).get("warned") == email_id]
    return any(now - HOUR < moment <= now for moment in sent)


def _open(tx: Tx, server: Server, token: str) -> tuple[int, int, dict[str, Any]]:
    """The email of a link, the person it warned, and its facts."""
    link = links.follow_email(tx, server, token, Purpose.DISOWN)
    email = outbox.read(tx, link.email_id)
    assert email is not None, "its link is made with it"
    facts: dict[str, Any] = json.loads(email.facts)
    person_id: int = facts.get("person", link.person_id)
    if email.kind == EmailKind.MOVED and "person" not in facts:
        raise _no_use()
    later = [json.loads(row.facts) for row in outbox.later_of_kind(tx, person_id, EmailKind.MOVED, email.id)]
    if any(moved.get("undoes", _NEVER) < email.id for moved in later):
        raise _no_use()
    return email.id, person_id, facts


def _no_use() -> Gone:
    return Gone(_("This link no longer works."), why=_("The address was corrected after that email."))
