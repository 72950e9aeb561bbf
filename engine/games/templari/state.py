"""The table of Templari."""

from __future__ import annotations

from engine.facts import fact

from .cards import Cards
from .terms import Terms


@fact
class Auction:
    """A running auction. Without a seller it is the main auction of the round."""

    opener: int
    bidders: tuple[int, ...]
    turn: int
    high: int | None = None
    leader: int | None = None
    seller: int | None = None
    card: str = ""


@fact
class State:
    """A table of Templari. `deck` has no order: a card has no place until it is turned up."""

    terms: Terms
    deck: Cards
    coins: tuple[int, ...]
    cards: tuple[Cards, ...]
    pot: int = 0
    active: int = 0
    round: int = 0
    lot: Cards = ()
    gone: Cards = ()
    sellers: tuple[int, ...] = ()
    auction: Auction | None = None
    offender: int | None = None
    banned: tuple[int, ...] = ()
    over: bool = False


def following(seat: int, bidders: tuple[int, ...]) -> int:
    """Return the bidder after this one."""
    return bidders[(bidders.index(seat) + 1) % len(bidders)]


def running(state: State) -> Auction:
    """Return the auction that is running."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


def most_one_may_bid(seat: int, state: State) -> int:
    """Return the highest possible bid: all coins in the game if the player has a card to lose, or else their own coins."""
    if state.terms.overbids and state.cards[seat]:
        return sum(state.coins) + state.pot
    return state.coins[seat]
