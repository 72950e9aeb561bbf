"""Servers as an organiser starts them: real processes, real ports, and what they say when the machine is in their way."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from contextlib import suppress
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from tests.ops.processes import PBEM, WAIT, environment, get, run, run_on_a_full_disk, serving
from tests.ports import free_port
from tests.service.conftest import postgresql_database

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_a_server_starts_in_an_empty_folder_answers_and_stops(tmp_path: Path) -> None:
    port = str(free_port())
    with serving("serve", folder=tmp_path, PBEM_WEB_PORT=port) as server:
        server.until("Stop it with Ctrl-C")
        output = "".join(server.output)
        assert f"http://localhost:{port}/\n" in output
        assert f"http://localhost:{port}/mailbox\n" in output
        for path in ("/", "/mailbox"):
            status, page = get(int(port), path)
            assert status == 200
            assert "<html" in page
        doctor = run("doctor", folder=tmp_path, PBEM_WEB_PORT=port)
        assert doctor.returncode == 0, doctor.stdout
        assert "worker: last seen" in doctor.stdout
        assert server.stop() == 0
    assert "Nothing is lost" in "".join(server.output)
    assert "Traceback" not in "".join(server.output)


def test_on_a_terminal_a_server_says_where_it_is_and_nothing_more(tmp_path: Path) -> None:
    port = free_port()
    screen, terminal = os.openpty()
    here = environment(PBEM_WEB_PORT=str(port))
    process = subprocess.Popen(
        [*PBEM, "serve"], cwd=tmp_path, env=here, stdout=terminal, stderr=terminal, stdin=terminal
    )
    os.close(terminal)
    shown = b""
    try:
        while b"Ctrl-C" not in shown:
            shown += os.read(screen, 4096)
        assert get(port, "/")[0] == 200
        process.send_signal(signal.SIGINT)
        with suppress(OSError):
            # The end of a terminal whose other end was closed is an error.
            while more := os.read(screen, 4096):
                shown += more
        assert process.wait(WAIT) == 0
    finally:
        process.kill()
        process.wait()
        os.close(screen)
    block, _, end = shown.decode().replace("\r\n", "\n").partition("Stop it with Ctrl-C.\n")
    assert [line.partition(":")[0] for line in block.splitlines()] == [
        "The site",
        "Its mailbox",
        "Its data",
        "Organisers",
    ]
    assert end.replace("^C", "").splitlines() == ["Stopped. Nothing is lost; start it again with the same command."]


def test_a_server_speaks_the_language_that_it_is_set_to(tmp_path: Path) -> None:
    catalogue = Catalog(locale="de")
    catalogue.add("Check a game file", "Prüfe die Datei eines Spiels")
    file = tmp_path / "words" / "de" / "LC_MESSAGES" / "pbem.mo"
    file.parent.mkdir(parents=True)
    with file.open("wb") as written:
        write_mo(written, catalogue)
    port = str(free_port())
    german = {"PBEM_LANGUAGE": "de", "PBEM_CATALOGUES": "words"}
    with serving("serve", folder=tmp_path, PBEM_WEB_PORT=port, **german) as server:
        server.until("Stop it with Ctrl-C")
        _, page = get(int(port), "/verify")
        assert server.stop() == 0
    assert '<html lang="de">' in page
    assert "<h1>Prüfe die Datei eines Spiels</h1>" in page


def test_a_second_process_on_one_sqlite_file_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    with serving("serve", folder=tmp_path, PBEM_WEB_PORT=str(free_port())) as first:
        first.until("Stop it with Ctrl-C")
        for command in (["serve"], ["worker"]):
            second = run(*command, folder=tmp_path, PBEM_WEB_PORT=str(free_port()))
            assert second.returncode == 1
            assert f"It is process {first.process.pid}." in second.stdout
            assert "Traceback" not in second.stdout
        # However the first one ends, the next one may begin.
        first.process.kill()
        first.process.wait()
        with serving("serve", folder=tmp_path, PBEM_WEB_PORT=str(free_port())) as next_one:
            next_one.until("Stop it with Ctrl-C")
            assert next_one.stop(signal.SIGTERM) == 0


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    port = str(free_port())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with serving("serve", folder=tmp_path, PBEM_WEB_PORT=port) as first:
        first.until("Stop it with Ctrl-C")
        second = run("serve", folder=elsewhere, PBEM_WEB_PORT=port)
    assert second.returncode == 1
    assert f"Port {port} of 127.0.0.1 is in use." in second.stdout
    assert "PBEM_WEB_PORT=" in second.stdout
    assert "Traceback" not in second.stdout


def test_a_public_server_is_not_made_by_starting_it(tmp_path: Path) -> None:
    public = {"PBEM_BASE_URL": "https://games.example.org", "PBEM_SMTP_HOST": "127.0.0.1"}
    refused = run("serve", folder=tmp_path, **public)
    assert refused.returncode == 1
    assert "`pbem init`" in refused.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_server_whose_relay_is_dead_runs_and_shows_no_mailbox(tmp_path: Path) -> None:
    port = str(free_port())
    public = {
        "PBEM_BASE_URL": "https://games.example.org",
        "PBEM_SMTP_HOST": "127.0.0.1",
        "PBEM_SMTP_PORT": str(free_port()),
        "PBEM_SMTP_SECURITY": "none",
        "PBEM_WEB_PORT": port,
    }
    assert run("init", folder=tmp_path, **public).returncode == 0
    with serving("serve", folder=tmp_path, **public) as server:
        server.until("Stop it with Ctrl-C")
        assert get(int(port), "/", {"Host": "games.example.org"})[0] == 200
        assert get(int(port), "/mailbox", {"Host": "games.example.org"})[0] == 404
        doctor = run("doctor", folder=tmp_path, **public)
        assert doctor.returncode == 1
        assert "refuses email. It said: ConnectionRefusedError" in doctor.stdout
        assert server.stop() == 0


@pytest.mark.parametrize("command", [["init"], ["serve"]])
def test_a_full_disk_gives_one_message(tmp_path: Path, command: list[str]) -> None:
    ended = run_on_a_full_disk(*command, folder=tmp_path, PBEM_WEB_PORT=str(free_port()))
    assert ended.returncode == 1
    assert "disk" in ended.stdout.lower()
    assert "Traceback" not in ended.stdout
    # With room again, the same command makes a whole server.
    assert run("init", folder=tmp_path).returncode == 0
    assert run("doctor", folder=tmp_path).returncode == 0


def test_a_backup_for_which_there_is_no_room_leaves_nothing(tmp_path: Path) -> None:
    run("init", folder=tmp_path)
    ended = run_on_a_full_disk("backup", "saved", folder=tmp_path)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stdout
    assert [each.name for each in tmp_path.iterdir()] == [".pbem"]


def test_a_folder_that_cannot_be_written_gives_one_message(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    # Nothing stops root from writing there; nobody at all can make a folder in this one.
    place = Path("/proc/self/fd") if os.geteuid() == 0 else closed
    for command in ("init", "serve"):
        ended = run(command, folder=tmp_path, PBEM_DATA_DIR=str(place / "data"))
        assert ended.returncode == 1
        assert str(place) in ended.stdout
        assert "Traceback" not in ended.stdout


@pytest.mark.postgresql
def test_several_servers_and_workers_share_one_postgresql(tmp_path: Path) -> None:
    with postgresql_database() as url:
        settings = {"PBEM_DATABASE_URL": url}
        assert run("init", folder=tmp_path, **settings).returncode == 0
        ports = [str(free_port()) for _ in range(2)]
        with (
            serving("serve", folder=tmp_path, PBEM_WEB_PORT=ports[0], **settings) as first,
            serving("serve", "--no-worker", folder=tmp_path, PBEM_WEB_PORT=ports[1], **settings) as second,
            serving("worker", folder=tmp_path, **settings) as worker,
        ):
            for server, port in zip((first, second), ports, strict=True):
                server.until("Stop it with Ctrl-C")
                assert get(int(port), "/")[0] == 200
            worker.until("worker_started")
            assert [each.stop(signal.SIGTERM) for each in (first, second, worker)] == [0, 0, 0]


def test_gunicorn_is_refused_on_sqlite(tmp_path: Path) -> None:
    run("init", folder=tmp_path)
    ended = run(folder=tmp_path, program=(sys.executable, "-m", "gunicorn", "--config", "python:pbem.ops.gunicorn"))
    assert ended.returncode == 1
    assert "can't share an SQLite file" in ended.stdout
    assert "Traceback" not in ended.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The two wheels as they would be published, built from a copy so that nothing is left in the checkout."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("engine", "pbem", "templates", "migrations"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for source in ("engine", "."):
        options = ("--wheel", "--no-isolation", "--outdir", str(copy / "dist"), source)
        built = run(*options, folder=copy, program=(sys.executable, "-m", "build"))
        assert built.returncode == 0, built.stdout
    return sorted((copy / "dist").glob("*.whl"))


def test_the_two_wheels_work_in_an_empty_environment(wheels: list[Path], tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    installed = run(
        *("--python", str(python), "install", "--quiet", "--no-deps", "--no-index", *map(str, wheels)),
        folder=tmp_path,
        program=(sys.executable, "-m", "pip"),
    )
    assert installed.returncode == 0, installed.stdout
    # The libraries are those of this environment; screen must come from the wheel, so a checkout is nowhere in sight.
    site = next(place.glob("lib/python*/site-packages"))
    (site / "libraries.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n{sysconfig.get_paths()['platlib']}\n")
    program = (str(place / "bin" / "pbem"),)
    here = tmp_path / "server"
    here.mkdir()
    port = str(free_port())
    alone = {"PYTHONPATH": "", "PBEM_WEB_PORT": port}
    where = run(
        "-c",
        "import pbem, engine; print(pbem.__file__, engine.__file__)",
        folder=here,
        program=(str(python),),
        PYTHONPATH="",
    )
    assert where.stdout.count(str(place)) == 2, where.stdout
    for command in ("init", "doctor", "verify"):
        done = run(command, folder=here, program=program, **alone)
        assert done.returncode == 0, done.stdout
    with serving("serve", folder=here, program=program, **alone) as server:
        server.until("Stop it with Ctrl-C")
        assert get(int(port), "/")[0] == 200
        assert server.stop() == 0


def test_stopping_in_the_middle_of_starting_leaves_no_trace_of_a_fault(tmp_path: Path) -> None:
    run("init", folder=tmp_path)
    with serving("serve", folder=tmp_path, PBEM_WEB_PORT=str(free_port())) as server:
        server.until("worker_started")
        assert server.stop() in (0, 130)
    assert "Traceback" not in "".join(server.output)
