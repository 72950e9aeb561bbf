"""Every email in a browser: on a phone and on a desk, light and dark, accessible.

There is one email of each kind for each game, without scripts, as in mail programs; the checks run from outside the page.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, Request

from engine import registry
from pbem.domain.user_text import LONGEST_NAME
from tests.browser.axe import COLOURS, faults_of
from tests.mail.kinds import NAMES
from tests.mail.pictures import OF_THE_GAME, chosen

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium", "npm"), pytest.mark.xdist_group("mails")]

LEAST_TARGET = 44
LEAST_LETTER = 12

WHOLE = "sun-bid"

LONG = tuple(f"{name} {'W' * 29} & <b>"[:LONGEST_NAME] for name in NAMES)
"""Names that are as long as names may be, and are hard to break."""

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
BROKEN = """() => [...document.querySelectorAll('td[align=right]')].filter(cell => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), bottoms = new Set();
    while (texts.nextNode()) {
        const words = document.createRange();
        words.selectNodeContents(texts.currentNode);
        for (const line of words.getClientRects()) bottoms.add(Math.round(line.bottom));
    }
    return bottoms.size > 1;
}).map(cell => 'a number in several lines: ' + cell.textContent)"""


@dataclass(frozen=True)
class Screen:
    """A screen size."""

    width: int
    dark: bool


PHONE, DESK = 320, 600


@pytest.mark.slow
@pytest.mark.slice(1 / 4)
@pytest.mark.parametrize(("game", "names"), [*((game, NAMES) for game in registry.names()), ("sunset-poker", LONG)])
def test_every_email_fits_its_screen_and_is_accessible(chromium: Browser, game: str, names: tuple[str, ...]) -> None:
    """For one game all kinds, for the others those about the game. Opening a page takes longer than checking it."""
    emails = {kind: email for kind, email in chosen(game, names).items() if kind in OF_THE_GAME or game == WHOLE}
    wrong: list[tuple[str, Screen, object]] = []
    asked: list[Request] = []
    for width in (PHONE, DESK):
        page = _opened(chromium, width, asked)
        for kind, email in emails.items():
            page.set_content(email.html)
            # The colour scheme changes while the email is open.
            for screen in (Screen(width, dark=False), Screen(width, dark=True)):
                page.emulate_media(color_scheme="dark" if screen.dark else "light")
                wrong += [(kind, screen, fault) for fault in _faults(page, screen)]
        page.close()
    assert asked == []
    assert len(emails) > (20 if game == WHOLE else 5)
    assert wrong == []


def _opened(browser: Browser, width: int, asked: list[Request]) -> Page:
    """An empty page that records its requests."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - it takes no method of a list
    return page


def _faults(page: Page, screen: Screen) -> Iterator[object]:
    if (width := page.evaluate("document.documentElement.scrollWidth")) != screen.width:
        yield f"is {width} pixels wide"
    yield from page.evaluate(SMALL % LEAST_TARGET)
    yield from page.evaluate(TINY % LEAST_LETTER)
    yield from page.evaluate(BROKEN)
    if not page.evaluate("document.body.innerText.trim().length") > 100:
        yield "shows nothing"
    if screen.width > PHONE:
        # The results of axe depend on colours and words, which are the same on a wider screen.
        return
    yield from faults_of(page, *(COLOURS if screen.dark else ()))
