"""Auctions as the facts tell them: who bid what, who passed, and who won.

They are made from the steps of facts, so a sealed bid is in none of them before it is opened. This
module must never guess: what begins or ends an auction, the game says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from engine.board import Board, Fold, Grid
from engine.facts import SPECTATOR, Fact, Step, fact, is_hidden, seen
from engine.records import replace
from engine.tell import Text, say

MOST_SHOWN: Final = 3
"""Auctions beside a board: the running one, and those before it."""


@fact
class Call:
    """What a seat did in an auction. `kind` is "bid", "pass" or "add"."""

    turn: int
    seat: int
    kind: str
    value: Any = None


@fact
class Auction:
    """The bids and passes in order and, once it is over, the winner."""

    calls: tuple[Call, ...] = ()
    over: bool = False
    winner: int | None = None

    def of(self, seat: int) -> tuple[Call, ...]:
        """Return what a seat did."""
        return tuple(call for call in self.calls if call.seat == seat)

    @property
    def turn(self) -> int:
        """The entry in which a player last did something."""
        return max(call.turn for call in self.calls)

    def highest(self, seat: int) -> int | None:
        """Return the highest bid of a seat, or None if it isn't a number."""
        amounts = (amount_of(call.value) for call in self.of(seat) if call.kind == "bid")
        return max((amount for amount in amounts if amount is not None), default=None)

    def after(self, turn: int, step: Step) -> Auction:
        """Return the auction after a step in this entry."""
        calls = [Call(turn, seat, "bid", value) for seat, value in step.bids if not _hides(value)]
        calls += [Call(turn, seat, "pass") for seat in step.passes]
        calls += [Call(turn, seat, "add", value) for seat, value in step.adds if not _hides(value)]
        winner = step.winner if step.ends and step.winner is not None else self.winner
        return Auction((*self.calls, *calls), self.over or step.ends, winner)


def step_of(happened: Fact[Any]) -> Step | None:
    """Return the step of a fact as everyone sees it."""
    return seen(happened, SPECTATOR).step()


def auctions(facts: Iterable[tuple[int, Fact[Any]]]) -> tuple[Auction, ...]:
    """Return the auctions that begin in these facts, each with the number of its entry, oldest first."""
    found: list[Auction] = []
    for turn, happened in facts:
        step = step_of(happened)
        if step is None:
            continue
        if step.opens:
            found.append(Auction())
        if found:
            found[-1] = found[-1].after(turn, step)
    return tuple(found)


def with_bids(board: Board, known: Sequence[Auction]) -> Board:
    """Return the board with a grid of the last auctions, newest first."""
    called = [auction for auction in known[-MOST_SHOWN:] if auction.calls]
    if not called or not board.players:
        return board
    heads, running = [say("last"), say("2nd last")], not called[-1].over
    columns = ([say("now"), *heads] if running else [*heads, say("3rd last")])[: len(called)]
    rows = tuple(
        (panel.seat, tuple(words_of(auction, panel.seat) for auction in reversed(called))) for panel in board.players
    )
    grid = Grid(tuple(columns), rows)
    return replace(board, folds=(Fold(board.calls, (grid,)), *board.folds))


def amount_of(value: Any) -> int | None:
    """Return a bid as a number: several numbers added up, and None for anything else."""
    if isinstance(value, tuple):
        return sum(value) if value and all(type(each) is int for each in value) else None
    return value if type(value) is int else None


def _hides(value: Any) -> bool:
    return any(map(is_hidden, value)) if isinstance(value, tuple) else is_hidden(value)


def words_of(auction: Auction, seat: int) -> Text | None:
    """Return all that a seat did, in words; None if nothing."""
    calls = tuple(_words(call) for call in auction.of(seat))
    if not calls:
        return None
    text = calls[0]
    for each in calls[1:]:
        text = say("{first}, {then}", first=text, then=each)
    return say("{calls}, won", calls=text) if auction.winner == seat else text


def _words(call: Call) -> Text:
    if call.kind == "pass":
        return say("pass")
    if isinstance(call.value, Text):
        return call.value
    if isinstance(call.value, tuple):
        text = say("{value}", value=call.value[0])
        for each in call.value[1:]:
            text = say("{first} + {then}", first=text, then=say("{value}", value=each))
        return text
    return say("{value}", value=call.value)
