"""The table on a page: made from its board alone, with everything needed to decide, and no input is ever lost."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from flask import render_template_string
from lxml import html

from engine import registry
from engine.board import Amounts, Grid, Line, Row
from engine.bots import random_bot
from engine.chance import Stream
from engine.options import Listed
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.web.public.rules import passages
from tests.service.play.test_move_cost import cost_of, lengthen
from tests.service.running_game import RunningGame
from tests.web.browser import HOST
from tests.web.seat.test_page import open_seat

MOST_QUERIES = 12
MOST_BYTES = 60_000
MOST_STYLE = 14_000


@pytest.fixture
def templari(table):
    return table("templari", 3)


@pytest.fixture
def midway(table):
    """midway(kind) -> a game of that kind in which something has happened."""

    def play(kind, moves=25, seats=3):
        game, luck = table(kind, seats), Stream(b"luck", 1)
        for _ in range(moves):
            seat, decision = next(iter(game.asked().items()))
            game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck))
        return game

    return play


def words_of(board, teller):
    """All words of a board."""
    yield teller(board.turn)
    for part in (*board.centre, *board.mine, *(part for panel in board.players for part in panel.parts)):
        if isinstance(part, Line):
            yield teller(part.text)
        elif isinstance(part, Row):
            yield teller(part.label)
            for face in part.faces:
                yield from (teller(face.word), teller(face.note))
        elif isinstance(part, Amounts):
            yield from (f"{teller(label)}{number}" for label, number in part.pairs)
        else:
            assert isinstance(part, Grid)
            for _, numbers in part.rows:
                yield from (str(number) for number in numbers if number is not None)


@pytest.mark.parametrize("kind", registry.names())
def test_a_page_says_everything_that_the_board_of_its_seat_says(kind, browser, links, midway):
    game = midway(kind)
    rules = registry.load(kind)
    for seat in range(3):
        text = open_seat(browser, links, game, seat).text.casefold()
        board = rules.board(game.view(seat), seat)
        for words in words_of(board, rules.teller(seat, ("Ann", "Ben", "Cleo"))):
            assert " ".join(words.split()).casefold() in text


@pytest.mark.parametrize("kind", registry.names())
def test_a_page_takes_few_queries_and_few_bytes(kind, browser, links, midway, server):
    game = midway(kind)
    for seat in range(3):
        pages = []
        token = links.of(game, seat)[1]
        cost = cost_of(server.store, lambda: pages.append(browser.open(f"/s/{token}")))  # noqa: B023 - called at once
        assert pages[0].status == 200
        assert len(cost.statements) <= MOST_QUERIES, "\n".join(cost.statements)
        assert len(pages[0].source.encode()) < MOST_BYTES


def test_a_page_takes_few_queries_even_if_its_last_choice_is_long_ago(browser, links, templari, server):
    seat = next(iter(templari.asked()))
    templari.play(seat, "pass")
    lengthen(server, templari.id, 200)
    token = links.of(templari, seat)[1]
    pages = []
    cost = cost_of(server.store, lambda: pages.append(browser.open(f"/s/{token}")))
    assert "You pass." in pages[0].text
    assert len(cost.statements) <= MOST_QUERIES, "\n".join(cost.statements)


def test_only_the_end_of_a_very_long_story_is_told(app):
    with app.test_request_context(base_url=HOST):
        source = render_template_string(
            '{% import "parts.html" as parts %}{{ parts.story(told, "Since") }}',
            told=[f"Event {n}." for n in range(300)],
        )
    assert re.findall(r"Event (\d+)", source) == [str(n) for n in range(200, 300)]
    assert "Only the latest 100 events are shown." in source
    assert "Show 92 earlier events" in source


def test_the_style_sheet_is_small(browser):
    with browser.client.get("/static/pbem.css", base_url=HOST, headers={"Accept-Encoding": "gzip"}) as answer:
        assert len(answer.get_data()) < MOST_STYLE


@pytest.mark.parametrize("kind", registry.names())
def test_every_part_and_every_field_has_a_name_for_screen_readers(kind, browser, links, midway):
    game = midway(kind)
    asked = next(iter(game.asked()))
    tree = html.fromstring(open_seat(browser, links, game, asked).source)
    assert len(tree.findall(".//h1")) == len(tree.findall(".//main")) == 1
    levels = [int(each.tag[1]) for each in tree.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    ids = Counter(each.get("id") for each in tree.iter() if each.get("id"))
    assert set(ids.values()) == {1}
    for name in (each.get("aria-labelledby") for each in tree.iter()):
        assert name is None or name in ids
    for link in tree.iter("a"):
        assert not link.get("href").startswith("#") or link.get("href")[1:] in ids
        assert link.text_content().strip()
    for each in tree.iter("input", "select", "textarea"):
        labelled = any(up.tag == "label" and up.text_content().strip() for up in each.iterancestors())
        assert labelled or each.get("type") == "hidden"
    for each in tree.iter("button", "summary", "legend", "th"):
        assert each.text_content().strip()


def test_a_refused_form_is_shown_as_it_was_filled_in(browser, links, table):
    game = table("bid", 3)
    while not any("Some" in repr(decision) for decision in game.asked().values()):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    seat = next(iter(game.asked()))
    refused = open_seat(browser, links, game, seat).act("Bid").press(b0=["1", "2", "4"])
    assert refused.status == 400
    assert "You've chosen 3. Choose 2." in refused.text
    ticked = re.findall(r'type="checkbox" name="b0" value="(\d)" form="move" id="b0-\d" checked', refused.source)
    assert ticked == ["1", "2", "4"]


def test_refused_words_are_still_in_their_field(browser, links, templari):
    page = open_seat(browser, links, templari, next(iter(templari.asked())))
    evil = 'bid "><script>alert(1)</script>'
    for button, field in (("Make this move", "choice"), ("Set order", "order"), ("Check command", "wanted")):
        again = page.form(button).press(**{field: evil})
        assert again.status in (200, 400)
        tree = html.fromstring(again.source)
        typed = [each for each in tree.iter("input") if each.get("name") == field and each.get("type") != "hidden"]
        assert [each.get("value") for each in typed] == [evil]
        assert "<script>" not in again.source


def test_the_choice_in_an_address_is_filled_in(browser, links, templari):
    token = links.of(templari, next(iter(templari.asked())))[1]
    assert re.search(r'name="b0" [^>]*value="7"', browser.open(f"/s/{token}?choice=bid+7").source)


def test_an_address_with_an_invented_choice_still_shows_the_table(browser, links, templari):
    token = links.of(templari, next(iter(templari.asked())))[1]
    for choice in ("bid+99", "x" * 2000, "%3Cscript%3E", "use+a+for+b"):
        page = browser.open(f"/s/{token}?choice={choice}")
        assert page.status == 200
        assert " checked" not in page.source


def test_a_sealed_choice_can_be_changed_in_its_form(browser, links, table):
    poker = table("sunset-poker", 3)
    page = open_seat(browser, links, poker, 0).act("Pick").press(b0=2)
    assert re.findall(r'value="(\d+)" form="move" id="b0-\d+" checked', page.source) == ["2"]
    changed = page.act("Pick").press(b0=4)
    assert re.findall(r'value="(\d+)" form="move" id="b0-\d+" checked', changed.source) == ["4"]


def test_a_form_that_came_too_late_is_quoted(browser, links, templari):
    seat = next(iter(templari.asked()))
    form = open_seat(browser, links, templari, seat).form("Make this move")
    templari.play(seat, "pass")
    late = form.press(choice="bid 5")
    assert late.status == 409
    assert "You had chosen: bid 5." in late.text


def test_an_order_to_raise_takes_a_number_and_a_box(browser, links, templari):
    seat = next(iter(templari.asked()))
    form = open_seat(browser, links, templari, seat).form("Raise for me")
    assert "Your order is up to 9 or ask me" in form.press(limit=9, ask="yes").text
    other = next(iter(templari.asked()))
    page = open_seat(browser, links, templari, other).form("Pass this auction").press()
    assert templari.row().turn > 2 or "Your order is pass this auction" in page.text


def test_acts_that_are_impossible_now_are_listed_with_the_reason(browser, links, table):
    game = table("sun-bid", 3)
    seat = next(iter(game.asked()))
    page = open_seat(browser, links, game, seat)
    assert "You have no Pawn or Court in your take." in page.text
    before = game.row()
    asked = page.form("Check command").press(wanted="use the Consul for the Rite")
    assert asked.status == 200
    assert asked.text.count("You have no Pawn or Court in your take.") == 2
    assert "You can do that now" in asked.form("Check command").press(wanted="flip").text
    assert "“win” isn't" in asked.form("Check command").press(wanted="win").text
    assert game.row() == before


def test_players_who_are_not_asked_see_whose_turn_it_is(browser, links, templari):
    asked = next(iter(templari.asked()))
    name = ("Ann", "Ben", "Cleo")[asked]
    page = open_seat(browser, links, templari, (asked + 1) % 3)
    assert "It isn't your turn" in page.text
    assert f"It's {name}'s turn to bid" in page.text
    assert "It's not your turn." in page.text


@pytest.mark.parametrize("kind", registry.names())
def test_the_rules_of_every_game_are_public_with_their_options(kind, browser):
    rules = registry.load(kind)
    page = browser.open(f"/games/{kind}")
    assert page.heading == rules.title
    rules_text = " ".join(rules.rules.partition("\n\n")[2].split())
    assert all(word in page.text for word in set(re.findall(r"[\w']+", rules_text)))
    for option in rules.options:
        assert rules.teller()(option.called) in page.text
        assert rules.teller()(option.about) in page.text
        if isinstance(option, Listed):
            first = rules.teller()(option.words(option.values[0]))
            assert f"{first[:1].upper()}{first[1:]}" in page.text
    assert sum(bool(passage.heading) for passage in passages(rules.rules)) >= 5


def test_the_rules_beside_a_table_show_its_options(browser, links, table):
    game = table("templari", 3, options={"start_money": 20, "money": "open"})
    page = open_seat(browser, links, game, 0).follow("Rules")
    assert "Starting coins 20 default: 12" in page.text
    assert "Other players' coins shown default: hidden" in page.text
    assert "Cards in a lot two every time default" in page.text
    assert page.follow("Back to table").heading


@pytest.mark.parametrize("kind", registry.names())
def test_the_form_for_a_new_table_has_its_options_in_words(kind, browser):
    rules, page = registry.load(kind), browser.open(f"/new/{kind}")
    for option in rules.options:
        assert rules.teller()(option.called) in page.text
        if isinstance(option, Listed):
            assert all(rules.teller()(spoken) in page.text for _value, spoken in option.spoken)
    assert "_" not in page.text, "a name for programs"


def test_the_page_of_a_table_shows_its_variants_in_words(browser, table):
    game = table("templari", 3, options={"start_money": 20, "side_auction": "off"})
    page = browser.open(f"/t/{game.row().key}")
    assert "Selling a card: nobody; Starting coins: 20" in page.text


def test_options_without_meaning_for_the_number_of_players_are_not_shown(browser, links, table):
    page = open_seat(browser, links, table("sorcerous-futures", 3), 0).follow("Rules")
    assert "Player with the Excuse" not in page.text
    page = open_seat(browser, links, table("sorcerous-futures", 4), 0).follow("Rules")
    assert "Player with the Excuse" in page.text


NAMES = {
    "html": "<img src=x onerror=alert(1)>",
    "from the right": "\u05e9\u05e8\u05d4 \u05db\u05d4\u05df",
    "pictures": "\U0001f98a\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a template": "{{ 7 * 7 }}{% raw %}",
    "a form of gettext": "%(x)s %s %",
    "as long as can be": "W" * 40,
}


@pytest.mark.parametrize("kind", NAMES)
def test_any_name_is_shown_as_it_is_and_set_apart(kind, browser, links, server, person):
    name = NAMES[kind]
    players = [person("Ann"), person("Ben"), person("Cleo")]
    game_id = server.run(joining.create_table, players[0], TableSettings("templari", 3, title=name)).game_id
    for player, called in zip(players, (name, "Ben", "Cleo"), strict=True):
        server.run(joining.join, game_id, player, name=called)
    game = RunningGame(server, game_id)
    while game.row().turn < 4 or 0 not in game.asked():
        game.play(next(iter(game.asked())), "pass")
    for seat in range(3):
        pages = [open_seat(browser, links, game, seat)]
        pages.append(pages[0].follow("Rules"))
        pages += [form.press() for form in pages[0].acts() if form.button == "Pass"]
        pages.append(browser.open(f"/m/{links.of(game, seat)[0]}/pass"))
        for page in pages:
            assert page.status == 200
            assert name in page.text
            assert "<img" not in page.source
            assert "49" not in page.heading
            # In a sentence a name is set apart by invisible marks, elsewhere by an element.
            apart = [each.text_content() for each in html.fromstring(page.source).iter("bdi")]
            assert any(name in each for each in apart)
            if kind == "from the right":
                assert page.source.count(name) <= len(
                    re.findall(f"\u2068{name}\u2069|<bdi>{name}|<title>{name}", page.source)
                )


@pytest.mark.parametrize(
    "text", ["x" * 10_000, "\u05d0" * 10_000, "\U0001f98a" * 10_000, "<b>" * 3_300, "\u200d" * 9_999]
)
def test_ten_thousand_characters_are_refused_politely_in_every_field(text, browser, links, templari):
    page = open_seat(browser, links, templari, next(iter(templari.asked())))
    fields = {"Make this move": "choice", "Set order": "order", "Check command": "wanted", "Send message": "text"}
    for button, field in fields.items():
        refused = page.form(button).press(**{field: text})
        assert refused.status in (400, 413)
        assert len(refused.source.encode()) < MOST_BYTES
        assert "Nothing changed" in refused.text
        assert "<b><b>" not in refused.source
