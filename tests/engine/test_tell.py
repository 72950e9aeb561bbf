"""Sentences: one fact, a different text for each reader."""

from __future__ import annotations

from typing import Any

import pytest

from engine.facts import HIDDEN, Fact, fact, secret, seen
from engine.tell import Teller, Text, say, sentence

NAMES = ("Ann", "Ben", "Cleo")


@fact
class Played(Fact[None]):
    """{seat} [plays|play] {card}."""

    seat: int
    card: Any = secret()


@fact
class Paid(Fact[None]):
    """{seat} [pays|pay] {price:coin|coins} to {receivers:seats}; {seat's} purse is lighter."""

    seat: int
    price: int
    receivers: tuple[int, ...]


@fact
class Moved(Fact[None]):
    """Nobody is told of this."""

    silent = True
    place: int


@fact
class Ended(Fact[None]):
    """Not what is said."""

    early: bool

    def sentence(self) -> Text | None:
        return say("It is over too soon.") if self.early else None


@pytest.mark.parametrize(
    ("reader", "expected"), [(0, "You play R."), (1, "Ann plays a card."), (None, "Ann plays a card.")]
)
def test_a_fact_reads_as_its_reader_sees_it(reader, expected):
    visible = seen(Played(0, "R"), -1 if reader is None else reader)
    assert Teller(reader, NAMES, hidden=("a card", "cards")).tell(visible) == expected


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (0, "You pay 1 coin to Ben and Cleo; your purse is lighter."),
        (1, "Ann pays 1 coin to you and Cleo; Ann's purse is lighter."),
        (None, "Ann pays 1 coin to Ben and Cleo; Ann's purse is lighter."),
    ],
)
def test_names_verbs_and_nouns_agree(reader, expected):
    assert Teller(reader, NAMES).tell(Paid(0, 1, (1, 2))) == expected


def test_several_take_the_plural():
    assert Teller(None, NAMES).tell(Paid(1, 3, (0,))) == "Ben pays 3 coins to Ann; Ben's purse is lighter."
    assert Teller(None, NAMES).tell(Paid(1, 0, ())) == "Ben pays 0 coins to nothing; Ben's purse is lighter."


@pytest.mark.parametrize(
    ("seats", "expected"),
    [((0,), "You win."), ((1,), "Ben wins."), ((0, 1), "You and Ben win."), ((1, 2), "Ben and Cleo win.")],
)
def test_a_verb_agrees_with_one_player_or_several(seats, expected):
    assert Teller(0, NAMES)(say("{winners:seats} [wins|win].", winners=seats)) == expected


def test_players_without_a_name_are_numbered_from_one():
    assert Teller().tell(Played(2, "R")) == "Player 3 plays R."


def test_a_silent_fact_says_nothing():
    assert sentence(Moved(3)) is None
    assert Teller().tell(Moved(3)) is None


def test_a_fact_may_make_its_own_sentence_or_none():
    assert Teller().tell(Ended(early=True)) == "It is over too soon."
    assert Teller().tell(Ended(early=False)) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((), "nothing"),
        (("R",), "R"),
        (("R", "B"), "R and B"),
        (("R", "B", "G"), "R, B and G"),
        ((HIDDEN,), "a card"),
        ((HIDDEN, HIDDEN), "2 cards"),
        (("R", HIDDEN, HIDDEN), "R and 2 cards"),
        (("R", "B", HIDDEN), "R, B and a card"),
    ],
)
def test_a_tuple_is_told_as_a_list(values, expected):
    teller = Teller(hidden=("a card", "cards"))
    assert teller(say("Here: {cards}", cards=values)) == f"Here: {expected}"


def test_a_tuple_of_alternatives_is_told_with_or():
    assert Teller()(say("Not {digits:or}", digits=(1, 2, 3))) == "Not 1, 2 or 3"


def test_the_first_word_of_a_sentence_is_a_capital():
    assert Teller(0, NAMES)(say("{seat} win. {seat} lose! {card}, {card}", seat=0, card="ace")) == (
        "You win. You lose! Ace, ace"
    )


def test_values_and_hidden_things_have_the_names_of_their_game():
    teller = Teller(None, (), {"R": "the Red one"}.__getitem__, ("a tile", "tiles"))
    assert teller(say("It is {card}.", card="R")) == "It is the Red one."
    assert teller(say("It is {card}.", card=HIDDEN)) == "It is a tile."
    assert teller(say("They are {cards}.", cards=(HIDDEN, HIDDEN))) == "They are 2 tiles."


def test_hidden_things_have_a_name_in_any_game():
    assert Teller()(say("Here: {cards}.", cards=(HIDDEN, HIDDEN))) == "Here: 2 hidden things."


def test_a_text_in_a_text_is_told_to_the_same_reader():
    inner = say("{seat} [wins|win]", seat=0)
    assert Teller(0, NAMES)(say("Look: {what}.", what=inner)) == "Look: you win."
    assert Teller(0, NAMES)(say("{what}. {what}!", what=inner)) == "You win. You win!"


def test_a_players_name_is_never_a_template():
    assert Teller(None, ("{card}", "[a|b]"))(say("{one:seat} and {other:seat}.", one=0, other=1)) == (
        "{card} and [a|b]."
    )


def test_every_template_goes_through_the_translator():
    german = {"{seat} [plays|play] {card}.": "{seat} [spielt|spielen] {card}.", "you": "Sie", "a card": "eine Karte"}
    teller = Teller(0, NAMES, hidden=("a card", "cards"), translate=lambda text: german.get(text, text))
    assert teller.tell(Played(0, HIDDEN)) == "Sie spielen eine Karte."


def test_a_text_without_a_teller_is_still_readable():
    assert str(say("{who:seat} [has|have] {n:coin|coins}.", who=0, n=2)) == "Player 1 has 2 coins."
