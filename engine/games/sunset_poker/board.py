"""The table of Sunset Poker as one reader sees it."""

from __future__ import annotations

from typing import Final

from engine.board import Board, Face, Fold, Line, Panel, Part, Row
from engine.decks.decktet import BACK, faces, in_order
from engine.facts import SPECTATOR
from engine.tell import Text, say

from .sets import BestSet
from .state import State, best_of, full_hand, points_for_folding

FEW_ROUNDS: Final = 5
"""Rounds that are left when the board says how many there can be."""

_SUN: Final = Face("sign", "suns", "the Sun")
_PACK: Final = Face("sign", "stack", "a pack")


def _folding(view: State, seat: int) -> Text:
    """Return what folding would bring this player now."""
    points = max(points_for_folding(len(view.played[seat]), view.sun is not None), -view.scores[seat])
    if points > 0:
        return say("Folding now gains you {points:point|points}.", points=points)
    if points < 0:
        return say("Folding now costs you {points:point|points}.", points=-points)
    return say("Folding now costs you nothing.")


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=_title(view),
        turn=_turn(view),
        centre=_centre(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        players=_players(view, seat),
        notes=() if view.over else (_goal(view),),
        folds=() if seat == SPECTATOR or not view.packs[seat] else (_with_each_card(view, seat),),
        scenery=() if view.over or view.sun is not None else (_SUN,),
        calls=say("Cards played"),
    )


def _title(view: State) -> Text:
    if view.terms.max_rounds == 1:
        return say("Sunset Poker, round 1 of 1")
    if view.over:
        return say("Sunset Poker, round {round}", round=view.round)
    if view.round == view.terms.max_rounds:
        return say("Sunset Poker, round {round} (the last)", round=view.round)
    target, last = view.terms.target, view.terms.max_rounds
    if last - view.round > FEW_ROUNDS:
        # Most games end long before.
        return say("Sunset Poker, round {round} (to {target})", round=view.round, target=target)
    return say("Sunset Poker, round {round} of up to {last} (to {target})", round=view.round, last=last, target=target)


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.turn is None:
        return say(
            "Everyone picks a card from a pack of {cards}. {first:seat} [plays|play] first.",
            cards=len(view.packs[0]),
            first=view.first,
        )
    if view.sun is None:
        return say("It's {seat's} turn to play a card, take the Sun or fold.", seat=view.turn)
    return say("It's {seat's} turn to play a card or fold.", seat=view.turn)


def _centre(view: State) -> tuple[Part, ...]:
    if view.over:
        return ()
    parts: list[Part] = []
    if view.turn is None:
        sun = say("Packs are passed left. The Sun can be taken after the draft.")
    elif view.sun is None:
        sun = say("The Sun is still there: folding gains a point per card played.")
    else:
        sun = say(
            "{sun:seat} [has|have] taken the Sun: folding costs half a point per card played, rounded up.", sun=view.sun
        )
    parts.append(Line(sun))
    stake = full_hand(view)
    if view.lost:
        prize = say(
            "The round's winner gains {stake} points plus everything the others lose, {lost} so far.",
            stake=stake,
            lost=view.lost,
        )
    else:
        prize = say("The round's winner gains {stake:point|points} plus everything the others lose.", stake=stake)
    parts.append(Line(prize))
    return tuple(parts)


def _goal(view: State) -> Line:
    return Line(
        say("The game ends when someone reaches {target} points; the highest score wins.", target=view.terms.target)
    )


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    hand, played = view.hands[seat], view.played[seat]
    parts: list[Part] = []
    if view.packs[seat]:
        parts.append(Row(say("your pack"), faces(in_order(view.packs[seat])), "hand"))
    parts.append(Row(say("your hand"), faces(in_order(hand)), "row" if view.packs[seat] else "hand"))
    if (best := best_of(view, hand + played)).cards:
        parts.append(Line(say("Your best Set: {best}.", best=best.spelled_out())))
    if seat in view.folded:
        parts.append(Line(say("You have folded.")))
    elif hand and view.turn is not None:
        parts.append(Line(_folding(view, seat)))
    elif view.turn is not None:
        parts.append(Line(say("You've finished and are in the showdown.")))
    return tuple(parts)


def _with_each_card(view: State, seat: int) -> Fold:
    """Return the best Set of the hand with each card of the pack, the best first, cards with equal Sets together."""
    hand = view.hands[seat]
    found: dict[tuple[int, int, int], tuple[BestSet, list[str]]] = {}
    for card in in_order(view.packs[seat]):
        best = best_of(view, (*hand, card))
        found.setdefault(best.strength(), (best, []))[1].append(card)
    lines = tuple(
        Line(say("{cards:or}: {best}.", best=best.words(), cards=tuple(cards)))
        for _strength, (best, cards) in sorted(found.items(), reverse=True)
    )
    return Fold(say("Your best Set if you pick…"), lines)


def _players(view: State, seat: int) -> tuple[Panel, ...]:
    def panel(other: int) -> Panel:
        numbers = ((say("points"), view.scores[other]), (say("in hand"), len(view.hands[other])))
        played = faces(in_order(view.played[other]))
        parts = (Row(say("played"), played),) if played else ()
        held = () if other == seat or view.over or other in view.folded else (BACK,) * len(view.hands[other])
        pack = (_PACK,) if other != seat and view.turn is None and not view.over else ()
        sun = (_SUN,) if other == view.sun and not view.over else ()
        return Panel(other, numbers, _state(view, other), None, other in view.folded, parts, sun + pack + held)

    return tuple(map(panel, range(len(view.scores))))


def _state(view: State, seat: int) -> Text | None:
    played = view.played[seat]
    if seat in view.folded:
        return say("folded")
    if view.turn is None and not view.over:
        return None
    if not played:
        return None
    best = best_of(view, played).words()
    return say("showing {best}", best=best) if view.hands[seat] else say("finished with {best}", best=best)
