"""The kit in a shell: `python -m engine.testing golden` and `repeat`, and what the kit runs in another process.

This module must never contain a law.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from engine.decisions import Refused
from engine.game import Game
from engine.registry import names
from engine.testing.bench import Trouble
from engine.testing.elsewhere import digest, find
from engine.testing.golden import check_golden, remake
from engine.testing.repeat import repeat


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m engine.testing", description="The kit that every game must pass.")
    commands = parser.add_subparsers(required=True, dest="command")
    hashing = commands.add_parser(
        "digest", help="print a hash over games with all options, to compare with another machine"
    )
    hashing.add_argument("game", help="a game, or the path of its file")
    hashing.add_argument("--thorough", action="store_true", help="with the options of a thorough check")
    repeating = commands.add_parser("repeat", help="play a game again up to the place that a message of the kit names")
    repeating.add_argument("game", help="a game, or the path of its file")
    repeating.add_argument("place", help='as in "3 players, usual options, playing any #0, after 12 of 80 choices"')
    golden = commands.add_parser("golden", help="check the golden games, or remake them")
    golden.add_argument("game", nargs="*", help="names of games (default: all)")
    golden.add_argument("--folder", type=Path, default=Path("tests/golden"), help="the folder of the golden games")
    golden.add_argument("--remake", action="store_true", help="search for new games and write them")
    arguments = parser.parse_args()
    if arguments.command == "digest":
        print(digest(find(arguments.game), arguments.thorough))
        return 0
    if arguments.command == "repeat":
        return _repeat(arguments)
    troubles = [trouble for name in arguments.game or names() for trouble in _golden(find(name), arguments)]
    print(*troubles, sep="\n", end="\n" if troubles else "")
    return 1 if troubles else 0


def _repeat(arguments: argparse.Namespace) -> int:
    try:
        for line in repeat(find(arguments.game), arguments.place):
            print(line)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    return 0


def _golden(game: Game[Any], arguments: argparse.Namespace) -> list[Trouble]:
    if arguments.remake:
        for path in remake(game, arguments.folder):
            print(path)
    return list(check_golden(game, arguments.folder))


if __name__ == "__main__":
    sys.exit(main())
