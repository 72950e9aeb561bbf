"""Many players at once: each email is answered as soon as it is there, on any web server."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.crash.town import STEP, Town
from tests.waiting import until


@contextmanager
def time_passing(town: Town) -> Iterator[None]:
    """Let time pass meanwhile, no faster than the slowest worker notices."""
    stopped = threading.Event()

    def passes() -> None:
        while not stopped.is_set():
            town.passes(STEP)
            until(lambda: town.workers_beat() or stopped.is_set(), "every worker beats")

    thread = threading.Thread(target=passes)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def play(town: Town, moves: int, players: int = 8) -> float:
    """Answer emails until so many more choices are acknowledged. Returns the seconds between the first and the last."""
    before, read, started = len(town.acknowledged), 0, 0.0

    def new() -> bool:
        nonlocal started
        started = started or (time.monotonic() if len(town.acknowledged) > before else 0.0)
        return len(town.sink.emails) > read or len(town.acknowledged) >= before + moves

    with time_passing(town), ThreadPoolExecutor(players) as crowd:
        answers = []
        while len(town.acknowledged) < before + moves:
            until(new, "another email comes")
            emails = town.sink.emails[read:]
            read += len(emails)
            answers += [crowd.submit(town.answer, email) for email in emails]
    for answer in answers:
        answer.result()
    return time.monotonic() - started
