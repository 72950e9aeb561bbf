"""Replies to an offer: an invitation to a table, a group or a tournament is accepted or declined, a free seat in a running game
taken over.

Such a reply is one transaction with its receipt, so it is carried out once. Whether it is from the person invited was
decided before, as for every reply. It then proves as much as a click on the link of the same email: the address for replies
was sent to nobody else. So accepting confirms the address, as the click does.

A reply that says both yes and no does nothing. This module must never tell the host an address.
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from pbem.domain import invitation_replies
from pbem.domain.errors import BadInput, Refusal
from pbem.domain.invitation_replies import Answer, Command
from pbem.domain.states import EmailKind, EntrantStatus, ReceivedStatus
from pbem.i18n.speech import gettext as _
from pbem.mail.read.reply import Reply
from pbem.service.absence import substitutes
from pbem.service.incoming import answers
from pbem.service.incoming.reply_lines import LONGEST_SHOWN, MOST_SHOWN, Outcome, summary
from pbem.service.links import EmailLink
from pbem.service.server import Server
from pbem.service.tables import groups, invitations, joining
from pbem.service.tournaments import sign_up
from pbem.store import games, outbox, people, players as player_rows, received as rows, tournaments
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow, NewEmail

_NAMELESS: Final = "Player"
"""The name at the table of a person who has never given one."""


class Effect(StrEnum):
    """What a reply led to; the receipt has a sentence for each."""

    JOINED = "joined"
    BEGUN = "begun"
    TAKEN = "taken"
    RESERVED = "reserved"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    NOT_TAKEN = "not_taken"
    SIGNED_UP = "signed_up"
    WAITING = "waiting"
    NOT_SIGNED_UP = "not_signed_up"
    SHOWN = "shown"
    MEMBER = "member"
    NOT_MEMBER = "not_member"
    REFUSED = "refused"
    NOTHING = "nothing"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class _Result:
    """What a reply led to: the line that did it, and the name at the table or the reason of a refusal."""

    effect: Effect
    quoted: str = ""
    text: str = ""


def carry_out(tx: Tx, server: Server, received_id: int, link: EmailLink, reply: Reply) -> str | None:
    """Carry out a stored reply and queue its receipt; returns the outcome in a few words. Doing it again changes nothing.

    Returns None if the reply is done already, because its writer rejected it or was deleted.
    """
    row = rows.lock(tx, received_id)
    assert row is not None, "an email is stored until it is processed"
    if done := json.loads(row.acts):
        return _summary(Effect(done[0]["effect"]))
    if row.status == ReceivedStatus.DONE:
        return None
    offer = _offer(tx, link)
    result = _answer(tx, server, offer, reply)
    _queue_receipt(tx, server, offer, reply, result)
    rows.change(tx, received_id, acts=json.dumps([asdict(result)]))
    return _summary(result.effect)


def _answer(tx: Tx, server: Server, offer: EmailRow, reply: Reply) -> _Result:
    """Do what a reply says, if it says one thing."""
    commands = [command for line in reply.lines if (command := invitation_replies.read(line)) is not None]
    answers = [command for command in commands if command.answer is not Answer.HELP]
    if not answers:
        return _Result(Effect.SHOWN, commands[0].text) if commands else _Result(Effect.NONE)
    # The name may be said on a line of its own: `yes`, and then `accept as Ann`.
    command = next((command for command in answers if command.name), answers[0])
    quoted = command.text[:LONGEST_SHOWN]
    try:
        if len({command.answer for command in answers}) > 1:
            raise BadInput(_("You wrote both yes and no."), remedy=_("Nothing changed. Reply with one of them."))
        if command.is_copied:
            raise BadInput(_("You wrote no name."), remedy=_("Nothing changed. Write your own name after “accept as”."))
        effect, text = _do(tx, server, offer, command)
    except Refusal as refusal:
        return _Result(Effect.REFUSED, quoted, str(refusal))
    return _Result(effect, quoted, text)


def _do(tx: Tx, server: Server, offer: EmailRow, command: Command) -> tuple[Effect, str]:
    """Accept or decline; returns the effect, and the name at the table, of the group or in the tournament."""
    if offer.kind == EmailKind.GROUP_INVITATION:
        return _do_in_group(tx, server, offer, command)
    accepts, person_id = command.answer is Answer.ACCEPT, offer.person_id
    if offer.kind == EmailKind.SIGN_UP:
        return _sign_up(tx, server, json.loads(offer.facts)["tournament"], person_id, command)
    assert offer.game_id is not None
    if offer.kind == EmailKind.SUBSTITUTE:
        offer_id = json.loads(offer.facts)["offer"]
        if not accepts:
            withdrawn = substitutes.withdraw(tx, server, offer_id, person_id)
            return Effect.WITHDRAWN if withdrawn else Effect.NOT_TAKEN, ""
        name = _name(tx, person_id, command)
        if not substitutes.take(tx, server, offer_id, person_id, name):
            return Effect.RESERVED, ""
        return Effect.TAKEN, _name_at_table(tx, offer)
    if not accepts:
        invitations.decline(tx, server, offer.game_id, person_id)
        return Effect.DECLINED, ""
    joined = joining.confirm_and_join(tx, server, offer.game_id, person_id, name=_name(tx, person_id, command))
    if isinstance(joined, Refusal):
        raise joined
    return Effect.BEGUN if joined.begun else Effect.JOINED, _name_at_table(tx, offer)


def _do_in_group(tx: Tx, server: Server, offer: EmailRow, command: Command) -> tuple[Effect, str]:
    group_id = json.loads(offer.facts)["group"]
    if command.answer is Answer.ACCEPT:
        return Effect.MEMBER, groups.accept(tx, server, group_id, offer.person_id, command.name)
    return Effect.NOT_MEMBER, groups.decline(tx, server, group_id, offer.person_id)


def _sign_up(tx: Tx, server: Server, tournament_id: int, person_id: int, command: Command) -> tuple[Effect, str]:
    if command.answer is Answer.DECLINE:
        sign_up.decline(tx, server, tournament_id, person_id)
        return Effect.NOT_SIGNED_UP, ""
    entrant = sign_up.sign_up(tx, server, tournament_id, person_id, _name(tx, person_id, command))
    if isinstance(entrant, Refusal):
        raise entrant
    return Effect.WAITING if entrant.status == EntrantStatus.WAITING else Effect.SIGNED_UP, entrant.name


def _name(tx: Tx, person_id: int, command: Command) -> str:
    """The name that a person wants at the table; their address would tell too much."""
    return command.name or people.read(tx, person_id).name or _NAMELESS


def _name_at_table(tx: Tx, offer: EmailRow) -> str:
    assert offer.game_id is not None
    players = player_rows.of_game(tx, offer.game_id)
    return next(player.name for player in players if player.person_id == offer.person_id)


def _queue_receipt(tx: Tx, server: Server, offer: EmailRow, reply: Reply, result: _Result) -> None:
    prose = [line[:LONGEST_SHOWN] for line in reply.lines[:MOST_SHOWN]] if result.effect is Effect.NONE else []
    facts = asdict(result) | offer_facts(offer)
    facts |= {"subject": reply.subject[:LONGEST_SHOWN], "answers": reply.message_id, "prose": prose}
    error = {Effect.REFUSED: result.text, Effect.NONE: answers.NO_COMMAND}.get(result.effect, "")
    email = NewEmail(offer.person_id, EmailKind.INVITATION_RECEIPT, offer.game_id, facts=facts)
    answers.queue(tx, server, email, error)


def facts_of_offer(tx: Tx, link: EmailLink) -> dict[str, object]:
    """What an email says of the offer to which a reply came."""
    return offer_facts(_offer(tx, link))


def title_of_offer(tx: Tx, link: EmailLink) -> str:
    """What was offered: the title of the table, or the name of the tournament or group."""
    if link.game_id is not None:
        return games.read(tx, link.game_id).title
    facts = json.loads(_offer(tx, link).facts)
    name: str = tournaments.read(tx, facts["tournament"]).name if "tournament" in facts else facts["name"]
    return name


def _offer(tx: Tx, link: EmailLink) -> EmailRow:
    offer = outbox.read(tx, link.email_id)
    assert offer is not None, "emails are never deleted"
    return offer


def offer_facts(offer: EmailRow) -> dict[str, object]:
    """What a receipt says of the offer that was answered: its email, and what it offered."""
    about = json.loads(offer.facts)
    return {
        "offered_in": offer.id,
        "substitute": offer.kind == EmailKind.SUBSTITUTE,
        "tournament": about.get("tournament"),
        "group": about["name"] if offer.kind == EmailKind.GROUP_INVITATION else "",
    }


def _summary(effect: Effect) -> str:
    if effect is Effect.NONE:
        return summary([])
    return summary([Outcome.REFUSED if effect is Effect.REFUSED else Outcome.APPLIED])
