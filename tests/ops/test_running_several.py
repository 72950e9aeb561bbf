"""Several processes on one PostgreSQL, as the handbook says to run them: they share their counts, tell no secret in any log,
and live through an upgrade of the database while they run."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from pbem.config import read
from pbem.config.settings import Config
from pbem.ops.setup import server_on
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.database import Store
from tests.crash.town import SITE, moves_in, post
from tests.mail.sink import ReceivedEmail, Sink
from tests.ops.processes import PBEM, get, run, serving
from tests.ports import free_port
from tests.service.conftest import postgresql_database
from tests.service.database import holds_token
from tests.service.running_game import RunningGame
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.postgresql]

GUNICORN = (sys.executable, "-m", "gunicorn", "--config", "python:pbem.ops.gunicorn")


class Place:
    """The processes of a server, whose logs are files, and its players, who click on the links in their emails."""

    def __init__(self, folder: Path, settings: dict[str, str], sink: Sink) -> None:
        self.folder, self.settings, self.sink = folder, settings, sink
        self.port = int(settings["PBEM_WEB_PORT"])
        self.config: Config = read(settings)
        self.store = Store(self.config.database_url)
        self.server: Server = server_on(self.store, self.config)
        self.answered: set[int] = set()

    def table(self) -> RunningGame:
        """A game of two that has begun."""
        persons = [
            self.server.run(addresses.confirm, self.server.run(addresses.register, f"{name}@example.net", name).id).id
            for name in ("ann", "ben")
        ]
        game_id = self.server.run(joining.create_table, persons[0], TableSettings("sun-bid", 2, {}, "1d")).game_id
        for person in persons:
            self.server.run(joining.join, game_id, person)
        return RunningGame(self.server, game_id)

    def play(self, game: RunningGame, moves: int) -> None:
        """Click on links in emails as they come, until this number of moves is made."""
        for _ in range(moves):
            turn = game.row().turn
            email = self.asking()
            (path, *_) = moves_in(email)
            assert get(self.port, path, {"Host": "127.0.0.1:8000"})[0] == 200
            assert post(self.port, path, {"press": "yes"}) == 303
            assert game.row().turn > turn

    def asking(self) -> ReceivedEmail:
        """The next email with links that nobody has clicked on, as soon as it comes."""

        def came() -> ReceivedEmail | None:
            for number, email in enumerate(self.sink.emails):
                if number not in self.answered and "WHAT YOU CAN DO" in email.text and moves_in(email):
                    self.answered.add(number)
                    return email
            return None

        found = until(came, "a mail asks for something")
        assert found
        return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with postgresql_database() as url, Sink() as sink:
        settings = {
            "PBEM_DATABASE_URL": url,
            "PBEM_DATA_DIR": str(tmp_path / "data"),
            "PBEM_WEB_PORT": str(free_port()),
            "PBEM_BASE_URL": SITE,
            "PBEM_SMTP_HOST": "127.0.0.1",
            "PBEM_SMTP_PORT": str(sink.port),
            "PBEM_SMTP_SECURITY": "none",
            "PBEM_MAIL_HOLD": "0",
            "PBEM_MAIL_PER_SECOND": "0",
            "PBEM_MAIL_PER_DOMAIN": "0",
            "PBEM_MAIL_NEW_DOMAIN": "0",
        }
        assert run("init", folder=tmp_path, **settings).returncode == 0
        made = Place(tmp_path, settings, sink)
        yield made
        made.store.close()


def numbers(port: int, pattern: str) -> float:
    """The sum of the metrics that match."""
    status, body = get(port, "/metrics")
    assert status == 200
    return sum(float(value) for value in re.findall(rf"^{pattern}[^ ]* (\S+)$", body, re.MULTILINE))


def test_processes_of_gunicorn_play_a_game_share_their_counts_and_log_no_secret(place: Place) -> None:
    admin, admin_of_worker = free_port(), free_port()
    web = {**place.settings, "PBEM_WEB_ADMIN_PORT": str(admin), "WEB_CONCURRENCY": "2"}
    work = {**place.settings, "PBEM_WEB_ADMIN_PORT": str(admin_of_worker)}
    with (
        serving(folder=place.folder, program=GUNICORN, **web) as pages,
        serving("worker", folder=place.folder, **work) as worker,
    ):
        for _ in range(2):
            pages.until("admin_started")
        worker.until("worker_started")
        game = place.table()
        place.play(game, 4)
        # Whichever of the processes answers, it tells what both have done.
        for _ in range(5):
            assert numbers(admin, r'pbem_requests_total\{method="POST",route="/m/<token>/<option>",status="303"') == 4
            assert numbers(admin, r'pbem_log_rows_total\{by="person",kind="Entry"') == 4
        assert numbers(admin_of_worker, r'pbem_emails_total\{outcome="accepted"') >= 4
        for port in (admin, admin_of_worker):
            assert numbers(port, r'pbem_games\{status="playing"') == 1
            status, body = get(port, "/ready")
            assert (status, json.loads(body)["ready"]) == (200, True)
        everything = get(admin, "/metrics")[1] + get(admin_of_worker, "/metrics")[1]
        # A link that nobody knows, and one that is cut short, are refused and counted as any other.
        assert get(place.port, f"/m/{'a' * 33}/x", {"Host": "127.0.0.1:8000"})[0] == 404
        assert [process.stop() for process in (pages, worker)] == [0, 0]
    logs = "".join([*pages.output, *worker.output])
    assert logs.count('"route": "/m/<token>/<option>"') == 9
    assert "Traceback" not in logs
    for output in (logs, everything):
        assert "@example" not in output
        assert "example.net" not in output
        assert not holds_token(place.server, output.encode())
        assert "a" * 33 not in output


def test_processes_live_through_a_step_that_only_adds_and_new_ones_of_the_old_release_refuse(place: Place) -> None:
    admin = free_port()
    web = {**place.settings, "PBEM_WEB_ADMIN_PORT": str(admin), "WEB_CONCURRENCY": "1"}
    with (
        serving(folder=place.folder, program=GUNICORN, **web) as pages,
        serving("worker", folder=place.folder, **place.settings) as worker,
    ):
        pid = int(re.findall(r"pid: (\d+)", pages.until("Booting worker"))[0])
        pages.until("admin_started")
        worker.until("worker_started")
        game = place.table()
        # So often that the driver has begun to keep statements prepared, which it does from the sixth time on.
        place.play(game, 6)
        with place.store.engine.begin() as tx:
            for table in ("game", "log", "link", "outbox", "deadline", "person", "view"):
                tx.execute(text(f"ALTER TABLE {table} ADD COLUMN of_the_next_release TEXT"))
            tx.execute(text("CREATE TABLE of_the_next_release (id INTEGER PRIMARY KEY)"))
            tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        place.play(game, 2)
        # One that takes the place of a process that died is of the old release as well.
        os.kill(pid, signal.SIGKILL)
        pages.until("admin_started")
        place.play(game, 1)
        assert get(admin, "/ready")[0] == 200
        assert "newer than this release" in get(admin, "/ready")[1]
        for program in ((*PBEM, "worker"), GUNICORN):
            refused = run(folder=place.folder, program=program, **place.settings)
            assert refused.returncode == 1
            assert "The database is newer than this release." in refused.stdout
            assert "Traceback" not in refused.stdout
        assert [process.stop() for process in (pages, worker)] == [0, 0]
    assert "Traceback" not in "".join([*pages.output, *worker.output])


def test_an_admin_port_that_is_taken_stops_the_start_with_a_message_and_is_free_when_its_process_has_stopped(
    place: Place,
) -> None:
    port, left = free_port(), place.folder / "left"
    left.mkdir()
    held = {**place.settings, "PBEM_WEB_ADMIN_PORT": str(port)}
    with serving("worker", folder=place.folder, **held) as first:
        first.until("admin_started")
        other = {**held, "PBEM_WEB_PORT": str(free_port())}
        for program in ((*PBEM, "serve"), GUNICORN):
            second = run(folder=place.folder, program=program, TMPDIR=str(left), **other)
            assert second.returncode == 1
            assert list(left.iterdir()) == []
            assert f"Port {port} of 127.0.0.1, for metrics and health, is in use." in second.stdout
            assert "PBEM_WEB_ADMIN_PORT=" in second.stdout
            assert "Traceback" not in second.stdout
        assert first.stop() == 0
    with serving("serve", folder=place.folder, **held) as web_process:
        web_process.until("Stop it with Ctrl-C")
        # A process is ready once it has seen a worker's heartbeat, which takes a moment.
        until(lambda: get(port, "/ready")[0] == 200, "the server is ready")
        assert web_process.stop() == 0
