"""Private notes: what a player writes down about a table, for themselves alone.

They belong to a person at a seat, so a player who takes the seat over never reads them. No email has them, nobody else can read them,
and they are deleted with the person.
"""

from dataclasses import dataclass
from typing import Any

from engine.game import Game
from pbem.domain.user_text import parse_notes
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


def read(tx: Tx, server: Server, token: str) -> Notes:
    """The notes behind the link of a seat."""
    link = links.follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    name = next(player.name for player in seats.taken(tx, game.id) if player.seat == link.seat)
    text = notes.read(tx, game.id, link.seat, link.person_id)
    return Notes(game.title, rules_of(game), game.turn, name, text)


def save(tx: Tx, server: Server, token: str, text: str) -> None:
    """Replace the notes behind the link of a seat. Raises BadInput."""
    link = links.follow_seat(tx, server, token)
    _write(tx, server, link.game_id, link.seat, link.person_id, text)


def add(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> None:
    """Add a paragraph to the notes of a seat's player. Raises BadInput."""
    before = notes.read(tx, game_id, seat, person_id)
    _write(tx, server, game_id, seat, person_id, f"{before}\n{text}")


def _write(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> None:
    text = links.without_tokens(tx, server, parse_notes(text))
    games.lock(tx, game_id)
    notes.write(tx, game_id, seat, person_id, text, server.now())
