"""The emails about the turns of bot games, at full tables: their links, their sizes, and the cards drawn in them."""

import re
from itertools import islice

import pytest

from engine import registry
from engine.decks import decktet, piecepack
from engine.games.templari.cards import BALANCED, faces as shields
from pbem.mail.wire import MOST_BYTES, MOST_HTML
from pbem.mail.write import compose, faces
from tests.bot_games import decider, played, positions
from tests.mail.turns import TOKEN, turn_email
from tests.service.outgoing.test_deliver import HEAD

EACH = 9
"""Every ninth turn is looked at."""

FULL = [(name, registry.load(name).seats[1]) for name in registry.names()]

LINK = re.compile(rf"/m/{TOKEN}/[^\s\"]+")


@pytest.mark.parametrize(("kind", "seats"), FULL)
def test_every_turn_has_three_links_where_three_choices_exist(kind: str, seats: int) -> None:
    for table in islice(played(kind, seats, seed=3), 0, 40 * EACH, EACH):
        seat, game = decider(table), table.position.game
        choices = (choice for act in table.asks()[seat].acts for choice in act.choices())
        legal = (choice for choice in choices if game.objects(table.view(seat), seat, choice) is None)
        rendered = compose.render(HEAD, turn_email(table))
        links = LINK.findall(rendered.text)
        assert len(set(links)) == len(links) >= len(list(islice(legal, 3))), rendered.text
        assert LINK.findall(rendered.html) == links
        assert rendered.text.index(links[0]) < rendered.text.index("SINCE YOUR LAST TURN")


@pytest.mark.parametrize(("kind", "seats"), FULL)
def test_the_fullest_tables_fit_an_email(kind: str, seats: int) -> None:
    for table in positions(kind, seats):
        content = turn_email(table)
        assert len(compose.render(HEAD, content).html.encode()) <= MOST_HTML
        assert len(compose.compose(HEAD, content)) <= MOST_BYTES


def test_everything_in_the_games_is_drawn_with_its_words_for_screen_readers() -> None:
    dice = [piecepack.die(suit, value) for suit in piecepack.DICE for value in piecepack.VALUES]
    tiles = [piecepack.tile(value) for value in piecepack.VALUES]
    for face in (*decktet.FACES.values(), decktet.BACK, *shields(BALANCED), *dice, *tiles):
        look = faces.drawn(face.kind, face.id)
        assert look is not None, face
        html = faces.html(faces.Piece(face.word, face.note, look), 19)
        words = f"{face.word} ({face.note})" if face.note else face.word
        assert f'aria-label="{words}"' in html
        assert look.index in html


@pytest.mark.parametrize("signs", [faces.SUITS, faces.SHIELDS, faces.PIECES])
def test_suits_differ_without_their_colours(signs: dict[str, tuple[str, str]]) -> None:
    assert len({sign for sign, _colour in signs.values()}) == len(signs)


def test_a_thing_without_a_drawing_is_shown_by_its_words() -> None:
    assert faces.drawn("gem", "ruby") is None
    assert "ruby (cut)" in faces.html(faces.Piece("ruby", "cut"), 19)


def test_a_bid_of_tiles_shows_them_at_its_link() -> None:
    tables = played("bid", 4, seed=3)
    pair = next(table for table in tables if "Which two tiles" in compose.render(HEAD, turn_email(table)).text)
    links = re.findall(r"<a class=\"card accent\".*?</a>", compose.render(HEAD, turn_email(pair)).html)
    assert [link.count("class=face") for link in links if "bid" in link] == [2] * sum("bid" in link for link in links)


def test_a_name_with_markup_is_escaped() -> None:
    assert "<i>" not in faces.html(faces.Piece("<i>", "<b>", faces.drawn("decktet", "AM")), 19)
