"""The table of Bid! as one reader sees it."""

from __future__ import annotations

from typing import Final

from engine.board import Amounts, Board, Face, Fold, Line, Panel, Part, Row
from engine.decks.piecepack import ACE, DICE, VALUES, die
from engine.facts import SPECTATOR, take
from engine.tell import Text, say

from .auction import ARMS, TARGET, doubling
from .state import State
from .terms import MAX_AUCTIONS
from .words import faces, stakes

_FACE_DOWN: Final = Face("sign", "tile", "a tile face down")


def show(view: State, seat: int, final: bool) -> Board:
    """Return the board for a seat or the SPECTATOR. The dice are `final` if nobody can have them rolled again."""
    return Board(
        title=_title(view),
        turn=_turn(view),
        centre=_centre(view, final),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        players=_players(view, seat),
        notes=_finish(view),
        folds=() if seat == SPECTATOR or view.over else (_tiles_still_out(view, seat),),
        calls=say("Bids and exchanges"),
    )


def _title(view: State) -> Text:
    if view.over:
        return say("Bid!, auction {auction}", auction=view.auction)
    if view.auction == view.terms.auctions:
        return say("Bid!, auction {auction} (the last)", auction=view.auction)
    if view.terms.auctions == MAX_AUCTIONS.default:
        # Games end long before.
        return say("Bid!, auction {auction}", auction=view.auction)
    return say("Bid!, auction {auction} of up to {most}", auction=view.auction, most=view.terms.auctions)


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.tied:
        return say("{seats:seats} are tied for the highest bid and secretly bid coins.", seats=view.tied)
    return say("Everyone bids in secret. {seat} [is|are] the roller.", seat=view.roller)


def _centre(view: State, final: bool) -> tuple[Part, ...]:
    if not view.dice:
        return ()
    dice = Row(say("The dice"), tuple(map(die, DICE, view.dice)), "lot")
    bank = Amounts(((say("coins in the bank"), view.bank),))
    at_stake = [] if view.over else [Line(text) for text in stakes(view.dice, bool(view.bids), final)]
    return (dice, *at_stake, bank)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    hand = Row(say("tiles (total {sum})", sum=sum(view.hands[seat])), faces(view.hands[seat]), "hand")
    if view.over or view.tied or not view.dice:
        return (hand,)
    if doubling(view.dice) == 1:
        moves = say(
            "Tiles that were bid move on: the winner's to the next highest bidder, and so on. Coins break ties."
        )
    else:
        moves = say(
            "Your two tiles count as one sum, and move on together: the winner's to the next highest bidder, and so on. "
            "Coins break ties."
        )
    return (hand, Line(moves))


def _players(view: State, seat: int) -> tuple[Panel, ...]:
    def panel(other: int) -> Panel:
        numbers = [(say("points"), view.points[other]), (say("coins"), view.coins[other])]
        if any(view.pawns):
            numbers.append((say("Pawns"), view.pawns[other]))
        parts = (*_bid_of(view, other), *(_open_tiles(view, other) if other != seat else ()))
        face_down = (
            () if other == seat or view.over or _tiles_are_open(view) else (_FACE_DOWN,) * len(view.hands[other])
        )
        return Panel(other, tuple(numbers), _state(view, other), parts=parts, scenery=face_down)

    return tuple(map(panel, range(len(view.points))))


def _state(view: State, seat: int) -> Text | None:
    if view.over:
        return None
    if view.tied:
        return say("tied") if seat in view.tied else None
    return say("roller") if seat == view.roller else None


def _bid_of(view: State, seat: int) -> tuple[Part, ...]:
    if not view.bids:
        return ()
    return (Row(say("bid (total {value})", value=sum(view.bids[seat])), faces(view.bids[seat])),)


def _open_tiles(view: State, seat: int) -> tuple[Part, ...]:
    """Return a player's tiles, which everyone sees only under the Ace of Arms."""
    if not _tiles_are_open(view):
        return ()
    return (Row(say("tiles (total {sum})", sum=sum(view.hands[seat])), faces(view.hands[seat])),)


def _tiles_are_open(view: State) -> bool:
    return bool(view.dice) and view.dice[ARMS] == ACE


def _tiles_still_out(view: State, seat: int) -> Fold:
    """Return the tiles that the others hold together: all that are in the game without the reader's own."""
    out = VALUES * len(view.hands)
    for tile in view.hands[seat]:
        out = take(out, tile)
    label = say("total {sum}", sum=sum(out))
    return Fold(say("The others' tiles"), (Row(label, faces(tuple(sorted(out))), "pile"),))


def _finish(view: State) -> tuple[Line, ...]:
    if view.over:
        return ()
    if view.overtime:
        return (Line(say("The lead was shared. The next player to lead outright wins.")),)
    return (Line(say("First to {target} points with an outright lead wins.", target=TARGET)),)
