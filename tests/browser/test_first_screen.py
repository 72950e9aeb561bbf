"""The first screen of a seat: on a phone table, hand and bar fit it; on a wide screen the bar lies over nothing of the table."""

from collections.abc import Iterator
from typing import Final

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from engine import registry
from engine.table import Table, begin
from tests.bot_games import NAMES, decisions, played, positions, tables, waiter
from tests.browser.seat_pages import seat_page

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium"), pytest.mark.slice(1 / 5)]

TALLEST = 1600
HALF_A_PHONE = 180
"""Its page shown twice as large."""
LEAST_LETTER = 14
LEAST_TARGET = 44
LEAST_STRIP = 9
"""Of a card that others lie over, so that its index is seen."""

MEASURED = """() => {
    const box = each => document.querySelector(each).getBoundingClientRect();
    return {board: box(".board").bottom, mine: box(".mine").bottom, bar: box(".bar").top, end: box(".bar").bottom,
        tall: document.documentElement.scrollHeight, wide: document.documentElement.scrollWidth};
}"""

TINY = """() => {
    const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), found = new Set();
    while (walk.nextNode()) {
        const each = walk.currentNode.parentElement, box = each.getBoundingClientRect();
        const shown = each.checkVisibility() && box.width > 1 && box.height > 1 && !each.matches(".token");
        if (shown && walk.currentNode.textContent.trim() && parseFloat(getComputedStyle(each).fontSize) < %d)
            found.add(each.outerHTML.slice(0, 80));
    }
    return [...found];
}"""

COVERED = """() => [...document.querySelectorAll(".board .things, .mine .things")].filter(each => each.checkVisibility())
    .flatMap(each => [...each.children].slice(1).map((card, at) => [each.children[at], card]))
    .map(pair => pair.map(each => each.getBoundingClientRect()))
    .filter(([a, b]) => Math.abs(a.top - b.top) < 4 && b.left - a.left < %d).map(([a, b]) => b.left - a.left)"""
"""How much is to be seen of cards that are covered by the next."""

LAID_OVER = """() => {
    const hasBox = each => each.getBoundingClientRect().width > 1 || getComputedStyle(each).display === "contents";
    const walk = document.createTreeWalker(document.querySelector(".play"), NodeFilter.SHOW_TEXT), found = [], boxes = [];
    while (walk.nextNode()) {
        const text = walk.currentNode, each = text.parentElement, range = document.createRange();
        let around = each;
        while (around && hasBox(around)) around = around.parentElement;
        if (around || !text.textContent.trim() || !each.checkVisibility() || each.closest(".token, svg")) continue;
        range.selectNodeContents(text);
        for (const box of range.getClientRects()) boxes.push([text, text.textContent, box]);
    }
    const words = boxes.length;
    for (const each of document.querySelectorAll(".play .art"))
        if (each.checkVisibility()) boxes.push([each, "a picture", each.getBoundingClientRect()]);
    for (let one = 0; one < words; one++) for (let other = one + 1; other < boxes.length; other++) {
        const [[text, said, a], [thing, named, b]] = [boxes[one], boxes[other]];
        const inPanel = [text, thing].every(each => (each.closest ? each : each.parentElement).closest(".player .state"));
        if (text !== thing && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > (inPanel ? 6 : 4)) found.push(`${said} / ${named}`);
    }
    return found;
}"""
"""Words of the table that other words or pictures lie over; in a panel's close lines, large numbers reach into the next."""

CUT = """() => [...document.querySelectorAll(".room *")].filter(each => getComputedStyle(each).textOverflow === "ellipsis")
    .map(each => each.outerHTML.slice(0, 80))"""

WITHOUT_WORD = """() => [...document.querySelectorAll(".play :is(.score, .count)")].filter(each => each.checkVisibility()
    && each.getBoundingClientRect().width > 1 && each.firstElementChild.getBoundingClientRect().width <= 1)
    .map(each => each.outerHTML.slice(0, 80))"""

UNEVEN = """() => [...document.querySelectorAll(".play .things")].filter(each => each.checkVisibility())
    .map(each => [...each.querySelectorAll(".art:not(.sign)")].map(art => art.getBoundingClientRect()))
    .flatMap(row => row.slice(1).filter((card, at) => Math.abs(card.top - row[at].top) > 1 && card.left > row[at].left)
    .map(card => card.left + ", " + card.top))"""
"""Cards higher or lower than the one beside them."""

