"""What only bots need: how good a state looks, and what the face-down cards may be."""

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
    """Return how good a state looks for a seat."""
    # An unseen card counts as the average of the bag, and the high bidder of an open auction as its buyer.
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
    """Return a whole truth that fits this view."""
    down = view.down
    # A sly Excuse player has seen the seven cards, but not their places.
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
    """Return Crowns as they may have been dealt: drawn again until they agree with what this reader knows."""
    known = view.down.crowns
    if not any(map(is_hidden, known)):
        return known
    while True:
        crowns = ritual(view.aces, draw) if view.excuse is None else draw.pick(assignments(view.aces))
        if all(is_hidden(seen) or crown == seen for crown, seen in zip(crowns, known, strict=True)):
            return crowns
