"""The kit from a shell: `python -m engine.testing golden` and what the kit itself calls in another process.

This module must never hold a law.
"""

from __future__ import annotations

import argparse
import sys

from engine.testing.elsewhere import digest, find


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m engine.testing", description="The kit that every game must pass.")
    commands = parser.add_subparsers(required=True, dest="command")
    hashing = commands.add_parser("digest", help="a hash over a few games, to compare with another machine")
    hashing.add_argument("game", help="the name of a game or the path of its file")
    arguments = parser.parse_args()
    print(digest(find(arguments.game)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
