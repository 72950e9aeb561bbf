"""A release replays games before it migrates the database, before a process begins and once a day."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

import engine
from pbem.config.settings import Config
from pbem.domain.errors import Forbidden, Unplayable
from pbem.ops import doctor, replay, replay_gate, rules_code
from pbem.ops.rules_code import codes
from pbem.service.archive import daily_check
from pbem.service.clocks import stopped_tables
from pbem.service.server import Server
from pbem.store import alarms, recordings
from tests.ops.releases import (
    KINDS,
    SCORES,
    SQLITE,
    Replay,
    Table,
    config,
    ended,
    of_another_release,
    played,
    replayed,
    score_off_by_one,
    stopped,
)
from tests.plugins import broken

__all__ = ["config", "replayed"]


@SQLITE
def test_a_migration_is_refused_while_a_running_game_differs(
    table: Table, replayed: Replay, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("bid"), 6)
    assert "1 game, " in replayed("migrate").stdout
    with monkeypatch.context() as release:
        score_off_by_one(release, "bid")
        of_another_release(release)
        result = replayed("migrate")
        assert result.exit_code == 1
        assert f"game {begun.id} (bid, rules 2, playing): turn 0, row 2, scores" in result.stdout
        assert "The database was not migrated. With --without-replay" in result.stderr
        assert "newest step" not in result.stdout
        assert "newest step" in replayed("migrate", "--without-replay").stdout


@pytest.mark.slow
@SQLITE
def test_a_migration_replays_what_this_code_has_not_and_nothing_twice(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _over = played(table("bid"), 6), ended(table("bid"))
    assert "1 game, " in replayed("migrate").stdout, "finished games are not played on"
    assert "replayed" not in replayed("migrate").stdout
    played(first, 2)
    assert "1 game, " in replayed("migrate").stdout, "moves made meanwhile may be by other code"
    of_another_release(monkeypatch)
    assert "1 game, " in replayed("migrate").stdout


def test_a_process_that_begins_stops_the_tables_that_differ_and_plays_on_at_the_others(
    table: Table, server: Server, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = "bid"
    differs, same = played(table(kind), 6), played(table("sun-bid"), 6)
    replay_gate.before_start(server, config)
    assert differs.row().status == same.row().status == "playing"
    with monkeypatch.context() as release:
        of_another_release(release)
        score_off_by_one(release, kind)
        replay_gate.before_start(server, config)
        row = differs.row()
        assert (row.status, row.halted) == ("frozen", "changed")
        assert same.row().status == "playing"
        with pytest.raises(Forbidden):
            differs.play(0, "bid")
        with pytest.raises(Unplayable, match="Its rules have changed"):
            differs.view(0)
        unsent = server.store.write(lambda tx: alarms.take(tx, server.now()))
        sentence = f"bid: its rules have changed (turn 0, row 2, scores). See `pbem replay --game {differs.id}`."
        assert [alarm.says for alarm in unsent] == [sentence]
    of_another_release(monkeypatch, "mended")
    replay_gate.before_start(server, config)
    assert (differs.row().status, differs.row().halted) == ("playing", None)
    played(differs, 1)


@SQLITE
def test_a_table_that_an_organiser_has_stopped_waits_for_the_organiser_who_is_told(
    table: Table, server: Server, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("bid"), 6)
    replay_gate.before_start(server, config)
    stopped(begun)
    of_another_release(monkeypatch)
    score_off_by_one(monkeypatch, "bid")
    replay_gate.before_start(server, config)
    assert (begun.row().status, begun.row().halted) == ("frozen", None)
    assert [alarm.game_id for alarm in server.store.write(lambda tx: alarms.take(tx, server.now()))] == [begun.id]


@SQLITE
def test_a_table_whose_game_came_back_changed_stays_stopped(
    table: Table, server: Server, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("bid"), 6)
    replay_gate.before_start(server, config)
    with monkeypatch.context() as without:
        without.setattr(stopped_tables, "versions", dict)
        stopped_tables.check_rules(server)
    assert begun.row().halted == "gone"
    of_another_release(monkeypatch)
    score_off_by_one(monkeypatch, "bid")
    replay_gate.before_start(server, config)
    stopped_tables.check_rules(server)
    assert (begun.row().status, begun.row().halted) == ("frozen", "changed")


def test_the_daily_check_records_games_and_stops_those_that_differ(
    table: Table, server: Server, config: Config, monkeypatch: pytest.MonkeyPatch, clock: Any
) -> None:
    begun, by_kind = played(table("bid"), 6), codes(config)

    def look(tx: Any, game_id: int) -> daily_check.CheckResult:
        return replay.check_game(tx, game_id, by_kind)

    def recording() -> Any:
        with server.store.read() as tx:
            return recordings.of_game(tx, begun.id)

    daily_check.check_some(server, look)
    first = recording()
    assert (first.seq, first.code) == (begun.row().seq, by_kind["bid"])
    played(begun, 2)
    clock.advance(timedelta(days=1))
    daily_check.check_some(server, look)
    daily_check.check_some(server, look)
    assert recording().imprints[: len(first.imprints)] == first.imprints
    assert recording().seq == begun.row().seq > first.seq
    score_off_by_one(monkeypatch, "bid")
    clock.advance(timedelta(days=1))
    daily_check.check_some(server, look)
    daily_check.check_some(server, look)
    assert (begun.row().status, begun.row().halted) == ("frozen", "changed")


@SQLITE
def test_no_recording_is_left_of_a_table_that_was_deleted_meanwhile(
    table: Table, server: Server, config: Config
) -> None:
    begun = played(table("bid"), 3)
    replay_gate.before_start(server, config)
    with server.store.read() as tx:
        recording = recordings.of_game(tx, begun.id)
    assert recording is not None
    gone = replace(recording, game_id=begun.id + 100)
    server.store.write(lambda tx: recordings.keep(tx, [gone]))
    with server.store.read() as tx:
        assert recordings.of_game(tx, gone.game_id) is None


def test_the_name_of_the_code_changes_with_what_plays_the_game_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "engine"
    shutil.copytree(Path(engine.__file__).parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(rules_code, "_ENGINE", home)

    def renamed(source: str) -> set[str]:
        """The kinds of game whose code has another name after a change of this source."""
        names = []
        for _ in range(2):
            rules_code.own_code.cache_clear()
            rules_code.engine_files.cache_clear()
            names.append({kind: rules_code.own_code(kind) for kind in KINDS})
            with (home / source).open("a") as file:
                file.write("# Changed.\n")
        return {kind for kind in KINDS if names[0][kind] != names[1][kind]}

    (home / "words").mkdir()
    (home / "games" / "sun_bid" / "suns.txt").write_text("1 2 3\n")
    for spare in ("words/nouns.txt", "games/templari/cards/knights.json"):
        (home / spare).parent.mkdir(exist_ok=True)
        (home / spare).write_text("{}")
    assert renamed("testing/bench.py") == renamed("__main__.py") == renamed("README.md") == set()
    assert renamed("games/sun_bid/suns.txt") == {"sun-bid"}
    assert renamed("games/templari/cards/knights.json") == {"templari"}
    assert renamed("words/nouns.txt") == set(KINDS)
    assert renamed("games/sun_bid/scoring.py") == {"sun-bid"}
    assert renamed("facts.py") == renamed("decks/decktet.py") == set(KINDS)
    rules_code.own_code.cache_clear()
    rules_code.engine_files.cache_clear()


@pytest.mark.slow
@SQLITE
def test_a_game_of_another_package_is_replayed_too_and_needs_to_be_when_its_package_changes(
    offered: Callable[..., Any], table: Table, replayed: Replay, config: Config
) -> None:
    offered(broken.LANTERNS)
    begun = played(table("lanterns", 2), 4)
    assert replayed("migrate").exit_code == 0
    assert "replayed" not in replayed("migrate").stdout
    offered(broken.lanterns("standing", "view = replace(state, coins=state.coins)"))
    assert "1 game, " in replayed("migrate").stdout
    offered(broken.lanterns("standing", "state = replace(state, rows=tuple((*row, 'red') for row in state.rows))"))
    result = replayed("migrate")
    assert f"game {begun.id} (lanterns, rules 1, playing): turn 0, row 2, scores: {SCORES}" in result.stdout
    assert result.exit_code == 1


def test_a_fault_of_the_check_itself_stops_no_table_and_is_told(
    table: Table, server: Server, config: Config, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = played(table("bid"), 6)
    replay_gate.before_start(server, config)

    of_another_release(monkeypatch)
    monkeypatch.setattr(replay, "of_views", None)
    with capture_logs() as lines:
        replay_gate.before_start(server, config)
    assert game.row().status == "playing"
    (line,) = (each for each in lines if each["event"] == "replay_check_failed")
    assert (line["game"], line["log_level"]) == (game.id, "error")
    assert "the check itself failed, not the rules: TypeError: 'NoneType'" in line["why"]
    (finding,) = doctor._replayed(config, server.store)
    assert finding.says == f"This release has not replayed these running games: {game.id}."
    monkeypatch.undo()
    of_another_release(monkeypatch)
    replay_gate.before_start(server, config)
    assert not [*doctor._replayed(config, server.store)]
