"""One game restored from a backup into a server that is in use, by the command itself."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from pbem.config import read
from pbem.config.settings import Config
from pbem.ops import backup
from pbem.ops.restore_game import OTHER_KEYS
from pbem.ops.setup import make_ready, open_server, remember_keys
from pbem.ops.verify import verify_game
from pbem.service.server import Server
from pbem.store.database import Store
from pbem.store.schema import KNOWN_KEY, LOG
from tests.ops.conftest import Run
from tests.ops.test_backup import migrated
from tests.service.conftest import postgresql_database
from tests.service.database import all_rows
from tests.service.running_game import RunningGame

pytestmark = pytest.mark.slow

WHY = "--reason=Its record was damaged."


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database made by the steps: SQLite unless a test says otherwise."""
    if getattr(request, "param", "sqlite") == "postgresql":
        with postgresql_database() as url:
            yield migrated(url)
    else:
        yield migrated(f"sqlite:///{tmp_path}/source.sqlite3")


@pytest.fixture
def config(folder: Path, database_url: str) -> Config:
    """The settings of a server on that database, with keys."""
    return make_ready(read({"PBEM_DATABASE_URL": database_url}))


@pytest.fixture
def game(config: Config, server: Server, table: Callable[..., RunningGame]) -> RunningGame:
    """A game that a backup has, beside another."""
    found = table("sunset-poker", 3)
    table("templari", 3)
    plays(found, 4)
    with open_server(config) as opened:
        remember_keys(opened)
    return found


@pytest.fixture
def saved(config: Config, game: RunningGame, tmp_path: Path) -> Path:
    path = tmp_path / "saved.sqlite3"
    backup.backup(config, path, with_keys=True)
    return path


@pytest.fixture
def restore(pbem: Run, config: Config, saved: Path, database_url: str) -> Callable[..., str]:
    """Run `pbem restore` for the game, and return what it says; the code comes first if it is not 0."""

    def run(*arguments: str, path: Path = saved, which: int | str = 1) -> str:
        result = pbem("restore", str(path), "--game", str(which), *arguments, PBEM_DATABASE_URL=database_url)
        return (f"{result.exit_code}: " if result.exit_code else "") + result.output

    return run


def plays(game: RunningGame, moves: int) -> None:
    for _ in range(moves):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)


def damage_log(store: Store) -> None:
    store.write(lambda tx: tx.execute(delete(LOG).where(LOG.c.game_id == 1, LOG.c.seq == 2)))


def sound(store: Store, game: RunningGame) -> bool:
    with store.read() as tx:
        return verify_game(tx, game.id).sound


@pytest.mark.parametrize(
    "database_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
def test_a_damaged_game_is_restored_from_a_backup_that_stays_as_it_is(
    store: Store, game: RunningGame, saved: Path, restore: Callable[..., str]
) -> None:
    damage_log(store)
    as_saved = saved.read_bytes()
    output = restore(WHY)
    assert f"Game 1, {game.row().title}: " in output
    assert output.endswith("Restored and verified. Its players will be emailed.\n")
    assert "asked again" in output
    assert sound(store, game)
    assert saved.read_bytes() == as_saved
    plays(game, 5)
    assert sound(store, game)


def test_a_dry_run_says_what_would_be_lost_and_changes_nothing(
    store: Store, game: RunningGame, restore: Callable[..., str]
) -> None:
    plays(game, 3)
    before = all_rows(store)
    assert restore(WHY).startswith("1: ")
    output = restore(WHY, "--replace", "--dry-run")
    assert "Lost: turn" in output
    assert output.endswith("Nothing was changed: this was a preview.\n")
    assert all_rows(store) == before


def test_a_game_is_named_by_its_key_as_well(game: RunningGame, restore: Callable[..., str]) -> None:
    assert "verified" in restore(WHY, "--replace", which=game.row().key)
    assert restore(WHY, which="no such key").startswith("1: ")
    assert restore(WHY, which=999).startswith("1: ")


def test_a_backup_in_which_the_game_is_damaged_too_is_refused_and_nothing_stays(
    store: Store, saved: Path, restore: Callable[..., str], config: Config
) -> None:
    copy = Store(f"sqlite:///{saved}")
    damage_log(copy)
    copy.close()
    before = all_rows(store)
    assert "fails verification in the backup" in restore(WHY, "--replace")
    assert all_rows(store) == before
    assert not list(config.data_dir.rglob("*.part"))


def test_a_file_of_a_table_that_lies_is_found_out_and_nothing_stays(
    store: Store, pbem: Run, database_url: str, game: RunningGame, tmp_path: Path, restore: Callable[..., str]
) -> None:
    file = tmp_path / "table.json"
    exported = pbem("table", "export", "1", str(file), WHY, PBEM_DATABASE_URL=database_url)
    assert "It shows every hidden card" in exported.output
    assert file.stat().st_mode & 0o077 == 0
    assert "already exists" in pbem("table", "export", "1", str(file), WHY, PBEM_DATABASE_URL=database_url).output
    document = json.loads(file.read_text())
    row = document["log"][1]
    row["body"] = row["body"].replace("1", "2", 1)
    lie = tmp_path / "lie.json"
    lie.write_text(json.dumps(document))
    before = all_rows(store)
    assert f"fails verification in the backup {lie}" in restore(WHY, "--replace", path=lie)
    assert all_rows(store) == before
    assert "verified" in restore(WHY, "--replace", path=file)
    assert restore(WHY, path=file, which=2).startswith("1: ")
    assert sound(store, game)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE game SET status = 'impossible' WHERE id = 1",
        "UPDATE game SET seals = '[' WHERE id = 1",
        "UPDATE game SET options = '{' WHERE id = 1",
        "UPDATE game SET created_at = 'yesterday' WHERE id = 1",
        "UPDATE log SET body = X'ff' WHERE game_id = 1 AND seq = 2",
        "UPDATE log SET at = 'yesterday' WHERE game_id = 1 AND seq = 2",
        "UPDATE player SET bot = 'impossible' WHERE game_id = 1 AND number = 0",
    ],
)
def test_a_backup_whose_game_cannot_have_been_is_named_as_the_culprit_and_nothing_stays(
    store: Store, saved: Path, restore: Callable[..., str], config: Config, damage: str
) -> None:
    with closing(sqlite3.connect(saved)) as copy, copy:
        copy.execute("PRAGMA ignore_check_constraints = 1")
        copy.execute(damage)
    before = all_rows(store)
    output = restore(WHY, "--replace")
    assert output.startswith("1: ")
    assert str(saved) in output
    assert all_rows(store) == before
    assert not list(config.data_dir.rglob("*.part"))


def test_other_keys_are_told_of_and_in_nobodys_way(
    store: Store, game: RunningGame, saved: Path, restore: Callable[..., str]
) -> None:
    assert OTHER_KEYS not in restore(WHY, "--replace", "--dry-run")
    copy = Store(f"sqlite:///{saved}")
    copy.write(lambda tx: tx.execute(update(KNOWN_KEY).values(fingerprint="of another key")))
    copy.close()
    output = restore(WHY, "--replace")
    assert OTHER_KEYS in output
    assert sound(store, game)


def test_the_options_of_one_game_are_refused_without_it(pbem: Run, saved: Path) -> None:
    assert pbem("restore", str(saved), "--replace").exit_code == 2
    assert pbem("restore", str(saved), WHY).exit_code == 2
