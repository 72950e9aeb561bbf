"""Replies that nothing can come of: they can't be read, too many came, or their reader has lost the seat or the address.

Their writers hear so, because they may think that they have answered.

Whether such a reply is from its player is mostly not known, so the email says neither that it is nor what was written. It is queued
as every answer is, at most once a day for a turn or an offered seat.
"""

from typing import Final

from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.mail.read.reply import Reply
from pbem.service.incoming import answers
from pbem.service.incoming.invitations import Effect, offer_facts
from pbem.service.incoming.reply_lines import LONGEST_SHOWN
from pbem.service.links import EmailLink, MoveLink, ReplyLink
from pbem.service.server import Server
from pbem.store import outbox, players
from pbem.store.database import Tx
from pbem.store.outbox import NewEmail

OF_LOST_SEAT: Final = "of a lost seat"
TO_SOMEONE_GONE: Final = "to someone who is gone"
"""The outcomes of replies that nothing can come of, although they can be read."""

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

_NOTHING_DONE: Final = {"quoted": "", "prose": [], "subject": "", "answers": ""}
_NOTHING_OFFERED: Final = _NOTHING_DONE | {
    "effect": Effect.NOTHING,
    "substitute": False,
    "tournament": None,
    "group": "",
}


def tell_player(tx: Tx, server: Server, link: ReplyLink, *, too_many: bool = False) -> None:
    """Queue an email which says that a reply to an address of a player could not be read, or came after too many."""
    if isinstance(link, EmailLink):
        why = (
            _(
                "Too many replies came within an hour. Nothing changed. Open a link in the email, or reply again in an hour."
            )
            if too_many
            else _("It couldn't be read. Nothing changed. Reply again, or open a link in the email.")
        )
        offer = outbox.read(tx, link.email_id)
        assert offer is not None, "emails are never deleted"
        facts = _NOTHING_DONE | {"effect": Effect.REFUSED, "text": why} | offer_facts(offer)
        email = NewEmail(link.person_id, EmailKind.INVITATION_RECEIPT, link.game_id, facts=facts)
    elif plays(tx, link):
        facts = _NOTHING_READ | {"turn": link.turn, "too_many": too_many}
        email = NewEmail(link.person_id, EmailKind.RECEIPT, link.game_id, None, link.seat, link.turn, facts)
    else:
        tell_former_player(tx, server, link)
        return
    answers.queue(tx, server, email, answers.UNREAD)


def tell_former_player(tx: Tx, server: Server, link: MoveLink) -> None:
    """Queue an email which says that nothing came of a reply, because someone else plays the seat now."""
    why = _("Someone else plays this seat now. Nothing changed.")
    email = NewEmail(link.person_id, EmailKind.INVITATION_RECEIPT, link.game_id, facts=_NOTHING_OFFERED | {"text": why})
    answers.queue(tx, server, email, answers.UNREAD)


def tell_owner(tx: Tx, server: Server, person_id: int, reply: Reply) -> None:
    """Queue an email which says that a reply answered an invitation from before its writer's address became theirs here."""
    why = _(
        "It answers an email from before this address was yours. Nothing changed. Invitations to it are yours now, on your page."
    )
    facts = _NOTHING_OFFERED | {"text": why, "subject": reply.subject[:LONGEST_SHOWN], "answers": reply.message_id}
    answers.queue(tx, server, NewEmail(person_id, EmailKind.INVITATION_RECEIPT, facts=facts), answers.UNREAD)


def plays(tx: Tx, link: MoveLink) -> bool:
    """Whether the person of a link still plays its seat."""
    return any((each.seat, each.person_id) == (link.seat, link.person_id) for each in players.of_game(tx, link.game_id))
