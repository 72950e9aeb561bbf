"""“My games” in a real browser: it counts down the time left, and is complete without a script."""

import re

import pytest
from playwright.sync_api import Page, expect

from pbem.service.people import addresses
from pbem.tokens import Purpose

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.needs("chromium"),
    # Pages are the same on either database, which is tested elsewhere.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def asked(table, served):
    """A player whose turn it is, and who has been emailed."""
    game = table("templari", 3)
    served.carry()
    return game.person_at(next(iter(game.asked())))


def sign_in(page: Page, token: str) -> None:
    page.goto(f"/l/{token}")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Your turn")).to_be_visible()


def test_the_time_left_counts_down(people, links, asked, server):
    page = people()
    page.clock.install(time=server.now())
    sign_in(page, links.made(Purpose.SIGN_IN, asked))
    clock = page.locator(".clock")
    expect(clock).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    before = clock.inner_text()
    page.clock.run_for(65_000)
    after = clock.inner_text()
    assert seconds(before) - seconds(after) in range(64, 70), (before, after)


def test_the_time_zone_of_the_browser_is_offered_if_it_is_another(people, links, asked, server):
    page = people(zone="UTC")
    sign_in(page, links.made(Purpose.SIGN_IN, asked))
    expect(page.get_by_role("button", name="Use the browser's")).to_have_count(0)
    page = people(zone="Europe/Paris")
    sign_in(page, links.made(Purpose.SIGN_IN, asked))
    page.get_by_role("button", name="Use the browser's: Europe/Paris").click()
    expect(page.get_by_text("Time zone saved.")).to_be_visible()
    assert server.read(addresses.read, asked).zone == "Europe/Paris"


def test_without_a_script_the_deadline_is_shown_and_every_button_works(people, links, asked):
    page = people(script=False)
    sign_in(page, links.made(Purpose.SIGN_IN, asked))
    expect(page.get_by_text("Move by")).to_be_visible()
    assert page.locator(".clock").count() == 0
    page.get_by_role("button", name="Go to table").click()
    assert "/s/" in page.url


def test_on_a_wide_screen_the_page_of_a_seat_leads_to_the_talk_and_the_replay(people, links, table):
    game = table("templari", 3)
    page = people()
    page.goto(f"/s/{links.of(game, 0)[1]}")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for name in ("Talk", "Replay"):
            expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def seconds(clock: str) -> int:
    hours, minutes, rest = map(int, clock.split(":"))
    return hours * 3600 + minutes * 60 + rest
