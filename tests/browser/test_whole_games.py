"""A whole game of each kind, by two people with phones and a bot, from the first form to the end and its replay.

Nothing is used but pages and emails: one person opens a table, the other joins by its link, and both play on the pages their
emails lead to. Most of them do so without scripts, and one with the keyboard alone.
"""

import random

import pytest
from playwright.sync_api import Page, expect

from engine import grammar, orders, registry
from engine.table import begin
from tests.browser.conftest import Served, path_in
from tests.browser.player import Player
from tests.web.browser import FILLED_IN

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.needs("chromium"),
    # A game has up to a hundred choices, each of three pages, and the machine may be busy.
    pytest.mark.timeout(900),
    # Pages are the same on either database, which is tested elsewhere.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

KINDS = registry.names()

WITH_SCRIPT = KINDS[1]
"""The game played with scripts, which make no difference. The others are played without."""

BY_KEYBOARD = KINDS[-2]

A_FEW = 12


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("kind", KINDS)
def test_two_people_with_phones_play_a_whole_game_from_opening_the_table_to_its_end(kind, served, people):
    luck = random.Random(kind)
    ann, ben = (
        Player(people(script=kind == WITH_SCRIPT), luck, keyboard=kind == BY_KEYBOARD and name == "Ben")
        for name in ("Ann", "Ben")
    )
    invite = create_table(served, ann, kind)
    join(served, ben, invite)
    for name, player in (("ann", ann), ("ben", ben)):
        player.page.goto(path_in(newest_email(player.page, served, f"{name}@example.org"), "/s/"))
    assert play(served, [ann, ben], A_FEW) >= 4
    for player in (ann, ben) if (order := standing_order(kind)) else ():
        leave_order(player, order)
    play(served, [ann, ben])
    for player in (ann, ben):
        assert is_over(player)
        look_back(player)


def standing_order(kind: str) -> str:
    """The order that both leave after a few choices: in a game of open bids, to pass."""
    rules = registry.load(kind)
    ((_, decision), *_) = begin(rules, 3, bytes(32)).asks().items()
    return f"always {grammar.write(decision, decision.default)}" if orders.raising(decision) else ""


def create_table(served: Served, player: Player, kind: str) -> str:
    """Start a table from the front page; the link to pass on."""
    page = player.page
    page.goto("/")
    player.press(page.locator(f"a[href='/new/{kind}']").first)
    page.get_by_label("Your email").fill("ann@example.org")
    page.get_by_label("Your name").fill("Ann")
    page.locator("[name=seats]").select_option("3")
    page.locator("[name=bots]").select_option("1")
    page.get_by_label("Invitation only").check()
    if short := registry.load(kind).short:
        page.get_by_text("Variants", exact=True).click()
        for name, value in short.items():
            page.locator(f"[name='option_{name}']").fill(str(value))
    served.passes(FILLED_IN)
    player.press(page.get_by_role("button", name="Open table"))
    assert page.locator("h1").inner_text() == "Check your email"
    page.goto(path_in(newest_email(page, served, "ann@example.org"), "/c/"))
    player.press(page.get_by_role("button", name="Open table"))
    return path_in(page.locator("main").inner_text(), "/j/")


def join(served: Served, player: Player, invite: str) -> None:
    """Take a seat by the link that was passed on."""
    page = player.page
    page.goto(invite)
    page.get_by_label("Your email").fill("ben@example.org")
    page.get_by_label("Your name").fill("Ben")
    served.passes(FILLED_IN)
    player.press(page.get_by_role("button", name="Join"))
    page.goto(path_in(newest_email(page, served, "ben@example.org"), "/c/"))
    player.press(page.get_by_role("button", name="Take seat"))
    assert "/s/" in page.url, "the last to join sits at the table"


def newest_email(page: Page, served: Served, address: str) -> str:
    """The text of the newest email to an address, as the inbox shows it."""
    served.carry()
    page.goto(f"/mailbox?to={address}")
    with page.expect_navigation():
        page.locator("ul.letters a").first.click()
    return page.locator("pre.mail").inner_text()


def look_back(player: Player) -> None:
    """Open the replay at the first turn, and go a step forward and back."""
    player.press(player.page.get_by_role("link", name="Replay"))
    player.press(player.page.get_by_role("link", name="From the start"))
    first = player.page.locator("h1").inner_text()
    player.press(player.page.get_by_role("link", name="Next"))
    assert player.page.locator("h1").inner_text() != first
    player.press(player.page.get_by_role("link", name="Back", exact=True))
    assert player.page.locator("h1").inner_text() == first


def leave_order(player: Player, order: str) -> None:
    """Leave an order that answers from now on."""
    player.page.get_by_text("Standing order", exact=True).click()
    player.page.get_by_label("Your order").fill(order)
    player.press(player.page.get_by_role("button", name="Set order"))
    expect(player.page.locator("#orders")).to_contain_text(f"Your order is {order}")


def play(served: Served, players: list[Player], most: int = 1000) -> int:
    """Let all players choose in turn until the end, or a number of times; the number of choices."""
    # For an address with a fragment, a browser only scrolls.
    seats = {id(player): player.page.url.partition("#")[0] for player in players}
    decided, idle = 0, 0
    while decided < most and not all(is_over(player) for player in players):
        for player in players:
            player.page.goto(seats[id(player)])
            while player.may_decide():
                player.decide()
                decided, idle = decided + 1, 0
        served.work()
        idle += 1
        assert idle < 20, "nobody can decide anything, and the game is not over"
    return decided


def is_over(player: Player) -> bool:
    """Whether the page says that the game is over."""
    return player.page.locator(".end .eyebrow").count() > 0
