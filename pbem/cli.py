"""The commands of `pbem`: they parse arguments, call the work in `ops`, and print the result.

A mistake gets one message that says what happened, why, and what to do; a traceback means a fault in pbem itself. Nothing
secret is taken from a command line, where others on the machine can read it. Each command imports its own work, so that
`pbem --help` is quick.
"""

import logging
import os
import sys
from pathlib import Path

import click

from pbem import config as settings, program_log
from pbem.ops.commands.groups import ALL, AUDIT, CALL, KEYS, MAIL_SYSTEM, ORGANISER, OUTAGE, PERSON, TABLE, TOURNAMENT
from pbem.ops.commands.terminal import (
    CODES,
    FAILED,
    Commands,
    command,
    counted,
    plain,
    progress,
    read_settings,
    say,
    show_findings,
)

_PATH = click.Path(path_type=Path, dir_okay=False)
_EXISTING_PATH = click.Path(path_type=Path, dir_okay=False, exists=True, readable=True)

_LOG_JSON = click.option("--log-json", is_flag=True, help="Log all events as JSON on a terminal, too.")


@click.group(cls=Commands, epilog=CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pbem", message="%(prog)s %(version)s")
def main() -> None:
    """Auction games played over days, by email: the server and its tools.

    Settings come from the environment and from pbem.toml; `pbem config show` lists them. With none, the server
    is for this machine alone, with everything in ./.pbem.
    """
    program_log.configure(sys.stderr, logging.WARNING)
    # Files of a server are full of addresses and hidden cards: only its owner's account may read them.
    os.umask(0o077)


@command(main, example="pbem init")
def init() -> None:
    """Create a server: its folder, keys and database. Existing parts stay."""
    from pbem.ops import setup

    changes: list[str] = []
    setup.make_ready(read_settings(), changes.append)
    for sentence in changes or ["Everything is already set up. Nothing was changed."]:
        click.echo(sentence)


@command(main, example="PBEM_WEB_PORT=8010 pbem serve")
@click.option("--no-worker", is_flag=True, help="Only answer requests; `pbem worker` runs elsewhere (PostgreSQL only).")
@_LOG_JSON
def serve(*, no_worker: bool, log_json: bool) -> None:
    """Run the server: pages, emails and deadlines.

    Without settings, it creates what it needs. Otherwise run `pbem init` before the first start, and `pbem migrate` after
    installing a new release.
    """
    from pbem.ops import serve as ops_serve

    config = read_settings()
    program_log.configure(structured=log_json or None)
    ops_serve.serve(config, say, with_worker=not no_worker)


@command(main, example="pbem worker")
@_LOG_JSON
def worker(*, log_json: bool) -> None:
    """Run only a worker: emails, deadlines, reminders, bots.

    On PostgreSQL any number may run, on any machine. On SQLite `pbem serve` does this.
    """
    from pbem.ops import serve as ops_serve

    config = read_settings()
    program_log.configure(structured=log_json or None)
    ops_serve.work(config, say)


@command(main, example="pbem backup before.sqlite3 && pbem migrate")
@click.option("--without-replay", is_flag=True, help="Don't replay games first; the server stops those that differ.")
def migrate(*, without_replay: bool) -> None:
    """Migrate the database, and check its schema. On SQLite, stop the server first.

    First it replays running games whose rules have changed, and changes nothing if one differs (see `pbem replay`).
    """
    from pbem.ops import replay_gate, setup as ops_setup
    from pbem.ops.commands.replays import ANYWAY, ReplayReport

    config = read_settings()
    ops_setup.must_be_there(config)
    if not without_replay:
        report = ReplayReport()
        with progress() as begin:
            replay_gate.before_migrating(config, begin, report.tell)
        if report.games:
            report.finish(f"The database was not migrated. {ANYWAY}")
    steps = ops_setup.migrate(config)
    click.echo(
        f"Migrated the database to step {steps[-1]}." if steps else "The database is already at the newest step."
    )
    ops_setup.check_schema(config)


@command(main, example="pbem replay --game 7")
@click.option("--game", "game_id", type=click.IntRange(1), help="Only this game number.")
@click.option("--processes", type=click.IntRange(1, 64), help="Processes; by default one per processor.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object per line: each game that differs or is left out, then the counts.",
)
def replay(game_id: int | None, processes: int | None, *, as_json: bool) -> None:
    """Replay all games with this release, and compare.

    Facts, choices and draws are compared with the log; offers, views and scores with the last replay or daily check,
    which this replaces for games that are the same. The server may be running, and on an older schema.
    """
    from pbem.ops import replay as ops_replay, replay_gate
    from pbem.ops.commands.replays import ReplayReport

    report = ReplayReport(as_json)
    with progress() as begin:
        most = processes or ops_replay.processes()
        replay_gate.replay_all(read_settings(), begin, report.tell, most, game_id)
    report.finish()


@command(main, example="pbem verify --game 7 --head 3fa94c1b22d07e6a91c5")
@click.argument("file", type=_EXISTING_PATH, required=False)
@click.option("--game", "game_id", type=click.IntRange(1), help="Check only this game number.")
@click.option("--head", "heads", multiple=True, help="A game fingerprint from an email; can be repeated.")
@click.option(
    "--sealed", multiple=True, help="The fingerprint of a sealed choice, to show what became of it; can be repeated."
)
@click.option("--bots", is_flag=True, help="Make every bot choose again, from what its seat saw. Takes longer.")
def verify(file: Path | None, game_id: int | None, heads: tuple[str, ...], sealed: tuple[str, ...], bots: bool) -> None:
    """Check every log, and every game against its log.

    Checks hashes, facts, draws and, if the rules are still the same, every choice; then the snapshot and what each seat
    sees. Nothing is changed, and the server may be running. With FILE, check the file of a finished game, or make the tables
    of every round of a tournament again from its file, without a server.
    """
    from pbem.ops import setup as ops_setup, verify as ops_verify

    if file is not None and game_id is not None:
        raise click.UsageError("Name a file or a game, not both.")
    if file is not None and (wrong_in_it := ops_verify.verify_tournament(file)) is not None:
        for says in wrong_in_it:
            click.echo(plain(says))
        click.echo(f"1 tournament: {counted(len(wrong_in_it), 'fault')}.")
        raise SystemExit(FAILED if wrong_in_it else 0)
    if file is not None:
        reports = [ops_verify.verify_file(file, heads, sealed=sealed, with_bots=bots)]
    else:
        with ops_setup.open_store(read_settings()) as store:
            ids, rows = ops_verify.games_to_verify(store, game_id)
            with progress() as begin:
                # In other games than its own a fingerprint would be missing.
                asked, choices = (heads, sealed) if game_id else ((), ())
                step = begin("Verifying", rows)
                reports = list(ops_verify.verify_games(store, ids, asked, step, choices, with_bots=bots))
    for report in reports:
        for fate in report.fates:
            click.echo(plain(fate))
        for wrong in report.problems:
            click.echo(plain(f"game {report.game_id or report.key}, row {wrong.seq}: {wrong.says}"))
    if bots:
        click.echo(plain(ops_verify.of_bots(reports)))
    bad = sum(not report.sound for report in reports)
    rows, again = sum(report.rows for report in reports), sum(report.made_again for report in reports)
    click.echo(
        f"{counted(len(reports), 'game')}, {counted(rows, 'row')}, {counted(again, 'turn')} played again: {counted(bad, 'game')} with faults."
    )
    if bad:
        raise SystemExit(FAILED)


@command(main, example="pbem rebuild --game 7")
@click.option("--game", "game_id", type=click.IntRange(1), help="Only this game number.")
def rebuild(game_id: int | None) -> None:
    """Rebuild snapshots of games from their logs. A log that doesn't verify is left alone."""
    from pbem.ops import rebuild as ops_rebuild, setup as ops_setup
    from pbem.ops.verify import games_to_verify

    with ops_setup.open_store(read_settings()) as store:
        ids, rows = games_to_verify(store, game_id)
        with progress() as begin:
            games = list(ops_rebuild.rebuild_games(store, ids, begin("Rebuilding", rows)))
    for game in games:
        for sentence in game.corrected:
            click.echo(f"game {game.game_id}: {sentence}; corrected")
        if game.refused:
            click.echo(f"game {game.game_id}: left alone, because {game.refused}")
    click.echo(
        f"{counted(len(games), 'game')} rebuilt; {counted(sum(bool(game.corrected) for game in games), 'snapshot')} differed."
    )
    if any(game.refused for game in games):
        raise SystemExit(FAILED)


@command(main, example="pbem backup /var/backups/pbem-$(date +%F).sqlite3")
@click.argument("path", type=_PATH)
@click.option(
    "--keys/--no-keys", default=True, help="Save the keys as PATH.keys; without them, old links stop working."
)
def backup(path: Path, *, keys: bool) -> None:
    """Back up the running server to PATH, and verify the backup.

    It's always an SQLite database. Keep it as safe as the server.
    """
    from pbem.ops import backup as ops_backup

    with progress() as begin:
        saved = ops_backup.backup(read_settings(), path, with_keys=keys, begin=begin)
    click.echo(f"Saved and verified {counted(saved.games, 'game')} ({counted(saved.rows, 'row')}) in {path}.")
    click.echo(
        f"The keys are in {ops_backup.keys_beside(path)}." if keys else "The keys were not saved: store them elsewhere."
    )


@command(main, example="pbem restore /var/backups/pbem-2026-11-21.sqlite3")
@click.argument("path", type=_EXISTING_PATH)
@click.option("--game", "which", help="Restore only this game, by its number or key in the backup.")
@click.option("--reason", default="", help="Reason for restoring that game, logged and shown to its players.")
@click.option("--replace", "replacing", is_flag=True, help="Restore it even if choices made here are lost.")
@click.option("--dry-run", is_flag=True, help="Preview what would happen to that game.")
def restore(path: Path, which: str | None, reason: str, *, replacing: bool, dry_run: bool) -> None:
    """Restore a backup into an empty database, of either kind.

    A server without keys takes those of PATH.keys. With --game one game comes back into a server in use; then PATH may
    also be a file of `pbem table export`.
    """
    from pbem.ops import backup as ops_backup

    if which is not None:
        from pbem.ops.commands.restored import restore_game

        restore_game(path, which, reason, replacing=replacing, dry_run=dry_run)
        return
    if reason or replacing or dry_run:
        raise click.UsageError("Only for one game, named with --game.")
    config = read_settings()
    with progress() as begin:
        saved = ops_backup.restore(config, path, begin)
    click.echo(f"Restored and verified {counted(saved.games, 'game')} ({counted(saved.rows, 'row')}).")
    if saved.with_keys:
        click.echo(f"The keys are in {config.data_dir / 'keys'}.")
    elif config.keys is None:
        click.echo(
            f"There are no keys: restore the old ones to {config.data_dir / 'keys'}. If they are lost for good, run `pbem keys"
            " new`; then old links are dead."
        )


@command(main, example="pbem copy --from sqlite:///.pbem/pbem.sqlite3 --to postgresql://pbem@db/pbem")
@click.option("--from", "source", required=True, metavar="URL", help="Database to copy; stop its server first.")
@click.option("--to", "target", required=True, metavar="URL", help="An empty database.")
def copy(source: str, target: str) -> None:
    """Copy a server between SQLite and PostgreSQL.

    Everything is copied, or nothing. Put passwords into ~/.pgpass, not on the command line.
    """
    from pbem.ops import backup as ops_backup

    with progress() as begin:
        saved = ops_backup.copy(source, target, begin)
    click.echo(
        f"Copied and verified {counted(saved.games, 'game')} ({counted(saved.rows, 'row')}). Set PBEM_DATABASE_URL to the new database."
    )


@command(main, example="pbem doctor || mail -s 'pbem is not well' me@example.org")
def doctor() -> None:
    """Check everything, and say how to fix each problem. Changes nothing.

    Where replies are read, it emails itself forged Authentication-Results, and waits up to 15 seconds to see whether
    the mail server removes them.
    """
    from pbem.ops import doctor as ops_doctor

    show_findings(ops_doctor.examine(read_settings()))


@command(main, example="pbem overview --trouble unreachable")
@click.option(
    "--trouble", default="", help="Only tables with this problem: overdue, unreachable, parked, paused, frozen, flawed."
)
@click.option("--status", default="", help="Only tables in this state, newest first.")
@click.option(
    "--search", "text", default="", help="Only tables with these words in their title or their players' names."
)
@click.option(
    "--most", type=click.IntRange(1, 200), default=20, show_default=True, help="Show at most this many tables."
)
def overview(trouble: str, status: str, text: str, most: int) -> None:
    """Show what needs an organiser, workers and tables."""
    from pbem.ops.commands import overview as ops_overview

    for line in ops_overview.overview(trouble, status, text, most):
        click.echo(line)


for group in (MAIL_SYSTEM, KEYS, ORGANISER, CALL, AUDIT, ALL, TABLE, TOURNAMENT, PERSON, OUTAGE):
    main.add_command(group)


@command(main, example="pbem dump games.jsonl.gz")
@click.argument("file", type=_PATH)
def dump(file: Path) -> None:
    """Write all finished public games, with a checksum.

    A worker makes the same file every night, for anyone to download.
    """
    from pbem.ops import dump as ops_dump
    from pbem.ops.setup import open_server

    with open_server(read_settings()) as server:
        games, digest = ops_dump.write(server, file)
    click.echo(f"{counted(games, 'game')} in {file}, with the SHA-256 {digest}.")


@main.group(epilog=CODES)
def ratings() -> None:
    """Players' ratings."""


@command(ratings, "rebuild", example="pbem ratings rebuild")
def ratings_rebuild() -> None:
    """Make all ratings and the games' statistics again.

    Ratings that differ are replaced. Safe at any time, and beside a running server. Endings that couldn't be read are tried again by the worker.
    """
    from pbem.ops.setup import open_server
    from pbem.service.archive import game_statistics
    from pbem.service.archive.rebuild_ratings import rebuild
    from pbem.store import results

    with open_server(read_settings()) as server:
        with progress() as begin:
            rebuilt = rebuild(server, begin("Ratings", server.query(results.last)))
        click.echo(f"{counted(rebuilt.endings, 'game')}. Ratings differed after {rebuilt.changed}.")
        click.echo(f"{counted(game_statistics.rebuild(server), 'public game')} in the statistics.")


@main.group("config", epilog=CODES)
def config_() -> None:
    """The settings."""


@command(config_, "show", example="PBEM_CONFIG=/etc/pbem.toml pbem config show")
def config_show() -> None:
    """Show all settings in force; secrets appear as "set" or "not set"."""
    click.echo(settings.show(read_settings()), nl=False)
