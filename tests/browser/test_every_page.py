"""Every page on the smallest phone, in light and dark mode: accessible by eye, thumb and keyboard."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import request_started, template_rendered
from jinja2 import Environment, Template
from jinja2.nodes import Const, Extends
from playwright.sync_api import Browser, ConsoleMessage, Page
from sqlalchemy import event

from pbem.web import page_cache
from tests.browser.axe import COLOURS, faults_of
from tests.browser.labels import LONGER, labels, too_long
from tests.browser.shown import Shown
from tests.browser.showroom import Showroom
from tests.conftest import some

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages")]

MOST_QUERIES = 14
"""Queries that a page may take. Two of them are for the header of who is signed in, about the turn that waits next."""
MOST_OF_DESK = 24
"""Queries that a page of the desk may take: it is opened seldom, and by few people."""

MOST_BYTES = 60_000
MOST_OF_HANDBOOK = 80_000
"""Bytes of a page of the handbook, which is read at a desk and looked up in."""

GALLERY = "gallery.show"
"""The gallery of all pictures, which exists only in development."""

PHONE = 320
DESKTOP = 1280
TABBED = {"seat.show", "new_table.show", "front.show", "my_page.emails", "talk.show", "desk_account.show"}
"""Pages with many fields and buttons. The others are made of the same parts."""

MOST_STOPS = 80
LEAST_TARGET = 24

SMALL = """() => [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea, summary")]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .map(each => [each.outerHTML.slice(0, 80), (each.closest("label") || each).getBoundingClientRect().height])
    .filter(([_, height]) => height < %d)"""

WIDE = """() => document.documentElement.scrollWidth > innerWidth
    ? [...document.querySelectorAll("body *")].filter(each => each.getBoundingClientRect().right > innerWidth + 1
        && !each.closest(".scroll") && !each.closest("svg")).slice(0, 3).map(each => each.outerHTML.slice(0, 100))
    : []"""

OVER_EACH_OTHER = """() => {
    const floats = each => each && (["fixed", "sticky"].includes(getComputedStyle(each).position) ? each : floats(each.parentElement));
    const controls = [...document.querySelectorAll("button, input:not([type=hidden], [type=radio], [type=checkbox]), select, textarea, summary")]
        .filter(each => each.checkVisibility({visibilityProperty: true}))
        .map(each => ({each, box: each.getBoundingClientRect(), floats: floats(each)}));
    return controls.flatMap((one, at) => controls.slice(at + 1)
        .filter(other => one.floats === other.floats && !one.each.contains(other.each)
            && Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left) > 2
            && Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top) > 2)
        .map(other => [one.each.outerHTML.slice(0, 80), other.each.outerHTML.slice(0, 80)]));
}"""
"""Fields and buttons that cover a part of each other, but for a bar that stays in view, which covers what scrolls below it."""

LEFT_OUT = """() => [...document.querySelectorAll("main *")]
    .filter(each => getComputedStyle(each).display === "none" && each.textContent.trim())
    .filter(each => !each.closest(".room, .board, .around, .fold, .folded, svg, [hidden], datalist, script, style, template"))
    .map(each => each.outerHTML.slice(0, 100))"""
"""Text that the style sheet hides, though only a table leaves out on phones what it says elsewhere."""

LONG_PARAGRAPHS = """() => [...document.querySelectorAll("p")]
    .filter(each => each.checkVisibility() && !each.closest(".board"))
    .filter(each => {
        const lines = document.createRange();
        lines.selectNodeContents(each);
        return new Set([...lines.getClientRects()].map(line => Math.round(line.bottom / 8))).size > 2;
    })
    .map(each => each.textContent)"""
"""Paragraphs of more than two lines, not counting the picture of a table. Parts of one line, such as a link, end within some pixels of each other."""

FOCUSED = """() => {
    const each = document.activeElement, box = each.getBoundingClientRect();
    return each === document.body ? null : {
        place: [...document.querySelectorAll("*")].indexOf(each), html: each.outerHTML.slice(0, 80),
        seen: box.width > 0 && box.height > 0, marked: getComputedStyle(each).outlineStyle != "none",
    };
}"""


@pytest.fixture(scope="module")
def room() -> Iterator[Showroom]:
    with Showroom() as furnished:
        yield furnished


@pytest.fixture(scope="module")
def pages(room: Showroom) -> list[Shown]:
    return room.pages()


@dataclass(frozen=True)
class Look:
    """A page as it was read once: its size in bytes, the statements it took, the templates it's drawn with, and its labels."""

    name: str
    of_desk: bool
    statements: int
    size: int
    templates: frozenset[str | None]
    labels: tuple[str, ...]


