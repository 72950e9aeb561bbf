"""`make simulate`: play games of all kinds for simulated weeks, with lost emails and dying processes, and check everything."""

from collections import Counter
from datetime import timedelta
from typing import Final

import click

from pbem.ops.commands.terminal import counted, progress
from tests import figures
from tests.sim.player import Manners
from tests.sim.simulator import BrokenError, Ended, simulate
from tests.sim.world import START


@click.command()
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed is the same run.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Number of runs, a seed each.")
@click.option("--games", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Number of tables.")
@click.option("--days", type=click.IntRange(1, 365), default=5, show_default=True, help="Days of faults.")
@click.option("--seasons", type=click.IntRange(0, 100), default=1, show_default=True, help="Number of tournaments.")
def main(seed: int, seeds: int, games: int, days: int, seasons: int) -> None:
    """Play games of all kinds for simulated weeks, with faults, in a database of its own in memory."""
    ended = [_run(each, games, days, seasons) for each in range(seed, seed + seeds)]
    figures.note(((f"simulate.{name}", number) for name, number in _figures(ended).items()), passed=True)


def _run(seed: int, games: int, days: int, seasons: int) -> Ended:
    try:
        with progress() as begin:
            ended = simulate(
                seed, games, days, begin("Simulating", games), seasons=seasons, manners=Manners(time_off=True)
            )
    except BrokenError as broken:
        again = f'make simulate ARGS="--seed {seed} --games {games} --days {days} --seasons {seasons}"'
        click.echo(f"A promise was broken: {broken}.\nTo repeat it: {again}")
        raise SystemExit(1) from None
    for what, times in ended.seen.items():
        click.echo(f"{times:8} {what}")
    click.echo(
        f"{counted(games, 'game')}, {counted(ended.rows, 'row')}, over on {ended.until:%Y-%m-%d}. Trace {ended.trace}."
    )
    return ended


_EVENTS: Final = {
    "acknowledged": ("choice acknowledged",),
    "emails": ("mail arrived",),
    "lost connection": ("mail came again after a lost connection",),
    "crashed": ("mail came again after a crash",),
    "restored": ("mail came again after a restore",),
    "crashes": ("crash at store.committing", "crash at store.committed", "crash at mail.handed_over"),
    "restores": ("restore",),
    "outages": ("outage", "email paused", "clock set forward", "clock set back"),
    "time-outs": ("time-out",),
}
"""The events of a run that make up a figure."""


def _figures(runs: list[Ended]) -> dict[str, int]:
    """What the handbook tells of these runs."""
    seen = sum((Counter(run.seen) for run in runs), Counter[str]())
    length = sum((run.until - START for run in runs), timedelta(0))
    figures = {"seeds": len(runs), "games": sum(run.games for run in runs), "weeks": length // timedelta(weeks=1)}
    figures["rows"] = sum(run.rows for run in runs)
    return figures | {name: sum(seen[event] for event in events) for name, events in _EVENTS.items()}


if __name__ == "__main__":
    main()
