"""A digest of what the bots choose, over a small corpus of positions.

`python -m tests.engine.bots_digest` prints the digest of each level; the test holds today's version to those that are
written down. Write them again, and raise the version, when a bot is meant to choose differently.
"""

import hashlib
import json
from pathlib import Path

from engine.chance import Stream
from engine.game import load, names
from engine.search import LEVELS, VERSION, Level, choose
from engine.search.playout import quick_choice
from engine.table import begin

FILE = Path(__file__).with_name("bots.json")
EVERY = 11
MOST_TURNS = 34


def digest(level: Level) -> str:
    """The digest of a level's choices at some positions of each game."""
    found = hashlib.sha256()
    for name in names():
        game = load(name)
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
                found.update(json.dumps([name, turn, choice.verb, choice.values]).encode())
            table = table.submit(seat, quick_choice(game, view, decision, luck))
    return found.hexdigest()


if __name__ == "__main__":
    print(json.dumps({str(VERSION): {name: digest(level) for name, level in LEVELS.items()}}, indent=4))
