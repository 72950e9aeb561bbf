"""The kit in a shell: `python -m engine.testing golden`, and what the kit runs in another process.

This module must never contain a law.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from engine.game import Game, names
from engine.testing.bench import Trouble
from engine.testing.elsewhere import digest, find
from engine.testing.golden import check_golden, remake


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m engine.testing", description="The kit that every game must pass.")
    commands = parser.add_subparsers(required=True, dest="command")
    hashing = commands.add_parser(
        "digest", help="print a hash over games with all options, to compare with another machine"
    )
    hashing.add_argument("game", help="a game, or the path of its file")
    hashing.add_argument("--thorough", action="store_true", help="with the options of a thorough check")
    golden = commands.add_parser("golden", help="check the golden games, or remake them")
    golden.add_argument("game", nargs="*", help="names of games (default: all)")
    golden.add_argument("--folder", type=Path, default=Path("tests/golden"), help="the folder of the golden games")
    golden.add_argument("--remake", action="store_true", help="search for new games and write them")
    arguments = parser.parse_args()
    if arguments.command == "digest":
        print(digest(find(arguments.game), arguments.thorough))
        return 0
    troubles = [trouble for name in arguments.game or names() for trouble in _golden(find(name), arguments)]
    print(*troubles, sep="\n", end="\n" if troubles else "")
    return 1 if troubles else 0


def _golden(game: Game[Any], arguments: argparse.Namespace) -> list[Trouble]:
    if arguments.remake:
        for path in remake(game, arguments.folder):
            print(path)
    return list(check_golden(game, arguments.folder))


if __name__ == "__main__":
    sys.exit(main())
