"""What a newcomer hears in the first round of Sunset Poker."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .state import State, full_hand, points_for_folding

_DRAFT: Final = (
    Lesson(
        what=say(
            "First, build a hand: keep one card from this pack and pass the rest to the left. Everyone does this at the same time."
        ),
        do=say("Keep a card that can grow into a Set: cards of the same rank, or ranks in a row that share a suit."),
        why=say(
            "In the end the best Set wins, and a larger Set beats any smaller one. A high card alone wins nothing."
        ),
    ),
    Lesson(
        what=say("The next pack comes from your right, without the card your neighbour liked best."),
        do=say("Look at your hand below, and keep what fits: the same rank, or the next rank in a shared suit."),
        why=say("Three cards that belong together beat four that don't."),
    ),
    Lesson(
        what=say("Your left neighbour can keep what you pass on."),
        do=say("Keep what helps your Set. If nothing does, keep what you wouldn't want to face."),
        why=say("You'll have seen many of the others' cards. Remember what you let go."),
    ),
)
_FIRST: Final = Lesson(
    what=say("The hands are complete. In turn, each player now plays a card, takes the Sun or folds."),
    do=say("Play a card, and hide your best ones as long as you can."),
    why=say("Until the Sun is taken, folding gains a point for each card you've played. You've played none yet."),
)
_DOOR_SHUT: Final = Lesson(
    what=say("The Sun is taken, so folding now costs half a point for each card you've played, rounded up."),
    do=say("With a good Set, play on to your last card. With a poor one, fold now and lose little."),
    why=say("Only players who play every card are in the showdown. The best Set wins everything the others lose."),
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
        do=say("Fold to be safe, play on, or take the Sun so that nobody else can fold for a gain."),
        why=say(
            "In the showdown, the best Set gains {stake} points plus everything the others lose; every other "
            "Set loses {stake}.",
            stake=full_hand(view),
        ),
    )
