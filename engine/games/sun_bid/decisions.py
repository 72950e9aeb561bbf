"""What players are asked in Sun Bid, each from their own view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from engine.decisions import Act, Choice, Decision, OneOf, Refused, Selection, Thing
from engine.decks.decktet import SUITS, THINGS, in_order, rank, suits, things
from engine.tell import Text, say

from .aces import NONE, assignments, cheapest_way, hungry, may_find_nothing, misfit, victims_of
from .cards import Cards, beats, by_value, share_a_suit
from .state import Auction, State, running
from .words import sun_thing

_FLIP: Final = Act("flip", note=say("turn up a card for the pool"), spoken="flip a card")
_CALL: Final = Act("call", note=say("auction the pool now"))
_CALL_FOR_THE_SUN: Final = Act("call", note=say("auction only the centre Sun"))


def asks(view: State, seat: int) -> Decision | None:
    """Return what this seat may do now, or None if it is not asked."""
    if view.over:
        return None
    auction = view.auction
    if auction is None:
        if seat != view.lead:
            return None
        return _for_a_turn(view, seat) if view.deck else _for_a_last_auction(view, seat)
    if auction.aces:
        return _for_victims(view, auction, seat) if seat == auction.leader else None
    return _for_a_bid(view, auction, seat) if seat == auction.bidders[0] else None


def barred(view: State, seat: int) -> Mapping[str, Text]:
    """Return the verbs that a player may expect but cannot use now, each with the reason."""
    auction = view.auction
    if auction is None and not view.deck:
        return {"flip": say("The deck is empty.")}
    if auction is None and not any(uses(view, seat)):
        if not any(rank(card) in "PT" for card in view.takes[seat]):
            return {"use": say("You have no Pawn or Court in your take.")}
        return {"use": say("None of your Pawns and Courts shares a suit with a card in the pool.")}
    if auction is not None and not auction.aces and auction.called and seat == view.lead and not auction.high:
        return {"pass": say("You called this auction and nobody else bid, so you must.")}
    return {}


def objects(view: State, seat: int, choice: Choice) -> Text | None:
    """Return why values that fit one by one do not fit together, or None if they do."""
    if choice.verb != "discard":
        return None
    kept = in_order(view.takes[seat])
    return misfit(kept, hungry(running(view).aces, kept), choice.every_text())


def selection(view: State, decision: Decision) -> Selection | None:
    """Return the cards that several Aces can cost; None for other decisions."""
    (act, *_others) = decision.acts
    if act.verb != "discard" or len(act.blanks) == 1:
        return None
    kept = in_order(view.takes[decision.seat])
    aces = hungry(running(view).aces, kept)
    cards = tuple([THINGS[card] for card in kept if any(share_a_suit(ace, card) for ace in aces)])
    spared = any(may_find_nothing(place, aces, kept) for place in range(len(aces)))
    return Selection("cards", cards, 1 if spared else len(aces), len(aces))


def payment(view: State, decision: Decision, cards: Cards) -> Cards:
    """Return what each of several Aces costs if these cards are discarded. Raises Refused if they can't pay for the Aces."""
    kept = in_order(view.takes[decision.seat])
    aces = hungry(running(view).aces, kept)
    ways = assignments(in_order(cards), aces) if len(cards) <= len(aces) else ()
    reasons = []
    for way in ways:
        if (reason := misfit(kept, aces, way)) is None:
            return way
        reasons.append(reason)
    raise Refused(reasons[0] if reasons else say("Discard one card of its suit for each Ace: {aces}.", aces=aces))


def _for_a_turn(view: State, seat: int) -> Decision:
    acts = tuple(uses(view, seat))
    what = (
        say("Flip a card, call an auction, or use a Pawn or Court?") if acts else say("Flip a card or call an auction?")
    )
    return Decision(
        seat,
        say("{what} In the pool: {pool}.", what=what, pool=in_order(view.pool))
        if view.pool
        else say("{what} The pool is empty.", what=what),
        (_FLIP, _CALL if view.pool else _CALL_FOR_THE_SUN, *acts),
        default=Choice("flip"),
        topic=f"round {view.round}",
        public=True,
        brief=say("Flip, call, or use a Pawn or Court?") if acts else what,
    )


