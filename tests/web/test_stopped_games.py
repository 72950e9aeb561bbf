"""Pages and emails of a table whose rules are missing or have failed: each works or says why, and other tables go on."""

from datetime import timedelta

import pytest

from pbem.mail.wire import parse, text_of
from pbem.plugins import offers
from pbem.service import links as service_links
from pbem.service.account import feeds
from pbem.service.clocks import stopped_tables
from pbem.service.outgoing.preview import preview
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.plugins import broken
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import HEAD
from tests.service.tournaments.cup import open_cup
from tests.web.desk_pages import at_the_desk

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(sqlite_alone):
    """No database could make a difference here."""
    return sqlite_alone


@pytest.fixture
def gone(offered, table, server):
    """A table that was played for a while, and whose package is gone now."""
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    game.play(0, "allow")
    game.play(1, "allow")
    offers.close()
    stopped_tables.check_rules(server)
    return game


def seat_page(links, game):
    """Where the player of the first seat looks at the table."""
    return f"/s/{links.of(game, 0)[1]}"


def test_the_seats_page_says_why_the_table_is_stopped(gone, browser, links):
    page = browser.open(seat_page(links, gone))
    assert page.status == 503
    assert "Lanterns can't be played on this server right now." in page.text
    assert "Its rules are missing. The organiser has been told." in page.text


def test_every_list_and_the_desk_open(gone, browser, sign_in, server, table):
    other = table("bid", 3)
    assert gone.row().title in sign_in(gone.person_at(0)).text
    for path in ("/", f"/t/{gone.row().key}", f"/t/{other.row().key}"):
        assert browser.open(path).status == 200, path
    olga = at_the_desk(browser, server)
    for path in ("/desk", f"/desk/tables/{gone.id}", f"/desk/tables/{gone.id}/clocks", "/desk/audit", "/desk/people"):
        assert olga.open(path).status == 200, path
    page = olga.open(f"/desk/tables/{gone.id}")
    assert stopped_tables.REASONS[stopped_tables.Cause.GONE] in page.text


def test_players_are_told_that_their_table_was_stopped(gone, browser, links):
    page = browser.open(f"{seat_page(links, gone)}/decided")
    assert stopped_tables.REASONS[stopped_tables.Cause.GONE] in page.text


def test_news_of_other_tables_are_still_fed(offered, server, table, browser, clock):
    offered(broken.LANTERNS)
    game, other = table("lanterns", 2), table("bid", 3)
    list(other.play_defaults())
    # The newest are listed.
    clock.advance(timedelta(minutes=1))
    game.play(0, "allow")
    game.play(1, "allow")
    clock.advance(timedelta(hours=1))
    person = game.person_at(0)
    server.run(feeds.renew, person)
    at = server.read(feeds.feed_tokens, person).news

    def fed():
        return browser.client.get(f"/n/{at}/news.atom", base_url="http://localhost:8000").get_data(as_text=True)

    assert "<title>Lanterns" in fed()
    offered(broken.lanterns("sentence", broken.RAISES))
    news = fed()
    assert "<title>Lanterns" not in news
    assert "<title>Bid!" in news


def test_the_email_gives_the_reason_and_no_email_fails(gone, server, carry):
    carry()
    notices = [email for email in queued_emails(server, kind="notice") if email.game_id == gone.id]
    assert {email.status for email in notices} == {"sent"}
    words = text_of(parse(notices[0].body))
    assert "has been stopped." in words
    assert stopped_tables.REASONS[stopped_tables.Cause.GONE] in " ".join(words.split())
    assert "so that its log can be checked" not in " ".join(words.split())
    assert not [email for email in queued_emails(server) if email.status == "parked"]


def test_a_form_that_meets_the_fault_stops_the_table_at_once(offered, server, table, browser, links):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    page = browser.open(seat_page(links, game))
    form = page.act("Allow")
    game.play(1, "allow")
    offered(broken.lanterns("resolve", broken.FOR_EVER))
    answer = form.press()
    assert "The rules of Lanterns failed." in answer.text
    assert game.row().status == "frozen"


def test_a_page_that_meets_the_fault_changes_nothing_and_the_worker_stops_the_table(
    offered, server, table, browser, links
):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    # A place that no other test has reached, and no process remembers.
    game.play(1, "allow")
    game.play(0, "veto")
    offered(broken.lanterns("board", broken.FOR_EVER))
    assert browser.open(seat_page(links, game)).status == 503
    assert game.row().status == "playing"
    assert stopped_tables.stop_failed(server) == 1
    assert game.row().status == "frozen"


def test_an_email_about_a_game_of_another_package_is_like_any_other(offered, server, table):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    words = text_of(parse(preview(server, HEAD, "turn", game.id, 0)))
    assert "May the" in words
    assert "lantern be sold?" in words


def test_a_tournament_of_a_game_that_is_gone_keeps_its_pages_and_emails(
    offered, server, clock, person, browser, sign_in, carry
):
    offered(broken.LANTERNS)
    people = [person(name) for name in ("Ann", "Ben", "Cleo", "Dan")]
    key = open_cup(server, people[0], kind="lanterns", options={}, size=2, least=2, fewest=4, advance=1, rounds=1)
    cup = server.read(reading.page, key).summary.row
    for each in people:
        server.run(sign_up.sign_up, cup.id, each)
    clock.advance(cup.closes_at - clock.now())
    rounds.advance_due(server)
    offers.close()
    stopped_tables.check_rules(server)
    carry()
    news = queued_emails(server, kind="tournament")
    assert [email.status for email in news] == ["sent"] * len(people)
    sign_in(people[0])
    addresses = (
        "/tournaments",
        f"/tournaments/{key}",
        f"/tournaments/{key}.json",
        "/tournaments/calendar.ics",
        "/tournaments/news.atom",
        "/api/v1/tournaments",
        f"/api/v1/tournaments/{key}",
        f"/my/tournaments/{key}",
        "/my",
        f"/e/{server.run(service_links.make_token, LinkKey(Purpose.ENTRY, people[1], outbox_id=news[1].id))}",
    )
    answers = {each: browser.open(each).status for each in addresses}
    assert not [each for each, status in answers.items() if status >= 500], answers
    assert answers["/tournaments"] == answers[f"/tournaments/{key}"] == answers[f"/my/tournaments/{key}"] == 200
