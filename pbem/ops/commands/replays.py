"""What `pbem replay` and `pbem migrate` say of the games that they replayed."""

import json
from dataclasses import dataclass
from typing import Final

import click

from pbem.ops.commands.terminal import CommandError, counted
from pbem.ops.replay import Replayed

ADVICE: Final = (
    "This release treats these games differently. Stay with the release they were played with, and report"
    " the lines above to its author. They say where and name nobody, but a reason may name a card."
)
ANYWAY: Final = (
    "With --without-replay the database is migrated anyway. Then the server stops these tables when it starts, and"
    " plays on at all others."
)


@dataclass(slots=True)
class ReplayReport:
    """Prints each game that differs or was left out, as it comes, and counts them all."""

    as_json: bool = False
    games: int = 0
    rows: int = 0
    differing: int = 0
    left_out: int = 0

    def tell(self, replayed: Replayed) -> None:
        """Count a game, and print what there is to say of it."""
        self.games += 1
        self.rows += replayed.game.seq
        self.differing += bool(replayed.differences)
        self.left_out += bool(replayed.left_out)
        if replayed.differences or replayed.left_out:
            for line in [_json_line(replayed)] if self.as_json else _lines(replayed):
                click.echo(line)

    def finish(self, more: str = "") -> None:
        """Print the counts. Raises CommandError, which ends with `more`, if a game differs."""
        if self.as_json:
            counts = {name: getattr(self, name) for name in ("games", "rows", "differing", "left_out")}
            click.echo(json.dumps(counts))
        else:
            left_out = f", {self.left_out} left out" if self.left_out else ""
            replayed = f"{counted(self.games, 'game')}, {counted(self.rows, 'row')} replayed{left_out}"
            click.echo(f"{replayed}: {counted(self.differing, 'game')} with differences.")
        if self.differing:
            raise CommandError(f"{ADVICE} {more}".rstrip())


def _lines(replayed: Replayed) -> list[str]:
    game = replayed.game
    name = f"game {game.id} ({game.kind}, rules {game.rules}, {game.status})"
    if not replayed.differences:
        return [f"{name}: left out, because {replayed.left_out}"]
    return [f"{name}: {difference}" for difference in replayed.differences]


def _json_line(replayed: Replayed) -> str:
    game = replayed.game
    names = {"game": game.id, "key": game.key, "kind": game.kind, "rules": game.rules, "status": game.status}
    differences = [each._asdict() for each in replayed.differences]
    return json.dumps({**names, "left_out": replayed.left_out or None, "differences": differences})