def uses(view: State, seat: int) -> Iterator[Act]:
    """Yield an act for each Pawn or Court that shares a suit with a card in the pool."""
    why = say("Choose a card in the pool that shares a suit with it.")
    own = tuple([card for card in view.takes[seat] if rank(card) in "PT"])
    for card in dict.fromkeys(in_order(own)):
        targets = in_order(tuple(target for target in view.pool if share_a_suit(card, target)))
        if targets:
            yield Act("use", (OneOf("card", things((card,))), OneOf("target", things(targets), why)), "use {} for {}")


def _for_a_last_auction(view: State, seat: int) -> Decision:
    return Decision(
        seat,
        say("The deck is empty. Call one last auction, for {pool}?", pool=in_order(view.pool)),
        (Act("pass"), Act("call")),
        default=Choice("pass"),
        topic=f"round {view.round}",
        public=True,
        brief=say("The deck is empty. Call one last auction?"),
    )


def _for_a_bid(view: State, auction: Auction, seat: int) -> Decision:
    own, equal_pawns = by_value(view.suns[seat]), view.terms.equal_pawns
    suns = tuple([sun for sun in own if beats(sun, auction.high, equal_pawns)]) if auction.high else own
    must = auction.called and seat == view.lead and not auction.high
    why = say("Bid a face-up Sun higher than every bid so far.")
    bid = Act("bid", (OneOf("Sun", tuple([sun_thing(sun, view.terms) for sun in suns]), why),))
    return Decision(
        seat,
        _prompt_for_a_bid(view, auction, must),
        (*(() if must else (Act("pass"),)), *((bid,) if suns else ())),
        default=Choice("bid", suns[:1]) if must else Choice("pass"),
        topic=f"auction {view.auctions}",
        public=True,
        brief=_brief_for_a_bid(view, auction, must),
    )


def _prompt_for_a_bid(view: State, auction: Auction, must: bool) -> Text:
    lot = (*in_order(view.pool), view.centre) if view.pool else say("{centre} and an empty pool", centre=view.centre)
    if must:
        return say("Nobody else bid, so you must. Which Sun for {lot}?", lot=lot)
    if auction.leader is None:
        return say("Nobody has bid yet. Bid a Sun for {lot}?", lot=lot)
    return say("Bid above {high} ({leader's} bid) for {lot}?", lot=lot, high=auction.high, leader=auction.leader)


def _brief_for_a_bid(view: State, auction: Auction, must: bool) -> Text:
    lot = say("the pool and the centre Sun") if view.pool else say("the centre Sun")
    if must:
        return say("Nobody else bid, so you must. Which Sun for {lot}?", lot=lot)
    if auction.leader is None:
        return say("Bid a Sun for {lot}?", lot=lot)
    return say("Bid a Sun above {leader's} for {lot}?", lot=lot, leader=auction.leader)


def _for_victims(view: State, auction: Auction, seat: int) -> Decision:
    kept = in_order(view.takes[seat])
    aces = hungry(auction.aces, kept)
    blanks = []
    for place, ace in enumerate(aces):
        spared = (Thing(NONE, "nothing"),) if may_find_nothing(place, aces, kept) else ()
        blanks.append(OneOf(f"{SUITS[suits(ace)]} card", (*things(victims_of(ace, kept)), *spared)))
    phrase = "discard " + ", ".join(f"{{}} for {SUITS[suits(ace)].lower()}" for ace in aces)
    return Decision(
        seat,
        say("What do you discard for {aces}?", aces=aces),
        (Act("discard", tuple(blanks), phrase if len(aces) > 1 else ""),),
        default=Choice("discard", cheapest_way(aces, kept, view.terms.per_suit)),
        topic=f"auction {view.auctions}",
        public=True,
    )
