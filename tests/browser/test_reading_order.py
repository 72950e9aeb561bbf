"""Screen readers tell a seat in the order of the page: the table, the own hand, the question, what happened."""

import pytest
from flask import Flask
from playwright.sync_api import Browser

from engine import registry
from tests.bot_games import played
from tests.browser.reading_order import file_of, read_aloud
from tests.browser.seat_pages import seat_page

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]


@pytest.fixture
def database_url(sqlite_alone: str) -> str:
    """Nothing is stored, so one database is enough."""
    return sqlite_alone


@pytest.mark.parametrize("kind", registry.names())
def test_a_seat_is_read_aloud_in_the_order_that_was_reviewed(app: Flask, chromium: Browser, kind: str) -> None:
    page = chromium.new_page()
    text = read_aloud(app, page, kind)
    page.close()
    assert text == file_of(kind).read_text(encoding="utf-8"), "write it again: python -m tests.browser.reading_order"


@pytest.mark.parametrize("kind", registry.names())
def test_the_question_comes_after_the_table_and_before_the_rest(kind: str) -> None:
    # A line with a colon in it is quoted.
    lines = [line.strip().replace("- '", "- ") for line in file_of(kind).read_text(encoding="utf-8").splitlines()]
    starts = (
        "- heading",
        '- region "Your side"',
        "- form",
        '- navigation "This game"',
        '- region "Since your last turn"',
    )
    places = [next(at for at, line in enumerate(lines) if line.startswith(start)) for start in starts]
    assert places == sorted(places)


def test_the_key_of_the_question_leads_to_it_and_tab_to_the_first_option(app: Flask, chromium: Browser) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(seat_page(app, next(played("templari", 3, 0))))
    key = {"key": "m", "code": "KeyM", "windowsVirtualKeyCode": 77, "modifiers": 1, "unmodifiedText": "m"}
    protocol = context.new_cdp_session(page)
    protocol.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    protocol.send("Input.dispatchKeyEvent", {"type": "char", "text": "m", "isSystemKey": True, **key})
    assert page.evaluate("document.activeElement.id") == "ask"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.bar') !== null")
    context.close()
