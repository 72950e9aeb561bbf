"""Results: who won by how much, the biggest swing, and the best buy, only from what the facts show."""

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import pytest

from engine import registry
from engine.bots import random_bot
from engine.chance import Stream
from engine.facts import SPECTATOR, Fact, Step, fact
from engine.game import Standing
from engine.result import Place, ordinal, places_of, result_of
from engine.table import begin
from engine.tell import Teller

NAMES = ("Ann", "Ben", "Cleo")


@fact
class Scored(Fact[tuple[int, ...]]):
    """Everyone has {scores}."""

    scores: tuple[int, ...]

    def apply(self, state):
        return self.scores


@fact
class Bid(Fact[tuple[int, ...]]):
    """{seat} [bids|bid] {coins}."""

    seat: int
    coins: int

    def step(self):
        return Step(opens=True, bids=((self.seat, self.coins),))

    def apply(self, state):
        return state


@fact
class Failed(Fact[tuple[int, ...]]):
    """Nobody can pay."""

    def step(self):
        return Step(ends=True)

    def apply(self, state):
        return state


@fact
class Sold(Fact[tuple[int, ...]]):
    """{seat} [takes|take] the lot."""

    seat: int
    points: int

    def step(self):
        return Step(ends=True, winner=self.seat)

    def apply(self, state):
        return tuple(score + self.points * (seat == self.seat) for seat, score in enumerate(state))


def toy(ranking: Callable[[tuple[int, ...]], Standing] | None = None, price: Fraction | None = None):
    """A game whose state is its scores."""
    standing = ranking or (lambda scores: Standing.by(tuple((score,) for score in scores)))
    return SimpleNamespace(standing=standing, hindsight=lambda view, end: None, bid_price=price)


def sentences(result, reader=SPECTATOR):
    teller = Teller(reader, NAMES)
    return [teller(result.headline(reader)), *(teller(each.text) for each in result.story(reader))]


def course(*scores):
    return [(turn, [Scored(each)]) for turn, each in enumerate(scores, start=1)]


def test_the_margin_is_the_lead_over_the_second():
    result = result_of(toy(), (0, 0, 0), course((12, 5, 3)))
    assert sentences(result) == ["Ann won by 7 points."]
    assert sentences(result, 0) == ["You won by 7 points."]
    assert sentences(result, 1) == ["You came second.", "Ann won by 7 points."]
    assert sentences(result_of(toy(), (0, 0), course((2, 1)))) == ["Ann won by 1 point."]


def test_winners_who_are_tied_share_the_win_and_the_next_place_is_third():
    result = result_of(toy(), (0, 0, 0), course((5, 5, 3)))
    assert result.places == (Place(1, (0, 1), 5), Place(3, (2,), 3))
    assert sentences(result)[0] == "Ann and Ben share the win."
    assert sentences(result, 2)[0] == "You came third."


def test_those_who_share_a_lower_place_are_told_so():
    assert sentences(result_of(toy(), (0, 0, 0), course((5, 3, 3))), 2)[0] == "You tied for second."


def test_a_win_by_a_tie_break_has_no_margin_but_its_reason():
    def ranking(scores):
        return Standing.by(tuple((score, seat) for seat, score in enumerate(scores)), ("more coins left",))

    assert sentences(result_of(toy(ranking), (0, 0), course((4, 4)))) == [
        "Ben won on a tie-break.",
        "A tie went to more coins left.",
    ]


def test_the_biggest_swing_is_the_most_places_gained_in_one_turn():
    result = result_of(toy(), (0, 0, 0), course((5, 4, 3), (5, 6, 3), (5, 6, 9), (5, 10, 9)))
    assert sentences(result)[1:] == ["On turn 3, Cleo went from third to first."]


def test_nobody_swings_who_only_left_a_tie_of_all_or_whose_rival_fell():
    assert result_of(toy(), (0, 0), course((0, 0), (5, 0), (9, 0))).swing is None
    assert result_of(toy(), (9, 5), course((9, 5), (4, 5))).swing is None


