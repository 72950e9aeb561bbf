"""An open table learns whether there is news by one small question, which tells nothing else."""

import re

import pytest
from sqlalchemy import event
from structlog.testing import capture_logs

from pbem.service.play import undo
from tests.web.browser import HOST


@pytest.fixture
def poker(table):
    """A game whose players all seal a choice at once."""
    return table("sunset-poker", 3)


@pytest.fixture
def ask(browser, links, poker):
    """ask(seat, mark) -> the answer to whether there is news since the page with this mark."""

    def asked(seat, mark=""):
        headers = {"If-None-Match": mark} if mark else {}
        return browser.client.get(f"/s/{links.of(poker, seat)[1]}/news", base_url=HOST, headers=headers)

    return asked


def mark_on_page(browser, links, poker, seat):
    source = browser.open(f"/s/{links.of(poker, seat)[1]}").source
    return re.search(r'data-mark="&(?:quot|#34);([^&]+)&(?:quot|#34);"', source)[1]


def test_a_page_without_news_is_told_so_and_nothing_else(browser, links, poker, ask):
    mark = mark_on_page(browser, links, poker, 0)
    answer = ask(0, f'"{mark}"')
    assert answer.status_code == 304
    assert answer.get_data() == b""


def test_a_turn_is_news(browser, links, poker, ask):
    mark = f'"{mark_on_page(browser, links, poker, 0)}"'
    for seat, decision in sorted(poker.asked().items()):
        poker.play(seat, decision.default)
    answer = ask(0, mark)
    assert answer.status_code == 204
    assert answer.headers["ETag"] == f'"{mark_on_page(browser, links, poker, 0)}"' != mark


def test_others_sealing_a_choice_is_no_news(browser, links, poker, ask, server):
    mark = f'"{mark_on_page(browser, links, poker, 0)}"'
    poker.play(1, poker.asked()[1].default)
    assert ask(0, mark).status_code == 304
    server.run(undo.take_back, poker.id, poker.row().turn, 1)
    assert ask(0, mark).status_code == 304


def test_everyone_at_a_table_has_the_same_mark(browser, links, poker):
    poker.play(1, poker.asked()[1].default)
    assert len({mark_on_page(browser, links, poker, seat) for seat in range(3)}) == 1


def test_a_question_without_news_is_one_read_and_no_line_in_the_log(browser, links, poker, server):
    mark, path = f'"{mark_on_page(browser, links, poker, 0)}"', f"/s/{links.of(poker, 0)[1]}/news"
    statements = []
    event.listen(server.store.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    with capture_logs() as lines:
        answer = browser.client.get(path, base_url=HOST, headers={"If-None-Match": mark})
    assert answer.status_code == 304
    assert len([each for each in statements if not each.startswith(("BEGIN", "COMMIT", "ROLLBACK"))]) == 1, statements
    assert lines == []


def test_a_link_that_was_replaced_gets_no_news(browser, links, poker):
    answer = browser.client.get("/s/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/news", base_url=HOST)
    assert answer.status_code in (404, 410)


def test_the_script_is_small_and_keeps_nothing(browser):
    with browser.client.get("/static/live.js", base_url=HOST) as answer:
        script = answer.get_data(as_text=True)
    assert len(script) < 5000
    for forbidden in ("localStorage", "sessionStorage", "indexedDB", "cookie", "submit", "innerHTML", "eval", "click("):
        assert forbidden not in script
