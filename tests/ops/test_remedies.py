"""A broken server is mended by doing what its messages say, and no advice leads back to itself."""

import os
import re
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pbem.config import read
from pbem.ops import backup
from pbem.ops.setup import make_ready, open_store, server_on
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from tests.ops.conftest import Run
from tests.ops.processes import run

pytestmark = pytest.mark.slow

Spoil = Callable[[Path], None]

COMMANDS = ("doctor", "serve", "init", "migrate", "restore", "backup")
MOST = 12
"""Commands until all is well: more would be going round in circles."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a server with a game; its backup is beside the folder."""
    folder = tmp_path_factory.mktemp("whole") / ".pbem"
    config = make_ready(read({"PBEM_DATA_DIR": str(folder)}))
    with open_store(config) as store:
        server = server_on(store, config)
        ann = server.run(addresses.confirm, server.run(addresses.register, "ann@example.org", "Ann").id).id
        game = server.run(joining.create_table, ann, TableSettings("bid", 3, {}, "1d", bots=("random", "random")))
        server.run(joining.join, game.game_id, ann)
    backup.backup(config, folder.with_name("backup"), with_keys=True)
    return folder


def gone(*names: str) -> Spoil:
    def do(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return do


def filled(content: bytes) -> Spoil:
    def do(folder: Path) -> None:
        (folder / "pbem.sqlite3").write_bytes(content)

    return do


def both(*spoils: Spoil) -> Spoil:
    def do(folder: Path) -> None:
        for spoil in spoils:
            spoil(folder)

    return do


def damaged(folder: Path) -> None:
    file = folder / "pbem.sqlite3"
    content = bytearray(file.read_bytes())
    content[len(content) // 4 : len(content) // 2] = b"x" * (len(content) // 2 - len(content) // 4)
    file.write_bytes(content)


def changed(*statements: str) -> Spoil:
    def do(folder: Path) -> None:
        with sqlite3.connect(folder / "pbem.sqlite3") as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return do


def no_game(folder: Path) -> None:
    """A server that has lost everything but its database, with no game in it."""
    for each in folder.iterdir():
        each.unlink()
    make_ready(read({"PBEM_DATA_DIR": str(folder)}))
    (folder / "keys").unlink()


def other_keys(folder: Path) -> None:
    no_game(folder)
    make_ready(read({"PBEM_DATA_DIR": str(folder)}))


SPOILT: dict[str, Spoil] = {
    "nothing": shutil.rmtree,
    "the database is gone": gone("pbem.sqlite3"),
    "the keys are gone": gone("keys"),
    "both are gone": gone("pbem.sqlite3", "keys"),
    "the keys of an unused server are gone": no_game,
    "an unused server with keys of its own": other_keys,
    "the file is empty": filled(b""),
    "the file is empty and the keys are gone": both(filled(b""), gone("keys")),
    "the file is a text": filled(b"text"),
    "the file is damaged": damaged,
    "the file is damaged and the keys are gone": both(damaged, gone("keys")),
    "an index is gone": changed("DROP INDEX ix_outbox_due"),
    "a column is gone": changed("ALTER TABLE ban DROP COLUMN reason"),
    "a table is gone": changed("DROP TABLE heartbeat"),
    "a constraint is too many": changed("CREATE UNIQUE INDEX mine ON game (id, status)"),
    "the step is gone": changed("DROP TABLE alembic_version"),
    "the step is of a newer release": changed("UPDATE alembic_version SET version_num = '9999'"),
    "all is well": lambda _: None,
}


class Operator:
    """Someone who does what messages say, and nothing else."""

    def __init__(self, pbem: Run, folder: Path, whole: Path, choice: int, port: int) -> None:
        self.port = port
        self.pbem, self.folder, self.backup, self.choice = pbem, folder, whole.with_name("backup"), choice
        self.environ: dict[str, str] = {}
        self.seen: list[tuple[str, str]] = []

    def until_it_works(self, command: str) -> None:
        """Run a command, and do what it says until it works or asks for what cannot be done here."""
        while True:
            code, output = self._run(command)
            assert "Traceback" not in output
            if code == 0 or re.search(r"Port \d+ of .* is in use|not empty|already exists\. |newer", output):
                return
            assert (command, output) not in self.seen, f"the advice of {command} leads back to itself:\n{output}"
            self.seen.append((command, output))
            assert len(self.seen) < MOST, self.seen
            acted = self._by_hand(output)
            advised = [each for each in re.findall(r"`pbem ([^`]+)`", output) if each != command]
            # Keys that were put back need no others.
            if advised and "Put them back" not in (output if acted else ""):
                self.until_it_works(advised[self.choice])
            assert acted or advised, f"{command} does not say what to do:\n{output}"

    def _run(self, command: str) -> tuple[int, str]:
        words = command.split()
        if words[0] == "restore":
            words.append(str(self.backup))
        elif words[0] == "backup":
            words.append(str(self.folder / f"saved-{len(self.seen)}-{os.urandom(4).hex()}"))
        elif words[0] == "copy":
            new = f"sqlite:///{self.folder}/copied.sqlite3"
            words += ["--from", read(os.environ | self.environ).database_url, "--to", new]
        if words[0] in ("serve", "worker"):
            # A port is taken, so that what could start does not stay.
            port = "PBEM_WEB_PORT" if words[0] == "serve" else "PBEM_WEB_ADMIN_PORT"
            process = run(*words, folder=Path.cwd(), **self.environ, **{port: str(self.port)})
            return process.returncode, process.stdout
        result = self.pbem(*words, **self.environ)
        output = result.output
        if words[0] == "copy" and result.exit_code == 0:
            self.environ["PBEM_DATABASE_URL"] = new
        if words[0] == "doctor":
            output = "".join(re.findall(r"^error .*\n(?: +->.*\n)?", output, re.MULTILINE))
        return result.exit_code, output

    def _by_hand(self, output: str) -> bool:
        """Do what no command does; returns whether there was anything."""
        data = self.folder / ".pbem"
        acted = False
        if re.search("move the (file|database) away", output, re.IGNORECASE):
            for each in data.glob("pbem.sqlite3*"):
                each.replace(self.folder / f"away-{each.name}")
            acted = True
        for path in re.findall(r"Move (\S.*?) away", output):
            if path.startswith(str(data)):
                Path(path).replace(self.folder / "away")
                acted = True
        if (found := re.search(r"Put them back .* belongs at (.*?/keys)\.", output)) and self.choice == 0:
            shutil.copy(f"{self.backup}.keys", found[1])
            acted = True
        for statement in re.findall(r"Create it again: (.*;)", output):
            changed(statement)(data)
            acted = True
        return acted


@pytest.fixture
def port_in_use() -> Iterator[int]:
    """A port that is taken."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


@pytest.mark.slice(1 / 3)
@pytest.mark.parametrize("choice", [0, -1], ids=["first advice", "last advice"])
@pytest.mark.parametrize("state", SPOILT)
def test_doing_what_is_said_mends_it(
    pbem: Run, folder: Path, whole: Path, state: str, choice: int, port_in_use: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where there is a choice these two say it.
    for command in COMMANDS if choice == 0 else ("doctor", "init"):
        inside = folder / command.replace(" ", "-")
        inside.mkdir()
        monkeypatch.chdir(inside)
        shutil.copytree(whole, inside / ".pbem")
        SPOILT[state](inside / ".pbem")
        Operator(pbem, inside, whole, choice, port_in_use).until_it_works(command)
