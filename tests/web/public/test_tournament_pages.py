"""Tournaments as everyone sees them: the calendar and its feeds, the points of each round, and the bracket of a knockout."""

import re
from datetime import timedelta

import pytest
from icalendar import Calendar
from lxml import etree

from pbem.service.tournaments import hosting, reading, rounds, sign_up
from pbem.store import tables
from pbem.web.tournaments import bracket as bracket_module
from tests.service.database import count_calls
from tests.service.running_game import RunningGame
from tests.service.tournaments.cup import open_cup

ATOM = {"a": "http://www.w3.org/2005/Atom"}
NINE = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")
MARKS = {0x2068: None, 0x2069: None}


@pytest.fixture
def cup(server, person):
    """cup("Ann", ..., form="knockout") -> the key of a tournament that these have signed up for."""

    def opened(*names, **settings):
        key = open_cup(server, person("Host"), **settings)
        for name in names:
            server.run(sign_up.sign_up, row(server, key).id, person(name))
        return key

    return opened


@pytest.fixture
def plays(server, clock):
    """plays(key) -> lets sign-up end, or the games of the present round."""

    def on(key):
        found = server.read(reading.page, key)
        if found.summary.status == "open":
            clock.advance(found.summary.row.closes_at - clock.now())
        else:
            clock.advance(timedelta(days=1))
            for each in found.rounds[-1].tables:
                list(RunningGame(server, server.query(tables.by_key, each.key).id).play_defaults())
        rounds.advance_due(server)

    return on


def row(server, key):
    return server.read(reading.page, key).summary.row


def news(browser, path):
    """The entries of a feed: titles by id, and the moments in their order."""
    answer = browser.client.get(path, base_url="http://localhost:8000")
    assert answer.mimetype == "application/atom+xml"
    feed = etree.fromstring(answer.data)
    entries = feed.findall("a:entry", ATOM)
    moments = [each.findtext("a:updated", namespaces=ATOM) for each in entries]
    assert moments == sorted(moments, reverse=True)
    assert feed.findtext("a:updated", namespaces=ATOM) == (moments[0] if moments else "2000-01-01T00:00:00+00:00")
    titles = {e.findtext("a:id", namespaces=ATOM): e.findtext("a:title", namespaces=ATOM) for e in entries}
    assert len(titles) == len(entries)
    return [title.translate(MARKS) for title in titles.values()]


def dates(browser, path):
    """The events of a calendar by their ids."""
    answer = browser.client.get(path, base_url="http://localhost:8000")
    assert answer.mimetype == "text/calendar"
    events = list(Calendar.from_ical(answer.data).walk("VEVENT"))
    found = {str(each["uid"]).partition("@")[0]: each for each in events}
    assert len(found) == len(events)
    return found


def test_the_news_of_a_tournament_go_from_its_opening_to_its_winner(browser, server, cup, plays):
    assert news(browser, "/tournaments/news.atom") == []
    key = cup(*NINE[:3])
    address = f"/tournaments/{key}/news.atom"
    assert news(browser, address) == ["Spring cup: Sign-up is open"]
    for _ in range(3):
        plays(key)
    (winner,) = server.read(reading.page, key).summary.winners
    titles = [f"{winner} has won", "Round 2 has begun", "Round 1 has begun", "Sign-up is open"]
    assert sorted(news(browser, address)) == sorted(f"Spring cup: {each}" for each in titles)
    other = cup(name="Autumn cup")
    assert len(news(browser, "/tournaments/news.atom")) == 5
    assert news(browser, f"/tournaments/{other}/news.atom") == ["Autumn cup: Sign-up is open"]


def test_a_calendar_has_the_end_of_sign_up_and_each_round(browser, server, cup, plays, person):
    key = cup(*NINE[:3])
    address = f"/tournaments/{key}/calendar.ics"
    (before,) = dates(browser, address).values()
    assert before["dtstart"].dt == row(server, key).closes_at
    server.run(hosting.extend, row(server, key).id, person("Host"), 3)
    (after,) = dates(browser, address).values()
    assert after["dtstart"].dt - before["dtstart"].dt == timedelta(days=3)
    assert after["sequence"] > before["sequence"]
    assert after["uid"] == before["uid"]
    plays(key)
    running = dates(browser, address)[f"{key}-1"]
    assert running["dtend"].dt == row(server, key).due_at
    plays(key)
    over = dates(browser, address)
    assert list(over) == [f"{key}-0", f"{key}-1", f"{key}-2"]
    assert over[f"{key}-1"]["sequence"] > running["sequence"]
    assert over[f"{key}-1"]["dtend"].dt <= over[f"{key}-2"]["dtstart"].dt
    assert dates(browser, "/tournaments/calendar.ics").keys() == over.keys()


def test_a_tournament_that_is_called_off_is_cancelled_in_calendars(browser, server, cup, person):
    key = cup(*NINE[:3])
    (before,) = dates(browser, f"/tournaments/{key}/calendar.ics").values()
    server.run(hosting.call_off, row(server, key).id, person("Host"), "Nobody has time.")
    (event,) = dates(browser, f"/tournaments/{key}/calendar.ics").values()
    assert (event["status"], event["uid"]) == ("CANCELLED", before["uid"])
    assert event["sequence"] > before["sequence"]
    assert "Spring cup: Called off" in news(browser, "/tournaments/news.atom")


