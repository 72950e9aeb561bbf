"""Nothing that a worker does again and again, and no list at the desk, takes more work the more games there are.

Counted, not timed: the steps of SQLite's programs, among few games and among many.
"""

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from pbem.service.server import Server
from pbem.store import search
from tests.scale import many, work

pytestmark = pytest.mark.slow

FEW, MANY = 200, 800
MORE = 1.1
"""A tree of an index gets a little deeper."""


def test_no_tick_and_no_list_takes_more_steps_among_more_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a search looks at has a limit, which few games reach as well.
    monkeypatch.setattr(search, "MOST_LOOKED_AT", 100)
    few, much = tmp_path / "few.sqlite3", tmp_path / "many.sqlite3"
    server, clock = many.served(f"sqlite:///{few}", make=True)
    many.originals(server, clock, ["bid", "sun-bid"])
    server.store.close()
    shutil.copy(few, much)
    steps, more = (_steps_among(file, games, clock.now()) for file, games in ((few, FEW), (much, MANY)))
    assert sum(steps.values()) > 1_000
    grown = {name: (steps[name], more[name]) for name in steps if more[name] > steps[name] * MORE + 50}
    assert grown == {}


def _steps_among(file: Path, games: int, now: datetime) -> dict[str, int]:
    server, clock = many.served(f"sqlite:///{file}")
    clock.set(now)
    many.copy(server, games)
    return count_steps(server, work.ticks(server, clock) | work.lists(server))


def count_steps(server: Server, works: dict[str, Callable[[], object]]) -> dict[str, int]:
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
