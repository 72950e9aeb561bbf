"""The table of Sunset Poker as one reader sees it."""

from __future__ import annotations

from engine.board import Board, Grid, Line, Part, Row
from engine.decks.decktet import faces, in_order
from engine.facts import SPECTATOR
from engine.seats import clockwise
from engine.tell import Text, say

from .state import State, best_of, points_for_folding


def _folding(view: State, seat: int) -> Text:
    """Return what folding would bring this player now."""
    points = max(points_for_folding(len(view.played[seat]), view.sun is not None), -view.scores[seat])
    if points > 0:
        return say("Folding now brings {points:point|points}.", points=points)
    if points < 0:
        return say("Folding now costs {points:point|points}.", points=-points)
    return say("Folding now costs nothing.")


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    first = view.first if seat == SPECTATOR else seat + 1
    others = clockwise(first, len(view.scores), without=(seat,))
    shows = view.over or view.turn is not None
    return Board(
        title=say("Sunset Poker, round {round} of {last} at most", round=view.round, last=view.terms.max_rounds),
        turn=_turn(view),
        up=_up(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        others=tuple(_other(view, other) for other in others) if shows else (),
        scores=(_scores(view),),
    )


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.turn is None:
        return say(
            "Everybody picks a card from a pack of {cards}. {first:seat} will play first.",
            cards=len(view.packs[0]),
            first=view.first,
        )
    return say("It is {seat's} turn.", seat=view.turn)


def _up(view: State) -> tuple[Part, ...]:
    if view.over:
        return ()
    parts = [Line(say("The game ends when somebody has {target} points.", target=view.terms.target))]
    if view.turn is None:
        return tuple(parts)
    if view.sun is None:
        sun = say("The Sun is there: who folds now gains a point for each card played.")
    else:
        sun = say(
            "{sun:seat} [has|have] taken the Sun: who folds now loses half a point for each card played, rounded up.",
            sun=view.sun,
        )
    parts.append(Line(sun))
    if view.lost:
        lost = say("The winner of the round will collect the {lost:point|points} lost so far.", lost=view.lost)
        parts.append(Line(lost))
    return tuple(parts)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    hand, played = view.hands[seat], view.played[seat]
    parts: list[Part] = []
    if view.packs[seat]:
        parts.append(Row(say("the pack to pick from"), faces(in_order(view.packs[seat]))))
    parts.append(Row(say("your hand"), faces(in_order(hand))))
    if played:
        parts.append(Row(say("you have played"), faces(in_order(played))))
    if (best := best_of(view, hand + played)).cards:
        parts.append(Row(say("your best Set is {best}", best=best.words()), faces(best.cards)))
    if seat in view.folded:
        parts.append(Line(say("You have folded.")))
    elif hand and view.turn is not None:
        parts.append(Line(_folding(view, seat)))
    elif view.turn is not None:
        parts.append(Line(say("You are finished and wait for the showdown.")))
    return tuple(parts)


def _other(view: State, other: int) -> Part:
    hand, played = len(view.hands[other]), view.played[other]
    folded = other in view.folded
    if not played:
        return Line(
            say("{seat} [has|have] folded without a card played.", seat=other)
            if folded
            else say("{seat}, {hand} in hand: no card played yet.", seat=other, hand=hand)
        )
    if folded:
        label = say("{seat}, folded", seat=other)
    elif not hand:
        label = say("{seat}, finished with {best}", seat=other, best=best_of(view, played).words())
    else:
        label = say("{seat}, {hand} in hand, so far {best}", seat=other, hand=hand, best=best_of(view, played).words())
    return Row(label, faces(in_order(played)))


def _scores(view: State) -> Grid:
    return Grid(
        (say("points"), say("in hand"), say("played")),
        tuple((seat, (score, len(view.hands[seat]), len(view.played[seat]))) for seat, score in enumerate(view.scores)),
    )
