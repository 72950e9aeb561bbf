"""Profiles: who sees one, what it says, and that one which may not be seen looks like none."""

import re

import pytest

from pbem.service.account import delete, my_page, personal_data, profiles
from pbem.service.archive import game_statistics
from pbem.service.desk.acts.people import Merge
from pbem.store import people
from pbem.store.sessions import Holder
from tests.service.actors import moderate
from tests.service.database import count_calls

MOST_QUERIES = 14
MARKS = {0x2068: None, 0x2069: None}


@pytest.fixture
def played(server, table):
    """Three finished public games of Ann, Ben and Cleo, counted; Dan has played one private game with Ann's bots."""
    for _ in range(3):
        game = table("bid", 3, options={"max_auctions": 1})
        list(game.play_defaults())
    while game_statistics.count_games(server):
        pass
    return game


@pytest.fixture
def show(server):
    """show(person, audience, name) -> the address of the profile that the person shows."""

    def choose(person, audience="everyone", name="", *, punctual=False):
        server.run(profiles.choose, person, audience, name, punctual=punctual)
        row = server.read(my_page.account, Holder(person_id=person), person).profile
        return None if row is None else f"/players/{row.key}"

    return choose


@pytest.fixture
def people_of(played):
    return {each.name: each.person_id for each in played.players().values()}


def test_a_person_shows_a_profile_from_the_account_page_and_takes_it_away(browser, sign_in, played, people_of):
    sign_in(people_of["Ann"])
    account = browser.open("/my/account")
    assert "See your profile" not in account.text
    done = account.form("Save profile").press(audience="everyone", called="Sphinx", punctual="yes")
    assert "Profile saved." in done.text
    page = done.follow("See your profile")
    assert page.text.translate(MARKS).count("Sphinx") >= 1
    assert "Ann" not in page.text
    assert "3 finished games at public tables." in page.text
    assert page.response.headers["Cache-Control"] == "no-store"
    assert "noindex" in page.response.headers["X-Robots-Tag"]
    browser.open("/my/account").form("Save profile").press(audience="", called="Sphinx")
    assert browser.open(page.url).status == 404
    again = browser.open("/my/account").form("Save profile").press(audience="everyone", called="Sphinx")
    assert again.follow("See your profile").url != page.url


def test_a_wrong_name_is_refused_beside_its_field_and_a_wrong_audience_too(browser, sign_in, people_of, show):
    sign_in(people_of["Ann"])
    refused = browser.open("/my/account").form("Save profile").press(audience="met", called="you@me")
    assert refused.status == 400
    assert "as a name" in refused.text
    assert re.search(r'value="met" checked', refused.source)
    assert browser.open("/my/account").form("Save profile").press(audience="friends", called="Ann").status == 400
    show(people_of["Ann"], "everyone", "Sphinx")
    elsewhere = browser.open("/my/account").form("Send email").press(address="no address")
    assert re.search(r'value="everyone" checked', elsewhere.source)
    assert 'value="Sphinx"' in elsewhere.source


def test_each_audience_sees_what_it_may(app, browser, sign_in, person, people_of, show):
    zoe = person("Zoe")
    address = {level: show(people_of[name], level, name) for level, name in (("everyone", "Ann"), ("met", "Ben"))}
    seen = {}
    for reader in (None, zoe, people_of["Cleo"], people_of["Ben"]):
        if reader is not None:
            sign_in(reader)
        seen[reader] = [browser.open(at).status for at in address.values()]
    assert seen == {None: [200, 404], zoe: [200, 404], people_of["Cleo"]: [200, 200], people_of["Ben"]: [200, 200]}


def test_the_page_says_how_the_games_went_and_names_only_opponents_who_show_themselves(
    browser, server, people_of, show
):
    show(people_of["Ben"], "everyone", "Bear")
    show(people_of["Cleo"], "met", "Hidden")
    address = show(people_of["Ann"])
    with count_calls(server.store) as made:
        page = browser.open(address)
    assert len(made) <= MOST_QUERIES, len(made)
    rows = re.findall(
        r'<th scope="row">(?:<a[^>]*>)?<bdi>([^<]+)</bdi>(?:</a>)?</th><td>(\d+)</td><td>([^<]*)</td>', page.source
    )
    assert ("Bid!", "3") in {row[:2] for row in rows}
    assert ("Bear", "3") in {row[:2] for row in rows}
    assert ("Others", "3") in {row[:2] for row in rows}
    assert "Hidden" not in page.text
    assert sum(int(games) for head, games, _share in rows if re.fullmatch("First|Second|Third", head)) == 3
    assert page.follow("Bear").status == 200
    assert "turns on time" not in page.text
    assert "Ratings" not in page.text


