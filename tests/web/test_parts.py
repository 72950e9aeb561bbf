"""Parts of pages are drawn once for all readers: each gets their own token and nothing of another reader."""

import pytest
from jinja2 import UndefinedError

from engine.decks import decktet
from pbem.service.play import standing_orders
from pbem.web import page_cache
from pbem.web.art import pictures
from pbem.web.seat.board import BoardPart, PagePanel, Thing
from tests.fakes import use_translations
from tests.web.browser import HOST
from tests.web.pseudo_locale import Pseudo


def test_the_page_of_a_seat_has_its_own_token_and_no_other(browser, links, table):
    game = table("templari", 3)
    tokens = [links.of(game, seat)[1] for seat in range(3)]
    for token in tokens * 2:
        page = browser.open(f"/s/{token}").source
        assert {each for each in tokens if each in page} == {token}
        for end in ("order", "resign", "programs", "end", "talk", "rules"):
            assert f'"/s/{token}/{end}"' in page


def test_a_token_with_html_around_it_is_escaped(browser, links, table):
    game = table("templari", 3)
    token = links.of(game, 0)[1]
    page = browser.open(f"/s/{token}'%22%3E")
    assert page.status == 200
    assert f"{token}'" not in page.source
    assert f'{token}">' not in page.source
    assert f'"/s/{token}%27%22%3E/order"' in page.source


def test_an_order_is_on_the_page_of_its_owner_alone(browser, links, table):
    game = table("templari", 3)
    # The order of a seat whose turn it is would be used at once.
    seat = next(seat for seat in range(3) if seat not in game.asked())
    game.server.run(standing_orders.set_order, game.id, seat, "up to 7")
    shown = ["up to 7" in browser.open(f"/s/{links.of(game, each)[1]}").source for each in range(3)]
    assert shown == [each == seat for each in range(3)]


def test_a_part_is_drawn_again_for_other_values_and_languages(app):
    with app.test_request_context(base_url=HOST):

        def drawn(agreed, token="a"):
            return page_cache.part("more.html", token, agreed=agreed, others_agreed=(), going_back=False)

        one, other = drawn(agreed=False), drawn(agreed=True)
        assert one != other
        assert drawn(agreed=False) == one
        assert drawn(agreed=False, token="b") == one.replace("/s/a/", "/s/b/")
        with use_translations(Pseudo()):
            assert drawn(agreed=False) != one
        assert drawn(agreed=False) == one


def test_the_drawings_of_a_part_are_at_the_end_of_every_page_that_has_it(app):
    def shown(*cards):
        things = tuple(Thing(decktet.FACES[card].word, "", "decktet", card) for card in cards)
        panel = PagePanel(1, "Ann", "A", (), "", False, False, False, (BoardPart("row", "Hand", things=things),))
        with app.test_request_context(base_url=HOST):
            html = page_cache.part("panel.html", "", panel=panel)
            return html, pictures.drawings()

    one, two, *_others = decktet.FACES
    html, drawings = shown(one)
    assert drawings
    assert shown(one) == (html, drawings)
    assert shown(one, two)[1] != drawings
    assert shown(one) == (html, drawings)


def test_a_part_with_nothing_in_it_is_drawn_once_too(app, monkeypatch):
    templates, draw = [], page_cache.render_template
    monkeypatch.setattr(
        page_cache, "render_template", lambda name, **values: templates.append(name) or draw(name, **values)
    )
    with app.test_request_context(base_url=HOST):
        shown = [page_cache.part("symbols.html", "", signs=(), open=False).strip() for _ in range(2)]
    assert shown == ["", ""]
    assert templates == ["symbols.html"]


def test_a_part_depends_on_nothing_but_its_values(app):
    with app.test_request_context(base_url=HOST), pytest.raises(UndefinedError):
        page_cache.part("more.html", "a", agreed=True)
