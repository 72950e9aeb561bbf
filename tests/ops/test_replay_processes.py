"""Several processes replay the games of a server, for a release whose engine is another one."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from sqlalchemy import text

from pbem.config.settings import Config
from pbem.store.database import Store
from tests.ops.processes import PBEM, WAIT, environment, run
from tests.ops.releases import KINDS, SQLITE, Replay, Table, config, played, replayed
from tests.service.running_game import RunningGame
from tests.waiting import until

__all__ = ["config", "replayed"]

Release = Callable[[Mapping[str, tuple[str, str]]], dict[str, str]]


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """Make another release, by changes of the engine's source; returns the environment to run it in."""
    root = Path(__file__).resolve().parents[2]

    def make(changes: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        new = tmp_path / "release"
        shutil.rmtree(new, ignore_errors=True)
        shutil.copytree(root / "engine", new / "engine", ignore=shutil.ignore_patterns("__pycache__"))
        (new / "pbem").symlink_to(root / "pbem")
        for name, (old, changed) in changes.items():
            source = (new / "engine" / name).read_text(encoding="utf-8")
            assert source.count(old) == 1, name
            (new / "engine" / name).write_text(source.replace(old, changed), encoding="utf-8")
        return {"PYTHONPATH": str(new)}

    return make


@pytest.fixture
def twelve(table: Table, config: Config) -> list[RunningGame]:
    """More games than one process is handed at a time."""
    return [played(table(KINDS[number % len(KINDS)]), 4) for number in range(12)]


@pytest.mark.slow
def test_several_processes_find_what_another_release_changed(
    twelve: list[RunningGame], release: Release, replayed: Replay, config: Config, tmp_path: Path
) -> None:
    settings = {"PBEM_DATABASE_URL": config.database_url}
    words = ("replay", "--json", "--processes", "2")
    same = run(*words, folder=tmp_path, **settings)
    assert (same.returncode, json.loads(same.stdout.splitlines()[-1])["games"]) == (0, 12), same.stdout
    changes = {
        "games/bid/decisions.py": ("elif view.pawns[seat]:", "elif False:"),
        "games/sun_bid/__init__.py": (
            "return Standing(state.scores)",
            "return Standing(tuple(score + 1 for score in state.scores))",
        ),
    }
    new = release(changes)
    differing = {begun.id: begun.row().kind for begun in twelve if begun.row().kind in ("bid", "sun-bid")}
    result = run(*words, folder=tmp_path, **settings, **new)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert {line["game"]: line["kind"] for line in lines[:-1]} == differing
    assert (lines[-1]["games"], lines[-1]["differing"]) == (12, len(differing))
    assert result.returncode == 1
    # Of the games that did not change, nothing has to be replayed again.
    result = run("migrate", folder=tmp_path, **settings, **new)
    assert f"{len(differing)} games, " in result.stdout
    assert result.returncode == 1


@pytest.mark.slow
@SQLITE
def test_an_interrupt_leaves_no_process_and_no_half_of_a_recording(
    twelve: list[RunningGame], release: Release, config: Config, tmp_path: Path, store: Store
) -> None:
    slow = release({"imprint.py": ("    standing = ", '    __import__("time").sleep(600)\n    standing = ')})
    before = sorted(tmp_path.rglob("*"))
    started = subprocess.Popen(
        [*PBEM, "replay", "--processes", "2"],
        cwd=tmp_path,
        env=environment(PBEM_DATABASE_URL=config.database_url, PYTHONDONTWRITEBYTECODE="1", **slow),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    try:
        until(lambda: len(children.read_text().split()) >= 2, "two processes replay")
        os.killpg(started.pid, signal.SIGINT)
        output, _ = started.communicate(timeout=WAIT)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
    assert (started.returncode, "Interrupted." in output) == (130, True), output
    until(lambda: not in_group(started.pid), "no process is left")
    assert sorted(tmp_path.rglob("*")) == before
    with store.read() as tx:
        assert tx.execute(text("SELECT count(*) FROM recording")).scalar_one() == 0


def in_group(group: int) -> bool:
    """Whether a process of this group is alive."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