@pytest.fixture(scope="module")
def looks(room: Showroom, pages: list[Shown]) -> list[Look]:
    """A look at every page, each read once without a browser."""
    asked: list[str] = []
    drawn: list[str | None] = []

    def executed(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA", "SAVEPOINT")):
            asked.append(statement)

    def started(_app: Any) -> None:
        # Of the pages on the way, only the last counts.
        asked.clear()

    def rendered(_app: Any, template: Template, **_: Any) -> None:
        drawn.append(template.name)

    def look(shown: Shown) -> Look:
        drawn.clear()
        answer = shown.read(room.reader(shown.way.eyes))
        assert answer.response.mimetype == "text/html", shown
        # A route with garbage in it would be small and cheap.
        assert answer.status == shown.way.status, (shown, answer.status)
        # Sending a form has also done something, or tried to.
        statements = 0 if answer.response.request.method == "POST" else len(asked)
        html = answer.response.get_data(as_text=True)
        size = len(answer.response.data)
        return Look(shown.name, "/desk" in answer.url, statements, size, frozenset(drawn), tuple(labels(html)))

    # Pages that another test has drawn are cached.
    page_cache.pages_of(room.app).clear()
    event.listen(room.server.store.engine, "before_cursor_execute", executed)
    with request_started.connected_to(started, room.app), template_rendered.connected_to(rendered, room.app):
        found = [look(shown) for shown in pages]
    event.remove(room.server.store.engine, "before_cursor_execute", executed)
    return found


@dataclass
class Findings:
    """Violations in each colour scheme, the hosts that pages sent requests to, and messages of the browser."""

    wrong: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {"light": [], "dark": []})
    asked: set[str] = field(default_factory=set)
    heard: list[ConsoleMessage] = field(default_factory=list)


@pytest.fixture(scope="module")
def findings(room: Showroom, pages: list[Shown], chromium: Browser) -> Findings:
    """The findings on a quarter of all pages. Each is opened once, made wide, and switched to dark mode, where only colours differ."""
    found = Findings()
    with visitor(chromium, room) as page:
        page.on("request", lambda request: found.asked.add(urlsplit(request.url).netloc))
        page.on("console", lambda message: found.heard.append(message))  # noqa: PLW0108 - it takes no method of a list
        for shown in some(pages, 1 / 6):
            page.emulate_media(color_scheme="light")
            room.open(shown, page)
            found.wrong["light"] += [(shown.name, each) for each in _faults(page)]
            page.set_viewport_size({"width": DESKTOP, "height": 800})
            found.wrong["light"] += [(shown.name, f"{DESKTOP} px, {each}") for each in _misplaced(page)]
            page.set_viewport_size({"width": PHONE, "height": 640})
            page.emulate_media(color_scheme="dark")
            found.wrong["dark"] += [(shown.name, each) for each in _faults(page, *COLOURS)]
    return found


def test_every_page_is_small_and_takes_few_queries(looks: list[Look]) -> None:
    too_much = [
        (each.name, each.statements, each.size)
        for each in looks
        if each.statements > (MOST_OF_DESK if each.of_desk else MOST_QUERIES) or each.size > most_bytes(each.name)
    ]
    assert too_much == []


def most_bytes(name: str) -> int:
    """The bytes that a page may have. The gallery may have any number."""
    if name == GALLERY:
        return sys.maxsize
    return MOST_OF_HANDBOOK if name.startswith("handbook.show") else MOST_BYTES


def test_every_template_of_a_page_is_shown(room: Showroom, looks: list[Look]) -> None:
    """A template that neither extends another nor is extended is a part, not a page."""
    environment = room.app.jinja_env
    extends = {name: _extended(environment, name) for name in environment.list_templates(["html"])}
    frames = set().union(*extends.values())
    whole = {name for name, extended in extends.items() if extended} - frames
    assert len(whole) > 40
    assert whole - set().union(*(each.templates for each in looks)) == set()


def test_labels_and_buttons_are_read_at_a_glance(looks: list[Look]) -> None:
    found = {label: each.name for each in looks for label in each.labels}
    assert len(found) > 150
    assert [(label, name) for label, name in found.items() if too_long(label)] == []
    assert set(LONGER) <= found.keys()


