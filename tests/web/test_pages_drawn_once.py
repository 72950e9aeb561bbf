"""The page of a seat is drawn once, and drawn again when anything on it has changed."""

from datetime import timedelta
from gettext import NullTranslations

import pytest

from pbem.service.absence import second_chance
from pbem.service.play import by_link
from pbem.service.tables import leaving
from pbem.tokens import Purpose
from pbem.web import page_cache
from tests.fakes import use_translations


@pytest.fixture
def poker(table, carry):
    """A game whose players all seal a choice at once, and whose emails have left."""
    game = table("sunset-poker", 3)
    carry()
    return game


@pytest.fixture
def shown(browser, links, poker):
    """shown(seat) -> the HTML of its page."""

    def open_it(seat=0):
        return browser.open(f"/s/{links.of(poker, seat)[1]}").source

    return open_it


def test_a_page_opened_again_is_identical(shown):
    assert shown() == shown()


def test_passing_time_changes_the_page(shown, clock):
    before = shown()
    clock.advance(timedelta(hours=5))
    assert shown() != before


def test_acts_of_others_outside_the_game_change_the_page(shown, server, poker):
    before = shown()
    server.run(leaving.agree_to_end, poker.id, poker.person_at(1))
    assert "would like to end this game" in shown()
    assert shown() != before


def test_making_a_choice_and_taking_it_back_change_the_page(shown, server, poker, links):
    before, token = shown(), links.of(poker, 0)[1]
    server.run(by_link.play, token, poker.row().turn, poker.asked()[0].default)
    assert "You chose" in shown()
    server.run(second_chance.by_link, token, Purpose.SEAT, poker.row().turn)
    assert shown().count("You chose") == before.count("You chose") == 0


def test_every_seat_gets_its_own_page(shown, app):
    pages = [shown(seat) for seat in range(3)]
    assert len(set(pages)) == 3
    assert [shown(seat) for seat in range(3)] == pages
    page_cache.pages_of(app).clear()
    assert [shown(seat) for seat in range(3)] == pages


def test_another_language_has_another_page(shown):
    class Loud(NullTranslations):
        """English, in capitals."""

        def gettext(self, message):
            return message.upper() if not {*"%{["} & {*message} else message

    before = shown()
    with use_translations(Loud()):
        assert "TYPE YOUR MOVE, AS IN AN EMAIL" in shown()
    assert shown() == before
