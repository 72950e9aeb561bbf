"""What players are asked in Bid!, each from their own view."""

from __future__ import annotations

from collections.abc import Mapping

from engine.decisions import Act, Amount, Choice, Decision, OneOf, Some
from engine.decks.piecepack import DIE_THINGS
from engine.facts import SPECTATOR
from engine.tell import Text, say

from .auction import doubling, prize
from .state import State
from .words import spoken_prize, things


def asks(view: State, seat: int) -> Decision | None:
    """Return what this seat may do now, or None if it is not asked."""
    if view.over or not view.dice or seat == SPECTATOR:
        return None
    if view.tied:
        return _for_coins(view, seat) if seat in view.tied else None
    return _for_tiles(view, seat)


def barred(view: State, seat: int) -> Mapping[str, Text]:
    """Return the verbs that a player may expect but cannot use now, each with the reason."""
    verb = "coin" if view.terms.coin_rerolls else "pawn"
    if view.tied:
        return {
            "bid": say("The tiles are revealed. The tie is broken with coins."),
            verb: say("The bids are revealed, so it's too late to reroll."),
        }
    if verb == "coin" and not view.coins[seat]:
        return {verb: say("You have no coin for a reroll.")}
    if verb == "pawn" and not view.pawns[seat]:
        return {verb: say("You've already used your Pawn.")}
    return {}


def _for_tiles(view: State, seat: int) -> Decision:
    """Ask for a bid or for another roll in one decision, so that a reroll need not wait for bids."""
    hand, many = view.hands[seat], doubling(view.dice)
    stake = spoken_prize(*prize(view.dice))
    if many == 1:
        prompt = say("Which tile will you bid for {stake}?", stake=stake)
        bid = Act("bid", (OneOf("tile", things(tuple(dict.fromkeys(hand)))),))
        lowest = Choice("bid", hand[:1])
    else:
        prompt = say("Which two tiles will you bid for {stake}?", stake=stake)
        bid = Act("bid", (Some("tiles", things(hand), many),))
        lowest = Choice("bid", (hand[:many],))
    reroll: tuple[Act, ...] = ()
    if view.terms.coin_rerolls and view.coins[seat]:
        note = say("Pay a coin to reroll one die. All bids so far are cancelled.")
        dice = OneOf("die", tuple(DIE_THINGS.values()))
        reroll = (Act("coin", (dice,), note=note, label="reroll", spoken="pay a coin to reroll the {} die"),)
    elif view.pawns[seat]:
        note = say("Give up your Pawn to reroll all four dice. All bids so far are cancelled.")
        reroll = (Act("pawn", note=note, label="reroll", spoken="give up your Pawn and reroll"),)
    return Decision(
        seat,
        say("{prompt} Or reroll the dice?", prompt=prompt) if reroll else prompt,
        (bid, *reroll),
        default=lowest,
        closes=frozenset(act.verb for act in reroll),
        topic=f"auction {view.auction}",
    )


def _for_coins(view: State, seat: int) -> Decision:
    own = view.coins[seat]
    prompt = say(
        "You're tied with {rivals:seats} on {bid}. How many coins do you pay? The highest bid wins, but nobody gets their coins back.",
        rivals=tuple(rival for rival in view.tied if rival != seat),
        bid=sum(view.bids[seat]),
    )
    return Decision(
        seat,
        prompt,
        # Not the verb for tiles, so that no late reply or standing order can be taken for the wrong one.
        (Act("pay", (Amount("coins", 0, own, why=say("You have {coins:coin|coins}.", coins=own)),)),),
        default=Choice("pay", (0,)),
        topic=f"auction {view.auction}",
        public=True,
        brief=say("You're tied. How many coins do you pay? Nobody gets coins back."),
    )
