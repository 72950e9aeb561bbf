"""What players are asked in Sunset Poker, each from their own view."""

from __future__ import annotations

from collections.abc import Mapping

from engine.decisions import Act, Choice, Decision, OneOf
from engine.decks.decktet import in_order, things
from engine.facts import SPECTATOR
from engine.tell import Text, say

from .state import State, full_hand


def asks(view: State, seat: int) -> Decision | None:
    """Return what this seat may do now, or None if it is not asked."""
    if view.over or seat == SPECTATOR:
        return None
    if view.turn is None:
        return _to_pick(view, seat)
    return _for_a_turn(view, seat) if seat == view.turn else None


def barred(view: State, seat: int) -> Mapping[str, Text]:
    """Return the verbs that a player may expect but cannot use now, each with the reason."""
    if view.turn is None:
        why = say("Play begins after the draft.")
        return {"play": why, "take": why, "fold": why}
    return {} if view.sun is None else {"take": say("{taker:seat} [has|have] taken the Sun.", taker=view.sun)}


def _to_pick(view: State, seat: int) -> Decision:
    pack = view.packs[seat]
    card = OneOf("card", things(in_order(pack)))
    return Decision(
        seat,
        say(
            "Which card will you pick? You've picked {own} of {full}.", own=len(view.hands[seat]), full=full_hand(view)
        ),
        (Act("pick", (card,)),),
        default=Choice("pick", (pack[0],)),
        topic=f"round {view.round}",
        brief=say("Which card will you pick?"),
    )


def _for_a_turn(view: State, seat: int) -> Decision:
    card = OneOf("card", things(in_order(view.hands[seat])))
    sun = () if view.sun is not None else (Act("take", phrase="take the Sun"),)
    return Decision(
        seat,
        say("Play a card or fold?" if view.sun is not None else "Play a card, take the Sun or fold?"),
        (Act("play", (card,)), *sun, Act("fold")),
        default=Choice("fold"),
        topic=f"round {view.round}",
    )
