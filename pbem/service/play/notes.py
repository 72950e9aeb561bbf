"""Private notes: what a player writes down about a table, for themselves alone.

They belong to a person at a seat, so a player who takes the seat over never reads them. No email has them, nobody else can read them,
and they are deleted with the person. A page replaces the notes that it has shown and no others, so none by email is lost to it.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from engine.game import Game
from pbem.domain.errors import Stale
from pbem.domain.user_text import parse_notes
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import games, notes, seats
from pbem.store.database import Tx


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of a seat's player, and the table they are about."""

    title: str
    rules: Game[Any]
    turn: int
    name: str
    text: str

    @property
    def mark(self) -> str:
        """What a form names these notes by."""
        return mark_of(self.text)


def mark_of(text: str) -> str:
    """What a form names notes by."""
    return sha256(text.encode()).hexdigest()[:16]


def read(tx: Tx, server: Server, token: str) -> Notes:
    """The notes behind the link of a seat."""
    link = links.follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    name = next(player.name for player in seats.taken(tx, game.id) if player.seat == link.seat)
    text = notes.read(tx, game.id, link.seat, link.person_id)
    return Notes(game.title, rules_of(game), game.turn, name, text)


def save(tx: Tx, server: Server, token: str, text: str, mark: str) -> None:
    """Replace the notes behind the link of a seat. Raises BadInput, or Stale if they're not those with this mark any more."""
    link = links.follow_seat(tx, server, token)
    text = links.without_tokens(tx, server, parse_notes(text))
    games.lock(tx, link.game_id)
    if mark_of(notes.read(tx, link.game_id, link.seat, link.person_id)) not in (mark, mark_of(text)):
        raise Stale(
            _("Your notes have changed since you opened this page."),
            why=_("A reply by email or another page has changed them."),
            remedy=_("Nothing was saved. Add what is missing to yours, and save them again."),
        )
    notes.write(tx, link.game_id, link.seat, link.person_id, text, server.now())


def add(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> None:
    """Add a paragraph to the notes of a seat's player. Raises BadInput."""
    games.lock(tx, game_id)
    before = notes.read(tx, game_id, seat, person_id)
    text = links.without_tokens(tx, server, parse_notes(f"{before}\n{text}"))
    notes.write(tx, game_id, seat, person_id, text, server.now())
