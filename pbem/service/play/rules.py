"""The rules that a table is played by: our own, those of another package, or none while they are not there.

What is asked of the rules through here is asked for one table, so that rules which fail stop that table and no other.
"""

from typing import Any

from engine import game
from engine.game import Game
from pbem.plugins.away import Away
from pbem.plugins.foreign import Foreign
from pbem.store.games import GameRow


def rules_of(row: GameRow) -> Game[Any]:
    """The rules that this game is played by; where they cannot be asked, what stands for them."""
    return rules_for(row.kind, row.id, row.halted)


def rules_for(kind: str, game_id: int, halted: str | None = None) -> Game[Any]:
    """The same, of a table of which no more is known."""
    known = known_rules(kind)
    if known is None or halted is not None:
        return Away(kind, known, failed=halted == "failed")
    return known.at(game_id) if isinstance(known, Foreign) else known


def known_rules(kind: str) -> Game[Any] | None:
    """The rules of a kind of game, if they are on this server."""
    return game.load(kind) if kind in game.names() else None


def title_of(kind: str) -> str:
    """What people call a kind of game, also where its rules are not on this server."""
    return (known_rules(kind) or Away(kind, None, failed=False)).title
