"""What is installed from wheels works without the checkout: the server, its pages, its database, and other packages' games."""

import json
import os
import subprocess
import zipfile

import pytest

from tests.ops import installed
from tests.ops.installed import ROOT, TOY, Environment
from tests.ops.processes import WAIT, get, serving
from tests.ports import free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Our two wheels and that of a game."""
    folder = tmp_path_factory.mktemp("wheels")
    return [installed.build(source, folder) for source in (ROOT / "engine", ROOT, TOY)]


@pytest.fixture(scope="module")
def environment(wheels, tmp_path_factory):
    """An environment in which all three are installed."""
    return installed.environment(tmp_path_factory.mktemp("an environment") / "venv", *wheels)


def ran(environment: Environment, folder, *words, **settings):
    """What a program of the environment says, run where nothing of the checkout is found."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("PBEM_", "PYTHON"))}
    done = subprocess.run(
        [str(environment.folder / "bin" / words[0]), *words[1:]],
        cwd=folder,
        env=rest | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_each_wheel_holds_its_own_and_nothing_else(wheels):
    engine, server, game = (zipfile.ZipFile(wheel).namelist() for wheel in wheels)
    assert {name.partition("/")[0] for name in engine} == {"engine", "pbem_engine-1.0.dist-info"}
    assert {name.partition("/")[0].partition("-")[0] for name in server} == {"pbem"}
    assert not {"engine/pyproject.toml", "engine/README.md", "engine/.gitignore"} & set(engine)
    assert {"engine/py.typed", "engine/games/templari/__init__.py"} <= set(engine)
    assert {"pbem/_migrations/env.py", "pbem/_templates/web/base.html", "pbem/handbook/settings.md"} <= set(server)
    assert "fish_market.py" in game


def test_the_engine_needs_nothing_and_the_server_needs_the_engine(wheels):
    def requires(wheel):
        archive = zipfile.ZipFile(wheel)
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
        return [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]

    assert requires(wheels[0]) == []
    assert [each for each in requires(wheels[1]) if each.startswith("pbem-engine")] == ["pbem-engine<2,>=1.0"]
    assert requires(wheels[2]) == ["pbem-engine<2,>=1.0"]


def test_the_engine_alone_plays_checks_and_finds_other_packages_games(wheels, tmp_path):
    alone = installed.environment(tmp_path / "venv", wheels[0], wheels[2])
    (next((alone.folder / "lib").glob("python*/site-packages")) / "libraries.pth").unlink()
    assert "1. " in ran(alone, tmp_path, "python", "-m", "engine", "watch", "fish-market", "--seed", "1")
    assert "fish-market" in ran(alone, tmp_path, "python", "-m", "engine", "play", "--help")
    ran(alone, tmp_path, "python", "-m", "engine", "check", "fish-market")


def test_an_installed_server_makes_its_database_and_shows_its_pages(environment, tmp_path):
    port = free_port()
    program = [str(environment.pbem)]
    settings = {"PBEM_WEB_PORT": str(port), "PYTHONPATH": ""}
    with serving("serve", folder=tmp_path, program=program, **settings) as server:
        server.until("Stop it with Ctrl-C")
        for path, shown in (
            ("/", "Fish Market"),
            ("/new/fish-market", "Fish Market"),
            ("/games/fish-market", "Six fish worth 1 to 6 points"),
            ("/help/publish-a-game", "fish-market"),
            ("/mailbox", "mailbox"),
        ):
            status, page = get(port, path)
            assert (status, shown in page) == (200, True), path
        assert server.stop() == 0
    output = ran(environment, tmp_path, "pbem", "doctor", PBEM_WEB_PORT=str(port))
    assert "fish-market (fish-market 1.0, in a process of its own)" in output
    assert "already at the newest step" in ran(environment, tmp_path, "pbem", "migrate")


def test_a_published_game_is_played_by_server_and_email_to_its_end(environment, tmp_path):
    program = str(ROOT / "tests" / "ops" / "play_published.py")
    lines = ran(environment, tmp_path, "python", program, str(ROOT), str(tmp_path / "data")).splitlines()
    report = json.loads(lines[-1])
    assert all(file.startswith(str(environment.folder)) for file in report["from"]), "nothing of the checkout is played"
    assert report["offered"] == [["fish-market 1.0", False]]
    assert not report["imported"]
    assert report["status"] == "over"
    assert report["moves"] == {"ann@example.org": 6, "ben@example.org": 6}
    for text in report["last"].values():
        assert "Fish Market is over." in text
        assert "FINAL STANDING" in text


def test_a_game_that_is_uninstalled_is_no_longer_offered(wheels, tmp_path):
    environment = installed.environment(tmp_path / "venv", *wheels)
    ran(environment, tmp_path, "pbem", "init")
    environment.pip("uninstall", "--quiet", "--yes", "fish-market")
    assert "fish-market" not in ran(environment, tmp_path, "pbem", "doctor")
