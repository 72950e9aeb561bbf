"""Replies that may not be by their player: what they say, and the player's answer to the question whose they are.

Such a reply waits. The email to the address on file has a link to a page with its lines and two buttons: one carries them
out as if the reply had just come, one drops it. If several replies wait for the same turn, the page shows all of them, each
with its own buttons. A reply that nobody decides about is deleted after a month.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.errors import Gone, NotFound
from pbem.domain.states import ReceivedStatus
from pbem.i18n.speech import gettext as _
from pbem.mail.read.inbound import parse
from pbem.mail.read.reply import Reply, parse_reply
from pbem.service import links
from pbem.service.incoming import invitations, processing, unread_replies
from pbem.service.incoming.unread_replies import OF_LOST_SEAT
from pbem.service.links import MoveLink
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import games, outbox, people, received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkRow
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose

MOST_SHOWN: Final = 10
"""The newest replies to one email that a page shows; a person stops writing before that."""

NOT_THEIRS: Final = "not by the player"


@dataclass(frozen=True, slots=True)
class UnverifiedReply:
    """A reply that waits for the player's decision, line by line."""

    number: int
    received_at: datetime
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnverifiedReplies:
    """What came in a player's name for one turn of a table, or an offered seat if there is no turn; the oldest first.

    `confirmed` tells, if nothing waits any more, whether the player said that the last reply was theirs, and `seat_lost` that
    nothing came of it, because someone else plays the seat by now.
    """

    title: str
    turn: int | None
    waiting: tuple[UnverifiedReply, ...]
    confirmed: bool
    seat_lost: bool


def read(server: Server, token: str) -> UnverifiedReplies:
    """The replies that the link of a question is about, as they were read when they came."""
    with server.store.read() as tx:
        link_row = _reply_link(tx, server, token)
        link = links.reply_link(link_row)
        if isinstance(link, MoveLink):
            title = games.read(tx, link.game_id).title
        else:
            title = invitations.title_of_offer(tx, link)
        received = rows.of_link(tx, link_row.id, MOST_SHOWN)
    waiting = (row for row in reversed(received) if row.status == ReceivedStatus.DOUBTED and row.raw is not None)
    decided = next((row for row in received if row.status == ReceivedStatus.DONE), None)
    return UnverifiedReplies(
        title,
        link_row.turn,
        tuple(UnverifiedReply(row.id, row.received_at, _as_read(row).lines) for row in waiting),
        confirmed=decided is not None and decided.outcome not in (NOT_THEIRS, OF_LOST_SEAT),
        seat_lost=decided is not None and decided.outcome == OF_LOST_SEAT,
    )


def confirm(server: Server, token: str, number: int) -> None:
    """Carry out a reply that waits; doing it again changes nothing."""
    with server.store.read() as tx:
        link_row = _reply_link(tx, server, token)
        row = _reply(tx, link_row, number)
    if row.status != ReceivedStatus.DOUBTED:
        return
    server.run(_carry_out, token, row.id, _as_read(row))


def reject(tx: Tx, server: Server, token: str, number: int) -> None:
    """Drop a reply that waits."""
    row = _reply(tx, _reply_link(tx, server, token), number)
    if _still_waits(tx, row.id):
        processing.finish(tx, server, row.id, NOT_THEIRS)


def _carry_out(tx: Tx, server: Server, token: str, received_id: int, reply: Reply) -> None:
    link = links.reply_link(_reply_link(tx, server, token))
    if isinstance(link, MoveLink) and not unread_replies.plays(tx, link):
        # A receipt speaks to the seat's player, so it would never be sent.
        if _still_waits(tx, received_id):
            unread_replies.tell_former_player(tx, server, link)
            processing.finish(tx, server, received_id, OF_LOST_SEAT)
        return
    outcome = processing.carry_out(tx, server, received_id, link, reply)
    # If the button is pressed twice at once, the second press finds everything done and must not count it again.
    if outcome is not None and _still_waits(tx, received_id):
        processing.finish_reply(tx, server, received_id, link.person_id, outcome)


def _still_waits(tx: Tx, received_id: int) -> bool:
    """Whether a reply still waits for a decision; locks it."""
    row = rows.lock(tx, received_id)
    return row is not None and row.status == ReceivedStatus.DOUBTED


def _reply_link(tx: Tx, server: Server, token: str) -> LinkRow:
    """The link of the address that the reply in question came to."""
    link = links.follow_email(tx, server, token, Purpose.WRITTEN)
    addresses.must_be_here(people.read(tx, link.person_id))
    question = outbox.read(tx, link.email_id)
    assert question is not None, "emails are never deleted"
    row = rows.read(tx, json.loads(question.facts)["received"])
    if row is None:
        raise Gone(_("This was too long ago."), why=_("Unconfirmed replies are kept for up to a month."))
    return links.read(tx, row.link_id)


def _as_read(row: ReceivedRow) -> Reply:
    """A reply that waits, as it was read."""
    assert row.raw is not None, "stored until it is decided"
    if not row.raw.startswith(b"{"):
        # Earlier releases kept the email.
        return parse_reply(parse(row.raw))
    reply = json.loads(row.raw)
    return Reply(**reply | {"lines": tuple(reply["lines"])})


def _reply(tx: Tx, link: LinkRow, number: int) -> ReceivedRow:
    row = rows.read(tx, number)
    if row is None or row.link_id != link.id:
        raise NotFound(_("There is no such reply here."))
    return row
