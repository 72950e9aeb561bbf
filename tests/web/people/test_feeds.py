"""Feeds: deadlines for a calendar and news for a feed reader, at secret addresses that can be renewed."""

import re
from datetime import timedelta

import pytest
from icalendar import Calendar
from lxml import etree

from engine import registry
from pbem.service.account import feeds
from pbem.service.clocks import vacations
from pbem.service.desk.acts.seats import Substitute
from pbem.service.play import undo
from tests.service.actors import moderate
from tests.service.database import all_rows, count_calls

ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def at(server):
    """at(person) -> the addresses of their feeds."""

    def of(person):
        if server.read(feeds.feed_tokens, person) is None:
            server.run(feeds.renew, person)
        found = server.read(feeds.feed_tokens, person)
        return f"/k/{found.calendar}/deadlines.ics", f"/n/{found.news}/news.atom"

    return of


@pytest.fixture
def events(browser, at):
    """events(person) -> the events of their calendar."""

    def of(person):
        answer = browser.client.get(at(person)[0], base_url="http://localhost:8000")
        assert answer.mimetype == "text/calendar"
        shown = Calendar.from_ical(answer.data)
        assert str(shown["version"]) == "2.0"
        assert shown["prodid"]
        return list(shown.walk("VEVENT"))

    return of


@pytest.fixture
def news(browser, at):
    """news(person) -> the entries of their news."""

    def of(person):
        answer = browser.client.get(at(person)[1], base_url="http://localhost:8000")
        assert answer.mimetype == "application/atom+xml"
        return etree.fromstring(answer.data)

    return of


def test_feeds_get_addresses_on_request_and_new_ones_revoke_the_old(browser, sign_in, person):
    page = sign_in(person("Ann")).follow("Settings")
    assert "/deadlines.ics" not in page.source
    first = addresses(page.form("Show links").press())
    assert len(first) == 2
    assert {browser.open(each).status for each in first} == {200}
    second = addresses(browser.open("/my/settings").form("Replace links").press())
    assert {browser.open(each).status for each in first} == {410}
    assert {browser.open(each).status for each in second} == {200}


def addresses(page):
    return re.findall(r"http://localhost:8000(/[kn]/\w+/[\w.]+)", page.source)


def test_the_address_of_one_feed_does_not_open_another(browser, at, person):
    calendar, news = at(person("Ann"))
    swapped = (news.replace("/n/", "/k/").replace("news.atom", "deadlines.ics"), calendar.replace("/k/", "/s/"))
    assert [browser.open(each.removesuffix("/deadlines.ics")).status for each in swapped] == [404, 404]
    assert browser.open(swapped[0]).status == 404


def test_a_calendar_shows_each_deadline_at_its_moment_in_utc(events, table, carry, server):
    game = table("templari", 3, title="Friday; <b>late</b>, at night")
    carry()
    seat = next(iter(game.asked()))
    (event,) = events(game.person_at(seat))
    assert event.decoded("dtstart") == due_of(server, game, seat)
    assert event["dtstart"].to_ical().endswith(b"Z")
    assert (str(event["status"]), str(event["summary"])) == ("CONFIRMED", "Your turn at Friday; <b>late</b>, at night")
    assert str(event["url"]) == "http://localhost:8000/my"
    assert events(game.person_at((seat + 1) % 3)) == []


def due_of(server, game, seat):
    from pbem.store import deadlines

    with server.store.read() as tx:
        return deadlines.read(tx, game.id, game.row().turn, seat).due_at


def test_a_moved_deadline_revises_its_event_and_a_move_cancels_it(events, table, carry, server, clock):
    game = table("templari", 3)
    carry()
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    (first,) = events(person)
    server.run(vacations.book_text, person, f"{clock.now().date()} to {clock.now().date() + timedelta(days=2)}")
    (moved,) = events(person)
    assert moved["uid"] == first["uid"]
    assert moved.decoded("dtstart") > first.decoded("dtstart")
    assert moved["sequence"] > first["sequence"]
    game.play(seat, game.asked()[seat].default)
    done = next(each for each in events(person) if each["uid"] == first["uid"])
    assert str(done["status"]) == "CANCELLED"
    assert done["sequence"] > moved["sequence"]
    clock.advance(feeds.RECENT + timedelta(days=5))
    assert first["uid"] not in [each["uid"] for each in events(person)]


