"""Replies that may not be by the player: what they say, and the player's word on whose they are.

A reply waits here when its sender could be anybody. The mail to the address on file has a link of its own, whose page says
what was written and in answer to which turn; the button there carries out exactly that, as if the reply had been believed
at once. Somebody who has not written it says so, or does nothing: after a few weeks it is gone.
"""

import json
from dataclasses import dataclass

from pbem.domain.errors import Gone
from pbem.links import Purpose
from pbem.mail.incoming import read
from pbem.mail.reply import reply_of
from pbem.service import incoming, links, replies
from pbem.service.house import House
from pbem.service.links import Link
from pbem.store import games, outbox
from pbem.store import incoming as rows
from pbem.store.database import Tx
from pbem.store.incoming import ReceivedRow

NOT_THEIRS = "not by the player"


@dataclass(frozen=True, slots=True)
class Doubted:
    """What somebody wrote in a player's name: at which table, for which turn, line by line.

    It is `waiting` for the player's word. Otherwise `carried_out` says whether they said that it was theirs.
    """

    title: str
    turn: int
    lines: tuple[str, ...]
    waiting: bool
    carried_out: bool


def at(house: House, token: str) -> Doubted:
    """What the link of a mail that asks is about."""
    with house.store.read() as tx:
        row, answered = _opened(tx, house, token)
        assert answered.game_id is not None
        assert answered.window is not None
        title = games.read(tx, answered.game_id).title
    waiting, carried_out = row.status == "doubted", row.status == "done" and row.outcome != NOT_THEIRS
    lines = reply_of(read(row.raw)).lines if waiting and row.raw is not None else ()
    return Doubted(title, answered.window, lines, waiting, carried_out)


def it_was_me(house: House, token: str) -> None:
    """Carry out what was written; again changes nothing."""
    with house.store.read() as tx:
        row, answered = _opened(tx, house, token)
    if row.status != "doubted":
        return
    assert row.raw is not None, "kept as long as it is doubted"
    outcome = replies.act(house, row.id, answered, reply_of(read(row.raw)))
    house.write(lambda tx: incoming.carried_out_in(tx, house, row.id, answered, outcome))


def it_was_not_me(house: House, token: str) -> None:
    """Drop what was written, unless it was carried out."""
    house.write(lambda tx: _drop(tx, house, token))


def _drop(tx: Tx, house: House, token: str) -> None:
    row, _ = _opened(tx, house, token)
    kept = rows.lock(tx, row.id)
    if kept is not None and kept.status == "doubted":
        incoming.finish_in(tx, house, row.id, NOT_THEIRS)


def _opened(tx: Tx, house: House, token: str) -> tuple[ReceivedRow, Link]:
    """The reply that a mail asks about, and the link of the address that it came to."""
    link = links.open_in(tx, house, token, Purpose.WRITTEN)
    assert link.outbox_id is not None
    asking = outbox.read(tx, link.outbox_id)
    assert asking is not None, "mails are never deleted"
    row = rows.read(tx, json.loads(asking.facts)["received"])
    if row is None:
        raise Gone("This was too long ago.", why="What somebody writes is kept for a month at most.")
    return row, links.read_in(tx, row.link_id)
