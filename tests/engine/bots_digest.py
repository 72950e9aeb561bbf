"""A digest of what the bots choose, over a small corpus of positions: of our games, and of toys that leave all thinking to them.

`python -m tests.engine.bots_digest` prints the digest of each level; the test holds its version to the one that is written
down. Write them again, and raise the version of the level, when it is meant to choose differently.
"""

import hashlib
import json
from pathlib import Path

from engine.bots import signature
from engine.chance import Stream
from engine.records import replace
from engine.registry import load, names
from engine.search import LEVELS, Level, choose
from engine.search.playout import quick_choice
from engine.table import begin
from tests.engine import solved

FILE = Path(__file__).with_name("bots.json")
EVERY = 11
MOST_TURNS = 34
ITERATIONS = 12
"""Fewer than a real expert has, to be quick. The numbers of the level are part of the digest."""


def digest(level: Level) -> str:
    """The digest of a level: its numbers, and its choices at some positions of each game."""
    found = hashlib.sha256()
    if level.iterations:
        found.update(repr(level).encode())
        level = replace(level, iterations=ITERATIONS)
    for game in (*map(load, names()), solved.KUHN, solved.ENVELOPES):
        table, luck = begin(game, game.seats[0], b"bots" * 8), Stream(b"corpus", 0)
        for turn in range(MOST_TURNS):
            asks = [seat for seat in table.position.open() if seat not in table.position.box]
            if not asks:
                break
            seat, view = asks[0], table.view(asks[0])
            decision = game.asks(view, seat)
            assert decision is not None
            if turn % EVERY == 0:
                choice = choose(game, view, decision, level, Stream(b"digest", turn))
                found.update(json.dumps([game.title, turn, choice.verb, choice.values]).encode())
            table = table.submit(seat, quick_choice(game, view, decision, luck))
    return found.hexdigest()


if __name__ == "__main__":
    print(json.dumps({signature(name): digest(level) for name, level in LEVELS.items()}, indent=4))
