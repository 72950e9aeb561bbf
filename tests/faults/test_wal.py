"""The power fails while SQLite writes: what is left of its write-ahead log is any number of bytes.

What comes back is all that was committed before that byte and nothing of what came after: no half of a move, and no move
without its emails and deadlines. Behind that byte the file may end, or hold zeros or rubbish.
"""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from pbem.ops.verify import games_to_verify, verify_games
from pbem.service.server import Server
from pbem.store import migrations
from pbem.store.database import Store
from tests.faults.fail_at_n import rows
from tests.service.running_game import RunningGame

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 4)]

SEED = 7
CUTS = 20
MOVES = 12

LEFT_BEHIND: dict[str, Callable[[random.Random, int], bytes]] = {
    "nothing": lambda luck, length: b"",
    "zeros": lambda luck, length: bytes(length),
    "rubbish": lambda luck, length: luck.randbytes(length),
}
"""What is found where the rest of the log would be."""


@dataclass(frozen=True)
class Commit:
    """Where the log ended after a commit, and what the database held."""

    end: int
    rows: dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """A file whose log is never folded back into it."""
    url = f"sqlite:///{tmp_path / 'pbem.sqlite3'}"
    store = Store(url)
    migrations.upgrade(store)
    store.close()
    return url


@pytest.fixture
def store(database_url: str) -> Any:
    opened = Store(database_url)

    @event.listens_for(opened.engine, "connect")
    def _keep_log(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA wal_autocheckpoint=0")

    yield opened
    opened.close()


def play(server: Server, table: Callable[..., RunningGame], log: Path) -> list[Commit]:
    """A game of some moves; every commit of it, the first being the empty server."""
    commits = [Commit(0, rows(server))]
    whole = server.store.write

    def write(work: Callable[[Any], Any]) -> Any:
        result = whole(work)
        commits.append(Commit(log.stat().st_size, rows(server)))
        return result

    server.store.write = write  # type: ignore[method-assign]  # of this store alone
    game = table("sun-bid", 2)
    for _ in range(MOVES):
        seat, decision = min(game.asked().items())
        game.play(seat, decision.default)
    return commits


@pytest.mark.parametrize("rest", LEFT_BEHIND)
def test_a_log_cut_at_any_byte_holds_all_that_was_committed_before_it_and_no_more(
    server: Server, table: Callable[..., RunningGame], tmp_path: Path, rest: str
) -> None:
    database, log = tmp_path / "pbem.sqlite3", tmp_path / "pbem.sqlite3-wal"
    commits, luck = play(server, table, log), random.Random(SEED)
    content = log.read_bytes()
    assert content[: commits[-1].end] == content
    ends = [commit.end for commit in commits]
    near = [end + by for end in luck.sample(ends[1:], 5) for by in (-1, 0, 1)]
    for number, cut in enumerate([*near, *(luck.randrange(len(content)) for _ in range(CUTS))]):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        shutil.copy(database, folder)
        left = content[:cut] + LEFT_BEHIND[rest](luck, len(content) - cut)
        (folder / log.name).write_bytes(left)
        found = Store(f"sqlite:///{folder / database.name}")
        (expected,) = [commit for commit in commits if commit.end <= cut][-1:]
        assert rows(Server(found, server.clock, server.randomness, server.keys)) == expected.rows, f"cut at byte {cut}"
        game_ids, _ = games_to_verify(found)
        assert all(report.sound for report in verify_games(found, game_ids))
        found.close()


def test_a_server_goes_on_after_its_log_was_cut(
    server: Server, table: Callable[..., RunningGame], tmp_path: Path
) -> None:
    log = tmp_path / "pbem.sqlite3-wal"
    commits = play(server, table, log)
    folder = tmp_path / "again"
    folder.mkdir()
    shutil.copy(tmp_path / "pbem.sqlite3", folder)
    (folder / log.name).write_bytes(log.read_bytes()[: commits[-2].end + 1000])
    again = Server(Store(f"sqlite:///{folder / 'pbem.sqlite3'}"), server.clock, server.randomness, server.keys)
    game = RunningGame(again, 1)
    assert game.row().seq == RunningGame(server, 1).row().seq - 1
    seat, decision = min(game.asked().items())
    game.play(seat, decision.default)
    assert game.verifies()
    again.store.close()
