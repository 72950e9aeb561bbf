"""What a server does all day, as pieces of work to be measured among few games and among many."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import event

from pbem.service.clocks.outages import Worker
from pbem.service.desk import overview
from pbem.service.desk.overview import TableFilter
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.server import Server
from pbem.worker.ticks import TICKS, WorkerContext
from tests.fakes import FakeClock
from tests.mail.transports import StoringTransport
from tests.service.outgoing.test_deliver import HEAD

Work = Callable[[], object]


def ticks(server: Server, clock: FakeClock) -> dict[str, Work]:
    """Every tick of a worker that has been up for a while, to be run once."""
    worker = Worker("scale", server.now())
    post = Post(HEAD, StoringTransport())
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
    """What organisers look at, and how they search."""
    filters = {
        "overview": TableFilter(),
        "overview of overdue tables": TableFilter(trouble="overdue"),
        "overview of a game": TableFilter(status="playing", kind="bid"),
        "search for a word of all": TableFilter(text="player"),
        "search for two words": TableFilter(text="player 1"),
        "search for a word of none": TableFilter(text="nobody"),
    }
    return {name: lambda asked=asked: server.read(overview.summary, asked) for name, asked in filters.items()}  # type: ignore[misc]


@contextmanager
def statements(server: Server) -> Iterator[list[tuple[str, object]]]:
    """The statements that are sent meanwhile, each with its values."""
    found: list[tuple[str, object]] = []

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
