"""Cards for several Aces, chosen together on the board."""

import pytest
from werkzeug.datastructures import MultiDict

from engine.board import faces_of
from pbem.domain.errors import BadInput
from pbem.web.seat.board import draw
from pbem.web.seat.forms import choosable
from pbem.web.seat.page import page
from pbem.web.seat.selection import choice_of_selection, fields_of_selection, form_of_selection
from tests.bot_games import decider, played
from tests.browser.seat_pages import seat_view_of


def paying(seats, seed):
    """A winner of this game of bots whose two Aces cost cards, and the cards to choose from."""
    asked = (seat_view_of(table, decider(table)) for table in played("sun-bid", seats, seed))
    return next((seat, found) for seat in asked if (found := seat.rules.selection(seat.view, seat.decision)))


@pytest.fixture(scope="module")
def asked():
    """A winner who must discard two cards."""
    return paying(3, 10)


def test_the_cards_are_touched_where_they_lie(asked):
    seat, selection = asked
    form = form_of_selection(seat.decision, selection, seat.teller, faces_of(seat.board), MultiDict())
    drawn = draw(seat.board, seat.teller, seat.seat, choosable=choosable([form]))
    assert drawn.picked == {form.fields[0].name}
    picks = [pick for part in (*drawn.own.parts, *drawn.mine) for pick in part.picks if pick]
    assert sorted(pick.value for pick in picks) == [str(place) for place in range(len(selection.things))]
    assert all(pick.many for pick in picks)


def test_a_selection_comes_back_and_stays_filled_in(asked):
    seat, selection = asked
    choice = seat.decision.default
    fields = fields_of_selection(selection, choice)
    sent = choice_of_selection(seat, seat.decision, selection, fields)
    assert sorted(sent.values) == sorted(choice.values)
    form = form_of_selection(seat.decision, selection, seat.teller, faces_of(seat.board), fields)
    shown = [each.value for each in form.fields[0].alternatives if each.chosen]
    assert shown == fields.getlist("b0")
    assert len(shown) == selection.most


def test_cards_that_cannot_pay_are_refused_with_the_reason(asked):
    seat, selection = asked
    with pytest.raises(BadInput, match="must cost you a card of its suit"):
        choice_of_selection(seat, seat.decision, selection, MultiDict())
    every = MultiDict([("b0", str(place)) for place in range(len(selection.things))])
    with pytest.raises(BadInput, match="one card of its suit for each Ace"):
        choice_of_selection(seat, seat.decision, selection, every)
    with pytest.raises(BadInput, match="Choose one of those shown"):
        choice_of_selection(seat, seat.decision, selection, MultiDict({"b0": str(len(selection.things))}))


@pytest.mark.parametrize(("seats", "seed", "many"), [(3, 10, "2"), (4, 8, "up to 2")])
def test_the_page_says_how_many_cards_to_choose(app, seats, seed, many):
    seat, _selection = paying(seats, seed)
    with app.test_request_context("/s/token"):
        shown = page(seat, "token").get_data(as_text=True)
    assert f"Choose {many} cards, then press Discard." in shown
    assert "<select" not in shown[shown.index('class="acts"') : shown.index("</form>", shown.index('class="acts"'))]
