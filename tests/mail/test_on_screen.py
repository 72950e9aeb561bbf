"""Every mail as a browser shows it: on a phone and on a desk, by day and at night, for every eye and thumb.

One mail of each kind for each game, with the scripts of the page switched off, as mail programs do; what looks at the page
comes from outside.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, sync_playwright

from engine import game as games_of_house
from tests.conftest import find_tool
from tests.mail.pictures import chosen

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium"), pytest.mark.xdist_group("mails")]

LEAST_TARGET = 44
LEAST_LETTER = 12

SMALL = """() => [...document.querySelectorAll('a')].map(a => [a.textContent, a.getBoundingClientRect().height])
    .filter(([_, height]) => height < %d)"""
TINY = """() => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent.trim(), style = getComputedStyle(walk.currentNode.parentElement);
        if (text && style.display !== 'none' && parseFloat(style.fontSize) < %d) found.push(text);
    }
    return found;
}"""


@dataclass(frozen=True)
class Screen:
    """What somebody reads on."""

    width: int
    dark: bool


SCREENS = [Screen(320, dark=False), Screen(320, dark=True), Screen(600, dark=False), Screen(600, dark=True)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=find_tool("chromium"), args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", games_of_house.names())
def test_every_mail_fits_its_screen_and_everybody_can_use_it(browser, game):
    """One page is used for all mails of a game: opening one takes longer than looking."""
    mails = chosen(game)
    wrong = []
    for screen in SCREENS:
        page = browser.new_page(
            viewport={"width": screen.width, "height": 800}, color_scheme="dark" if screen.dark else "light"
        )
        asked: list[str] = []
        page.on("request", lambda request: asked.append(_url(request)))  # noqa: B023 - gone before the next screen
        for kind, mail in mails.items():
            page.set_content(mail.html)
            wrong += [(kind, screen, fault) for fault in _faults(page, screen)]
        assert asked == []
        page.close()
    assert len(mails) > 20
    assert wrong == []


def _faults(page: Page, screen: Screen) -> Iterator[object]:
    if (width := page.evaluate("document.documentElement.scrollWidth")) != screen.width:
        yield f"is {width} pixels wide"
    yield from page.evaluate(SMALL % LEAST_TARGET)
    yield from page.evaluate(TINY % LEAST_LETTER)
    if not page.evaluate("document.body.innerText.trim().length") > 100:
        yield "shows nothing"
    for violation in Axe().run(page).response["violations"]:
        yield violation["id"], [node["html"] for node in violation["nodes"]][:2]


def _url(request: Request) -> str:
    return request.url
