"""Replays: every moment of a game can be reached, hands stay hidden, and no moment costs more than another."""

import re

import pytest
from sqlalchemy import event

from pbem.service.play import views
from tests.service.archive.test_replay import end, moves
from tests.web.browser import HOST
from tests.web.test_secrets import poker, words  # noqa: F401 - a fixture comes in by its name

MOST_STATEMENTS = 12
MOST_BYTES = 60_000


@pytest.fixture
def playing(table):
    """A public game that is half played."""
    game = table("templari", 3)
    list(moves(game, 25))
    return game


def cards(game, seat):
    """The words for the cards of a hand."""
    return {word.removeprefix("the ") for word in words(game, seat)}


def statements(server, act):
    """The statements that a call sends to the database."""
    asked = []

    def executed(_connection, _cursor, statement, *_):
        if not statement.startswith(("BEGIN", "PRAGMA")):
            asked.append(statement)

    event.listen(server.store.engine, "after_cursor_execute", executed)
    try:
        act()
    finally:
        event.remove(server.store.engine, "after_cursor_execute", executed)
    return asked


def test_a_replay_can_be_stepped_through_to_the_end_and_back(browser, links, playing):
    token = links.of(playing, 0)[1]
    page = browser.open(f"/s/{token}").follow("Replay").follow("From the start")
    assert page.heading == "The deal"
    assert "First" not in page.links()
    there = [page.url]
    while "Next" in page.links():
        page = page.follow("Next")
        assert page.status == 200
        there.append(page.url)
    assert len(there) == playing.row().turn
    assert page.heading == f"Turn {playing.row().turn - 1} of {playing.row().turn - 1}"
    assert page.url == browser.open(there[0]).follow("Last").follow("Back").follow("Next").url
    back = [page.url]
    while "Back" in page.links():
        page = page.follow("Back")
        back.append(page.url)
    assert back == there[::-1]


def test_each_moment_has_an_address_that_shows_the_same_later(browser, links, playing):
    token = links.of(playing, 1)[1]
    before = browser.open(f"/s/{token}/replay/7")
    list(moves(playing, 5))
    after = browser.open(f"/s/{token}/replay/7")
    board = re.compile(r'<section aria-labelledby="board".*?</section>', re.DOTALL)
    assert board.search(before.source).group() == board.search(after.source).group()
    assert after.heading.startswith("Turn 7 of ")


def public_pages(browser, key, turn):
    yield browser.open(f"/t/{key}/replay").source
    for number in range(turn):
        yield browser.open(f"/t/{key}/replay/{number}").source


def test_a_spectator_sees_no_cards_in_hands(browser, poker):  # noqa: F811 - the fixture
    shown = " ".join(public_pages(browser, poker.row().key, poker.row().turn))
    for seat in range(3):
        assert not [word for word in cards(poker, seat) if re.search(rf"\b{word}\b", shown)]


def test_a_seat_sees_only_its_own_cards_in_hands(browser, links, poker):  # noqa: F811 - the fixture
    hands = [cards(poker, seat) for seat in range(3)]
    for seat in range(3):
        token = links.of(poker, seat)[1]
        # Players have seen the cards of packs they passed on, so only the present moment is checked.
        pages = (browser.open(f"/s/{token}/replay/{poker.row().turn - 1}"), browser.open(f"/s/{token}/replay"))
        shown = " ".join(page.source for page in pages)
        assert all(re.search(rf"\b{word}\b", shown) for word in hands[seat])
        for other in {0, 1, 2} - {seat}:
            assert not [word for word in hands[other] if re.search(rf"\b{word}\b", shown)]


def test_everyone_sees_all_hands_of_a_finished_game(browser, links, poker):  # noqa: F811 - the fixture
    hands, number = [cards(poker, seat) for seat in range(3)], poker.row().turn - 1
    key, token = poker.row().key, links.of(poker, 0)[1]
    end(poker)
    address = browser.open(f"/s/{token}/replay").form("Get share link").press().url.removesuffix("#keep")
    assert address.startswith("/h/")
    for url in (f"/s/{token}/replay/{number}", f"/t/{key}/replay/{number}", f"{address}/{number}"):
        page = browser.open(url)
        assert "All hands" in page.text
        for hand in hands:
            assert all(re.search(rf"\b{word}\b", page.source) for word in hand)


def test_a_private_table_has_no_public_replay_and_the_link_to_it_makes_no_moves(browser, links, table):
    game = table("bid", 3, private=True, invited=("ben@example.org", "cleo@example.org"))
    list(moves(game, 9))
    key = game.row().key
    for url in (f"/t/{key}/replay", f"/t/{key}/replay/1"):
        assert browser.open(url).status == 404
    token = links.of(game, 0)[1]
    assert browser.post(f"/s/{token}/share", []).status == 403
    end(game)
    shared = browser.post(f"/s/{token}/share", [])
    assert shared.status == 200
    assert not [form for form in shared.forms() if form.action.startswith("/s/")]
    assert token not in shared.source
    assert browser.open(f"/t/{key}/replay").status == 404


