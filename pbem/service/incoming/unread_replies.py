"""Replies that could not be read: their players hear so, because they may think that they have answered.

Whether such a reply is from its player is not known, so the email says neither that it is nor what was written. It is queued
as every answer is, at most once a day for a turn or an offered seat. This module must never read the text of a reply.
"""

from typing import Final

from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service.incoming import answers
from pbem.service.incoming.invitations import Effect, offer_facts
from pbem.service.links import EmailLink, MoveLink
from pbem.service.server import Server
from pbem.store import outbox
from pbem.store.database import Tx
from pbem.store.outbox import NewEmail

_NOTHING_READ: Final = {
    "unread": True,
    "subject": "",
    "answers": "",
    "quoted": None,
    "lines": [],
    "prose": [],
    "nothing": None,
    "nothing_changed": True,
    "late": False,
    "board": True,
    "help": False,
    "rules": False,
    "proof": None,
}


def tell_player(tx: Tx, server: Server, link: MoveLink | EmailLink) -> None:
    """Queue an email which says that a reply to an address of a player could not be read."""
    if isinstance(link, MoveLink):
        facts = _NOTHING_READ | {"turn": link.turn}
        email = NewEmail(link.person_id, EmailKind.RECEIPT, link.game_id, None, link.seat, link.turn, facts)
    else:
        why = _("It couldn't be read. Nothing changed. Reply again, or open a link in the email.")
        offer = outbox.read(tx, link.email_id)
        assert offer is not None, "emails are never deleted"
        says = {"effect": Effect.REFUSED, "text": why, "quoted": "", "prose": [], "subject": "", "answers": ""}
        about = offer_facts(offer)
        email = NewEmail(link.person_id, EmailKind.INVITATION_RECEIPT, link.game_id, facts=says | about)
    answers.queue(tx, server, email, answers.UNREAD)
