"""Nothing that players and workers do again and again, and no list at the desk, takes more work the more games there are.

Counted, not timed: the steps of SQLite's programs, among few games and among many.
"""

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from pbem.store import search
from tests.scale import many, work

pytestmark = pytest.mark.slow

FEW, MANY = 200, 800
MORE = 1.1
"""A tree of an index gets a little deeper."""


def test_no_move_email_page_tick_or_list_takes_more_steps_among_more_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a search looks at has a limit, which few games reach as well.
    monkeypatch.setattr(search, "MOST_LOOKED_AT", 100)
    few, much = tmp_path / "few.sqlite3", tmp_path / "many.sqlite3"
    server, clock = many.served(f"sqlite:///{few}", make=True)
    played = many.originals(server, clock, ["bid", "sun-bid"])
    server.store.close()
    shutil.copy(few, much)
    steps, more = (_steps_among(file, games, clock.now(), played) for file, games in ((few, FEW), (much, MANY)))
    assert sum(steps.values()) > 1_000
    grown = {name: (steps[name], more[name]) for name in steps if more[name] > steps[name] * MORE + 50}
    assert grown == {}


def _steps_among(file: Path, games: int, now: datetime, played: list[int]) -> dict[str, int]:
    server, clock = many.served(f"sqlite:///{file}")
    clock.set(now)
    many.copy(server, games)
    works = dict(work.daily(server, played, file.parent))
    return work.count_steps(server, works | work.ticks(server, clock) | work.lists(server))
