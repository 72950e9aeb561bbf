"""The table of Bid! as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.decks.piecepack import ACE, DICE, die
from engine.facts import SPECTATOR
from engine.tell import Text, say

from .auction import ARMS, TARGET
from .state import State
from .words import faces, stakes


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=say("Bid!, auction {auction} of at most {most}", auction=view.auction, most=view.terms.auctions),
        turn=_turn(view),
        up=_up(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        others=_others(view, seat),
        scores=(_scores(view), *_finish(view)),
    )


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.tied:
        return say("{seats:seats} are tied for the highest bid and bid coins, in secret.", seats=view.tied)
    return say("Everybody bids in secret. {seat} [is|are] the roller.", seat=view.roller)


def _up(view: State) -> tuple[Part, ...]:
    if not view.dice:
        return ()
    dice = Row(say("The dice"), tuple(map(die, DICE, view.dice)))
    bids = [
        Row(say("{seat's} bid of {value}", seat=seat, value=sum(tiles)), faces(tiles))
        for seat, tiles in enumerate(view.bids)
    ]
    bank = Amounts(((say("coins in the bank"), view.bank),))
    at_stake = [] if view.over else [Line(text) for text in stakes(view.dice, bids_open=bool(view.bids))]
    return (dice, *at_stake, *bids, bank)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    pawns = () if view.terms.coin_rerolls else ((say("Pawns"), view.pawns[seat]),)
    return (
        Row(say("tiles, together {sum}", sum=sum(view.hands[seat])), faces(view.hands[seat])),
        Amounts(((say("coins"), view.coins[seat]), *pawns)),
    )


def _others(view: State, seat: int) -> tuple[Part, ...]:
    """Return the others' tiles, which are shown only under the Ace of Arms."""
    if not view.dice or view.dice[ARMS] != ACE:
        return ()
    return tuple(
        Row(say("{seat's} tiles, together {sum}", seat=other, sum=sum(hand)), faces(hand))
        for other, hand in enumerate(view.hands)
        if other != seat
    )


def _scores(view: State) -> Grid:
    columns = [(say("points"), view.points), (say("coins"), view.coins)]
    if not view.terms.coin_rerolls:
        columns.append((say("Pawns"), view.pawns))
    rows = tuple((seat, tuple(column[seat] for _, column in columns)) for seat in range(len(view.points)))
    return Grid(tuple(head for head, _ in columns), rows)


def _finish(view: State) -> tuple[Line, ...]:
    if view.over:
        return ()
    if view.overtime:
        return (Line(say("The lead was shared at the finish: whoever is next to lead alone wins.")),)
    return (Line(say("{target} points win, if nobody else has as many.", target=TARGET)),)
