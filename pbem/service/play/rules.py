"""A table's rules: built in, another package's, or a stand-in. Loaded for each table: a failure stops one alone."""

from typing import Any

from engine import registry
from engine.decisions import Refused
from engine.game import Game
from pbem.plugins.away import Away
from pbem.plugins.foreign import Foreign
from pbem.store.games import GameRow


def rules_of(row: GameRow) -> Game[Any]:
    """The rules that a game began with, or a stand-in where they are missing, have failed or have changed.

    A table that still waits has the newest: it begins with those.
    """
    rules = rules_for(row.kind, row.id, row.halted)
    if isinstance(rules, Away):
        return rules
    try:
        return rules.by_version(rules.RULES if row.seed is None else row.rules)
    except Refused:
        return Away(row.kind, rules)


def rules_for(kind: str, game_id: int, halted: str | None = None) -> Game[Any]:
    """The newest rules of a kind of game, asked for one table; for what does not depend on their version, such as words."""
    rules = known_rules(kind)
    if rules is None or halted is not None:
        return Away(kind, rules, halted)
    return rules.at(game_id) if isinstance(rules, Foreign) else rules


def known_rules(kind: str) -> Game[Any] | None:
    """The rules of a kind of game, or None if they are not installed."""
    return registry.load(kind) if kind in registry.names() else None


def versions() -> dict[str, tuple[int, int]]:
    """The oldest and the newest version of the rules that can be played here, by kind of game."""
    return {kind: (rules.OLDEST, rules.RULES) for kind in registry.names() if (rules := known_rules(kind)) is not None}


def newest_rules(kind: str) -> Game[Any]:
    """The rules of a kind of game, or a stand-in where they are not installed: for its title and its words."""
    return known_rules(kind) or Away(kind, None)


def title_of(kind: str) -> str:
    """The title of a kind of game, also where its rules are not installed."""
    return newest_rules(kind).title
