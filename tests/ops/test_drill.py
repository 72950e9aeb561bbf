"""The nightly backup, the drill and the real thing, with the very lines of the handbook: a server is saved, wrecked, brought
back, and goes on."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pbem import paths
from pbem.config import read
from pbem.config.settings import Config
from pbem.ops.setup import open_store, server_on
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service.people import addresses
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from tests.handbook.test_running import files
from tests.ops.processes import environment, run
from tests.service.running_game import RunningGame

pytestmark = pytest.mark.slow

PAGE = (paths.handbook() / "small-machine.md").read_text(encoding="utf-8")


class Machine:
    """A folder that looks to the lines of the handbook like the machine they were written for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.data, self.backups, self.programs = root / "lib", root / "backups", root / "bin"
        for folder in (self.backups, self.programs):
            folder.mkdir()
        self._program("pbem", f'exec "{sys.executable}" -m pbem "$@"')
        self._program("systemctl", f'echo "$@" >> {root}/services')
        self.environ = environment(PBEM_DATA_DIR=str(self.data), TMPDIR=str(root / "tmp"))
        self.environ["PATH"] = f"{self.programs}:{os.environ['PATH']}"
        (root / "tmp").mkdir()

    @property
    def config(self) -> Config:
        """The settings of the server."""
        return read({"PBEM_DATA_DIR": str(self.data)})

    def does(self, lines: str) -> subprocess.CompletedProcess[str]:
        """Run lines of the page, with the folders of this machine."""
        for there, here in (("/var/backups/pbem", self.backups), ("/var/lib/pbem", self.data)):
            lines = lines.replace(there, str(here))
        lines = lines.replace("/srv/pbem/venv/bin/", f"{self.programs}/")
        return subprocess.run(
            ["sh", "-e"], input=lines, cwd=self.root, env=self.environ, capture_output=True, text=True, check=False
        )

    def _program(self, name: str, script: str) -> None:
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)


def commands_of(heading: str) -> str:
    """The commands of the page under this heading."""
    (lines,) = re.findall(rf"```sh\n# {heading}\n(.*?)```", PAGE, re.DOTALL)
    return str(lines)


def backup_of_the_unit() -> str:
    """What the unit of the nightly backup runs first, as systemd gives it to the shell."""
    unit = files("small-machine")["/etc/systemd/system/pbem-backup.service"]
    (command,) = re.findall(r"^ExecStart=/bin/sh -ec '(.*)'$", unit, re.MULTILINE)
    return str(command).replace("%%", "%")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a server on it, two games in their middles, and the backup of a night."""
    made = Machine(tmp_path)
    assert run("init", folder=tmp_path, PBEM_DATA_DIR=str(made.data)).returncode == 0
    with open_store(made.config) as store:
        server = server_on(store, made.config)
        ann, ben = (
            server.run(addresses.confirm, server.run(addresses.register, f"{name}@example.org", name).id).id
            for name in ("ann", "ben")
        )
        for settings in (TableSettings("sun-bid", 2, {}, "1d"), TableSettings("bid", 3, {}, "1d", bots=("random",))):
            game = RunningGame(server, server.run(joining.create_table, ann, settings).game_id)
            for player in (ann, ben):
                server.run(joining.join, game.id, player)
            for _ in zip(range(4), game.play_defaults(), strict=False):
                pass
    saved = made.does(backup_of_the_unit())
    assert saved.returncode == 0, saved.stderr
    return made


def heads(config: Config) -> list[tuple[str, bytes]]:
    """How far every game is; each of them has to verify."""
    with open_store(config) as store:
        ids, _ = games_to_verify(store)
        assert all(report.sound for report in verify_games(store, ids))
        server = server_on(store, config)
        return [(row.key, row.head) for row in (RunningGame(server, game_id).row() for game_id in ids)]


def test_the_drill_brings_a_backup_back_beside_the_running_server_and_leaves_nothing(machine: Machine) -> None:
    before = (machine.data / "pbem.sqlite3").read_bytes()
    drilled = machine.does(commands_of("The drill."))
    assert drilled.returncode == 0, drilled.stderr
    assert "Restored and verified 2 games" in drilled.stdout
    assert re.search(r"2 games, \d+ rows, .* no games with faults", drilled.stdout)
    assert list((machine.root / "tmp").iterdir()) == []
    assert (machine.data / "pbem.sqlite3").read_bytes() == before


def test_the_drill_fails_where_the_backup_is_damaged(machine: Machine) -> None:
    (file,) = machine.backups.glob("pbem-*.sqlite3")
    content = bytearray(file.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 20_000] = b"x" * 20_000
    file.write_bytes(content)
    drilled = machine.does(commands_of("The drill."))
    assert drilled.returncode != 0
    assert "Traceback" not in drilled.stderr


def test_a_wrecked_server_comes_back_with_its_games_and_its_links_and_goes_on(machine: Machine) -> None:
    games, keys = heads(machine.config), machine.config.keys
    with (machine.data / "pbem.sqlite3").open("r+b") as file:
        file.write(os.urandom(100_000))
    (machine.data / "keys").unlink()
    assert run("doctor", folder=machine.root, PBEM_DATA_DIR=str(machine.data)).returncode == 1
    restored = machine.does(commands_of("The real thing."))
    assert restored.returncode == 0, restored.stderr
    assert (machine.root / "services").read_text() == "stop pbem\nstart pbem\n"
    assert stat.S_IMODE((machine.data / "pbem.sqlite3").stat().st_mode) == 0o600
    assert heads(machine.config) == games
    assert machine.config.keys == keys
    with open_store(machine.config) as store:
        game = RunningGame(server_on(store, machine.config), 1)
        next(game.play_defaults())
        assert game.verifies()
