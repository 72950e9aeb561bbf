"""Pictures on pages: each page has the drawings it needs, once, and its words say as much as they do."""

import re
from dataclasses import replace

import pytest

from engine.decks import decktet
from pbem.web.seat.board import Thing
from tests.web.applications import application
from tests.web.browser import HOST
from tests.web.seat.test_page import open_seat

SUITS = {name.lower(): name for name in decktet.SUITS.values()}

# Pictures are the same on any database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def ids(page):
    return re.findall(r'<symbol id="([^"]+)"', page.source)


def references(page):
    return re.findall(r'<use href="#([^"]+)"', page.source)


@pytest.mark.parametrize("kind", ["sunset-poker", "bid"])
def test_a_page_has_the_drawings_of_its_pictures_once_and_no_others(kind, browser, links, table):
    game = table(kind, 3)
    # The second page has parts that were drawn for the first.
    for page in (open_seat(browser, links, game, seat) for seat in (0, 1)):
        assert references(page)
        assert set(references(page)) == set(ids(page))
        assert len(set(ids(page))) == len(ids(page))


def test_a_page_without_pictures_has_no_drawings(browser):
    page = browser.open("/mine")
    assert not ids(page)
    assert "<svg" not in page.source


def test_a_picture_is_hidden_from_screen_readers_and_has_words_beside_it(browser, links, table):
    page = open_seat(browser, links, table("sunset-poker", 3), 0)
    pictures = re.findall(r'<svg class="art[^>]*>', page.source)
    assert len(pictures) >= 12
    assert all('aria-hidden="true"' in picture for picture in pictures)
    shown = [decktet.FACES[card] for card in set(re.findall(r"#art-decktet-(\w+)", page.source))]
    assert {face.word for face in shown if face.word not in page.text} == set()
    assert {face.note for face in shown if face.note not in page.text} == set()


def test_things_without_a_drawing_are_shown_in_words(app):
    with app.test_request_context():
        markup = str(app.jinja_env.globals["things"]((Thing("A whale", "very large", "animals", "whale"),)))
        assert "<svg" not in markup
        assert "unseen" not in markup
        assert "A whale" in markup
        assert "very large" in markup


def test_all_pictures_are_on_one_page_in_development_alone(browser, server, settings):
    page = browser.open("/art")
    assert page.status == 200
    assert set(references(page)) == set(ids(page))
    assert 'role="img" aria-label="decktet 5ML"' in page.source
    for_others = application(server, replace(settings, development=False)).test_client()
    assert for_others.get("/art", base_url=HOST).status_code == 404


def test_amounts_have_the_sign_of_their_kind_beside_their_words(browser, links, table):
    page = open_seat(browser, links, table("bid", 3), 0)
    assert re.search(
        r'<dt><svg class="art sign"[^>]*><use href="#art-coins"/></svg> Coins in the bank</dt>', page.source
    )


def test_the_signs_on_cards_are_explained_where_cards_are_shown(browser, links, table):
    legend = re.compile(r'<li class="(\w+)"><svg class="art sign"[^>]*><use href="#art-\1"/></svg> (\w+)</li>')
    explained = dict(legend.findall(open_seat(browser, links, table("sunset-poker", 3), 0).source))
    assert explained == SUITS | {"pawn": "Pawn", "court": "Court", "crown": "Crown"}
    assert not legend.findall(open_seat(browser, links, table("bid", 3), 0).source)


def test_a_page_with_rules_explains_all_signs_once_above_them(browser):
    legend = re.compile(r'<li[^>]*><svg class="art \w+"[^>]*><use href="#art-[\w-]+"/></svg> ([\w ]+)</li>')
    for game, names in {
        "sun-bid": [*SUITS.values(), "Pawn", "Court", "Crown"],
        "bid": ["Ace of Suns", "Ace of Moons", "Ace of Crowns", "Ace of Arms", "Blank"],
        "templari": ["Red", "Blue", "Green", "Yellow", "Purple", "White"],
    }.items():
        above, _, below = browser.open(f"/games/{game}").source.partition('<h2 id="rules">')
        assert legend.findall(above) == names
        assert 'class="legend"' not in below


def test_only_words_that_a_picture_shows_are_hidden(browser, links, table):
    note = re.compile(
        r'use href="#art-decktet-(\w+)"/></svg><span class="word">[^<]+</span> <span class="(note[^"]*)">'
    )
    hand = note.findall(open_seat(browser, links, table("sunset-poker", 3), 0).source)
    assert {kind for _, kind in hand} == {"note unseen"}
    suns = note.findall(open_seat(browser, links, table("sun-bid", 3), 0).source)
    assert ("9MS", "note") in suns
