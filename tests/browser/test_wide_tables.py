"""A table or listing wider than the page: its edge fades until its end is in view."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from pbem import web

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]

FADING = "each => getComputedStyle(each).getPropertyValue('--fade')"
MASK = "each => getComputedStyle(each).maskImage"


@pytest.fixture
def page(chromium: Browser) -> Page:
    page = chromium.new_page(viewport={"width": 320, "height": 640})
    style = (Path(web.__file__).parent / "static" / "pbem.css").read_text()
    page.set_content(
        f"<style>{style}</style><main><div class='scroll' id='wide' tabindex='0'><p style='width: 900px'>wide</p></div>"
        "<div class='scroll' id='narrow' tabindex='0'><p>narrow</p></div></main>"
    )
    return page


def test_content_beyond_the_edge_fades_until_its_end_is_in_view(page: Page) -> None:
    wide = page.locator("#wide")
    assert wide.evaluate(FADING) == "32px"
    wide.evaluate("each => { each.scrollLeft = 9999 }")
    page.wait_for_function(f"({FADING})(document.getElementById('wide')) === '0px'")


def test_content_that_has_room_does_not_fade(page: Page) -> None:
    assert page.locator("#narrow").evaluate(FADING) == "0px"


def test_the_focus_ring_does_not_fade(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "wide"
    assert page.locator("#wide").evaluate(MASK) == "none"
    assert page.locator("#narrow").evaluate(MASK) != "none"
