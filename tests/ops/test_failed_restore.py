"""A restore that fails leaves nothing behind, and says whether the backup is at fault or this machine."""

import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from pbem.config import read
from pbem.config.settings import Config
from pbem.domain.errors import BadInput, Fault, PbemError
from pbem.ops import backup
from pbem.ops.backup import working_copy
from pbem.ops.commands.terminal import operator
from pbem.ops.restore_game import restore_game
from pbem.ops.setup import make_ready, open_store, server_on
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import database_copy
from pbem.store.database import Store
from tests.ops.processes import run, run_on_a_full_disk, serving
from tests.service.conftest import postgresql_database
from tests.service.running_game import RunningGame

pytestmark = pytest.mark.slow

Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a server with games, and its keys beside it."""
    folder = tmp_path_factory.mktemp("saved")
    config = make_ready(read({"PBEM_DATA_DIR": str(folder / "data")}))
    with open_store(config) as store:
        server = server_on(store, config)
        ann = server.run(addresses.confirm, server.run(addresses.register, "ann@example.org", "Ann").id).id
        for kind in ("sun-bid", "bid"):
            settings = TableSettings(kind, 3, {}, "1d", bots=("random", "random"))
            game = RunningGame(server, server.run(joining.create_table, ann, settings).game_id)
            server.run(joining.join, game.id, ann)
            for _ in zip(range(4), game.play_defaults(), strict=False):
                pass
    path = folder / "backup"
    backup.backup(config, path, with_keys=True)
    return path


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    """The same, to be spoilt."""
    path = tmp_path / "backup"
    for end in ("", ".keys"):
        shutil.copy(f"{saved}{end}", f"{path}{end}")
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Config]:
    """A machine without a server; nothing may be on it afterwards."""
    (tmp_path / "lib").mkdir()
    yield read({"PBEM_DATA_DIR": str(tmp_path / "lib" / "deep" / "pbem")})
    assert list((tmp_path / "lib").iterdir()) == []


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"x" * 20_000)


def change(statement: str) -> Damage:
    """Spoil a backup with a statement."""

    def do(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return do


def spoil_keys(path: Path) -> None:
    path.with_name("backup.keys").write_text("no key\n")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (cut, "damaged|malformed|disk image"),
        (overwrite, "damaged|malformed|disk image"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(100)), "not a database|malformed"),
        (lambda path: path.write_text("text"), "It wasn.t written by `pbem backup`"),
        (change("DROP TABLE alembic_version"), "It contains no server"),
        (change("ALTER TABLE ban DROP COLUMN reason"), "lacks the column reason"),
        (change("DROP TABLE tally"), "The table tally is missing"),
        (change("UPDATE game SET state = '{}' WHERE id = 1"), "Game 1 does not verify"),
        (change("UPDATE log SET body = x'00ff' WHERE game_id = 1 AND seq = 1"), "Game 1 does not verify|can't be read"),
        (change("UPDATE person SET created_at = 'never'"), "cannot be read"),
        (change("PRAGMA ignore_check_constraints = 1"), None),
        (spoil_keys, "key"),
    ],
)
def test_a_backup_at_fault_is_named_and_leaves_nothing(
    copied: Path, machine: Config, damage: Damage, why: str | None
) -> None:
    damage(copied)
    if why is None:
        with sqlite3.connect(copied) as connection:
            connection.execute("PRAGMA ignore_check_constraints = 1")
            connection.execute("UPDATE game SET status = 'nonsense'")
        connection.close()
        why = "CHECK"
    with pytest.raises(
        BadInput, match=rf"(?s)The backup {copied} can't be used\..*({why}).*Nothing was restored. Use an earlier"
    ):
        backup.restore(machine, copied)


def test_any_bytes_may_be_wrong_and_nothing_stays(copied: Path, tmp_path: Path) -> None:
    whole, luck = copied.read_bytes(), random.Random(1)
    for number in range(25):
        content = bytearray(whole)
        for _ in range(luck.choice((1, 20))):
            content[luck.randrange(len(content))] = luck.randrange(256)
        copied.write_bytes(content)
        folder = tmp_path / f"try-{number}"
        outcome = run_here(folder, copied)
        assert outcome in ("", f"The backup {copied} can't be used.")
        assert folder.exists() == (outcome == "")


def run_here(folder: Path, path: Path) -> str:
    """Restore, and return what is wrong."""
    try:
        backup.restore(read({"PBEM_DATA_DIR": str(folder)}), path)
    except BadInput as refusal:
        return refusal.what
    return ""


@pytest.mark.parametrize("end", ["-wal", "-journal"])
@pytest.mark.parametrize("game", [None, "1"])
def test_a_database_whose_latest_changes_are_in_a_file_beside_it_is_no_backup(
    copied: Path, machine: Config, tmp_path: Path, end: str, game: str | None
) -> None:
    """That of a server that was killed: restored without them, it would lack what was confirmed last."""
    beside = copied.with_name(f"backup{end}")
    if end == "-wal":
        living = tmp_path / "living"
        shutil.copy(copied, living)
        connection = sqlite3.connect(living)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("UPDATE person SET name = 'Anna'")
        connection.commit()
        for each in ("", end):
            shutil.copy(f"{living}{each}", f"{copied}{each}")
        connection.close()
    else:
        beside.write_bytes(b"changes")
    here = make_ready(read({"PBEM_DATA_DIR": str(tmp_path / "here")}))
    restores: dict[str | None, Callable[[], object]] = {
        None: lambda: backup.restore(machine, copied),
        "1": lambda: restore_game(here, copied, "1", operator(), "It was damaged.", replacing=False, dry_run=False),
    }
    with pytest.raises(BadInput, match=rf"(?s){copied} isn't complete.*{beside}.*pbem backup"):
        restores[game]()
    beside.write_bytes(b"")
    with working_copy(copied, tmp_path, "copy.part") as store:
        assert database_copy.damage(store) is None


def test_keys_that_others_can_read_are_no_fault_of_the_backup(copied: Path, machine: Config) -> None:
    keys = copied.with_name("backup.keys")
    keys.chmod(0o644)
    with pytest.raises(
        BadInput, match=f"{keys} can be read by other people on this machine.*chmod 600 {keys}"
    ) as refused:
        backup.restore(machine, copied)
    assert "earlier backup" not in str(refused.value)


def test_a_backup_of_a_newer_release_asks_for_that_release(copied: Path, machine: Config) -> None:
    change("UPDATE alembic_version SET version_num = '9999'")(copied)
    with pytest.raises(BadInput, match=rf"The backup {copied} is from a newer release\..*Install that release"):
        backup.restore(machine, copied)


def test_a_full_disk_is_not_called_a_fault_of_the_backup_and_nothing_stays(copied: Path, machine: Config) -> None:
    outcome = run_on_a_full_disk("restore", str(copied), folder=copied.parent, PBEM_DATA_DIR=str(machine.data_dir))
    assert outcome.returncode == 1
    assert "can't be used" not in outcome.stdout
    assert "room" in outcome.stdout
    assert "Traceback" not in outcome.stdout


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_restore_that_is_stopped_leaves_nothing(copied: Path, machine: Config, how: signal.Signals) -> None:
    with serving("restore", str(copied), folder=copied.parent, PBEM_DATA_DIR=str(machine.data_dir)) as restoring:
        restoring.until("Copying")
        assert restoring.stop(how) == 130, restoring.output


def test_files_of_a_killed_restore_are_gone_after_the_next(copied: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with serving("restore", str(copied), folder=tmp_path, PBEM_DATA_DIR=str(folder)) as restoring:
        restoring.until("Copying")
        restoring.stop(signal.SIGKILL)
    assert {"pbem.sqlite3", "keys"}.isdisjoint(each.name for each in folder.iterdir())
    backup.restore(read({"PBEM_DATA_DIR": str(folder)}), copied)
    assert {each.name for each in folder.iterdir()} == {"pbem.sqlite3", "pbem.sqlite3.lock", "keys"}
    assert run("verify", folder=tmp_path, PBEM_DATA_DIR=str(folder)).returncode == 0


def test_a_database_that_is_there_stays_as_it_was(copied: Path, tmp_path: Path) -> None:
    config = make_ready(read({"PBEM_DATA_DIR": str(tmp_path / "data")}))
    (config.data_dir / "keys").unlink()
    change("UPDATE game SET state = '{}'")(copied)
    before = {each.name for each in config.data_dir.iterdir()}
    with pytest.raises(BadInput, match="can't be used"):
        backup.restore(read({"PBEM_DATA_DIR": str(config.data_dir)}), copied)
    assert {each.name for each in config.data_dir.iterdir()} == before
    file = config.data_dir / "pbem.sqlite3"
    for content in (b"SQLite format 3\x00" + bytes(5000), b"text"):
        file.write_bytes(content)
        with pytest.raises(PbemError, match=f"Move {file} away"):
            backup.restore(read({"PBEM_DATA_DIR": str(config.data_dir)}), copied)
        assert file.read_bytes() == content


def test_files_of_another_database_are_never_applied_to_a_restored_one(copied: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "pbem.sqlite3-wal").write_bytes(b"of another")
    with pytest.raises(PbemError, match=f"Move {folder}/pbem.sqlite3-wal away"):
        backup.restore(read({"PBEM_DATA_DIR": str(folder)}), copied)
    assert [each.name for each in folder.iterdir()] == ["pbem.sqlite3-wal"]


@pytest.mark.postgresql
def test_a_postgresql_database_has_no_table_after_a_restore_that_failed(copied: Path, tmp_path: Path) -> None:
    change("UPDATE game SET state = '{}'")(copied)
    with postgresql_database() as url:
        config = read({"PBEM_DATABASE_URL": url, "PBEM_DATA_DIR": str(tmp_path / "data")})
        with pytest.raises(BadInput, match="can't be used"):
            backup.restore(config, copied)
        store = Store(url)
        with store.read() as tx:
            assert inspect(tx).get_table_names() == []
        store.close()
    assert not (tmp_path / "data").exists()


def test_a_copy_that_fails_leaves_no_file(saved: Path, tmp_path: Path) -> None:
    config = read({"PBEM_DATA_DIR": str(tmp_path / "data")})
    backup.restore(config, saved)
    with open_store(config) as store:
        store.write(lambda tx: tx.execute(text("UPDATE game SET state = '{}'")))
    with pytest.raises(Fault, match="does not verify"):
        backup.copy(config.database_url, f"sqlite:///{tmp_path}/other/new.sqlite3")
    assert not (tmp_path / "other").exists()