OVERLAPPING_HAND = """() => [...document.querySelectorAll(".hand .things")].map(each => [...each.querySelectorAll(".art")])
    .flatMap(row => row.map(each => each.getBoundingClientRect()).slice(1)
    .filter((card, at) => { const before = row[at].getBoundingClientRect(); return card.left > before.left && card.left < before.right - 1; })
    .map(card => "a card of the hand lies over another at " + card.left))"""

OUTSIDE = """() => [...document.querySelectorAll(".player, .mine")].flatMap(panel => {
    const box = panel.getBoundingClientRect();
    return [...panel.querySelectorAll(".art:not(.sign)")].filter(each => each.checkVisibility()).map(each => each.getBoundingClientRect())
        .filter(card => card.left < box.left + 4 || card.right > box.right - 4)
        .map(card => `a card from ${card.left} to ${card.right} in a panel from ${box.left} to ${box.right}`);
})"""
"""Cards that lie over the edge of their player's panel."""

UNDER_A_MARK = """() => [...document.querySelectorAll(".ring .player")].flatMap(panel => {
    const hasBox = each => each.getBoundingClientRect().width > 1;
    const mark = getComputedStyle(panel, "::after"), edge = panel.getBoundingClientRect();
    const walk = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT), range = document.createRange(), found = [];
    const right = edge.right - parseFloat(mark.right), top = edge.top + parseFloat(mark.top);
    while (walk.nextNode()) {
        let around = walk.currentNode.parentElement;
        while (around !== panel && hasBox(around)) around = around.parentElement;
        if (around !== panel) continue;
        range.selectNodeContents(walk.currentNode);
        for (const box of range.getClientRects())
            if (Math.min(box.right, right) - Math.max(box.left, right - parseFloat(mark.width)) > 1
                && Math.min(box.bottom, top + parseFloat(mark.height)) - Math.max(box.top, top) > 4)
                found.push(`${walk.currentNode.textContent} lies under the mark of which way play goes`);
    }
    return found;
})"""

UNEVEN_TILES = """() => [...document.querySelectorAll(".hand .things:has(.tile)")].flatMap(row => {
    const lefts = [...row.querySelectorAll(".tile")].map(each => each.getBoundingClientRect().left);
    const steps = lefts.slice(1).map((left, at) => left - lefts[at]).filter(step => step > 0);
    return steps.filter(step => Math.abs(step - steps[0]) > 1).map(step => `tiles ${steps[0]} and ${step} apart`);
})"""

SIDEWAYS = """() => {
    document.querySelectorAll(".fold").forEach(each => { each.open = true; });
    return [...document.querySelectorAll(".play .scroll")].filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth)
        .map(each => `${each.scrollWidth} in ${each.clientWidth}`);
}"""
"""Tables of numbers beside the board that do not fit their page."""

NO_HEADING = """() => [...document.querySelectorAll(".goods > .row")].length > 1 && [...document.querySelectorAll(".goods > .hand > h4")]
    .some(each => each.getBoundingClientRect().width <= 1)"""
"""Whether a hand beside other rows is not named."""

PUSHED = """() => [...document.querySelectorAll("body *")].filter(each => each.checkVisibility()
    && ["auto", "scroll"].includes(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth + 1
    && !each.matches("[role=region][aria-label][tabindex]")).map(each => each.outerHTML.slice(0, 80))"""
"""What can be pushed sideways without saying so to someone who can't see it."""

RANGES = """() => [...document.querySelectorAll(".bar input[type=number]")].map(each => {
    each.value = "%s";
    return each.scrollWidth <= each.clientWidth;
})"""
"""Whether the field of a bid has room for digits as wide as its range."""

SLIDES = """() => {
    const [slider, field] = ["range", "number"].map(type => document.querySelector(`.bar input[type=${type}]`));
    const [less, more] = document.querySelectorAll(".bar .step");
    const found = [slider.min === field.min && slider.max === field.max];
    slider.value = Number(field.min) + 2;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    found.push(field.value === slider.value);
    more.click();
    more.click();
    less.click();
    found.push(Number(field.value) === Number(field.min) + 3 && slider.value === field.value);
    return [...found, less.type, more.type, less.ariaLabel, more.ariaLabel, slider.ariaLabel !== ""];
}"""
"""What a slider and its steps do to the field of an amount, and how they are called."""

