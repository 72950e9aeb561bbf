"""What a server does all day, as pieces of work to be measured among few games and among many."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import event

from pbem import config
from pbem.ops.verify import verify_games
from pbem.service.clocks.outages import Worker
from pbem.service.desk import overview
from pbem.service.desk.overview import TableFilter
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.play import move, undo
from pbem.service.play.move import Actor
from pbem.service.server import Server
from pbem.service.tables import listing
from pbem.store import outbox
from pbem.web.app import create_app
from pbem.worker.ticks import TICKS, WorkerContext
from tests.fakes import FakeClock
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.desk.test_overview import nodes
from tests.service.outgoing.test_deliver import HEAD
from tests.service.running_game import RunningGame
from tests.web.browser import HOST, Links

Work = Callable[[], object]


def daily(server: Server, played: list[int], folder: Path) -> Iterator[tuple[str, Work]]:
    """What players and the operator do, at one of the games that were really played."""
    game = RunningGame(server, played[0])
    assert game.row().kind == "bid"
    post = Post(HEAD, FunctionTransport(lambda _email: ACCEPTED))
    settings = config.read({"PBEM_DATA_DIR": str(folder), "PBEM_BASE_URL": HOST})
    client = create_app(server, settings).test_client()
    _, token = Links(server).of(game, 0)
    number = next(each.id for each in game.emails() if each.kind == "turn" and each.turn == game.row().turn)

    def made() -> None:
        seat, decision = next(iter(game.open().items()))
        turn = game.row().turn
        server.run(move.play, game.id, turn, seat, decision.default, Actor.PERSON)
        server.run(undo.take_back, game.id, turn, seat)

    def written() -> None:
        queued = {"status": "queued", "lease_id": None, "attempts": 0, "due_at": server.now()}
        unwritten = {"body": None, "message_id": None, "rendered_at": None}
        server.store.write(lambda tx: outbox.change(tx, number, **queued, **unwritten))
        assert deliver(server, post).accepted == 1

    def shown() -> None:
        assert client.get(f"/s/{token}", base_url=HOST).status_code == 200

    def verified() -> None:
        (report,) = verify_games(server.store, [game.id])
        assert report.sound, report

    yield from {"move": made, "email": written, "page": shown, "verify": verified}.items()


def ticks(server: Server, clock: FakeClock) -> dict[str, Work]:
    """Every tick of a worker that has been up for a while, to be run once."""
    worker = Worker("scale", server.now())
    post = Post(HEAD, FunctionTransport(lambda _email: ACCEPTED))
    context = WorkerContext(server, worker, send=lambda server: deliver(server, post).dealt_with)
    named = {tick.name: tick for tick in TICKS}
    for _ in range(20):
        clock.advance(timedelta(minutes=1))
        named["beat"].run(context)
    for tick in TICKS:
        # What is done once, for the originals, is no part of a tick that finds nothing.
        tick.run(context)
    return {tick.name: lambda tick=tick: tick.run(context) for tick in TICKS}  # type: ignore[misc]


def lists(server: Server) -> dict[str, Work]:
    """What organisers look at, how they search, and the tables on the front page."""
    filters = {
        "overview": TableFilter(),
        "overview of overdue tables": TableFilter(trouble="overdue"),
        "overview of a game": TableFilter(status="playing", kind="bid"),
        "search for a word of all": TableFilter(text="player"),
        "search for two words": TableFilter(text="player 1"),
        "search for a word of none": TableFilter(text="nobody"),
    }
    summaries = {name: lambda asked=asked: server.read(overview.summary, asked) for name, asked in filters.items()}
    return summaries | {"front page": lambda: server.read(listing.public_tables)}


@contextmanager
def statements(server: Server) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are sent meanwhile, each with its values."""
    found: list[tuple[str, Any]] = []

    def executed(
        _connection: object, _cursor: object, statement: str, values: object, _context: object, many: bool
    ) -> None:
        if not many and statement.startswith(("SELECT", "WITH", "UPDATE", "DELETE")):
            found.append((statement, values))

    event.listen(server.store.engine, "before_cursor_execute", executed)
    try:
        yield found
    finally:
        event.remove(server.store.engine, "before_cursor_execute", executed)


def rows_read(server: Server, sent: list[tuple[str, Any]]) -> int:
    """The rows that PostgreSQL reads for these statements, those it passes over included. What they change is rolled back."""
    found = 0
    for statement, values in sent:
        with server.store.engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
        for node in nodes(plan[0]["Plan"]):
            if "Relation Name" in node:
                passed_over = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
                found += round((node["Actual Rows"] + passed_over) * node["Actual Loops"])
    return found


def count_steps(server: Server, works: dict[str, Work]) -> dict[str, int]:
    """The steps of the database for each piece of work, the second time that it is done."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    def connected(connection: object, _record: object) -> None:
        connection.set_progress_handler(step, 1)  # type: ignore[attr-defined]  # of SQLite's own

    server.store.close()
    event.listen(server.store.engine, "connect", connected)
    found = {}
    for name, do in works.items():
        do()
        before = steps
        do()
        found[name] = steps - before
    event.remove(server.store.engine, "connect", connected)
    server.store.close()
    return found