def test_a_player_can_revoke_the_link_to_a_finished_game(browser, links, table):
    game = table("bid", 3)
    end(game)
    token = links.of(game, 0)[1]
    page = browser.open(f"/s/{token}/replay")
    assert "Stop sharing" not in [form.button for form in page.forms()]
    shared = page.form("Get share link").press()
    page = browser.open(f"/s/{token}/replay").form("Stop sharing").press()
    assert "Stop sharing" not in [form.button for form in page.forms()]
    gone = browser.open(shared.url)
    assert (gone.status, gone.heading) == (410, "This game is no longer shared.")


def test_sharing_a_game_leads_to_the_link_to_pass_on(browser, links, table):
    game = table("bid", 3)
    end(game)
    form = browser.open(f"/s/{links.of(game, 0)[1]}/replay").form("Get share link")
    shared = form.press()
    address, _, place = shared.url.partition("#")
    assert f'id="{place}"' in shared.source
    assert f"http://localhost:8000{address}" in shared.text


def test_another_site_cannot_revoke_a_link(browser, links, table):
    game = table("bid", 3)
    end(game)
    token = links.of(game, 0)[1]
    shared = browser.open(f"/s/{token}/replay").form("Get share link").press()
    browser.says = {"Origin": "https://elsewhere.example"}
    assert browser.post(f"/s/{token}/share/stop", []).status == 403
    assert browser.open(shared.url).status == 200


def test_the_page_of_a_table_leads_to_its_replay(browser, playing):
    page = browser.open(f"/t/{playing.row().key}").follow("Watch this game")
    assert page.heading == "The game so far"
    assert page.follow("Latest turn").status == 200
    end(playing)
    assert browser.open(f"/t/{playing.row().key}").follow("Replay").heading == "Replay"


@pytest.mark.slow
def test_replay_pages_take_few_queries_and_few_bytes(browser, links, table, server):
    game = table("templari", 5, options={"start_money": 40})
    list(moves(game, 120))
    if game.row().status == "playing":
        end(game)
    views.save_overdue(server)
    token, key = links.of(game, 0)[1], game.row().key
    for url in (f"/s/{token}/replay", f"/s/{token}/replay/3", f"/t/{key}/replay/90", f"/t/{key}/replay"):
        shown = []
        asked = statements(server, lambda url=url, shown=shown: shown.append(browser.open(url)))
        assert shown[0].status == 200
        assert len(asked) <= MOST_STATEMENTS, "\n".join(asked)
        assert len(shown[0].source.encode()) < MOST_BYTES


def test_a_moment_takes_as_many_queries_in_a_game_ten_times_as_long(browser, links, table, server):
    asked = []
    for entries in (25, 150):
        game = table("templari", 3, options={"start_money": 40})
        while game.row().turn < entries and (open_now := game.asked()):
            seat, decision = next(iter(open_now.items()))
            act = next((act for act in decision.acts if act.verb == "bid"), None)
            game.play(seat, decision.default if act is None else next(iter(act.choices())))
        views.save_overdue(server)
        token = links.of(game, 0)[1]
        urls = [f"/s/{token}/replay/{number}" for number in (3, entries // 2, entries - 2)]
        asked.append([statements(server, lambda url=url: browser.open(url)) for url in urls])
    assert asked[0] == asked[1]


def test_the_moment_of_a_turn_lists_the_fingerprints_of_its_sealed_choices(browser, links, table):
    game = table("sunset-poker", 3)
    for seat in (2, 1, 0):
        game.play(seat, game.open()[seat].default)
    game.play(0, game.open()[0].default)
    fingerprints = [row.body_hash.hex() for row in game.log() if row.kind == "Sealed"]
    for path in (f"/s/{links.of(game, 1)[1]}/replay", f"/t/{game.row().key}/replay"):
        shown = browser.open(f"{path}/1").source
        assert re.findall(r"<li><code>([0-9a-f]{64})</code>", shown) == sorted(fingerprints[:2])
        # A turn that is still open has none.
        assert fingerprints[2] not in browser.open(f"{path}/2").source
        assert "Hashes of the choices" not in browser.open(f"{path}/0").source


def test_search_engines_may_not_index_replays(browser, playing):
    response = browser.client.get(f"/t/{playing.row().key}/replay", base_url=HOST)
    assert "noindex" in response.headers["X-Robots-Tag"]
