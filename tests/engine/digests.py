"""A digest of what each version of each game's rules does, over a small corpus of games.

It covers what may be chosen, what happens, what each seat and a spectator know, and the scores: what a running game must
keep. Words, prompts and boards are left out. `python -m tests.engine.digests` writes those of today's rules; the test holds
the ones that are written down, so a change of the rules without a new version fails.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import codec, registry
from engine.bots import random_bot
from engine.chance import Stream
from engine.game import Game
from engine.imprint import offered
from engine.options import Listed, Number, Options
from engine.table import Table, begin
from engine.testing.plans import values_of

FILE = Path(__file__).with_name("digests.json")
GAMES_OF_EACH = 2
MOST_CHOICES = 120


def digest(rules: Game[Any]) -> str:
    """The digest of one version of the rules."""
    found = hashlib.sha256()
    for seats in range(rules.seats[0], rules.seats[1] + 1):
        for number, options in enumerate(_option_sets(rules)):
            for seed in range(GAMES_OF_EACH):
                for table in _tables(rules, seats, options, bytes([seats, number, seed]) * 10):
                    found.update(_shown(table))
    for seats in sorted({*rules.seats}):
        for number, options in enumerate(_numbers(rules)):
            for table in _tables(rules, seats, options, bytes([seats, number, GAMES_OF_EACH]) * 10):
                found.update(_shown(table))
    return found.hexdigest()


def versions(rules: Game[Any]) -> range:
    """The versions that can be played."""
    return range(rules.OLDEST, rules.RULES + 1)


def _option_sets(rules: Game[Any]) -> Iterator[Options]:
    """The usual options, and each other value of a listed option."""
    yield {}
    for option in rules.options:
        if isinstance(option, Listed):
            yield from ({option.name: value} for value in option.values if value != option.default)


def _numbers(rules: Game[Any]) -> Iterator[Options]:
    """Each unusual value of a numeric option that the kit tries: the bounds, and one between."""
    for option in rules.options:
        if isinstance(option, Number):
            yield from ({option.name: value} for value in values_of(option) if value != option.default)


def _tables(rules: Game[Any], seats: int, options: Options, seed: bytes) -> Iterator[Table]:
    table, luck = begin(rules, seats, seed, options), Stream(seed, 2**40)
    yield table
    for _ in range(MOST_CHOICES):
        open_seats = [seat for seat in table.asks() if seat not in table.position.box]
        if not open_seats:
            break
        seat = open_seats[luck.below(len(open_seats))]
        table = table.submit(seat, random_bot(rules, table.view(seat), table.asks()[seat], luck))
        yield table


def _shown(table: Table) -> bytes:
    asked = [(seat, offered(decision)) for seat, decision in sorted(table.position.asks().items())]
    standing = table.position.game.standing(table.position.state)
    known = [asked, codec.dumps(table.log[-1:]), codec.dumps(table.views), standing.scores, standing.ranking]
    return json.dumps(known).encode()


def main() -> None:
    """Write the digests of all games."""
    digests = {
        name: {str(version): digest(rules.by_version(version)) for version in versions(rules)}
        for name in sorted(registry.own_names())
        for rules in [registry.load(name)]
    }
    FILE.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