def test_ratings_and_turns_on_time_are_shown_only_by_choice(browser, server, clock, people_of, show, monkeypatch):
    monkeypatch.setattr("pbem.domain.reliability.FEWEST_TURNS", 1)
    ann = people_of["Ann"]
    assert "turns on time" not in browser.open(show(ann)).text
    assert "100% of turns on time in the last year." in browser.open(show(ann, punctual=True)).text


def test_a_profile_that_may_not_be_seen_is_the_page_of_none(browser, sign_in, server, person, people_of, show):
    """Twins: for strangers and for people who are signed in, byte for byte and statement for statement."""
    nobody = "/players/" + "0" * 24
    hidden, taken_away = show(people_of["Ann"], "met", "Hidden"), show(people_of["Ben"])
    show(people_of["Ben"], "")
    for reader in (None, person("Zoe")):
        if reader is not None:
            sign_in(reader)
        answers = []
        for address in (nobody, hidden, taken_away):
            with count_calls(server.store) as made:
                page = browser.open(address)
            headers = [(name, value) for name, value in page.response.headers if name not in ("Date", "X-Request-Id")]
            answers.append((page.status, page.response.data, headers, len(made)))
        assert answers[0][0] == 404
        assert answers[1] == answers[0]
        assert answers[2] == answers[0]


def test_lists_and_statistics_are_the_same_whether_or_not_someone_has_a_profile_one_may_not_see(
    browser, sign_in, person, people_of, show
):
    """Twins in a profile: the lists of tables, a game's statistics, and a profile of someone else."""
    bens = show(people_of["Ben"])
    sign_in(person("Zoe"))
    pages = ("/tables?show=over", "/games/bid/statistics", bens)
    before = [browser.open(at).response.data for at in pages]
    show(people_of["Ann"], "met", "Hidden")
    assert [browser.open(at).response.data for at in pages] == before
    show(people_of["Ann"], "everyone", "Shown")
    assert [browser.open(at).response.data == old for at, old in zip(pages, before, strict=True)] == [
        False,
        True,
        False,
    ]


def test_names_in_lists_lead_to_profiles_for_those_who_may_see_them(app, browser, sign_in, people_of, show):
    show(people_of["Ann"], "met", "Sphinx")
    assert "/players/" not in browser.open("/tables?show=over").source
    sign_in(people_of["Ben"])
    assert "Sphinx" in browser.open("/tables?show=over").follow("Ann").text


def test_deletion_drops_the_profile_and_keeps_the_counts(browser, server, people_of, show):
    address, other = show(people_of["Ann"], "everyone", "Sphinx"), show(people_of["Ben"], "everyone", "Bear")
    games = browser.open("/games/bid/statistics").response.data
    assert "Sphinx" in browser.open(other).text
    server.run(delete.delete_person, people_of["Ann"])
    assert browser.open(address).status == 404
    page = browser.open(other)
    assert "Sphinx" not in page.text
    assert "3 finished games" in page.text
    assert browser.open("/games/bid/statistics").response.data == games


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_a_merge_keeps_one_profile_and_all_games(browser, server, person, people_of, show, first, second):
    ann, zoe = people_of["Ann"], person("Zoe")
    one = show(zoe, "everyone", "Zebra") if first else None
    two = show(ann, "everyone", "Sphinx") if second else None
    moderate(server, Merge(zoe, ann))
    assert "3 finished games" in browser.open(one or two).text
    if first and second:
        assert browser.open(two).status == 404


def test_the_export_holds_the_profile_and_what_it_speaks_of(server, people_of, show):
    show(people_of["Ann"], "met", "Sphinx", punctual=True)
    text = "".join(personal_data.export_person(server, people_of["Ann"]))
    assert '"audience": "met"' in text
    assert text.count('"choices"') == 3
    with server.store.read() as tx:
        other = people.read(tx, people_of["Ben"]).key
    assert other not in text
