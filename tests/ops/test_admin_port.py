"""The admin port: what it says of a server, when it says that it is not ready, and that it tells nobody's secrets."""

import json
import shutil
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from pbem import failpoints
from pbem.config import read
from pbem.config.settings import Config
from pbem.domain.errors import BadInput, Refusal
from pbem.ops.monitoring import admin_port
from pbem.service.clocks.outages import Worker, beat
from pbem.service.desk import calls
from pbem.service.desk.acts.clocks import Pause
from pbem.service.desk.acts.perform import perform
from pbem.service.server import Server
from pbem.store import deadlines, due_turns, heartbeats, migrations, outbox
from pbem.store.database import Store
from tests.fakes import FakeClock
from tests.ops.processes import get
from tests.service.actors import OLGA, moderate
from tests.service.running_game import RunningGame
from tests.web.applications import application

Table = Callable[..., RunningGame]
Numbers = Callable[[], dict[tuple[str, ...], float]]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return read({"PBEM_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def ports(server: Server, config: Config) -> Iterator[Callable[..., int]]:
    """Let the admin port of a process answer; which one it is."""
    with ExitStack() as open_ports:

        def opened(worker: str | None = None) -> int:
            on = admin_port.listening("127.0.0.1", 0)
            open_ports.enter_context(admin_port.answering(on, server, config, worker))
            return int(on.getsockname()[1])

        yield opened


@pytest.fixture
def numbers(ports: Callable[..., int]) -> Numbers:
    """All numbers as Prometheus reads them: numbers()["pbem_games", "playing"]."""
    port = ports()

    def scraped() -> dict[tuple[str, ...], float]:
        status, body = get(port, "/metrics")
        assert status == 200
        families = text_string_to_metric_families(body)
        return {(s.name, *map(str, s.labels.values())): s.value for family in families for s in family.samples}

    return scraped


def at_step(server: Server, step: str) -> None:
    """Let the database say that it is at this step."""

    def work(tx: Connection) -> None:
        tx.execute(text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32))"))
        tx.execute(text("DELETE FROM alembic_version"))
        tx.execute(text("INSERT INTO alembic_version VALUES (:step)"), {"step": step})

    server.store.write(work)


def ready(port: int) -> tuple[bool, dict[str, str]]:
    """Whether the process is ready, and how everything is that it looked at."""
    status, body = get(port, "/ready")
    answer = json.loads(body)
    assert answer["ready"] == (status == 200)
    assert status in (200, 503)
    return answer["ready"], {check["what"]: check["severity"] for check in answer["checks"]}


def test_tables_emails_turns_and_calls_are_counted_as_they_are(
    server: Server, table: Table, clock: FakeClock, numbers: Numbers
) -> None:
    game = table("sun-bid", 2)
    table("bid", 3)
    (seat,) = game.asked()
    server.run(calls.call, game.person_at(seat), "Hello?", game_id=game.id, seat=seat)
    found = numbers()
    assert found["pbem_games", "playing"] == 2
    assert found["pbem_games", "frozen"] == 0
    with server.store.read() as tx:
        assert found["pbem_emails_waiting", "queued"] == outbox.queue_length(tx, "queued")[0] > len(game.emails())
    assert found["pbem_deadlines_open",] == 4
    assert found["pbem_calls_open",] == 1
    assert found["pbem_deadlines_overdue",] == found["pbem_deadline_oldest_seconds",] == 0
    assert found["pbem_workers",] == 0
    assert ("pbem_worker_beat_timestamp_seconds",) not in found

    def run_out(tx: Connection) -> None:
        row = deadlines.read(tx, game.id, game.row().turn, seat)
        assert row is not None
        deadlines.change(tx, row, due_at=clock.now(), attempts=due_turns.MOST_ATTEMPTS)

    server.store.write(run_out)
    clock.advance(timedelta(hours=1))
    server.run(beat, Worker("first", clock.now()))
    found = numbers()
    assert found["pbem_deadlines_overdue",] == found["pbem_deadlines_parked",] == 1
    assert found["pbem_deadline_oldest_seconds",] == 3600
    assert found["pbem_email_oldest_seconds",] == 3600
    assert found["pbem_workers",] == 1
    assert found["pbem_worker_beat_timestamp_seconds",] == clock.now().timestamp()


def test_a_move_counts_when_it_is_kept_and_one_that_is_refused_or_lost_does_not(table: Table, numbers: Numbers) -> None:
    game = table("sun-bid", 2)
    (seat,) = game.asked()

    def moves() -> float:
        return sum(number for (name, *_), number in numbers().items() if name == "pbem_log_rows_total")

    class Lost(Exception):
        pass

    def lose(point: str) -> None:
        if point == "store.committing":
            raise Lost

    before = moves()
    with pytest.raises(Refusal):
        game.play(seat, "bid 1000000")
    failpoints.set_handler(lose)
    try:
        with pytest.raises(Lost):
            game.play(seat, game.asked()[seat].default)
    finally:
        failpoints.set_handler(None)
    assert moves() == before
    rows = len(game.log())
    game.play(seat, game.asked()[seat].default)
    assert moves() - before == len(game.log()) - rows > 0


def test_a_row_counts_once_however_often_its_transaction_is_run_and_not_at_all_where_it_was_a_look(
    table: Table, numbers: Numbers, server: Server
) -> None:
    game = table("sun-bid", 2)
    tries = 0

    def in_the_way(point: str) -> None:
        nonlocal tries
        if point == "store.committing":
            tries += 1
            if tries == 1:
                raise OperationalError("COMMIT", {}, Exception("database is locked"))

    def rows() -> float:
        return sum(number for (name, *_), number in numbers().items() if name == "pbem_log_rows_total")

    before = rows()
    server.dry_run(perform, OLGA, Pause(game.id), "to see what it would do")
    assert rows() == before
    failpoints.set_handler(in_the_way)
    try:
        moderate(server, Pause(game.id))
    finally:
        failpoints.set_handler(None)
    assert tries == 2
    assert rows() == before + 1


def test_a_request_is_counted_under_its_route_and_nothing_that_was_typed_is_in_a_label(
    server: Server, config: Config, numbers: Numbers
) -> None:
    client = application(server, config).test_client()
    token = "am234567abcdefghijklmnopqrstuvwxy"
    before = numbers()
    client.get(f"/s/{token}", base_url=config.base_url)
    client.get(f"/{token}", base_url=config.base_url)
    client.open("/", method=token.upper(), base_url=config.base_url)
    client.get("/", base_url=f"http://{token}.example")
    found = numbers()
    new = {key: found[key] - before.get(key, 0) for key in found if key[0] == "pbem_requests_total"}
    assert {key[1:]: number for key, number in new.items() if number} == {
        ("GET", "/s/<token>", "404"): 1,
        ("GET", "none", "404"): 1,
        ("other", "none", "405"): 1,
        ("GET", "none", "400"): 1,
    }
    assert not [key for key in found if token in "".join(key).lower()]


def test_a_process_is_ready_with_its_database_and_its_worker(server: Server, ports: Callable[..., int]) -> None:
    at_step(server, migrations.head())
    server.run(beat, Worker("ours", server.now()))
    assert ready(ports("ours")) == (True, {"disk": "ok", "database": "ok", "migrations": "ok", "worker": "ok"})
    assert get(ports(), "/health")[0] == 200
    assert get(ports(), "/elsewhere")[0] == 404


def test_a_worker_that_is_silent_is_not_ready_and_pages_are_served_without_one(
    server: Server, clock: FakeClock, ports: Callable[..., int]
) -> None:
    at_step(server, migrations.head())
    working, serving = ports("ours"), ports()
    server.run(beat, Worker("ours", clock.now()))
    clock.advance(timedelta(minutes=3))
    assert ready(working)[0] is False
    assert ready(serving) == (True, ready(serving)[1] | {"worker": "warning"})
    # Another worker's heartbeat does not count for this one.
    server.store.write(lambda tx: heartbeats.record(tx, "another", clock.now(), clock.now()))
    assert ready(working)[0] is False
    assert ready(serving)[1]["worker"] == "ok"


@pytest.mark.parametrize(("step", "is_ready", "how"), [("9999", True, "warning"), (migrations.EMPTY, False, "error")])
def test_a_database_that_is_newer_stops_nobody_and_one_that_is_older_does(
    server: Server, ports: Callable[..., int], step: str, is_ready: bool, how: str
) -> None:
    if step != migrations.EMPTY:
        at_step(server, step)
    found, checks = ready(ports())
    assert (found, checks["migrations"]) == (is_ready, how)


def test_a_full_disk_is_told(server: Server, ports: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(server, migrations.head())
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 10**12 - 10**8, 10**8))
    found, checks = ready(ports())
    assert (found, checks["disk"]) == (False, "error")


