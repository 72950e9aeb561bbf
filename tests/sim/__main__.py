"""`make simulate`: play games of all kinds for simulated weeks, with lost emails and dying processes, and check everything."""

import click

from pbem.ops.commands.terminal import counted, progress
from tests.sim.simulator import BrokenError, simulate


@click.command()
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed is the same run.")
@click.option("--games", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Number of tables.")
@click.option("--days", type=click.IntRange(1, 365), default=5, show_default=True, help="Days of faults.")
def main(seed: int, games: int, days: int) -> None:
    """Play games of all kinds for simulated weeks, with faults, in a database of its own in memory."""
    try:
        with progress() as begin:
            ended = simulate(seed, games, days, begin("Simulating", games))
    except BrokenError as broken:
        again = f'make simulate ARGS="--seed {seed} --games {games} --days {days}"'
        click.echo(f"A promise was broken: {broken}.\nTo repeat it: {again}")
        raise SystemExit(1) from None
    for what, times in ended.seen.items():
        click.echo(f"{times:8} {what}")
    click.echo(
        f"{counted(games, 'game')}, {counted(ended.rows, 'row')}, over on {ended.until:%Y-%m-%d}. Trace {ended.trace}."
    )


if __name__ == "__main__":
    main()
