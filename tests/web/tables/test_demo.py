"""The demo in a browser: one click on the front page, a whole round, and no page that has to be reloaded."""

import random
import re

import pytest

from pbem.service.play import seat_view
from pbem.service.tables import demo
from tests.service.database import queued_emails
from tests.web.browser import Browser

BUTTON = "Play now Sunset Poker against bots"


@pytest.fixture
def seat(browser):
    """The page behind the button of the front page."""
    return browser.open("/").form(BUTTON).press()


def test_a_visitor_plays_a_whole_round_with_one_press_a_turn(seat, server):
    luck, page, turns = random.Random(5), seat, 0
    while page.acts():
        assert page.status == 200
        assert "This is a demo" in page.text
        page = luck.choice(page.acts()).press_anyhow(luck)
        turns += 1
    assert 6 <= turns <= 13
    assert "Game over" in page.text
    assert "That was the demo." in page.text
    assert {email.status for email in queued_emails(server)} == {"queued"}


def test_the_demo_first_explains_the_game(seat):
    aim = "Draft a hand, then reveal it one card at a time"
    assert aim in seat.text
    after = seat.acts()[0].press(b0=0)
    assert aim not in after.text
    assert "This is a demo against Beginner bots." in after.text


def test_the_end_of_a_demo_leads_to_a_real_table_and_to_another_demo(seat, server):
    page, luck = seat, random.Random(6)
    while page.acts():
        page = luck.choice(page.acts()).press_anyhow(luck)
    assert page.follow("Play for real").status == 200
    assert "This is a demo against Beginner bots." in page.form("Play again").press().text
    assert "Rematch" not in page.text


@pytest.mark.parametrize("rules", demo.games_with_demo(), ids=lambda rules: rules.slug)
def test_every_demo_explains_its_first_turns_one_at_a_time(browser, server, rules):
    page, lessons = browser.open("/").form(f"Play now {rules.title} against bots").press(), []
    # Where the bots lead the game, a turn may have nothing new.
    for _ in range(5):
        assert page.status == 200
        lesson = re.search("What you could do(.*)More(.*)This is a demo", page.text)
        lessons += [lesson[1]] if lesson else []
        usual = server.read(seat_view.view_seat, page.url.split("/")[2].partition("?")[0]).default_words
        page = page.form("Make this move").press(choice=usual)
        if "Play again" in page.text:
            break
    assert len(set(lessons)) > 1


def test_only_a_guest_is_taught(browser, links, table):
    assert "What you could do" not in browser.open(f"/s/{links.of(table('templari', 3), 0)[1]}").text


def test_there_is_no_demo_of_an_unknown_game(browser):
    form = browser.open("/").form(BUTTON)
    assert form.press(kind="nonsense").status == 404


def test_a_demo_offers_nothing_that_needs_an_address_or_other_people(seat):
    assert "Move by" not in seat.text
    assert "Talk" not in seat.links()
    assert seat.links()["Contact the organiser"] == "/call"
    assert not [form for form in seat.forms() if form.action.endswith(("/resign", "/end", "/programs", "/call"))]


def test_too_many_demos_are_refused_politely(browser, monkeypatch):
    monkeypatch.setattr(demo, "GUESTS_AN_HOUR", 0)
    page = browser.open("/").form(BUTTON).press()
    assert page.status == 429
    assert "All demo tables are taken" in page.text


def test_one_visitor_cannot_use_up_the_demo_for_the_others(app, browser, server):
    for _ in range(server.demos):
        assert browser.open("/").form(BUTTON).press().status == 200
    assert browser.open("/").form(BUTTON).press().status == 429
    other = Browser(app)
    other.client.environ_base["REMOTE_ADDR"] = "198.51.100.7"
    assert other.open("/").form(BUTTON).press().status == 200


def test_another_site_cannot_start_demos(browser):
    browser.says["Origin"] = "https://elsewhere.example"
    assert browser.open("/").form(BUTTON).press().status == 403