def test_a_database_that_is_away_is_told_without_its_secrets_and_the_rest_is_still_told(
    tmp_path: Path, server: Server, config: Config
) -> None:
    away = replace(server, store=Store("postgresql://pbem:hunter2@127.0.0.1:9/pbem"))
    on = admin_port.listening("127.0.0.1", 0)
    with admin_port.answering(on, away, config, None):
        port = int(on.getsockname()[1])
        found, checks = ready(port)
        assert (found, checks["database"]) == (False, "error")
        status, body = get(port, "/metrics")
        assert status == 200
        assert "pbem_database_up 0.0" in body
        assert "pbem_disk_free_bytes" in body
        assert get(port, "/health")[0] == 200
        assert "hunter2" not in body + get(port, "/ready")[1]


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with admin_port.listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=rf"Port {port} .* is in use.*PBEM_WEB_ADMIN_PORT=8011"):
            admin_port.listening("127.0.0.1", port)


def test_the_port_is_this_machine_s_alone(ports: Callable[..., int]) -> None:
    with admin_port.listening("127.0.0.1", 0) as on:
        assert on.getsockname()[0] == "127.0.0.1"


def test_a_doctor_says_who_answers_on_the_admin_port(server: Server, config: Config, ports: Callable[..., int]) -> None:
    def looked_at(port: int) -> tuple[str, str]:
        (found,) = admin_port.look_at_port(replace(config, web=replace(config.web, admin_port=port)))
        return found.severity, found.says

    port = ports()
    assert looked_at(0)[0] == "ok"
    assert looked_at(port)[0] == "error"
    at_step(server, migrations.head())
    assert looked_at(port) == ("ok", f"the server says it is ready (127.0.0.1, port {port})")
