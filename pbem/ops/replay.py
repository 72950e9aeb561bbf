"""Replaying stored games by the code at hand, to see that it treats them as the code before did.

Several processes share the work. Each has a connection of its own and is handed a few games at a time, so memory is bounded by
the longest game. They only read.
"""

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from traceback import walk_tb
from typing import Any, Final

from engine.decisions import Refused
from engine.game import Game
from engine.rulings import Part
from pbem.config.settings import Config
from pbem.domain import hash_chain
from pbem.domain.errors import Fault, NotFound, Unplayable
from pbem.domain.states import TableStatus
from pbem.ops.rules_code import codes
from pbem.ops.setup import open_store
from pbem.ops.verify import of_views, verify_game
from pbem.plugins.away import Away
from pbem.service.archive.check_log import Check, LogReader, Problem
from pbem.service.archive.check_snapshot import snapshot
from pbem.service.archive.daily_check import CheckResult
from pbem.service.archive.recording import Difference, Recorder, What
from pbem.service.clocks.stopped_tables import Cause
from pbem.service.play.rules import rules_for
from pbem.store import log, recordings
from pbem.store.database import Store, Tx
from pbem.store.recordings import RecordingRow, StoredGame, ViewRow

GAMES_AT_ONCE: Final = 8
"""The games handed to a process at a time, and whose recordings are stored together."""

_NO_RULES: Final = {"pbem", "sqlalchemy", "psycopg", *sys.stdlib_module_names}
"""The packages without any rules of a game."""

