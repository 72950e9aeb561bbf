"""Blanks: only the values offered fit, and only with their exact type."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

import pytest

from engine.chance import Stream
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Ranking, Refused, Some, Split, Thing, check_shape
from engine.facts import HIDDEN
from engine.tell import say

SUITS = tuple(Thing(word[0], word) for word in ("Moons", "Suns", "Waves"))
TILES = tuple(Thing(n, str(n)) for n in (0, 1, 1, 2))

BLANKS = {
    "amount": Amount("coins", 3, 9),
    "endings": Amount("coins", 0, 25, frozenset({1, 4})),
    "one of": OneOf("suit", SUITS),
    "one tile": OneOf("tile", TILES),
    "some": Some("suits", SUITS, 2),
    "some tiles": Some("tiles", TILES, 2),
    "none of some": Some("tiles", TILES, 0),
    "ranking": Ranking("suits", SUITS),
    "split": Split("coins", SUITS, 4),
    "split nothing": Split("coins", SUITS, 0),
}


class Whole(IntEnum):
    ONE = 1
    FOUR = 4


class Word(str):
    __slots__ = ()


class Pair(NamedTuple):
    one: object
    two: object


ODD: list[object] = [
    *(None, True, False, HIDDEN, 3.0, 4.0, float("nan"), "3", "4", "m", "M ", b"M", Word("M"), Whole.ONE, Whole.FOUR),
    *(
        -1,
        10,
        30,
        10**30,
        -(10**30),
        [],
        [1, 1],
        {},
        (None,),
        ((1, 1),),
        (True, 1),
        (1.0, 1),
        ("1", 1),
        (HIDDEN, HIDDEN),
    ),
    *(
        (2, 1),
        ("S", "M"),
        ("M", "M"),
        ("M",),
        ("M", "S", "S"),
        ["M", "S"],
        Pair("M", "S"),
        Pair(1, 1),
        (Word("M"), "S"),
    ),
    *((4, 0), (5, -1, 0), (2, 1, 2), (4, 0, False), (4.0, 0, 0), ("4", 0, 0), (0, 0, 0, 4), (1, 1, 1, 1), "Moons"),
]


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
def test_a_blank_holds_what_it_lists_and_counts_it(blank):
    values = list(blank.values())
    assert len(values) == blank.count() or isinstance(blank, OneOf)
    assert all(value in blank for value in values)


@pytest.mark.parametrize("blank", [b for b in BLANKS.values() if not isinstance(b, OneOf)])
def test_a_blank_lists_nothing_twice(blank):
    assert not [value for value, times in Counter(blank.values()).items() if times > 1]


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
def test_every_sample_fits_and_every_value_comes_up(blank):
    luck = Stream(bytes(32), 1)
    drawn = {blank.sample(luck) for _ in range(1500)}
    assert drawn == set(blank.values())


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
@pytest.mark.parametrize("value", ODD, ids=[f"{i}-{value!r}" for i, value in enumerate(ODD)])
def test_only_listed_values_of_the_exact_type_fit(blank, value):
    listed = any(_same(value, each) for each in blank.values())
    assert (value in blank) is listed


def _same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def test_a_digit_rule_leaves_only_its_endings():
    assert list(BLANKS["endings"].values()) == [1, 4, 11, 14, 21, 24]
    assert 12 not in BLANKS["endings"]


def test_an_amount_with_no_room_holds_nothing():
    assert Amount("coins", 5, 4).count() == 0
    assert Amount("coins", 5, 8, frozenset({9})).count() == 0
    assert Amount("coins", 5, 8, frozenset()).count() == 0


def test_selections_are_in_the_order_of_the_things():
    assert ("M", "W") in BLANKS["some"]
    assert ("W", "M") not in BLANKS["some"]


def test_equal_things_may_be_selected_as_often_as_they_are_listed():
    assert (1, 1) in BLANKS["some tiles"]
    assert (2, 2) not in BLANKS["some tiles"]


ACTS = (Act("pass"), Act("bid", (Amount("coins", 1, 3),)), Act("give", (OneOf("suit", SUITS), Amount("coins", 1, 2))))
DECISION = Decision(0, say("What now?"), ACTS, Choice("pass"))


def test_a_decision_lists_and_counts_its_choices():
    assert DECISION.count() == 1 + 3 + 6 == len(DECISION.choices())
    assert DECISION.choices(2) == [Choice("pass"), Choice("bid", (1,))]
    assert all(choice in DECISION for choice in DECISION.choices())


def test_every_sample_of_a_decision_is_one_of_its_choices():
    luck = Stream(bytes(32), 2)
    assert {DECISION.sample(luck) for _ in range(300)} == set(DECISION.choices())


@pytest.mark.parametrize(
    "choice",
    [
        None,
        "pass",
        ("pass", ()),
        Choice("Pass"),
        Choice(Word("pass")),
        Choice("bid"),
        Choice("bid", (4,)),
        Choice("bid", (True,)),
        Choice("bid", (1, 1)),
        Choice("pass", (1,)),
        Choice("bid", [1]),  # type: ignore[arg-type]  # wrong on purpose
        Choice("give", (1, "M")),
        Choice("give", ("M", 3)),
        Choice("raise", (1,)),
        Choice(None),  # type: ignore[arg-type]  # wrong on purpose
    ],
    ids=lambda choice: f"{choice!r} of {type(getattr(choice, 'verb', None)).__name__}",
)
def test_anything_else_than_a_choice_is_refused(choice):
    assert choice not in DECISION
    with pytest.raises(Refused):
        check_shape(DECISION, choice)


def test_an_equal_choice_of_another_type_is_refused():
    class Chosen(Choice):
        __slots__ = ()

    assert Chosen("pass") not in DECISION


def test_every_choice_of_a_decision_is_accepted():
    assert check_shape(DECISION, Choice("give", ("S", 2))) == Choice("give", ("S", 2))


def test_a_decision_knows_its_only_choice():
    alone = Decision(0, say("?"), (Act("bid", (Amount("coins", 4, 4),)),), Choice("bid", (4,)))
    assert alone.only() == Choice("bid", (4,))
    assert DECISION.only() is None


PLACES = tuple(Thing(n, str(n)) for n in range(40))


@pytest.mark.parametrize(
    "blank",
    [Ranking("places", PLACES), Some("places", PLACES, 20), Split("coins", PLACES, 60)],
    ids=lambda b: type(b).__name__,
)
def test_a_huge_decision_yields_its_choices_one_by_one(blank):
    act = Act("choose", (blank, blank))
    first = next(act.choices())
    decision = Decision(0, say("?"), (act,), first)
    assert decision.count() == blank.count() ** 2 > 10**20
    assert len(decision.choices(5)) == 5
    assert list(islice(act.choices(), 1)) == [first]
    assert first in decision
    assert decision.sample(Stream(bytes(32), 3)) in decision
    assert Choice("choose", (first.values[0], (0,) * 40)) not in decision


def test_a_choice_tells_the_numbers_and_texts_in_its_blanks():
    choice = Choice("send", (("lame", "quick"), (1, 0, 2), "Cairo", 7))
    assert choice.texts() == ("lame", "quick")
    assert choice.numbers(1) == (1, 0, 2)
    assert (choice.text(2), choice.texts(2)) == ("Cairo", ("Cairo",))
    assert (choice.number(3), choice.numbers(3)) == (7, (7,))
    assert Choice("give", ("M", "S")).every_text() == ("M", "S")


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        ("number", "7"),
        ("number", True),
        ("text", 7),
        ("text", ("E",)),
        ("numbers", (1, "2")),
        ("texts", ("E", 2)),
        ("every_text", 2),
    ],
)
def test_a_blank_is_never_read_as_another_type(reader, value):
    with pytest.raises(TypeError, match="is not a"):
        getattr(Choice("bid", (value,)), reader)()