PALE = """() => {
    const style = each => getComputedStyle(document.querySelector(each)), button = style(".bar button:has(.said)");
    return [button.borderTopStyle, button.color === style(".bar .miss").color, style(".things .pick .art").outlineStyle,
        style(".bar .first").display];
}"""
"""The edge of the button that waits for a card, whether its words are grey, the edge of the first card, and the line that says
to choose."""

LEADERS = """() => [...document.querySelectorAll(".leads")].filter(each => {
    const box = each.querySelector("[aria-hidden]").getBoundingClientRect();
    return getComputedStyle(each).clipPath === "none" && box.width > 8 && box.height > 8;
}).length"""

SECRET_SCORES = "sorcerous-futures"
"""The game in which only the end shows who leads."""

WIDE_PAGE = """() => document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} wide`] : []"""

WIDE: Final = ((1024, 768), (1280, 800), (1440, 900))

BEHIND_THE_BAR = """() => {
    const bar = document.querySelector(".bar").getBoundingClientRect();
    return [...document.querySelectorAll(".board, .board *, .mine, .mine *")].filter(each => {
        const box = each.getBoundingClientRect();
        return each.checkVisibility() && Math.min(box.right, bar.right) - Math.max(box.left, bar.left) > 1
            && Math.min(box.bottom, bar.bottom) - Math.max(box.top, bar.top) > 1;
    }).map(each => each.outerHTML.slice(0, 80));
}"""

IN_VIEW = """() => [".bar", ".own"].every(each => document.querySelector(each).getBoundingClientRect().bottom <= innerHeight)"""

LOW = """() => [...document.querySelectorAll(".bar button, .bar input[type=number], .room summary, .hand .pick")]
    .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < %d).map(each => each.outerHTML.slice(0, 80))"""


def _numbers(kind: str) -> range:
    """The numbers of players of a game."""
    seats = registry.load(kind).seats
    return range(seats[0], seats[-1] + 1)


@pytest.fixture
def database_url(sqlite_alone: str) -> str:
    """Nothing is stored, so one database is enough."""
    return sqlite_alone


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Page]:
    """A page of its own for each test: where another has clicked, the pointer would lift a card."""
    context = chromium.new_context(viewport={"width": 360, "height": 800})
    yield context.new_page()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seats"), tables())
def test_table_hand_and_bar_fit_the_first_screen_of_a_phone(app: Flask, phone: Page, kind: str, seats: int) -> None:
    wrong = []
    for position in (*positions(kind, seats), *decisions(kind, seats)):
        phone.set_content(seat_page(app, position))
        found = phone.evaluate(MEASURED)
        if found["mine"] > found["bar"] or found["end"] > 800 or found["tall"] > TALLEST or found["wide"] > 360:
            wrong.append(found)
        wrong += phone.evaluate(TINY % LEAST_LETTER) + phone.evaluate(LOW % LEAST_TARGET)
        wrong += phone.evaluate(COVERED % LEAST_STRIP) + phone.evaluate(PUSHED) + phone.evaluate(LAID_OVER)
        for each in (CUT, WITHOUT_WORD, UNEVEN, UNEVEN_TILES, UNDER_A_MARK, OVERLAPPING_HAND, OUTSIDE):
            wrong += phone.evaluate(each)
        assert not phone.evaluate(NO_HEADING)
        wrong += phone.evaluate(SIDEWAYS)
        phone.set_viewport_size({"width": HALF_A_PHONE, "height": 400})
        wrong += phone.evaluate(WIDE_PAGE)
        phone.set_viewport_size({"width": 360, "height": 800})
        wrong += _wrong_while_waiting(app, phone, position)
    assert wrong == []


