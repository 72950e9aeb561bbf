"""How much a process grows: `python -m tests.scale.growth web 4000` prints KB for each 1,000 requests.

A first quarter fills what is kept on purpose, such as caches with a limit, and is not counted.
"""

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from pbem import config
from pbem.ops.serve import tune_garbage_collection
from pbem.web.app import create_app
from tests.scale import many, work
from tests.service.running_game import RunningGame
from tests.web.browser import HOST, Links

GAMES = 200
KB = 4
"""Of a page of memory."""


def resident() -> int:
    """The memory of this process, in KB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * KB


def main(what: str, times: int) -> None:
    """Do it so many times, and print the growth."""
    with tempfile.TemporaryDirectory() as folder:
        server, clock = many.served(f"sqlite:///{folder}/pbem.sqlite3", make=True)
        played = many.originals(server, clock, ["bid", "templari"])
        many.copy(server, GAMES)
        tune_garbage_collection()
        if what == "web":
            client = create_app(server, config.read({"PBEM_DATA_DIR": folder, "PBEM_BASE_URL": HOST})).test_client()
            tokens = [
                Links(server).of(RunningGame(server, game_id), seat)[1] for game_id in played for seat in range(3)
            ]
            paths = [f"/s/{token}{page}" for token in tokens for page in ("", "/replay", "/rules", "/talk")]
            paths += ["/", "/help", "/help/playing-by-mail", "/nonsense"]

            def once(number: int) -> None:
                client.get(paths[number % len(paths)], base_url=HOST)
        else:
            ticks = list(work.ticks(server, clock).values())

            def once(number: int) -> None:
                clock.advance(timedelta(minutes=1))
                for tick in ticks:
                    tick()

        for number in range(times // 4):
            once(number)
        before = resident()
        for number in range(times):
            once(number)
        print((resident() - before) * 1_000 / times)
        server.store.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
