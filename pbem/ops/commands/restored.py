"""What `pbem restore --game` shows."""

from pathlib import Path

import click

from pbem.ops import restore_game as ops_restore_game
from pbem.ops.commands.terminal import counted, operator, progress, read_settings


def restore_game(path: Path, which: str, reason: str, *, replacing: bool, dry_run: bool) -> None:
    """Put one game back, or show what that would do."""
    with progress() as begin:
        done, keys = ops_restore_game.restore_game(
            read_settings(), path, which, operator(), reason, replacing=replacing, dry_run=dry_run, begin=begin
        )
    here = counted(done.rows_here, "row") if done.rows_here else "nothing"
    click.echo(f"Game {done.game_id}, {done.title}: {counted(done.rows_there, 'row')} in the backup, {here} here.")
    for sentence in (*done.says, *([keys] if keys else [])):
        click.echo(f"  {sentence}")
    if done.asks:
        click.echo(f"  Turn {done.turn} is asked again as turn {done.next_turn}, with full time.")
    click.echo(
        "Nothing was changed: this was a preview." if dry_run else "Restored and verified. Its players will be emailed."
    )
