"""What only bots need: how good a state looks, what the face-down cards may be, and a choice at first sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.decktet import CROWNS, EXCUSE, in_order
from engine.facts import HIDDEN, SPECTATOR, is_hidden, put
from engine.records import replace

from .cards import MARKERS, MARKET, Cards, known, opening_bid, valuation, without
from .crowns import assignments, ritual
from .state import FaceDown, State, markers_of
from .worth import crown_bonus, total_worth, worth_of_card, worths_of

AVERAGE: Final = 5
"""What a suit is worth on average, rounded: 24 numbers from 2 to 9 and four Pawns that count 1."""

SEALED: Final = (32, 30, 26, 20, 14, 9, 5, 3, 2, 1)
"""How likely a sealed bid is that is so much gold off the usual one, three quarters of what its bidder knows the card to be worth."""

LEAST: Final = -6
"""How much more a card is worth than the bid, where the next two tables begin."""
PASSED: Final = (64, 62, 60, 58, 51, 42, 34, 22, 13, 8, 5, 3, 2, 1)
"""How likely a pass is by how much more the card is worth than the bid before it."""
RAISED: Final = (1, 2, 4, 11, 19, 23, 29, 32, 28, 24, 19, 16, 10, 8, 6, 4, 3)
"""How likely an open bid is by how much more the card is worth."""


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


def mask(state: State, seat: int) -> State:
    """Return what a seat would know of this truth."""
    down = state.down
    if state.over:
        return state
    open_to_all = state.excuse is None
    own = markers_of(seat, state) if seat != SPECTATOR else ()
    valuations = tuple(
        card if card == "" or marker in own or (marker == EXCUSE and open_to_all) else HIDDEN
        for marker, card in zip(MARKERS, down.valuations, strict=True)
    )
    giver = seat == state.excuse
    crowns = tuple(
        crown if crown == "" or giver or other == seat else HIDDEN for other, crown in enumerate(down.crowns)
    )
    unplaced = [card for card, seen in zip(down.valuations, valuations, strict=True) if is_hidden(seen)]
    bag = tuple(card for card in MARKET if card in state.bag or card in unplaced)
    aside = (HIDDEN,) * len(down.aside) if any(map(is_hidden, crowns)) else down.aside
    seven = down.seven if giver else (HIDDEN,) * len(down.seven)
    masked = FaceDown(cast("Cards", valuations), cast("Cards", crowns), cast("Cards", aside), cast("Cards", seven))
    return replace(state, down=masked, bag=bag)


def plausible(state: State, seat: int) -> int:
    """Return how well a truth fits the bids so far."""
    worths = [_worths_to(state, other) for other in range(len(state.gold))]
    weight = 1
    for answer in state.answers:
        if answer.seat != seat:
            worth = _worth(answer.card, worths[answer.seat], state.down.crowns[answer.seat])
            if answer.sealed:
                weight *= _at(SEALED, abs(3 * worth - 4 * answer.gold) // 4)
            else:
                weight *= _at(PASSED if answer.passed else RAISED, worth - answer.gold - LEAST)
    return weight


def _at(table: Sequence[int], place: int) -> int:
    """Return the number at a place of a table, or the one at its nearer end."""
    return table[min(max(0, place), len(table) - 1)]


def quick(view: State, decision: Decision, draw: Draw) -> Choice | None:
    """Return a bid below what the card is worth to the seat, as far as it knows."""
    seat, auction = decision.seat, view.auction
    if auction is None:
        return None if view.group == 0 else _offer(view, decision, draw)
    limit = _worth(auction.card, _worths_to(view, seat), view.down.crowns[seat]) * (5 + draw.below(5)) // 10
    if auction.closed:
        return Choice("bid", (min(view.gold[seat], limit),))
    if limit <= auction.high or view.gold[seat] <= auction.high:
        return decision.default
    # The seller has the last word, so one more is enough; others bid close to their limit.
    number = auction.high + 1 if seat == view.active else limit - draw.below(limit - auction.high)
    return Choice("bid", (min(view.gold[seat], number),))


def _offer(view: State, decision: Decision, draw: Draw) -> Choice:
    card = draw.pick(view.row)
    worth = _worth(card, _worths_to(view, decision.seat), view.down.crowns[decision.seat])
    bargain = opening_bid(card) < worth and opening_bid(card) <= view.gold[decision.seat]
    return Choice("open" if bargain and draw.below(2) else "closed", (card,))


def _worths_to(state: State, seat: int) -> dict[str, int]:
    """Return what each suit letter and the Excuse are worth as far as a seat knows: the average, if it can't see their card."""
    own = markers_of(seat, state)
    return {
        marker[-1]: valuation(below)
        if known(below) and (marker in own or (marker == EXCUSE and state.excuse is None))
        else AVERAGE
        for marker, below in zip(MARKERS, state.down.valuations, strict=True)
    }


def _worth(card: str, worths: Mapping[str, int], crown: str) -> int:
    """Return what a card is worth to the owner of a Crown."""
    return worth_of_card(card, worths) + crown_bonus(card, worths, crown)
