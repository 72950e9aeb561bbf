"""Links: what a token opens, and making its row when a mail with it is written.

A token is taken apart (which costs nothing, and refuses most of what is no token of ours), then its row is read, then
the token is compared in constant time with the one that the row has now. Purposes never cross: a link that shows one
choice opens no seat. Whether a game has moved on since is not said here: an old link is still a good link, and leads to
a page that explains.

This module must never store or log a token, and opening one changes nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.errors import Gone, NotFound
from pbem.i18n.speech import gettext as _
from pbem.service.server import Server
from pbem.store import games, ledger, links, outbox
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey, LinkRow
from pbem.store.players import SeatRow
from pbem.tokens import Purpose, row_of

Link = LinkRow
"""What a token stands for: purpose, person, game, turn, seat."""

# What mail programs leave at the end of an address when they guess where it stops.
_AROUND: Final = " \t\r\n.,;:!?'\"<>()[]{}*_"

_GENERATIONS_KNOWN: Final = 8
"""So many renewals back a link is told from one that never was."""


@dataclass(frozen=True, slots=True)
class SeatLinks:
    """The rows of the links of one seat in one turn."""

    move: int
    seat: int
    reply: int


def follow(tx: Tx, server: Server, token: str, purpose: Purpose) -> Link:
    """What a token is for."""
    token = token.strip(_AROUND)
    row = row_of(token)
    return _genuine(server, token, row, purpose, links.read(tx, row))


def open_with_game(tx: Tx, server: Server, token: str, purpose: Purpose) -> tuple[Link, GameRow]:
    """What the token of a seat is for, and its game."""
    token = token.strip(_AROUND)
    row = row_of(token)
    link, game = games.read_by_link(tx, row) or (None, None)
    genuine = _genuine(server, token, row, purpose, link)
    assert game is not None, "it came with the link"
    return genuine, game


def open_to_act(tx: Tx, server: Server, token: str, purpose: Purpose) -> tuple[Link, GameRow, SeatRow]:
    """What the token of a seat is for, its game, which nobody else can change in this transaction, and who plays the seat."""
    token = token.strip(_AROUND)
    row = row_of(token)
    found = games.lock_by_link(tx, row)
    genuine = _genuine(server, token, row, purpose, None if found is None else found[0])
    assert found is not None, "or the link would not be genuine"
    return genuine, *found[1:]


def read(tx: Tx, link_id: int) -> Link:
    """What the link of this number is for."""
    link = links.read(tx, link_id)
    assert link is not None, "links are never deleted"
    return link


def make(tx: Tx, server: Server, meant: LinkKey, expires_at: datetime | None = None) -> int:
    """The number of the link with this meaning, made if it is not there.

    The transaction holds the lock of the game, or of the person where there is no game, so that nobody else makes the
    same one.
    """
    return links.make_all(tx, {meant: expires_at}, server.now())[meant]


def make_for_seat(tx: Tx, server: Server, person_id: int, game_id: int, turn: int, seat: int) -> SeatLinks:
    """The links of a seat in a turn. The game is locked."""
    meanings = links.of_seat(person_id, game_id, turn, seat)
    made = links.make_all(tx, dict.fromkeys(meanings.values()), server.now())
    return SeatLinks(made[meanings[Purpose.MOVE]], made[meanings[Purpose.SEAT]], made[meanings[Purpose.REPLY]])


def revoke_seat(tx: Tx, game_id: int, seat: int) -> None:
    """Make all links of a seat worthless, because they were shown to others or somebody else sits there now."""
    links.raise_seat(tx, game_id, seat)


def revoke_person(tx: Tx, person_id: int) -> None:
    """Make all links of a person worthless, at all tables."""
    links.raise_person(tx, person_id)


def renew(tx: Tx, server: Server, game_id: int, seat: int) -> None:
    """Make all links of a seat worthless at its player's wish; the next mail, or one sent again, has new ones."""
    revoke_seat(tx, game_id, seat)


def token(server: Server, link: Link) -> str:
    """The token that a link has now: for showing it to whoever has opened it, never for keeping."""
    return server.keys.make(Purpose(link.purpose), link.id, link.generation)


def _genuine(server: Server, token: str, row: int, purpose: Purpose, link: Link | None) -> Link:
    """The link, if the token is the one that it has now; `link` is None where there is no such row."""
    # The MAC is worked out for rows that are not there too, so that the time says nothing of which are.
    generation = 0 if link is None else link.generation
    genuine = server.keys.verify(token, purpose, row, generation)
    if link is None or link.purpose != purpose or not (genuine or _was_genuine(server, token, link)):
        raise NotFound(_("There is nothing at this address."), why=_("It is not one of our links, or not a whole one."))
    if not genuine:
        raise Gone(_("This link has been replaced by a new one."), why=_("The links of its owner were renewed."))
    if link.expires_at is not None and link.expires_at <= server.now():
        raise Gone(_("This link is too old."), remedy=_("Please ask for a new one where you asked for this one."))
    return link


def _was_genuine(server: Server, token: str, link: Link) -> bool:
    before = range(max(0, link.generation - _GENERATIONS_KNOWN), link.generation)
    return any(server.keys.verify(token, Purpose(link.purpose), link.id, generation) for generation in before)


@dataclass(frozen=True, slots=True)
class Renewed:
    """How many mails are written anew, and how many turns are mailed again."""

    rewritten: int
    mailed_again: int


def renew_mails(tx: Tx, server: Server) -> Renewed:
    """Write the mails that wait anew, and mail every open turn again, with links that work."""
    now = server.now()
    rewritten = outbox.unwrite_queued(tx)
    for outbox_id in rewritten:
        ledger.note(tx, outbox_id, now, "rewritten", "a key was revoked")
    sent = {(row.game_id, row.turn, row.seat): row for row in outbox.turns_open(tx)}
    # A mail of its own and not the old one again: mail programs show a second one of the same name to nobody.
    emails = [outbox.NewEmail(row.person_id, "turn", row.game_id, None, row.seat, row.turn) for row in sent.values()]
    outbox.queue(tx, emails, now, now)
    return Renewed(len(rewritten), len(emails))