def test_a_calendar_has_no_deadline_of_a_former_player(events, table, carry, server, person):
    game = table("templari", 3)
    carry()
    seat = next(iter(game.asked()))
    game.play(seat, game.asked()[seat].default)
    moderate(server, Substitute(game.id, seat, "zoe@example.org"), "Ann asked us to.")
    assert events(person("Zoe")) == []
    while seat not in game.asked():
        other, decision = next(iter(game.asked().items()))
        game.play(other, decision.default)
    carry()
    assert len(events(person("Zoe"))) == 1


def test_news_are_newest_first_and_keep_their_ids(news, table, clock, server):
    game = table("templari", 3, title="Friday <i>")
    for _ in range(6):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
        clock.advance(timedelta(minutes=5))
    feed = news(game.person_at(0))
    assert feed.xpath("count(//a:entry)", namespaces=ATOM) >= 6
    updated = feed.xpath("//a:entry/a:updated/text()", namespaces=ATOM)
    assert updated == sorted(updated, reverse=True)
    assert feed.xpath("a:updated/text()", namespaces=ATOM) == updated[:1]
    names = feed.xpath("//a:entry/a:id/text()", namespaces=ATOM)
    assert len(set(names)) == len(names)
    assert feed.xpath("//a:entry/a:title/text()", namespaces=ATOM)[0].startswith("Friday <i>: ")
    clock.advance(timedelta(minutes=5))
    assert news(game.person_at(0)).xpath("//a:entry/a:id/text()", namespaces=ATOM) == names


def test_news_have_nothing_that_can_still_be_taken_back(news, table, clock, server):
    game = table("templari", 3)
    clock.advance(timedelta(minutes=5))
    before = etree.tostring(news(game.person_at(0)))
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.default)
    assert etree.tostring(news(game.person_at(0))) == before
    clock.advance(server.hold)
    assert etree.tostring(news(game.person_at(0))) != before


def test_news_name_no_card_that_only_their_reader_has_seen(news, table, clock):
    game = table("sunset-poker", 3)
    while game.row().turn < 10:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    clock.advance(timedelta(minutes=5))
    rules = registry.load("sunset-poker")
    words = {rules.word(card) for seat in range(3) for card in game.view(seat).hands[seat]}
    assert len(words) > 20
    feeds_of = ["".join(news(game.person_at(seat)).itertext()) for seat in range(3)]
    for word in words:
        named = {len(re.findall(rf"\b{word}\b", feed)) for feed in feeds_of}
        assert len(named) == 1, f"the feed of one player names {word}, and those of others do not"
    assert not any(re.search(r"/[msr]/[a-z2-7]{33}", feed) for feed in feeds_of)


def test_a_feed_takes_few_queries_and_writes_nothing(browser, at, table, server, carry, person):
    played = [table("templari", 3) for _ in range(5)]
    for game in played:
        for _ in range(20):
            seat, decision = next(iter(game.asked().items()))
            game.play(seat, decision.default)
    carry()
    paths = at(person("Ann"))
    before = all_rows(server.store)
    for path in paths:
        with count_calls(server.store) as made:
            assert browser.open(path).status == 200
        assert len([each for each in made if not each.startswith(("BEGIN", "COMMIT"))]) <= 4
    assert all_rows(server.store) == before


def test_feeds_need_no_cookie_and_are_not_cached(browser, at, person):
    for path in at(person("Ann")):
        answer = browser.client.get(path, base_url="http://localhost:8000")
        assert answer.headers["Cache-Control"] == "no-store"
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert "Set-Cookie" not in answer.headers


def test_news_do_not_tell_that_someone_has_answered_or_thought_again(browser, at, table, clock, server, monkeypatch):
    monkeypatch.setattr(feeds, "_MOST_ROWS", 3)
    game = table("sunset-poker", 3)
    while len(game.log()) < 12 or len(game.asked()) < 3:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    clock.advance(timedelta(hours=1))
    reader, thinker = game.person_at(0), 1
    shown = browser.open(at(reader)[1]).source
    for _ in range(4):
        game.play(thinker, game.asked()[thinker].default)
        clock.advance(timedelta(hours=1))
        assert browser.open(at(reader)[1]).source == shown
        server.run(undo.take_back, game.id, game.row().turn, thinker)
        assert browser.open(at(reader)[1]).source == shown
    turns = [int(found) for found in re.findall(rf"<id>[^<]*{game.row().key}-(\d+)[^<]*</id>", shown)]
    assert turns == [*range(game.row().turn - 1, game.row().turn - 1 - len(turns), -1)]
    assert len(turns) > 1, "they are named by turn"
