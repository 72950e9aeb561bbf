"""What the page of a seat costs: late in a game as against early, and as against a page with nothing on it.

Processor time of one process, all pages in turn, round after round; the middle ratio counts. The page is measured
when opened again, and when first opened after a move, which means working it out and drawing it.
"""

import shutil
import statistics
import time

import pytest

from engine import registry
from pbem.service.play import seat_cache, views
from pbem.web import page_cache
from tests.bench.product import move_app
from tests.bench.tables import begin, crowd, server_on
from tests.service.play.test_move_cost import lengthen
from tests.service.running_game import RunningGame
from tests.web.browser import Links

pytestmark = [pytest.mark.bench, pytest.mark.usefixtures("as_served")]

ROUNDS = 200
MOST_BY_LENGTH = 1.2
MOST_BY_EMPTY = 4
MOST_BY_EMPTY_UNCACHED = 4
"""A page that has to be worked out and drawn costs no more than four either."""

SITE = "http://127.0.0.1:8000"


@pytest.mark.parametrize("kind", registry.names())
def test_a_page_at_row_500_costs_a_fifth_more_than_at_row_50_at_most_and_four_empty_pages(
    kind, tmp_path, record_property
):
    early, late = tmp_path / "early.sqlite3", tmp_path / "late.sqlite3"
    first = server_on(f"sqlite:///{early}", make=True)
    game = RunningGame(first, begin(first, kind, crowd(first, 3)))
    seat = next(iter(game.open()))
    _, token = Links(first).of(game, seat)
    first.store.close()
    shutil.copy(early, late)
    clients = []
    for file, rows in ((early, 50), (late, 500)):
        server = server_on(f"sqlite:///{file}")
        lengthen(server, game.id, rows)
        while views.save_overdue(server):
            pass
        clients.append(move_app(f"sqlite:///{file}").test_client())
    cached = [_round(clients, token, forget=False) for _ in range(ROUNDS)]
    uncached = [_round(clients, token, forget=True) for _ in range(ROUNDS)]
    by_length, by_empty, by_empty_uncached = (
        statistics.median(late / early for early, late, _ in cached + uncached),
        statistics.median(late / empty for _, late, empty in cached),
        statistics.median(late / empty for _, late, empty in uncached),
    )
    print(
        f"\n{kind}: row 500 is {by_length:.2f} of row 50; {by_empty:.1f} empty pages, {by_empty_uncached:.1f} after a move"
    )
    record_property("bench.late page", by_length)
    record_property("bench.first look", by_empty_uncached)
    assert by_length <= MOST_BY_LENGTH
    assert by_empty <= MOST_BY_EMPTY
    assert by_empty_uncached <= MOST_BY_EMPTY_UNCACHED


def _round(clients, token, *, forget):
    """The times of the early page, the late one, and an empty one."""
    times = []
    for client in clients:
        if forget:
            seat_cache.CACHE.clear()
            page_cache.pages_of(client.application).clear()
        times.append(_timed(client, f"/s/{token}"))
    return (*times, _timed(clients[-1], "/called"))


def _timed(client, path):
    before = time.process_time()
    answer = client.get(path, base_url=SITE)
    spent = time.process_time() - before
    assert answer.status_code == 200
    return spent