def test_scores_that_the_table_does_not_show_are_not_told_turn_by_turn():
    result = result_of(toy(price=Fraction(0)), (0, 0), course((1, 2), (4, 3)), shown=False)
    assert (result.course, result.swing, result.best_buy) == ((), None, None)
    assert sentences(result) == ["Ann won by 1 point."]


def test_the_best_buy_weighs_what_was_gained_against_the_bid():
    turns = [(4, [Bid(0, 9), Sold(0, 5)]), (7, [Bid(1, 1), Sold(1, 4)]), (9, [Bid(2, 0), Sold(2, 0)])]
    result = result_of(toy(price=Fraction(1)), (0, 0, 0), turns)
    assert sentences(result)[-1] == "The best bargain was on turn 7, worth 4 points for a bid of 1: Ben takes the lot."
    assert (
        sentences(result, 1)[-1] == "The best bargain was on turn 7, worth 4 points for a bid of 1: you take the lot."
    )


def test_a_lot_that_goes_to_someone_after_its_auction_has_ended_was_taken_without_a_bid():
    turns = [(4, [Bid(0, 9), Failed(), Sold(0, 5)])]
    result = result_of(toy(price=Fraction(1)), (0, 0), turns)
    assert sentences(result)[-1] == "The best bargain was on turn 4, worth 5 points without a bid: Ann takes the lot."


def test_a_game_that_cannot_weigh_bids_names_no_best_buy():
    assert result_of(toy(), (0, 0), [(4, [Bid(0, 1), Sold(0, 5)])]).best_buy is None


def test_a_buy_that_cost_more_than_it_gained_is_not_the_best():
    assert result_of(toy(price=Fraction(1)), (0, 0), [(4, [Bid(0, 6), Sold(0, 5)])]).best_buy is None


def test_places_have_words_however_many_there_are():
    assert [str(ordinal(place)) for place in (1, 3, 9, 10)] == ["first", "third", "ninth", "10th"]


@pytest.mark.parametrize("kind", registry.names())
def test_every_game_has_a_result_that_agrees_with_its_standing(kind):
    rules, luck = registry.load(kind), Stream(b"result", 2)
    options = rules.settle(3, rules.short)
    table = begin(rules, 3, b"result" * 6, options)
    while waiting := [seat for seat in table.asks() if seat not in table.position.box]:
        seat = waiting[0]
        table = table.submit(seat, random_bot(rules, table.view(seat), table.asks()[seat], luck))
    end = rules.standing(table.view(SPECTATOR))
    turns = [(turn, entry.facts) for turn, entry in enumerate(table.log)]
    result = result_of(rules, rules.start(3, options), turns)
    assert result.places == places_of(end)
    assert result.course[-1][1] == end.scores
    assert all(sentences(result, reader) for reader in (SPECTATOR, 0, 1, 2))
    assert result.best_buy is None or rules.bid_price is not None


def test_in_hindsight_a_card_counts_for_what_it_turned_out_to_be_worth():
    rules = registry.load("sorcerous-futures")
    table, luck = begin(rules, 3, b"worth" * 7, rules.settle(3, {})), Stream(b"worth", 3)
    while waiting := [seat for seat in table.asks() if seat not in table.position.box]:
        table = table.submit(waiting[0], random_bot(rules, table.view(waiting[0]), table.asks()[waiting[0]], luck))
    turns = [(turn, entry.facts) for turn, entry in enumerate(table.log)]
    result = result_of(rules, rules.start(3, table.options), turns)
    # Nobody has paid yet: the course begins with everyone's gold.
    assert result.course[0][1] == (90, 90, 90)
    worth = sum(result.course[-1][1]) + rules.tally(table.position.state)["gold"]
    assert worth > sum(result.course[0][1]), "cards are worth something"
