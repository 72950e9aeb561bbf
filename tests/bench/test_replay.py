"""What looking back at a moment costs: in a long game as against a short one, and as against a page with nothing on it.

Processor time of one process, all pages in turn, round after round; the middle ratio counts. A moment is measured
when someone goes back to it, and at the first look, which means working it out and drawing it.
"""

import random
import statistics
import time

import pytest

from pbem.service.archive import replay
from pbem.service.play import views
from pbem.web import page_cache
from tests.bench.product import move_app
from tests.bench.tables import begin, crowd, server_on
from tests.service.running_game import RunningGame
from tests.web.browser import Links

pytestmark = pytest.mark.bench

ROUNDS = 60
SHORT_AND_LONG = 200, 500
"""Both longer than what a page shows of the auctions before a moment, which is all that a short game saves."""
MOST_BY_LENGTH = 1.2
MOST_BY_EMPTY = 4
SITE = "http://127.0.0.1:8000"


def test_a_moment_of_500_entries_costs_a_fifth_more_than_one_of_200_at_most_and_four_empty_pages(tmp_path):
    pages = [_game(tmp_path / f"{entries}.sqlite3", entries) for entries in SHORT_AND_LONG]
    luck = random.Random(1)
    # Over many auctions, because how long the last ones were decides how much of the log is read.
    places = [luck.randrange(2, 100) for _ in range(ROUNDS)]
    rounds = [[_round(pages, before, forget=forget) for forget in (True, False, False)] for before in places]
    uncached, cached = [first for first, _, _ in rounds], [again for _, _, again in rounds]
    by_length, by_empty, by_empty_uncached = (
        statistics.median(long / short for short, long, _ in cached + uncached),
        statistics.median(long / empty for _, long, empty in cached),
        statistics.median(long / empty for _, long, empty in uncached),
    )
    print(
        f"\n500 entries are {by_length:.2f} of 200; {by_empty:.1f} empty pages, {by_empty_uncached:.1f} at the first look"
    )
    assert by_length <= MOST_BY_LENGTH
    assert by_empty <= MOST_BY_EMPTY


def _game(file, entries):
    """The pages of a game with this many entries: a client, the path of the replay, and the entries."""
    server = server_on(f"sqlite:///{file}", make=True)
    game = RunningGame(server, begin(server, "templari", crowd(server, 3), options={"start_money": 60}))
    while game.row().turn < entries:
        seat, decision = next(iter(game.asked().items()))
        bid = next((act for act in decision.acts if act.verb == "bid"), None)
        # The lowest bid each time, so that a game takes as long as it can.
        game.play(seat, decision.default if bid is None else next(iter(bid.choices())))
    while views.save_overdue(server):
        pass
    _, token = Links(server).of(game, 0)
    return move_app(f"sqlite:///{file}").test_client(), f"/s/{token}/replay", entries


def _round(pages, before, *, forget):
    """The times of a moment in the short game, of one in the long game, and of an empty page."""
    times = []
    for client, path, entries in pages:
        if forget:
            replay.CACHE.clear()
            page_cache.pages_of(client.application).clear()
        times.append(_timed(client, f"{path}/{entries - before}"))
    return (*times, _timed(pages[-1][0], "/called"))


def _timed(client, path):
    before = time.process_time()
    answer = client.get(path, base_url=SITE)
    spent = time.process_time() - before
    assert answer.status_code == 200
    return spent