def _wrong_while_waiting(app: Flask, phone: Page, position: Table) -> list[str]:
    """What is not on the first screen of a seat that has nothing to decide: the table, its hand, who is awaited and how long."""
    if (seat := waiter(position)) is None:
        return []
    phone.set_content(seat_page(app, position, seat))
    found, notice = phone.evaluate(MEASURED), phone.locator(".bar").inner_text()
    fits = found["mine"] <= found["bar"] and found["end"] <= 800 and found["tall"] <= TALLEST and found["wide"] <= 360
    names = all(NAMES[each] in notice for each in position.asks())
    wrong = phone.evaluate(LAID_OVER) + phone.evaluate(UNEVEN)
    return wrong if fits and names and "ago)" in notice else [*wrong, f"seat {seat}: {found}, {notice}"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seats"), [(kind, seats) for kind in registry.names() for seats in _numbers(kind)])
def test_no_card_of_a_hand_lies_over_another_and_nothing_over_what_a_panel_says(
    app: Flask, phone: Page, kind: str, seats: int
) -> None:
    game = tuple(played(kind, seats, 7))
    wrong = []
    for position in game[:: max(1, len(game) // 8)]:
        phone.set_content(seat_page(app, position))
        for width in (360, 768):
            phone.set_viewport_size({"width": width, "height": 800})
            for each in (OVERLAPPING_HAND, OUTSIDE, LAID_OVER, UNEVEN_TILES, UNDER_A_MARK):
                wrong += phone.evaluate(each)
    assert wrong == []


def test_an_amount_has_a_slider_and_steps_with_a_script(app: Flask, phone: Page) -> None:
    for position in decisions("sorcerous-futures", 4):
        phone.set_content(seat_page(app, position))
        if phone.locator(".bar input[type=range]").count():
            break
    assert phone.evaluate(SLIDES) == [True, True, True, "button", "button", "Less", "More", True]


def test_cards_to_choose_are_dashed_and_their_button_is_grey_until_one_is_chosen(app: Flask, phone: Page) -> None:
    phone.set_content(seat_page(app, begin(registry.load("sunset-poker"), 3, b"pale" * 8)))
    assert phone.evaluate(PALE) == ["solid", True, "dashed", "block"]
    phone.locator(".things .pick").first.click()
    assert phone.evaluate(PALE) == ["solid", False, "none", "none"]


def test_the_button_of_a_bid_is_grey_until_a_number_is_typed(app: Flask, phone: Page) -> None:
    grey = """() => { const style = each => getComputedStyle(document.querySelector(each));
        return style(".bar .act:has([type=number]) > .main").color === style(".bar .miss").color; }"""
    for position in decisions("sorcerous-futures", 4):
        phone.set_content(seat_page(app, position))
        if phone.locator(".bar input[type=number]").count():
            break
    assert phone.evaluate(grey)
    phone.locator(".bar input[type=number]").fill("7")
    assert not phone.evaluate(grey)


def test_the_range_of_a_bid_is_not_cut_off_on_a_phone(app: Flask, phone: Page) -> None:
    found = []
    for position in decisions("sorcerous-futures", 4):
        phone.set_content(seat_page(app, position))
        found += phone.evaluate(RANGES % ("8" * len("10–104")))
    assert found
    assert all(found)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seats"), tables())
def test_the_bar_lies_beside_the_table_on_a_wide_screen(app: Flask, chromium: Browser, kind: str, seats: int) -> None:
    page = chromium.new_page()
    for position in (*positions(kind, seats), *decisions(kind, seats)):
        page.set_content(seat_page(app, position))
        for width, height in WIDE:
            page.set_viewport_size({"width": width, "height": height})
            assert [
                found
                for each in (LAID_OVER, CUT, WITHOUT_WORD, UNEVEN, UNDER_A_MARK, SIDEWAYS)
                for found in page.evaluate(each)
            ] == [], width
            for scrolled in (0, 9999):
                page.evaluate(f"scrollTo(0, {scrolled})")
                assert page.evaluate(BEHIND_THE_BAR) == [], (width, scrolled)
            page.evaluate("scrollTo(0, 0)")
            assert page.evaluate(IN_VIEW), width
    page.close()


@pytest.mark.parametrize("kind", registry.names())
def test_the_table_says_who_leads_and_every_leader_has_a_star_on_a_phone(app: Flask, phone: Page, kind: str) -> None:
    leaders = []
    for position in positions(kind, registry.load(kind).seats[1]):
        phone.set_content(seat_page(app, position))
        leaders.append(phone.locator(".leads").count())
        assert phone.evaluate(LEADERS) == leaders[-1]
        sentence = phone.locator(".lead-now").inner_text()
        if kind == SECRET_SCORES:
            assert sentence.startswith("Nobody knows who's ahead"), sentence
        else:
            assert ("lead" in sentence) == (leaders[-1] > 0), sentence
    assert any(leaders) == (kind != SECRET_SCORES)


@pytest.mark.parametrize("kind", registry.names())
def test_the_lesson_of_a_demo_leaves_the_table_on_the_first_screen(app: Flask, phone: Page, kind: str) -> None:
    rules = registry.load(kind)
    first = begin(rules, rules.demo or rules.seats[0], b"demo" * 8)
    phone.set_content(seat_page(app, first, guest=True))
    assert phone.locator(".demo").is_visible()
    found = phone.evaluate(MEASURED)
    assert found["board"] <= found["bar"], found
