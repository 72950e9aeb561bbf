"""What a newcomer hears in the first round of Sunset Poker."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .state import State, full_hand, points_for_folding

_DRAFT: Final = (
    Lesson(
        what=say(
            "First you build a hand: keep one card of this pack and pass the rest to the left. Everyone does so at once."
        ),
        do=say("Keep a card that can grow into a Set: cards of one rank, or ranks in a row that share a suit."),
        why=say(
            "At the end the best Set wins, and a larger Set beats any smaller one. One high card alone wins nothing."
        ),
    ),
    Lesson(
        what=say("The next pack comes from your right, and someone has already taken the card they liked best."),
        do=say("Look at your hand below, and keep what fits it: the same rank, or a neighbour that shares a suit."),
        why=say("Three cards that belong together beat four that don't."),
    ),
    Lesson(
        what=say("What you pass on now, your left neighbour may keep."),
        do=say("Keep what helps your Set. If nothing does, keep what you wouldn't like to meet in another hand."),
        why=say("You will have seen many of the cards that the others hold. Remember what you let go."),
    ),
)
_FIRST: Final = Lesson(
    what=say("The hands are made. Each player in turn now plays a card, takes the Sun or folds."),
    do=say("Play a card, and keep your best ones hidden for as long as you can."),
    why=say(
        "While the Sun is in the middle, folding earns a point for each card you have played. You've played none yet."
    ),
)
_DOOR_SHUT: Final = Lesson(
    what=say("The Sun is taken, so folding now costs points: half a point for each card you have played, rounded up."),
    do=say("With a good Set, play on to your last card. With a poor one, fold early and lose little."),
    why=say("Only players who have played every card are in the showdown. The best Set wins what all the others lose."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.turn is None:
        picked = len(view.hands[seat])
        return _DRAFT[picked] if picked < len(_DRAFT) else None
    played = len(view.played[seat])
    if played == 0:
        return _FIRST
    return _DOOR_SHUT if view.sun is not None else _with_the_sun(view, played)


def _with_the_sun(view: State, played: int) -> Lesson:
    return Lesson(
        what=say(
            "The Sun is still there: fold now, and you gain {points:point|points}.",
            points=points_for_folding(played, sun_taken=False),
        ),
        do=say("Fold to be safe, play on, or take the Sun, so that nobody can fold with a gain any more."),
        why=say(
            "The best Set in the showdown gains {stake} points and all that the others lose; every other Set there "
            "loses {stake}.",
            stake=full_hand(view),
        ),
    )