def test_a_feed_that_has_not_changed_is_not_sent_again(browser, cup):
    key = cup(*NINE[:3])
    for end in ("news.atom", "calendar.ics", f"{key}/news.atom", f"{key}/calendar.ics"):
        first = browser.client.get(f"/tournaments/{end}", base_url="http://localhost:8000")
        asking = {"If-None-Match": first.headers["ETag"]}
        again = browser.client.get(f"/tournaments/{end}", headers=asking, base_url="http://localhost:8000")
        assert (again.status_code, again.data) == (304, b"")
    assert browser.open("/tournaments/nothing/news.atom").status == 404
    assert browser.open("/tournaments/nothing/calendar.ics").status == 404


def test_the_calendar_says_what_comes_and_who_has_won(browser, server, cup, plays):
    assert "Nothing this month or later." in browser.open("/tournaments").follow("Calendar").text
    key = cup(*NINE[:3], name="Winter cup")
    for _ in range(3):
        plays(key)
    cup(*NINE[:3])
    page = browser.open("/tournaments/calendar")
    text = page.text.translate(MARKS)
    (winner,) = server.read(reading.page, key).summary.winners
    assert "Nov 2026" in text
    assert re.search(r"Sign-up ends\s*Spring cup", text)
    assert "Past winners" in text
    assert re.search(rf"{winner}\s*Winter cup", text)
    assert page.follow("Winter cup").url == f"/tournaments/{key}"
    assert f"won by {winner}" in browser.open("/tournaments?show=over").text.translate(MARKS)


def test_pages_name_their_feeds_in_words_and_for_programs(browser, cup):
    key = cup(*NINE[:3])
    for page, folder in (("/tournaments", ""), ("/tournaments/calendar", ""), (f"/tournaments/{key}", f"{key}/")):
        shown = browser.open(page)
        for mimetype, name, words in (
            ("application/atom+xml", "news.atom", "news for a feed reader"),
            ("text/calendar", "calendar.ics", "dates for your calendar"),
        ):
            address = f"/tournaments/{folder}{name}"
            assert re.search(
                rf'<link rel="alternate" type="{re.escape(mimetype)}"[^>]* href="{address}">', shown.source
            )
            assert shown.links()[words] == address


def test_more_tournaments_take_no_more_statements(browser, server, cup, plays):
    paths = ("/tournaments/calendar", "/tournaments/news.atom", "/tournaments/calendar.ics", "/tournaments?show=open")
    made = []
    for number in range(2):
        for each in range(1 + 2 * number):
            key = cup(*NINE[:3], name=f"Cup {number}.{each}", rounds=1)
            cup(name="Open")
            plays(key)
        made.append([])
        for path in paths:
            with count_calls(server.store) as calls:
                browser.open(path)
            made[-1].append(len(calls))
    assert made[0] == made[1]
    assert max(made[0]) <= 16


def test_the_standings_say_what_became_of_everyone_in_each_round(browser, server, cup, plays):
    key = cup(*NINE[:7])
    plays(key)
    plays(key)
    found = server.read(reading.page, key)
    source = browser.open(f"/tournaments/{key}").source
    rows = re.findall(r'<th scope="row"><bdi>(\w+)</bdi></th>\s*<td>(.*?)</td>\s*<td>(.*?)</td>', source, re.DOTALL)
    assert [name for name, _points, _first in rows] == [each.name for each in found.standings]
    for (_name, _points, cell), each in zip(rows, found.standings, strict=True):
        course = each.course[0]
        words = f"{course.place} of {course.among}" if course.place else "bye"
        assert words in cell
        assert (f"/t/{course.key}/replay" in cell) == bool(course.place)


def test_the_bracket_shows_each_table_and_the_way_of_everyone_who_went_on(browser, server, cup, plays):
    key = cup(*NINE, form="knockout", advance=1)
    for _ in range(3):
        plays(key)
    found = server.read(reading.page, key)
    drawn = bracket_module.bracket(found.rounds)
    assert len(drawn.boxes) == sum(len(each.tables) + len(each.byes) for each in found.rounds)
    assert len(drawn.ways) == sum(len(table.players) for table in found.rounds[-1].tables)
    shown = {line.name: line.goes_on for box in drawn.boxes if box.x == drawn.boxes[0].x for line in box.lines}
    finalists = {each.name for each in found.rounds[-1].tables[0].players}
    assert shown == {name: name in finalists for name in NINE}
    lowest = {}
    for box in drawn.boxes:
        assert box.y >= lowest.get(box.x, 0)
        lowest[box.x] = box.y + box.height
        assert box.x + box.width <= drawn.width
        assert box.y + box.height <= drawn.height
    page = browser.open(f"/tournaments/{key}")
    (svg,) = re.findall(r"<svg.*?</svg>", page.source, re.DOTALL)
    assert svg.count("<rect") == len(drawn.boxes)
    assert 'role="img" aria-labelledby="bracket-title bracket-desc"' in svg
    for row in drawn.rows:
        assert row.players.translate(MARKS) in page.text.translate(MARKS)
    assert sum(f"{name} to table 1" in page.text.translate(MARKS) for name in finalists) == 3


def test_a_long_name_is_cut_in_the_drawing_and_whole_in_words(browser, server, cup, plays, person):
    key = cup("Ann", "Ben", form="knockout", advance=1)
    names = "<b>Maximiliane & Theodora</b>", "一二三四五六七八九十"
    for each in names:
        server.run(sign_up.sign_up, row(server, key).id, person(f"P{len(each)}"), each)
    server.run(sign_up.sign_up, row(server, key).id, person("Cleo"))
    server.run(sign_up.sign_up, row(server, key).id, person("Dan"))
    plays(key)
    source = browser.open(f"/tournaments/{key}").source
    (svg,) = re.findall(r"<svg.*?</svg>", source, re.DOTALL)
    assert "一二三四五六七…" in svg
    assert "一二三四五六七八九十" in source
    assert "<b>" not in source
