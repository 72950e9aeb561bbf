"""Seats and the front page for people who enlarge pages, choose their own colours, want nothing to move, or use the keyboard."""

from collections.abc import Iterator
from typing import Final

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, ViewportSize

from engine import registry
from tests.bot_games import positions
from tests.browser.axe import COLOURS, faults_of
from tests.browser.seat_pages import seat_page
from tests.browser.test_every_page import WIDE

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.needs("chromium")]

ENLARGED: Final[ViewportSize] = {"width": 640, "height": 430}
"""A screen of 1280 × 860 whose page is shown twice as large."""

OVERLAPPING = """() => {
    const clipped = each => each && (getComputedStyle(each).clipPath !== "none" || clipped(each.parentElement));
    const shown = [...document.querySelectorAll("main :is(h1, h2, h3, h4, p, dt, dd, button, input, select, th, td, summary, a)")]
        .filter(each => each.checkVisibility({visibilityProperty: true}) && each.getClientRects().length
            && !clipped(each) && !each.closest("svg") && !each.matches(".pick > input"));
    const boxes = shown.map(each => [each, each.getBoundingClientRect()]);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const found = [];
    for (const [one, a] of boxes) for (const [other, b] of boxes)
        if (one !== other && !one.contains(other) && !other.contains(one) && meet(a, b)
            && one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING)
            found.push([one.outerHTML.slice(0, 80), other.outerHTML.slice(0, 80)]);
    return found;
}"""
"""Pairs of texts and controls that lie over each other. The bar, which stays in view, is put in its own place for that."""

MOVING = """() => [...document.querySelectorAll("body, body *")].filter(each => {
    const style = getComputedStyle(each);
    return style.transitionDuration.split(", ").some(time => parseFloat(time))
        || style.animationName !== "none" && style.animationTimeline === "auto";
}).map(each => each.outerHTML.slice(0, 80))"""

HIDDEN = """() => {
    const each = document.activeElement, bar = document.querySelector(".bar");
    if (each === document.body) return null;
    const box = (each.closest(".pick") || each).getBoundingClientRect(), over = bar.getBoundingClientRect();
    const beside = box.right <= over.left || box.left >= over.right;
    return !bar.contains(each) && !beside && box.bottom > over.top + 1 && box.top < over.bottom ? each.outerHTML.slice(0, 100) : "";
}"""

MOST_STOPS = 60

SCREENS: Final[tuple[ViewportSize, ...]] = (ENLARGED, {"width": 1280, "height": 800})


@pytest.fixture
def database_url(sqlite_alone: str) -> str:
    """Nothing is stored, so one database is enough."""
    return sqlite_alone


@pytest.fixture(scope="module")
def enlarged(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport=ENLARGED)
    yield context.new_page()
    context.close()


def seats(app: Flask) -> Iterator[tuple[str, str]]:
    """The pages of a full and a middle position of each game, at the most players."""
    for kind in registry.names():
        for position in positions(kind, registry.load(kind).seats[1])[:2]:
            yield kind, seat_page(app, position)


@pytest.mark.needs("npm")
def test_axe_finds_no_violation_at_a_seat_on_a_wide_screen(app: Flask, chromium: Browser) -> None:
    wrong, page = [], chromium.new_page(viewport={"width": 1280, "height": 800})
    for name, html in seats(app):
        page.emulate_media(color_scheme="light")
        page.set_content(html)
        wrong += [(name, each) for each in faults_of(page)]
        page.emulate_media(color_scheme="dark")
        wrong += [(name, each) for each in faults_of(page, *COLOURS)]
    page.close()
    assert wrong == []


def test_pages_shown_twice_as_large_fit_and_nothing_overlaps(app: Flask, enlarged: Page) -> None:
    wrong = []
    for name, html in (*seats(app), ("front", front(app))):
        enlarged.set_content(html)
        enlarged.add_style_tag(content=".bar { position: static !important }")
        wrong += [(name, each) for each in (*enlarged.evaluate(WIDE), *enlarged.evaluate(OVERLAPPING))]
    assert wrong == []


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
@pytest.mark.parametrize("screen", SCREENS, ids=["enlarged", "wide"])
def test_the_bar_hides_nothing_that_has_the_focus(
    app: Flask, chromium: Browser, screen: ViewportSize, key: str
) -> None:
    hidden, page = [], chromium.new_page(viewport=screen)
    for name, html in seats(app):
        page.set_content(html)
        for _ in range(MOST_STOPS):
            page.keyboard.press(key)
            found = page.evaluate(HIDDEN)
            if found is None:
                break
            hidden += [(name, found)] if found else []
    page.close()
    assert hidden == []


def test_a_chosen_card_is_marked_in_colours_of_the_system(app: Flask, chromium: Browser) -> None:
    context = chromium.new_context(viewport=ENLARGED, forced_colors="active")
    page, marked = context.new_page(), set()
    for name, html in seats(app):
        page.set_content(html)
        picks = page.locator(".picks .pick")
        if picks.count() > 1:
            picks.first.locator("input").check(force=True)
            page.mouse.click(1, 1)
            lines = [each.evaluate("each => getComputedStyle(each).outlineStyle") for each in picks.all()[:2]]
            assert lines == ["solid", "none"], name
            marked.add(name)
    context.close()
    assert len(marked) > 2


def test_nothing_moves_for_those_who_want_that(app: Flask, chromium: Browser) -> None:
    moving: dict[str, list[str]] = {}
    for motion in ("reduce", "no-preference"):
        context = chromium.new_context(viewport=ENLARGED, reduced_motion=motion)
        page = context.new_page()
        moving[motion] = []
        for _name, html in (*seats(app), ("front", front(app))):
            page.set_content(html)
            moving[motion] += page.evaluate(MOVING)
        context.close()
    assert moving["reduce"] == []
    assert moving["no-preference"]


def front(app: Flask) -> str:
    """The front page, with its style in it."""
    client = app.test_client()
    html = client.get("/").get_data(as_text=True)
    start, _, rest = html.partition('<link rel="stylesheet" href="')
    address, _, rest = rest.partition('">')
    return f"{start}<style>{client.get(address).get_data(as_text=True)}</style>{rest}"
