"""What open tables cost: each asks for news while it is seen, and is told that nothing has changed.

Processor time of one process, for the news of 1,000 seats and as many empty pages, round after round; the middle ratio counts.
How often a page asks follows from the script, in the first ten minutes in which nothing happens.
"""

import re
import statistics
import time
from pathlib import Path

import pytest

from pbem import web
from tests.bench.product import move_app
from tests.bench.tables import SEATS, begin, crowd, server_on
from tests.service.running_game import RunningGame
from tests.web.browser import Links

pytestmark = pytest.mark.bench

OPEN_PAGES = 1_000
ROUNDS = 7
CORES = 2
MINUTES = 10
MOST_BY_EMPTY = 1.2
SITE = "http://127.0.0.1:8000"
SCRIPT = Path(web.__file__).parent / "static" / "live.js"


def test_an_unchanged_table_costs_little_more_than_an_empty_page(tmp_path, record_property):
    url = f"sqlite:///{tmp_path / 'pbem.sqlite3'}"
    server = server_on(url, make=True)
    players, links = crowd(server), Links(server)
    games = [RunningGame(server, begin(server, "templari", players)) for _ in range(OPEN_PAGES // SEATS)]
    client = move_app(url).test_client()
    marks = {}
    for game in games:
        for seat in range(SEATS):
            path = f"/s/{links.of(game, seat)[1]}/news"
            marks[path] = client.get(path, base_url=SITE).headers["ETag"]
    rounds = [(_spent(client, marks), _spent(client, dict.fromkeys(range(len(marks))))) for _ in range(ROUNDS)]
    by_empty = statistics.median(news / empty for news, empty in rounds)
    share = polls_a_second() * statistics.median(news for news, _empty in rounds) / len(marks) / CORES
    print(
        f"\nnews of an unchanged table: {by_empty:.2f} empty pages; {OPEN_PAGES:,} open pages ask"
        f" {polls_a_second():.0f} times a second, {share:.1%} of {CORES} cores"
    )
    record_property("bench.news of empty", by_empty)
    assert by_empty <= MOST_BY_EMPTY


def _spent(client, marks):
    """The time that the news of these tables take, or as many empty pages where they have no marks."""
    before = time.process_time()
    for path, mark in marks.items():
        if mark is None:
            assert client.get("/called", base_url=SITE).status_code == 200
        else:
            answer = client.get(path, base_url=SITE, headers={"If-None-Match": mark})
            assert (answer.status_code, answer.get_data()) == (304, b"")
    return time.process_time() - before


def polls_a_second():
    """How often all open pages together ask, by the numbers in the script."""
    script = SCRIPT.read_text()
    wait, latest = (int(re.search(rf"const {name} = (\d+);", script)[1]) / 1000 for name in ("soonest", "latest"))
    growth = float(re.search(r"wait \* ([\d.]+)", script)[1])
    asked, at = 0, wait
    while at <= MINUTES * 60:
        wait = min(wait * growth, latest)
        asked, at = asked + 1, at + wait
    return OPEN_PAGES * asked / (MINUTES * 60)
