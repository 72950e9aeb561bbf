"""The table of Sun Bid."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.records import replace
from engine.seats import clockwise

from .cards import SUNS, Cards, sum_of_suns
from .terms import Terms

ROUNDS: Final = 3


@fact
class Auction:
    """A running auction. `bidders` have yet to bid, in order; `aces` are those that the leader must still pay for."""

    bidders: tuple[int, ...]
    called: bool
    high: str = ""
    leader: int | None = None
    aces: Cards = ()


@fact
class State:
    """A table of Sun Bid. `suns` lie face up, `spent` ones face down; `deck` has no order; `gone` is the discard."""

    terms: Terms
    deck: Cards
    suns: tuple[Cards, ...]
    spent: tuple[Cards, ...]
    takes: tuple[Cards, ...]
    scores: tuple[int, ...]
    centre: str = SUNS[0]
    pool: Cards = ()
    gone: Cards = ()
    round: int = 0
    lead: int = 0
    auctions: int = 0
    auction: Auction | None = None
    over: bool = False


def next_with_a_sun(seat: int, state: State) -> int:
    """Return the next player to the left with a Sun face up, who may be the same one."""
    return next(other for other in clockwise(seat + 1, len(state.suns)) if state.suns[other])


def opened(state: State, called: bool) -> State:
    """Return the state with a new auction: everyone with a Sun face up bids once, the player on turn last."""
    bidders = tuple(seat for seat in clockwise(state.lead + 1, len(state.suns)) if state.suns[seat])
    return replace(state, auction=Auction(bidders, called), auctions=state.auctions + 1)


def running(state: State) -> Auction:
    """Return the auction that is running."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


def all_sums(state: State) -> tuple[int, ...]:
    """Return every player's sum of Suns, face up and face down."""
    return tuple(
        sum_of_suns(up + down, state.terms.equal_pawns) for up, down in zip(state.suns, state.spent, strict=True)
    )