_RUNNING: Final = (TableStatus.PLAYING, TableStatus.FROZEN)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a game that was replayed: how it differs, why it was left out, or its new recording.

    If it was `ruled`, the new recording differs from the one before, as a ruling says. `check_failed` means that it was left out
    because the check has a fault, or the database.
    """

    game: StoredGame
    differences: tuple[Difference, ...] = ()
    left_out: str = ""
    recording: RecordingRow | None = None
    ruled: bool = False
    check_failed: bool = False


Replays = Iterator[list[Replayed]]


def keep(store: Store, replayed: Collection[Replayed], *, ruled: bool) -> None:
    """Store the recordings of games that were replayed; those that follow a ruling only where the release plays on."""
    rows = [each.recording for each in replayed if each.recording is not None and (ruled or not each.ruled)]
    store.write(lambda tx: recordings.keep(tx, rows))


def processes() -> int:
    """The processes that this machine has room for."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def replay_games(config: Config, sizes: Mapping[int, int], most: int, progress: Callable[[int], None]) -> Replays:
    """Replay these games, given with their rows, in at most `most` processes; yields a few at a time, in no order."""
    number = min(most, -(-len(sizes) // GAMES_AT_ONCE))
    for replayed in _alone(config, sizes) if number <= 1 else _in_processes(config, sizes, number):
        progress(sum(sizes[each.game.id] for each in replayed))
        yield replayed


def replay_game(tx: Tx, game_id: int, by_kind: Mapping[str, str]) -> Replayed:
    """Replay one game by the code at hand, which is named for each kind of game."""
    game = recordings.game(tx, game_id)
    rules = _rules(game)
    if isinstance(rules, str):
        lost = game.status in _RUNNING and game.halted is None
        return Replayed(game, differences=(Difference(0, None, What.RULES, rules),) if lost else (), left_out=rules)
    reader, recorder = LogReader(rules, game.secret), Recorder()
    rows, views = list(log.chain(tx, game.id, game.key)), recordings.views(tx, game.id)
    earlier = recordings.of_game(tx, game_id)
    try:
        problems = list(_problems(game, rows, views, reader, recorder))
    except Exception as error:  # noqa: BLE001 - rules can fail in any way, and so can this check
        says = f"{type(error).__name__}: {error}"[:300]
        if not _is_of_rules(error):
            left_out = f"the check itself failed, not the rules: {says}"
            return Replayed(game, left_out=left_out, check_failed=True)
        says = f"the rules fail: {says}"
        return Replayed(game, (Difference(reader.seq, recorder.turns.get(reader.seq), What.RULES, says),))
    if any(problem.check is Check.CHAIN for problem in problems):
        return Replayed(game, left_out=f"its log is damaged: see `pbem verify --game {game.id}`")
    found = tuple(recorder.differences(problems, earlier))
    ruled = earlier is not None and not recorder.imprints.startswith(earlier.imprints)
    return Replayed(game, found, recording=None if found else recorder.recording(game_id, by_kind), ruled=ruled)


def check_game(tx: Tx, game_id: int, by_kind: Mapping[str, str]) -> CheckResult:
    """Verify a game for the daily check, and compare it with its recording by the way."""
    recorder = Recorder()
    report = verify_game(tx, game_id, follow=recorder.follow)
    earlier = recordings.of_game(tx, game_id)
    damaged = any(problem.check is Check.CHAIN for problem in report.problems)
    found = [] if damaged else recorder.differences(report.problems, earlier)
    # A snapshot can be damaged while the rules are the same; if they are not, more than the snapshot differs.
    changed = next((each.where for each in found if each.what is not What.SNAPSHOT), "")
    rows = [problem.seq for problem in report.problems] + [each.row for each in found if each.what in Part]
    grown = earlier is None or earlier.seq < report.rows
    recording = recorder.recording(game_id, by_kind) if grown and not rows else None
    return CheckResult(report.rows, len(rows), min(rows, default=0), changed, recording)


def _rules(game: StoredGame) -> Game[Any] | str:
    """The rules that a game began with, or why it cannot be replayed. A table whose rules have changed is replayed too."""
    if game.halted == Cause.FAILED:
        return "its rules have failed before"
    rules = rules_for(game.kind, game.id)
    if isinstance(rules, Away):
        return f"the game “{game.kind}” is not on this server"
    try:
        return rules.by_version(game.rules)
    except Refused as refused:
        return str(refused.text)


def _is_of_rules(error: Exception) -> bool:
    """Whether an error comes from the rules of a game or the engine, by the code that it passed through.

    One from the server's own code alone, or from the database, is no reason to stop a table.
    """
    modules = (str(frame.f_globals.get("__name__")) for frame, _line in walk_tb(error.__traceback__))
    return isinstance(error, Unplayable) or any(module.partition(".")[0] not in _NO_RULES for module in modules)


def _problems(
    game: StoredGame, rows: list[hash_chain.Row], views: list[ViewRow], reader: LogReader, recorder: Recorder
) -> Iterator[Problem]:
    """Read the log of a game, and compare it with its hashes, its snapshot and its stored views."""
    for flaw in hash_chain.verify(rows, game=game.key, head=game.head).flaws:
        yield Problem(flaw.seq, Check.CHAIN, flaw.says)
    for row in rows:
        reader.read(row)
        recorder.follow(reader, row)
        yield from of_views(reader, views, row.seq)
    reader.end()
    yield from reader.problems
    for says in snapshot(reader, game._asdict()):
        yield Problem(game.seq, Check.BESIDE, says)


def _alone(config: Config, sizes: Mapping[int, int]) -> Replays:
    with open_store(config, current=False) as store:
        by_kind = codes(config)
        for game_ids in _batches(sizes):
            yield _replay(store, game_ids, by_kind)


def _in_processes(config: Config, sizes: Mapping[int, int], number: int) -> Replays:
    waiting = _batches(sizes)
    with ExitStack() as open_processes:
        lines = [open_processes.enter_context(_process(config)) for _ in range(number)]
        busy: list[Connection] = []
        for line, game_ids in zip(lines, waiting, strict=False):
            line.send(game_ids)
            busy.append(line)
        while busy:
            for ready in connection.wait(busy):
                line = next(each for each in busy if each is ready)
                yield _received(line)
                if game_ids := next(waiting, []):
                    line.send(game_ids)
                else:
                    busy.remove(line)


@contextmanager
def _process(config: Config) -> Iterator[Connection]:
    """A process that replays the games whose ids it is sent, until the line to it is closed."""
    context = get_context("spawn")
    line, its_end = context.Pipe()
    process = context.Process(target=_work, args=(its_end, config), daemon=True)
    with line:
        with its_end:
            process.start()
        try:
            yield line
        finally:
            process.terminate()
            process.join()
            process.close()


def _received(line: Connection) -> list[Replayed]:
    try:
        replayed: list[Replayed] = line.recv()
    except EOFError:
        why = "It may have run out of memory."
        raise Fault("A process replaying games has died.", why=why, remedy="Try fewer, with --processes 1.") from None
    return replayed


def _work(line: Connection, config: Config) -> None:
    # Ctrl-C reaches every process of a terminal; the one that started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open_store(config, current=False) as store, suppress(EOFError):
        by_kind = codes(config)
        while True:
            line.send(_replay(store, line.recv(), by_kind))


def _replay(store: Store, game_ids: list[int], by_kind: Mapping[str, str]) -> list[Replayed]:
    replayed = []
    for game_id in game_ids:
        # A demo may have been deleted since.
        with suppress(NotFound), store.read() as tx:
            replayed.append(replay_game(tx, game_id, by_kind))
    return replayed


def _batches(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    waiting = iter(sizes)
    while game_ids := list(islice(waiting, GAMES_AT_ONCE)):
        yield game_ids
