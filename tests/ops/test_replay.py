"""What `pbem replay` finds: nothing while the rules are as they were, and everything that a release changed in them."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sqlalchemy import inspect, select, text, update

from engine import registry
from engine.facts import SPECTATOR
from engine.rulings import Part, Ruling
from pbem.config import read
from pbem.config.settings import Config
from pbem.domain.errors import Refusal
from pbem.ops import backup, replay_gate
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.play import positions, undo, views
from pbem.service.server import Server
from pbem.store import games, recordings
from pbem.store.database import Store
from pbem.store.schema import GAME, VIEW
from tests.ops.releases import (
    KINDS,
    SQLITE,
    Replay,
    Table,
    blind_spectator,
    config,
    ended,
    fewer_choices,
    found,
    of_another_release,
    other_draws,
    played,
    renamed_field,
    replayed,
    score_off_by_one,
    stopped,
)
from tests.service.actors import moderate
from tests.service.running_game import RunningGame

__all__ = ["config", "replayed"]

PLANTED = {
    fewer_choices: {"offers", "choices"},
    blind_spectator: {"views", "facts"},
    score_off_by_one: {"scores"},
    renamed_field: {"facts"},
    other_draws: {"choices"},
}


@pytest.mark.parametrize(
    ("database_url", "kind"),
    [*(("sqlite", kind) for kind in KINDS), pytest.param("postgresql", KINDS[0], marks=pytest.mark.postgresql)],
    indirect=["database_url"],
)
def test_every_planted_change_is_found_in_every_game(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    begun = played(table(kind, registry.load(kind).seats[1]), 15)
    assert replayed("replay", "--json").exit_code == 0
    for plant, parts in PLANTED.items():
        with monkeypatch.context() as planting:
            plant(planting, kind)
            result = replayed("replay", "--json")
        assert result.exit_code == 1, plant
        assert set(found(result)[begun.id]) & parts, (plant, result.stdout)
    assert replayed("replay", "--json").exit_code == 0


@SQLITE
def test_a_difference_is_named_with_its_turn_and_what_to_do(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("sunset-poker"), 12)
    assert replayed("replay").stdout == f"1 game, {begun.row().seq} rows replayed: no games with differences.\n"
    with monkeypatch.context() as planting:
        blind_spectator(planting, "sunset-poker")
        result = replayed("replay")
    name = f"game {begun.id} (sunset-poker, rules 1, playing)"
    assert f"{name}: turn 0, row 2, views: the seats' views differ from what they were told" in result.stdout
    assert result.stdout.endswith(": 1 game with differences.\n")
    assert "Stay with the release they were played with" in result.stderr
    assert result.exit_code == 1


@SQLITE
def test_a_game_without_a_recording_is_compared_with_its_log_alone(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("bid"), 6)
    with monkeypatch.context() as planting:
        other_draws(planting, "bid")
        assert found(replayed("replay", "--json")) == {begun.id: ["choices"]}
    with monkeypatch.context() as planting:
        # Nothing tells what was shown before: this is the first recording.
        score_off_by_one(planting, "bid")
        assert replayed("replay").exit_code == 0
    assert found(replayed("replay", "--json")) == {begun.id: ["scores"]}


def taken_back(begun: RunningGame) -> None:
    """The game after choices that were taken back."""
    for _ in range(12):
        seat, decision = next(iter(begun.asked().items()))
        turn = begun.row().turn
        begun.play(seat, decision.default)
        with suppress(Refusal):
            begun.server.run(undo.take_back, begun.id, turn, seat)
            begun.play(seat, decision.default)
    assert any(row.kind == "Undone" for row in begun.log())


def rewound(begun: RunningGame) -> None:
    """The game after an organiser has let it go on from an earlier turn."""
    moderate(begun.server, Rewind(begun.id, 2))
    played(begun, 3)


def finished(begun: RunningGame) -> None:
    """The game at its end."""
    for _ in begun.play_defaults():
        pass
    assert begun.row().status == "over"


@SQLITE
@pytest.mark.parametrize(
    ("kind", "became"),
    [("bid", ended), ("bid", stopped), ("sun-bid", taken_back), ("templari", rewound), ("sorcerous-futures", finished)],
)
def test_a_game_is_the_same_whatever_became_of_it(
    table: Table, replayed: Replay, kind: str, became: Callable[[RunningGame], object]
) -> None:
    begun = played(table(kind), 5)
    assert replayed("replay").exit_code == 0
    became(begun)
    assert replayed("replay").stdout == f"1 game, {begun.row().seq} rows replayed: no games with differences.\n"


@SQLITE
def test_recordings_come_back_with_a_backup(
    table: Table, config: Config, pbem: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("templari"), 12)
    assert pbem("replay", PBEM_DATABASE_URL=config.database_url).exit_code == 0
    backup.backup(config, tmp_path / "saved.sqlite3", with_keys=False)
    again = read({"PBEM_DATA_DIR": str(tmp_path / "again")})
    (tmp_path / "again").mkdir()
    backup.restore(again, tmp_path / "saved.sqlite3")
    score_off_by_one(monkeypatch, "templari")
    assert found(pbem("replay", "--json", PBEM_DATABASE_URL=again.database_url)) == {begun.id: ["scores"]}


@SQLITE
def test_a_ruling_explains_what_it_changes_once(
    table: Table, replayed: Replay, server: Server, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, rules = played(table("bid"), 12), type(registry.load("bid"))
    standing = rules.standing
    replayed("replay")
    with monkeypatch.context() as release:
        score_off_by_one(release, "bid")
        for wrong in (Ruling(1, frozenset({Part.SCORES}), "Another version."), Ruling(2, frozenset({Part.VIEWS}), "")):
            with monkeypatch.context() as ruled:
                ruled.setattr(rules, "rulings", (wrong,))
                assert found(replayed("replay", "--json")) == {begun.id: ["scores"]}
        ruling = Ruling(2, frozenset({Part.SCORES}), "The first seat was cheated of a point.")
        release.setattr(rules, "rulings", (ruling,))
        assert replayed("replay").exit_code == 0
        with monkeypatch.context() as before:
            # Until the new release plays on, the one before may come back.
            before.setattr(rules, "standing", standing)
            before.setattr(rules, "rulings", ())
            assert replayed("replay").exit_code == 0
        of_another_release(release)
        replay_gate.before_start(server, config)
        # Now this is how the game is, and the ruling explains no second change.
        score_off_by_one(release, "bid")
        assert found(replayed("replay", "--json")) == {begun.id: ["scores"]}


@SQLITE
@pytest.mark.parametrize(("became", "unknown"), [(rewound, "answers"), (finished, "answers"), (finished, "sealed")])
def test_a_state_or_view_of_another_shape_is_read_from_the_log(
    table: Table,
    replayed: Replay,
    server: Server,
    config: Config,
    became: Callable[[RunningGame], object],
    unknown: str,
) -> None:
    begun = played(table("sorcerous-futures"), 25)
    while views.save_overdue(server):
        pass
    before = begun.position(), [begun.view(seat) for seat in range(begun.row().seats)]
    _of_another_shape(server, begun.id, unknown)
    assert (begun.position(), [begun.view(seat) for seat in range(begun.row().seats)]) == before
    assert replayed("verify").exit_code == replayed("replay").exit_code == 0
    replay_gate.before_start(server, config)
    assert begun.row().status == "playing"
    became(begun)
    _of_another_shape(server, begun.id, unknown)
    with server.store.read() as tx:
        moment = views.moment_at(tx, games.read(tx, begun.id), [0, SPECTATOR], begun.row().turn - 1)
    assert moment is not None
    assert begun.row().status != "over" or begun.ranking()
    assert replayed("verify").exit_code == 0
    assert replayed("rebuild").exit_code == 0
    assert f'"{unknown}"' in begun.row().state


def _of_another_shape(server: Server, game_id: int, unknown: str) -> None:
    """Store the states and views of a game as a release wrote them that had no such field, in a state or in an answer."""

    def without(data: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in data.items() if name != unknown}

    def store(tx: Any) -> None:
        for table, name, of_game in ((GAME, "state", GAME.c.id), (VIEW, "body", VIEW.c.game_id)):
            for row in tx.execute(select(table).where(of_game == game_id)).mappings().all():
                stored = json.loads(row[name], object_hook=without)
                same = of_game == game_id, table.c[name] == row[name]
                tx.execute(update(table).where(*same).values({name: json.dumps(stored)}))

    server.store.write(store)
    positions.POSITIONS.clear()
    views.READ.clear()


@SQLITE
def test_a_running_game_whose_rules_are_there_no_more_differs_and_a_finished_one_is_left_out(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, _over = table("bid"), ended(table("bid"))
    monkeypatch.setattr(type(registry.load("bid")), "OLDEST", 3)
    monkeypatch.setattr(type(registry.load("bid")), "RULES", 3)
    monkeypatch.setattr(registry.load("bid"), "version", 3)
    result = replayed("replay", "--json")
    assert found(result) == {running.id: ["rules"]}
    assert json.loads(result.stdout.splitlines()[-1])["left_out"] == 2


@SQLITE
def test_rules_that_fail_are_a_difference_however_they_fail(
    table: Table, replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = played(table("bid"), 6)
    for failure in (NameError("cards"), ZeroDivisionError()):

        def fail(self: Any, state: Any, failure: Exception = failure) -> Any:
            raise failure

        with monkeypatch.context() as planting:
            planting.setattr(type(registry.load("bid")), "standing", fail)
            result = replayed("replay", "--json")
        assert result.exit_code == 1
        assert begun.id in found(result)
        assert type(failure).__name__ in result.stdout


@SQLITE
def test_a_damaged_log_is_no_difference_of_the_rules(table: Table, replayed: Replay) -> None:
    begun = played(table("bid"), 6)
    damage = text("UPDATE log SET by = 'clock' WHERE game_id = :game AND seq = 3")
    begun.server.store.write(lambda tx: tx.execute(damage, {"game": begun.id}))
    result = replayed("replay")
    assert result.exit_code == 0
    assert f"left out, because its log is damaged: see `pbem verify --game {begun.id}`" in result.stdout


@SQLITE
def test_a_database_that_was_not_migrated_yet_is_replayed(table: Table, replayed: Replay, config: Config) -> None:
    """Columns that a later release adds are missing in a database of this one: replay reads none but those it needs."""
    begun = played(table("bid"), 6)
    needed = {*recordings.StoredGame._fields, "started_at"}

    def drop(tx: Any) -> None:
        for index in inspect(tx).get_indexes("game"):
            tx.exec_driver_sql(f"DROP INDEX {index['name']}")
        for column in inspect(tx).get_columns("game"):
            if column["name"] in ("title", "pace", "private", "doubles", "expires_at", "missed_limit", "created_at"):
                assert column["name"] not in needed
                tx.exec_driver_sql(f"ALTER TABLE game DROP COLUMN {column['name']}")
        tx.exec_driver_sql("DROP TABLE outbox")

    begun.server.store.write(drop)
    assert replayed("replay").stdout.startswith("1 game, ")


@SQLITE
def test_an_empty_database_and_one_of_a_newer_release_are_refused(
    replayed: Replay, config: Config, store: Store
) -> None:
    store.write(lambda tx: tx.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'"))
    assert "newer than this release" in replayed("replay").stderr
    store.write(lambda tx: tx.exec_driver_sql("DELETE FROM alembic_version"))
    assert "doesn't say which step" in replayed("replay").stderr
