"""The table of Sorcerous Futures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.decks.decktet import CROWNS, EXCUSE
from engine.facts import fact, put, take
from engine.records import replace

from .cards import GROUP, MARKET, Cards
from .terms import Terms

GOLD: Final = 90
EXCUSE_TURNED_BEFORE: Final = 3
"""With three players the card under the Excuse is turned up before this group."""


@fact
class FaceDown:
    """The cards that are face down. An empty name is a place with no card yet, or one that no one has looked at."""

    valuations: Cards
    crowns: Cards
    aside: Cards = CROWNS
    seven: Cards = ()
    """What a sly Excuse player saw: the cards under the Aces and the Excuse, but not where they are."""


@fact
class Auction:
    """A running auction. `waiting` are the seats that may still bid: in turn, or all together if it is closed."""

    card: str
    leader: int
    high: int
    waiting: tuple[int, ...]
    closed: bool = False


@fact
class Answer:
    """A seat's answer in an auction: its bid, open or sealed, or that it passed when this much was bid."""

    seat: int
    card: str
    gold: int
    passed: bool
    sealed: bool


@fact
class State:
    """A table of Sorcerous Futures. `bag` has no order; in a view it holds all that the reader cannot place."""

    terms: Terms
    gold: tuple[int, ...]
    aces: tuple[Cards, ...]
    bought: tuple[Cards, ...]
    down: FaceDown
    bag: Cards = MARKET
    excuse: int | None = None
    bank: int = 0
    active: int = 0
    group: int = 0
    row: Cards = ()
    auction: Auction | None = None
    over: bool = False
    answers: tuple[Answer, ...] = ()
    """What was bid or passed so far, for bots: it tells what others know."""


def winner_of(bids: Sequence[int], active: int) -> int:
    """Return who wins a closed auction: the highest bidder; if tied, the first clockwise from the active player."""
    return max(range(len(bids)), key=lambda seat: (bids[seat], -((seat - active) % len(bids))))


def crowned(down: FaceDown, seat: int, crown: str) -> FaceDown:
    """Return the face-down cards after this seat has got a Crown."""
    return replace(down, crowns=put(down.crowns, seat, crown), aside=take(down.aside, crown))


def markers_of(seat: int, state: State) -> Cards:
    """Return what a player has in front of them: two Aces, or the Excuse."""
    return (EXCUSE,) if seat == state.excuse else state.aces[seat]


def running(state: State) -> Auction:
    """Return the auction that is running."""
    assert state.auction is not None, "no auction is going on"
    return state.auction


def sold(state: State) -> int:
    """Return how many cards have been sold."""
    return GROUP * state.group - len(state.row)
