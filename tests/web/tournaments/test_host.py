"""The pages of a tournament's host: each button shows first what it will do."""

from datetime import timedelta

import pytest

from pbem.service.tables import groups
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.store import groups as rows
from tests.service.database import queued_emails
from tests.service.tournaments.cup import open_cup


@pytest.fixture
def cup(server, person):
    """A tournament of three players, and its host's page."""
    key = open_cup(server, person("Host"))
    for name in ("Ann", "Ben", "Cleo"):
        server.run(sign_up.sign_up, server.read(reading.page, key).summary.row.id, person(name))
    return key


@pytest.fixture
def page(browser, sign_in, person, cup):
    sign_in(person("Host"))
    return browser.open(f"/my/tournaments/{cup}")


def test_more_days_are_given_with_the_second_button(page, server, cup):
    before = server.read(reading.page, cup).summary.row.closes_at
    preview = page.form("Extend").press(days="2")
    assert preview.heading == "Preview: Extend"
    assert "Nothing has changed yet." in preview.text
    assert "3 emails go out, to Ann, Ben, Cleo." in preview.text
    assert "Sign-up ends:" in preview.text
    assert server.read(reading.page, cup).summary.row.closes_at == before
    assert "Everyone concerned gets an email." in preview.form("Extend").press().text
    assert (server.read(reading.page, cup).summary.row.closes_at - before).days == 2
    assert "changed since the preview" in preview.form("Extend").press().text


def test_a_mistake_is_said_beside_its_field_before_any_preview(page):
    assert "days" in page.form("Extend").press(days="0").mistakes()


def test_the_preview_of_invitations_counts_what_was_typed_and_names_nobody(page, server, person):
    preview = page.form("Send invitations").press(invited="ann@example.org\nzoe@example.org")
    assert "Each of the 2 addresses gets one email" in preview.text
    assert not [name for name in ("Ann", "Ben", "Cleo") if name in preview.text]
    preview.form("Send invitations").press()
    assert len(queued_emails(server, person("Zoe"), "sign_up")) == 1


def test_a_host_numbers_the_players_and_chooses_the_tie_breaks(browser, sign_in, person, server):
    sign_in(person("Host"))
    form = browser.open("/my/tournaments/new/sunset-poker").form("Open sign-up")
    usual = {"rounds": 2, "size": 3, "least": 3, "advance": 1, "fewest": 3, "most": 8, "round_days": 7}
    usual |= {"title": "By hand", "seeding": "hand", "tie_break_1": "places"}
    assert "A tie-break is there twice." in form.press(**usual, tie_break_2="places").text
    none = {f"tie_break_{number}": "none" for number in range(3, 7)}
    page = form.press(**usual, tie_break_2="lots", **none)
    key = page.url.rpartition("/")[2].partition("?")[0]
    for name in ("Ann", "Ben"):
        server.run(sign_up.sign_up, server.read(reading.page, key).summary.row.id, person(name))
    preview = browser.open(f"/my/tournaments/{key}").form("Save order").press(seed_1="2", seed_2="1")
    assert "New seeding Ben Ann" in preview.text
    preview.form("Save order").press()
    shown = browser.open(f"/tournaments/{key}").text
    assert "Ben Ann" in shown
    assert "by hand: the host puts the players in order" in shown
    assert "Opponents beaten: the higher sum" in shown


def test_members_see_the_tournament_of_their_group_with_its_rounds_and_no_dead_link(
    browser, sign_in, person, server, clock
):
    host = person("Host")
    club = server.run(groups.create, host, "Friday club")
    key = open_cup(server, host, group=club, fewest=3)
    for name in ("Ann", "Ben", "Cleo"):
        server.run(groups.invite, host, club, (f"{name.lower()}@example.org",))
        server.run(groups.accept, server.query(rows.with_members, club)[0].id, person(name), name)
        server.run(sign_up.sign_up, server.read(reading.page, key, host).summary.row.id, person(name))
    clock.advance(timedelta(days=8))
    rounds.advance_due(server)
    assert browser.open(f"/tournaments/{key}").status == 404
    sign_in(person("Ann"))
    assert "Spring cup" in browser.open(f"/groups/{club}").text
    page = browser.open(f"/my/tournaments/{key}")
    assert "Round 1" in page.text
    assert not [href for href in page.hrefs() if "/replay" in href or href.startswith("/t/")]
    sign_in(person("Zoe"))
    assert browser.open(f"/my/tournaments/{key}").status == 404
