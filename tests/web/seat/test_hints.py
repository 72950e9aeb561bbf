"""Hints: what the Expert bot would choose, asked for on the page of a seat at a table that allows it."""

import re
from threading import Barrier, Thread
from urllib.parse import quote

import pytest
from structlog.testing import capture_logs

from engine import codec
from pbem import hints
from pbem.child_process import Failed, Interrupted
from pbem.domain.duration import HOUR
from pbem.domain.errors import TooMany
from pbem.hints import Adviser, HintTask, NoHint, hint_here
from pbem.service.play import seat_view
from pbem.service.tables import demo
from tests.service.archive.sample_review import sample_hint
from tests.service.database import all_rows
from tests.waiting import PATIENCE

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def open_table(table):
    """A game with hints, whose first player is asked how much to pay."""
    return table("bid", 3, hints=True)


@pytest.fixture
def adviser(monkeypatch):
    monkeypatch.setattr(hints, "MOST_WAIT", 10 * PATIENCE)
    found = Adviser()
    child = found._child
    yield found
    child.close()


def asked(game):
    return next(iter(sorted(game.asked())))


def seen_by(server, links, game, seat):
    return server.read(seat_view.view_seat, links.of(game, seat)[1])


def checked(page):
    return re.findall(r"<input[^>]* checked[^>]*>", page.source)


def task_of(seat):
    return HintTask(seat.rules, seat.view, seat.decision)


def test_a_player_is_told_what_the_expert_would_choose_and_has_it_filled_in(browser, links, server, table):
    game = table("sunset-poker", 3, hints=True)
    seat = asked(game)
    page = browser.open(f"/s/{links.of(game, seat)[1]}")
    before = all_rows(server.store)
    answer = page.form("Show a hint").press()
    found = sample_hint(task_of(seen_by(server, links, game, seat)))
    assert f"The Expert bot would choose “{found.chosen}”." in answer.text
    assert "It won about 40% of 60 games simulated from here." in answer.text
    changed = {name for name, rows in all_rows(server.store).items() if rows != before[name]}
    assert changed == {"quota"}, "nothing is kept of the question, only how often a network asks"
    filled = browser.open(f"/s/{links.of(game, seat)[1]}?choice={quote(found.chosen)}")
    assert checked(answer) == checked(filled) != checked(page)


def test_where_a_table_has_no_hints_there_are_none(browser, links, table):
    game = table("bid", 3)
    token = links.of(game, asked(game))[1]
    assert "Show a hint" not in browser.open(f"/s/{token}").text
    refused = browser.post(f"/s/{token}/hint", [("turn", str(game.row().turn))])
    assert refused.status == 404
    assert "This table has no hints." in refused.text


def test_one_network_cannot_keep_the_expert_from_everyone_else(browser, links, open_table, clock, monkeypatch):
    monkeypatch.setattr("pbem.web.seat.page.HINTS_AN_HOUR", 3)
    token, form = links.of(open_table, asked(open_table))[1], [("turn", str(open_table.row().turn))]
    for _ in range(3):
        assert "The Expert bot would choose" in browser.post(f"/s/{token}/hint", form).text
    refused = browser.post(f"/s/{token}/hint", form)
    assert (refused.status, "Many hints were asked for" in refused.text) == (429, True)
    clock.advance(HOUR / 3)
    assert "The Expert bot would choose" in browser.post(f"/s/{token}/hint", form).text


def test_a_hint_that_fails_counts_too_and_one_that_is_not_begun_does_not(browser, links, open_table, monkeypatch):
    monkeypatch.setattr("pbem.web.seat.page.HINTS_AN_HOUR", 1)
    token, form = links.of(open_table, asked(open_table))[1], [("turn", str(open_table.row().turn))]

    def fails_with(refusal):
        def advise(_task):
            raise refusal

        monkeypatch.setattr("pbem.web.site.hint", advise)
        return browser.post(f"/s/{token}/hint", form)

    for _ in range(2):
        assert "is busy" in fails_with(TooMany("The Expert is busy.")).text
    assert "has no hint" in fails_with(NoHint("The Expert has no hint.")).text
    assert "Many hints were asked for" in fails_with(NoHint("The Expert has no hint.")).text


def test_a_question_from_another_turn_is_not_answered(browser, links, open_table):
    token = links.of(open_table, asked(open_table))[1]
    answer = browser.post(f"/s/{token}/hint", [("turn", str(open_table.row().turn + 1))])
    assert answer.status == 409
    assert "Expert bot would choose" not in answer.text


def test_a_demo_has_hints(browser, server):
    token = demo.begin(server, "bid")
    assert "Show a hint" in browser.open(f"/s/{token}").text


@pytest.mark.slow
def test_a_hint_depends_on_nothing_but_what_its_player_sees(server, links, open_table, adviser):
    seen = seen_by(server, links, open_table, asked(open_table))
    assert codec.dumps(seen.view) == codec.dumps(seen.rules.mask(seen.view, seen.seat))
    assert adviser(task_of(seen)) == hint_here(task_of(seen))


@pytest.mark.slow
def test_the_same_question_costs_nothing_again(server, links, open_table, adviser):
    task = task_of(seen_by(server, links, open_table, asked(open_table)))
    found = adviser(task)
    adviser.close()
    adviser._child = None  # From now on, no child can be asked.
    assert adviser(task) == found


@pytest.mark.slow
def test_one_hint_is_made_at_a_time_and_others_are_asked_to_wait(server, links, open_table, adviser):
    task = task_of(seen_by(server, links, open_table, asked(open_table)))
    asking, answered = Barrier(2), Barrier(2)

    class Slow:
        def ask(self, question):
            asking.wait(PATIENCE)
            answered.wait(PATIENCE)
            return codec.dumps(hint_here(task))

    adviser._child = Slow()
    first = Thread(target=adviser, args=(task,))
    first.start()
    asking.wait(PATIENCE)
    with pytest.raises(TooMany, match="busy"):
        adviser(task)
    answered.wait(PATIENCE)
    first.join()
    assert adviser(task) == hint_here(task)


@pytest.mark.parametrize(
    "failed, event, words",
    [
        (Failed("it ended"), "hint_failed", "no hint for this move"),
        (Interrupted("no time"), "hint_interrupted", "no time for hints right now"),
    ],
    ids=["fails", "is interrupted"],
)
def test_a_hint_that_cannot_be_made_is_logged_and_its_player_is_told(
    server, links, open_table, adviser, failed, event, words
):
    task = task_of(seen_by(server, links, open_table, asked(open_table)))

    class Broken:
        def ask(self, question):
            raise failed

    adviser._child = Broken()
    with capture_logs() as events, pytest.raises(NoHint, match=words):
        adviser(task)
    assert [line["game"] for line in events if line["event"] == event] == ["bid"]
