"""Commands as people type them on a phone: clear ones are understood, unclear ones never taken for another."""

from dataclasses import replace

import pytest

from engine.decisions import Act, Amount, Choice, Decision, OneOf, Refused
from engine.decks.decktet import things
from engine.grammar import read
from engine.registry import load
from engine.tell import say

BIDDING = Decision(
    0, say("What do you bid?"), (Act("pass"), Act("bid", (Amount("coins", 1, 40, raising=True),))), Choice("pass")
)
TWO_TILES = load("bid").asks(
    replace(load("bid").start(3, {"reroll": "pawn", "max_auctions": 9}), auction=1, dice=(1, 3, 4, 5)), 0
)


@pytest.mark.parametrize(
    "text",
    [
        "bid 7",
        "Bid 7.",
        "BID: 7",
        "“bid 7”",
        "bid\u00a07",
        "bid ７",
        "bid 7 coins",
        "bid the 7",
        "b 7!",
        "bid=7",
        "bid 07",
    ],
)
def test_a_plain_number_is_understood_in_any_wording(text):
    assert read(BIDDING, text) == Choice("bid", (7,))


@pytest.mark.parametrize(
    "text",
    [
        "bid 1,000",
        "bid 1.5",
        "bid 1,5",
        "bid -7",
        "bid +7",
        "bid 7+1",
        "bid 7 8",
        "bid 7 or 8",
        "bid seven",
        "bid ٧",
        "bid 7️⃣",
        "bid 7 cards",
        "bid 4 0",
        "don't pass",
        "pass not",
        "not pass",
        "pass? bid 7",
        "past",
        "7",
    ],
)
def test_unclear_text_is_refused_with_what_is_possible(text):
    with pytest.raises(Refused, match="You can write: pass; bid <coins 1-40>"):
        read(BIDDING, text)


@pytest.mark.parametrize("text", ["bid 4 5", "bid 4,5", "bid 4, 5", "bid 5 and 4", "bid 4+5", "bid 4 & 5", "bid 5;4"])
def test_two_tiles_may_be_written_as_one_word(text):
    assert read(TWO_TILES, text) == Choice("bid", ((4, 5),))


@pytest.mark.parametrize("text", ["bid 45", "bid 9", "bid 4", "bid 4 4", "bid 4 5 3"])
def test_anything_but_two_tiles_of_the_hand_is_refused(text):
    with pytest.raises(Refused, match="You can write"):
        read(TWO_TILES, text)


def test_an_abbreviation_of_two_cards_is_neither():
    hand = Decision(0, say("?"), (Act("play", (OneOf("card", things(("E", "XL"))),)),), Choice("play", ("E",)))
    with pytest.raises(Refused, match="could mean play End or play Excuse"):
        read(hand, "play e")
    assert read(hand, "play ex") == Choice("play", ("E",))
    assert read(hand, "play XL") == Choice("play", ("XL",))


def test_the_refusal_is_about_the_intended_act():
    swaps = tuple(
        Act("use", (OneOf("card", things((card,))), OneOf("target", things(targets))), "use {} for {}")
        for card, targets in (("PWLY", ("2WL",)), ("PMYK", ("AM", "AY")))
    )
    with pytest.raises(Refused, match=r"^“mill” isn't one of the choices"):
        read(Decision(0, say("?"), (Act("flip"), *swaps), Choice("flip")), "use watchman for mill")


def test_a_suit_alone_is_no_card():
    hand = Decision(0, say("?"), (Act("play", (OneOf("card", things(("AM", "5ML"))),)),), Choice("play", ("AM",)))
    for text in ("play moons", "play moon", "play m"):
        with pytest.raises(Refused, match="isn't one of the choices"):
            read(hand, text)
    assert read(hand, "play ace") == read(hand, "play ace moons") == Choice("play", ("AM",))


def test_a_card_named_for_the_wrong_ace_is_not_lost_to_the_other():
    two_aces = Act(
        "discard",
        (OneOf("Moons", things(("5ML",))), OneOf("Leaves", things(("5ML", "XL")))),
        "discard {} for moons, {} for leaves",
    )
    with pytest.raises(Refused):
        read(Decision(0, say("?"), (two_aces,), Choice("discard", ("5ML", "XL"))), "discard forest for leaves")
