"""Two checkouts side by side: what a move and its emails cost in one, as a multiple of the other.

    git worktree add /tmp/before COMMIT
    .venv/bin/python -m tests.bench.beside /tmp/before .

Each plays the same moves by link in a process of its own, in turn, and sends their emails to a relay that takes all. It is
processor time that counts, and the middle of all rounds. Both use what is installed here. Games whose rules changed in
between are no comparison: take them out of `KINDS`.
"""

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final

ROUNDS: Final = 150
MOVES: Final = 8
GAMES: Final = 8
KINDS: Final = ("sun-bid", "sunset-poker", "templari", "sorcerous-futures")

Times = tuple[float, float]
"""The processor time of a move and of an email."""


def main(before: str, after: str) -> None:
    """Print both costs in `after` as multiples of those in `before`."""
    with _player(before) as one, _player(after) as other:
        rounds = [_round(one, other, number) for number in range(ROUNDS)]
    for place, what in enumerate(("a move", "an email")):
        ratio = statistics.median(now[place] / then[place] for then, now in rounds)
        print(f"{what}: {ratio:.3f}")


def _round(one: "subprocess.Popen[str]", other: "subprocess.Popen[str]", number: int) -> tuple[Times, Times]:
    """The times of both, the first one first in every other round."""
    if number % 2:
        return _times(one), _times(other)
    now = _times(other)
    return _times(one), now


@contextmanager
def _player(checkout: str) -> "Iterator[subprocess.Popen[str]]":
    root = str(Path(checkout).resolve())
    command = [sys.executable, "-P", __file__, "--play"]
    with subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"PYTHONPATH": root},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as player:
        assert player.stdout is not None
        assert any(line == "ready\n" for line in player.stdout), f"{root} cannot play"
        yield player
        assert player.stdin is not None
        player.stdin.close()


def _times(player: "subprocess.Popen[str]") -> Times:
    assert player.stdin is not None
    assert player.stdout is not None
    print(file=player.stdin, flush=True)
    move, email = next(line for line in player.stdout if line.startswith("times ")).split()[1:]
    return float(move), float(email)


def _play(folder: str) -> None:
    """Play a few moves and send their emails for each line that comes in, by the code of the current folder."""
    from pbem.domain.strangers import StrangerLimits
    from pbem.service.outgoing.deliver import Post, deliver
    from pbem.service.play import by_link
    from pbem.service.server import Server
    from pbem.store.database import Store
    from pbem.store.schema import METADATA
    from pbem.tokens import Purpose
    from tests.bench.tables import KEYS, begin, crowd, moves_of, with_links
    from tests.fakes import FakeClock, SeededRandomness
    from tests.mail.transports import StoringTransport
    from tests.service.outgoing.test_deliver import HEAD

    store = Store(f"sqlite:///{folder}/pbem.sqlite3")
    METADATA.create_all(store.engine)
    clock, inbox = FakeClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC)), StoringTransport()
    limits = StrangerLimits(0, 0, 0, 0)
    server = Server(store, clock, SeededRandomness(7), KEYS, open_tables=10**6, strangers=limits)
    players = crowd(server)
    scripts = [moves_of(server, begin(server, kind, players), 60) for _ in range(GAMES) for kind in KINDS]
    together = [move for move in chain.from_iterable(zip_longest(*scripts)) if move is not None]
    moves = iter(with_links(server, together))

    def sends() -> None:
        clock.advance(timedelta(minutes=2))
        while deliver(server, Post(HEAD, inbox)).dealt_with:
            pass

    sends()
    gc.disable()
    print("ready", flush=True)
    for _ in sys.stdin:
        sent, begun = len(inbox.emails), time.process_time()
        for _ in range(MOVES):
            move = next(moves)
            server.run(by_link.move, KEYS.make(Purpose.MOVE, move.link, 0), move.option)
        played = time.process_time()
        sends()
        email = (time.process_time() - played) / max(len(inbox.emails) - sent, 1)
        print("times", (played - begun) / MOVES, email, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--play"]:
        with tempfile.TemporaryDirectory() as folder:
            _play(folder)
    else:
        main(*sys.argv[1:])
