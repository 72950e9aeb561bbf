"""Replies that may not be by the player: what they say, and the player's word on whose they are.

A reply waits here when its sender could be anybody. The mail to the address on file has a link of its own, whose page says
what was written in answer to which turn; the button there carries out exactly that, as if the reply had been believed at
once. Whoever has written it may have written more than once before they look, so the page shows all that waits for the
same turn, with a button for each. Somebody who has not written it says so, or does nothing: after a month it is gone.
"""

import json
from dataclasses import dataclass
from typing import Final

from pbem.domain.errors import Gone, NotFound
from pbem.i18n.speech import gettext as _
from pbem.mail.read.inbound import parse
from pbem.mail.read.reply import parse_reply
from pbem.service import links
from pbem.service.incoming import receive, replies
from pbem.service.links import Link
from pbem.service.server import Server
from pbem.store import games, outbox
from pbem.store import received as rows
from pbem.store.database import Tx
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose

MOST_SHOWN: Final = 10
"""The newest replies to one mail; nobody writes more before they look at what came of the first."""

NOT_THEIRS: Final = "not by the player"


@dataclass(frozen=True, slots=True)
class Unsure:
    """A reply that waits for the player's word, line by line."""

    number: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Doubted:
    """What somebody wrote in a player's name: at which table, for which turn, the oldest first.

    `carried_out` says, where nothing waits any more, whether the player said that the last was theirs.
    """

    title: str
    turn: int
    waiting: tuple[Unsure, ...]
    carried_out: bool


def at(tx: Tx, server: Server, token: str) -> Doubted:
    """What the link of a mail that asks is about."""
    answered = _answered(tx, server, token)
    assert answered.game_id is not None
    assert answered.turn is not None
    title = games.read(tx, answered.game_id).title
    known = rows.of_link(tx, answered.id, MOST_SHOWN)
    waiting = (row for row in reversed(known) if row.status == "doubted" and row.raw is not None)
    decided = next((row for row in known if row.status == "done"), None)
    return Doubted(
        title,
        answered.turn,
        tuple(Unsure(row.id, parse_reply(parse(row.raw or b"")).lines) for row in waiting),
        carried_out=decided is not None and decided.outcome != NOT_THEIRS,
    )


def it_was_me(server: Server, token: str, number: int) -> None:
    """Carry out one reply that waits; again changes nothing."""
    with server.store.read() as tx:
        answered = _answered(tx, server, token)
        row = _reply(tx, answered, number)
    if row.status != "doubted":
        return
    assert row.raw is not None, "kept as long as it is doubted"
    outcome = server.run(replies.act, row.id, answered, parse_reply(parse(row.raw)))
    if outcome is not None:
        server.run(_carried_out, row.id, answered, outcome)


def it_was_not_me(tx: Tx, server: Server, token: str, number: int) -> None:
    """Drop one reply that waits."""
    row = _reply(tx, _answered(tx, server, token), number)
    if _still_waits(tx, row.id):
        receive.finish(tx, server, row.id, NOT_THEIRS)


def _carried_out(tx: Tx, server: Server, received_id: int, answered: Link, outcome: str) -> None:
    # Two presses at once carry out the same reply, and the second of them finds everything done: it is one mail.
    if _still_waits(tx, received_id):
        receive.note_carried_out(tx, server, received_id, answered, outcome)


def _still_waits(tx: Tx, received_id: int) -> bool:
    """Whether nobody has said yet whose a reply is; nobody else can, while this transaction lasts."""
    kept = rows.lock(tx, received_id)
    return kept is not None and kept.status == "doubted"


def _answered(tx: Tx, server: Server, token: str) -> Link:
    """What the address stands for to which the reply came that a mail asks about."""
    link = links.follow(tx, server, token, Purpose.WRITTEN)
    assert link.outbox_id is not None
    asking = outbox.read(tx, link.outbox_id)
    assert asking is not None, "mails are never deleted"
    row = rows.read(tx, json.loads(asking.facts)["received"])
    if row is None:
        raise Gone(_("This was too long ago."), why=_("What somebody writes is kept for a month at most."))
    return links.read(tx, row.link_id)


def _reply(tx: Tx, answered: Link, number: int) -> ReceivedRow:
    row = rows.read(tx, number)
    if row is None or row.link_id != answered.id:
        raise NotFound(_("There is no such reply here."))
    return row
