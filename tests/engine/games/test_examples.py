"""The worked examples on the rules pages are played by the rules."""

from __future__ import annotations

from itertools import product

import pytest

from engine import registry
from engine.board import in_words
from engine.chance import Scripted
from engine.games.bid.auction import passing_order
from engine.games.sorcerous_futures.crowns import ritual
from engine.games.sorcerous_futures.examples import ACES
from engine.games.sun_bid.aces import cheapest_way, losses
from engine.games.sun_bid.scoring import points_of_take
from engine.games.sunset_poker import examples as showdown
from engine.games.sunset_poker.sets import best_set, circle_for
from engine.games.sunset_poker.state import points_for_folding
from engine.games.templari import examples as payments
from engine.games.templari.cards import BALANCED
from engine.games.templari.digits import endings_allowed, receivers_of

ANN, BEN, CLEO, DAN = range(4)


@pytest.mark.parametrize("name", sorted(registry.own_names()))
def test_every_game_has_an_example_that_can_be_told(name):
    rules = registry.load(name)
    examples = [in_words(each, rules.teller()) for each in rules.examples]
    assert examples
    assert all(heading.startswith("Example: ") and len(lines) > 2 for heading, *lines in examples)


def test_anns_tile_goes_to_dan_and_his_to_her():
    assert passing_order((5, 3, 3, 1), ANN) == (ANN, DAN)


def test_the_ace_of_moons_costs_the_journey_or_the_forest():
    pool, take = ("5ML", "7WY"), ("3MW", "XL")
    assert set(losses(("AM",), (*take, *pool))) == {("3MW",), ("5ML",)}
    assert cheapest_way(("AM",), (*take, *pool), False) == ("3MW",)
    assert points_of_take(("5ML", "7WY", "XL"), False) == (0, 0, 2)
    assert points_of_take(("3MW", "7WY", "XL"), False) == (0, 0, 0)


def test_cleos_run_beats_the_other_sets_and_gains_17_points():
    ann, ben, cleo = (best_set(cards, circle_for(7), 2) for cards in (showdown.ANN, showdown.BEN, showdown.CLEO))
    assert [(each.kind, len(each.cards)) for each in (ann, ben, cleo)] == [("kind", 3), ("split", 4), ("run", 4)]
    assert (set(ann.cards), set(ben.cards)) == (set(showdown.ANN[:3]), set(showdown.BEN[:4]))
    assert set(cleo.cards) == set(showdown.CLEO[:4])
    assert ann.strength() < ben.strength() < cleo.strength()
    assert points_for_folding(3, True) == -2
    stake = len(showdown.CLEO)
    assert stake + 2 * stake + 2 == 17


def test_a_bid_of_13_pays_cleo_and_one_of_17_ann():
    cards = (payments.ANN, payments.BEN, payments.CLEO, ())
    assert len({*payments.ANN, *payments.BEN, *payments.CLEO}) == 6
    assert {*payments.ANN, *payments.BEN, *payments.CLEO} <= set(BALANCED)
    assert receivers_of(3, DAN, cards) == (CLEO,)
    assert receivers_of(7, DAN, cards) == (ANN,)
    # So Ann may bid 9.
    assert 9 in endings_allowed(payments.ANN)


def test_the_ritual_leaves_ann_one_of_bens_crowns_or_one_of_cleos():
    own = {suit for ace in ACES[ANN] for suit in ace[1:]}
    ends = [ritual(ACES, Scripted(luck)) for luck in product((0, 1), repeat=6)]
    assert {crowns[ANN][1] for crowns in ends} == set("WLYK")
    assert not own & {crowns[ANN][1] for crowns in ends}
    assert all(crowns[seat][1] not in "".join(ACES[seat]) for crowns in ends for seat in range(3))
