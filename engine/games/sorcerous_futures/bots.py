"""What only bots ask: how good a table looks, and what may lie face down."""

from __future__ import annotations

from dataclasses import replace

from engine.chance import Draw
from engine.decks.decktet import CROWNS, in_order
from engine.facts import is_hidden, put

from .cards import Cards, valuation, without
from .crowns import assignments, ritual
from .state import State
from .worth import total_worth, worths_of


def prospect(state: State, seat: int) -> int:
    """How good a table looks for a seat."""
    # A card that nobody has seen is worth what the cards in the bag are worth on average, and the high bidder of an
    # open auction counts as its buyer.
    average = sum(map(valuation, state.bag)) // len(state.bag)
    worths = worths_of(state.down.valuations, average)
    gold, bought = state.gold, state.bought
    if state.auction is not None and not state.auction.closed:
        leader = state.auction.leader
        gold = put(gold, leader, gold[leader] - state.auction.high)
        bought = put(bought, leader, (*bought[leader], state.auction.card))
    scores = [
        own + total_worth(cards, worths, crown)
        for own, cards, crown in zip(gold, bought, state.down.crowns, strict=True)
    ]
    return scores[seat] - max(scores[:seat] + scores[seat + 1 :])


def imagine(view: State, seat: int, draw: Draw) -> State:
    """A whole truth that fits this view."""
    down = view.down
    # A sly Excuse player, who saw the seven, wonders only how they lie.
    saw = down.seven and not any(map(is_hidden, down.seven))
    pool = draw.shuffle(without(down.seven if saw else view.bag, down.valuations))
    valuations = tuple(pool.pop() if is_hidden(card) else card for card in down.valuations)
    crowns = _imagine_crowns(view, draw)
    down = replace(
        down,
        valuations=valuations,
        crowns=crowns,
        aside=without(CROWNS, crowns),
        seven=in_order(valuations) if down.seven else (),
    )
    return replace(view, down=down, bag=without(view.bag, valuations))


def _imagine_crowns(view: State, draw: Draw) -> Cards:
    """Crowns as they may have been dealt: by chance, and tried until they agree with what this reader knows."""
    told = view.down.crowns
    if not any(map(is_hidden, told)):
        return told
    while True:
        crowns = ritual(view.aces, draw) if view.excuse is None else draw.pick(assignments(view.aces))
        if all(is_hidden(seen) or crown == seen for crown, seen in zip(crowns, told, strict=True)):
            return crowns