@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_no_paragraph_of_the_front_page_is_longer_than_two_lines(room: Showroom, chromium: Browser) -> None:
    with visitor(chromium, room) as page:
        page.set_viewport_size({"width": DESKTOP, "height": 900})
        page.goto(room.url)
        assert page.evaluate(LONG_PARAGRAPHS) == []
        page.evaluate("document.querySelector('main p').textContent = 'three lines '.repeat(40)")
        assert len(page.evaluate(LONG_PARAGRAPHS)) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.browser
@pytest.mark.needs("chromium", "npm")
def test_axe_finds_no_violation_on_any_page(findings: Findings, scheme: str) -> None:
    """The pages are as wide as a small phone, and none scrolls sideways."""
    assert findings.wrong[scheme] == []


@pytest.mark.browser
@pytest.mark.needs("chromium", "npm")
def test_the_checks_of_pages_find_planted_faults(room: Showroom, chromium: Browser) -> None:
    with visitor(chromium, room) as page:
        page.set_content(
            "<p style='color: #999; background: #aaa'>pale</p><button style='height: 9px'></button><p><a>" + "W" * 99
        )
        assert {each.partition(":")[0] for each in faults_of(page)} >= {"color-contrast", "button-name"}
        assert {each.partition(":")[0] for each in faults_of(page, "color-contrast")} == {"color-contrast"}
        assert page.evaluate(WIDE)
        assert page.evaluate(SMALL % LEAST_TARGET)
        assert page.evaluate(OVER_EACH_OTHER) == []
        page.set_content(
            "<style>.said {display: none}</style><main><p class=said>Nobody reads this.</p><p>This they do."
        )
        assert len(page.evaluate(LEFT_OUT)) == 1
        page.set_content("<button>One</button><input style='margin-left: -9px'>")
        assert len(page.evaluate(OVER_EACH_OTHER)) == 1
        page.set_content(
            "<style>@media (prefers-color-scheme: dark) {p {color: #333; background: #222}}</style><p>pale"
        )
        assert faults_of(page, *COLOURS) == []
        page.emulate_media(color_scheme="dark")
        assert [each.partition(":")[0] for each in faults_of(page, *COLOURS)] == ["color-contrast"]


@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_tab_leads_through_a_page_in_order_and_shows_the_focus(
    room: Showroom, pages: list[Shown], chromium: Browser
) -> None:
    wrong = []
    with visitor(chromium, room) as page:
        for shown in pages:
            if shown.name.partition(",")[0] not in TABBED:
                continue
            room.open(shown, page)
            places = [-1]
            for _ in range(MOST_STOPS):
                page.keyboard.press("Tab")
                here = page.evaluate(FOCUSED)
                if here is None or [here["place"]] == places[1:2]:
                    break
                if here["place"] == places[-1]:
                    # A time of day is one field that takes several tabs.
                    continue
                if here["place"] < places[-1] or not (here["seen"] and here["marked"]):
                    wrong.append((shown.name, here))
                places.append(here["place"])
            assert len(places) > 4, shown
    assert wrong == []


@pytest.mark.browser
@pytest.mark.needs("chromium", "npm")
def test_no_page_fetches_from_another_site_or_breaks_its_own_policy(room: Showroom, findings: Findings) -> None:
    assert findings.asked == {urlsplit(room.url).netloc}
    complaints = [(each.page and each.page.url, each.text) for each in findings.heard if each.type == "error"]
    # Chromium also logs pages with status 404 or 409.
    assert [each for each in complaints if "the server responded with a status" not in each[1]] == []


def _faults(page: Page, *rules: str) -> Iterator[str]:
    yield from faults_of(page, *rules)
    yield from _misplaced(page)
    yield from (f"too small: {each}" for each in page.evaluate(SMALL % LEAST_TARGET))


def _misplaced(page: Page) -> Iterator[str]:
    yield from (f"too wide: {each}" for each in page.evaluate(WIDE))
    yield from (f"over each other: {each}" for each in page.evaluate(OVER_EACH_OTHER))
    yield from (f"left out: {each}" for each in page.evaluate(LEFT_OUT))


def _extended(environment: Environment, name: str) -> set[str]:
    """The frames that a template extends by name."""
    assert environment.loader is not None
    source, _path, _fresh = environment.loader.get_source(environment, name)
    return {
        each.template.value for each in environment.parse(source).find_all(Extends) if isinstance(each.template, Const)
    }


@contextmanager
def visitor(chromium: Browser, room: Showroom) -> Iterator[Page]:
    """A browser on the smallest phone."""
    context = chromium.new_context(viewport={"width": PHONE, "height": 640}, base_url=room.url, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()
