"""Positions of bot games, played by the engine alone, for what depends on how full a table gets.

Of each game and number of players there are those of a median and of the longest of twenty games: the fullest position of
each, and one from its middle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from engine import board, registry
from engine.bots import Bot, greedy, random_bot
from engine.chance import Stream
from engine.table import Table, begin
from pbem.domain.causes import TurnFacts

GAMES: Final = 20
LARGE: Final = 5
SEEDS: Final[dict[tuple[str, int], tuple[int, int]]] = {
    ("bid", 3): (1, 14),
    ("bid", 4): (14, 19),
    ("sorcerous-futures", 3): (13, 4),
    ("sorcerous-futures", 4): (1, 14),
    ("sun-bid", 2): (18, 19),
    ("sun-bid", 4): (8, 15),
    ("sunset-poker", 3): (10, 2),
    ("sunset-poker", 9): (0, 9),
    ("templari", 3): (0, 2),
    ("templari", 5): (7, 12),
}
"""The seeds of a median and of the longest of these games, by their moves: `python -m tests.bot_games` finds them."""

NAMES: Final = (
    "Alexandra",
    "Benjamin",
    "Charlotte",
    "Dominic",
    "Elisabeth",
    "Frederick",
    "Gabriele",
    "Harriet",
    "Isidor",
)


def tables() -> list[tuple[str, int]]:
    """Every game at its default and at its largest number of players."""
    return [(name, seats) for name in registry.names() for seats in sorted(set(registry.load(name).seats))]


@cache
def positions(kind: str, seats: int) -> tuple[Table, ...]:
    """The fullest and a middle position of a median and of the longest game."""
    found = []
    for seed in SEEDS[kind, seats]:
        asked = tuple(played(kind, seats, seed))
        found += [max(asked, key=_fullness), asked[len(asked) // 2]]
    return tuple(found)


@cache
def decisions(kind: str, seats: int) -> tuple[Table, ...]:
    """The fullest position for each kind of decision, by its verbs, of a game of greedy bots, who win more than random ones.

    At a large table they think for half a minute, so there it is the longest game of random ones.
    """
    fullest: dict[tuple[str, ...], Table] = {}
    for table in played(kind, seats, 2, greedy) if seats <= LARGE else played(kind, seats, SEEDS[kind, seats][1]):
        verbs = tuple(act.verb for act in table.asks()[decider(table)].acts)
        if verbs not in fullest or _things(table) > _things(fullest[verbs]):
            fullest[verbs] = table
    return tuple(fullest.values())


def decider(table: Table) -> int:
    """The first seat that has to decide."""
    return next(seat for seat in table.asks() if seat not in table.position.box)


def waiter(table: Table) -> int | None:
    """The seat with the fullest page of those that have nothing to decide, or None if all are asked."""
    waiting = [seat for seat in range(len(table.views) - 1) if seat not in table.asks()]
    return max(waiting, key=lambda seat: _fullness(table, seat), default=None)


def recent_facts(table: Table, seat: int) -> tuple[TurnFacts, ...]:
    """What a seat has seen since its last choice."""
    log = table.log
    last = next((n for n in range(len(log) - 1, -1, -1) if seat in log[n].choices), len(log))
    return tuple(TurnFacts(n + 1, table.told(seat, n)[: len(log[n].facts)], {}) for n in range(last, len(log)))


def played(kind: str, seats: int, seed: int, bot: Bot = random_bot) -> Iterator[Table]:
    """The positions of one game in which someone decides, one before each choice."""
    rules, luck = registry.load(kind), Stream(b"bots", seed)
    table = begin(rules, seats, bytes([seed]) * 32)
    while table.asks():
        yield table
        seat = decider(table)
        table = table.submit(seat, bot(rules, table.view(seat), table.asks()[seat], luck))


def _fullness(table: Table, seat: int | None = None) -> int:
    """Letters of what the page has to show to a seat, or to the one that decides."""
    seat, rules = decider(table) if seat is None else seat, table.position.game
    shown = replace(rules.board(table.view(seat), seat), folds=())
    return len(board.plain(shown, rules.teller(seat, NAMES[: len(table.views) - 1])))


def _things(table: Table) -> int:
    """Cards, tiles and dice on the page."""
    seat = decider(table)
    shown = table.position.game.board(table.view(seat), seat)
    parts = (*shown.centre, *shown.mine, *(part for panel in shown.players for part in panel.parts))
    return sum(len(part.faces) for part in parts if isinstance(part, board.Row))


def main() -> None:
    """Print the seeds."""
    for kind, seats in tables():
        by_length = sorted(range(GAMES), key=lambda seed: sum(1 for _ in played(kind, seats, seed)))
        print(f"    ({kind!r}, {seats}): ({by_length[GAMES // 2]}, {by_length[-1]}),")


if __name__ == "__main__":
    main()
