"""The front page: a game in progress, demos, and the tables that can be joined or watched."""

from datetime import timedelta

from pbem.service.clocks import outages
from pbem.service.tables import demo
from tests.service.clock import Time
from tests.web.browser import Browser

LINK_TO_THE_DESK = ">Organisers' desk</a>"


def test_the_front_page_shows_a_game_in_progress_in_words_and_pictures(browser):
    page = browser.open("/")
    assert "Cleo has the high bid: 7." in page.text
    assert 'class="player seat-0 turn-of"' in page.source


def test_every_game_is_listed_with_its_players_length_and_mood_and_can_be_tried_at_once(browser):
    page = browser.open("/")
    for rules in demo.games_with_demo():
        assert str(rules.mood) in page.text
        assert str(rules.length) in page.text
        assert page.form(f"Play now {rules.title} against bots")


def test_a_running_public_table_can_be_watched(browser, table):
    game = table("templari", 3)
    page = browser.open("/")
    watched = page.follow(f"Watch {game.row().title}")
    assert watched.status == 200
    assert "The game so far" in watched.text


def test_a_private_table_can_not_be_watched(browser, table):
    table("templari", 3, private=True, bots=("greedy", "greedy"))
    assert "Games to watch" not in browser.open("/").text


def test_an_organiser_who_is_signed_in_finds_the_desk_in_the_footer(olga):
    front, desk = olga.open("/"), olga.open("/desk")
    assert LINK_TO_THE_DESK in front.source
    assert front.follow("Organisers' desk").url == "/desk"
    assert LINK_TO_THE_DESK not in desk.source, "its own navigation leads there"
    assert desk.source.count(">Desk</a>") == 1


def test_a_visitor_sees_no_way_to_the_desk(browser):
    assert LINK_TO_THE_DESK not in browser.open("/").source


def test_a_page_that_an_organiser_opened_first_leads_nobody_else_to_the_desk(olga, app, table, links):
    game = table("templari", 3)
    token = links.of(game, 0)[1]
    assert LINK_TO_THE_DESK not in olga.open(f"/s/{token}").source
    assert LINK_TO_THE_DESK not in Browser(app).open(f"/s/{token}").source


def test_the_page_about_an_email_says_when_emails_are_delayed(browser, server, clock, table):
    def delayed():
        page = browser.open("/sent")
        assert page.heading == "Check your email"
        return "Our emails are delayed right now" in page.text

    assert delayed(), "no worker has ever run"
    time = Time(server, clock)
    assert not delayed()
    server.run(outages.pause_email, "A flood.")
    assert delayed()
    server.run(outages.resume_email)
    assert not delayed()
    clock.advance(timedelta(minutes=6))
    assert delayed(), "no worker runs"
    time.wakes()
    table("sun-bid", 3)
    assert not delayed()
    for _ in range(5):
        time.passes(timedelta(minutes=4))
    assert delayed(), "nothing leaves"
