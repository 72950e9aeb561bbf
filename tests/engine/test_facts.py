"""Facts as readers see them, and what hidden values refuse to do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from engine.facts import HIDDEN, SPECTATOR, Fact, fact, fold, is_hidden, put, secret, secrets_of, seen, take


@fact
class Hands:
    cards: tuple[tuple[Any, ...], ...]


@fact
class Dealt(Fact[Hands]):
    """{seat} [is|are] dealt {cards}."""

    seat: int
    cards: tuple[Any, ...] = secret()

    def apply(self, state: Hands) -> Hands:
        return replace(state, cards=put(state.cards, self.seat, self.cards))


@fact
class Stolen(Fact[Hands]):
    """{thief:seat} [steals|steal] {card} from {victim:seat}."""

    thief: int
    victim: int
    card: Any = secret("thief", "victim")

    def apply(self, state: Hands) -> Hands:
        cards = put(state.cards, self.victim, take(state.cards[self.victim], self.card))
        return replace(state, cards=put(cards, self.thief, (*cards[self.thief], self.card)))


@fact
class Shared(Fact[Hands]):
    """{partners:seats} look at {card}."""

    partners: tuple[int, ...]
    card: Any = secret("partners")

    def apply(self, state: Hands) -> Hands:
        return state


def test_a_secret_is_for_the_seat_of_its_fact():
    dealt = Dealt(1, ("R", "B"))
    assert seen(dealt, 1) is dealt


@pytest.mark.parametrize("reader", [0, 2, SPECTATOR])
def test_a_hidden_tuple_keeps_its_length(reader):
    assert seen(Dealt(1, ("R", "B")), reader) == Dealt(1, (HIDDEN, HIDDEN))


@pytest.mark.parametrize(("reader", "card"), [(0, "R"), (2, "R"), (1, HIDDEN), (SPECTATOR, HIDDEN)])
def test_a_secret_may_be_for_the_seats_in_several_fields(reader, card):
    assert seen(Stolen(0, 2, "R"), reader).card is card or seen(Stolen(0, 2, "R"), reader).card == card


@pytest.mark.parametrize(("reader", "knows"), [(0, True), (1, False), (2, True), (SPECTATOR, False)])
def test_a_secret_may_be_for_all_seats_in_one_field(reader, knows):
    assert (seen(Shared((0, 2), "R"), reader).card == "R") is knows


def test_everyone_sees_public_fields():
    assert [(seen(Stolen(0, 2, "R"), reader).thief, seen(Stolen(0, 2, "R"), reader).victim) for reader in (1, -1)] == [
        (0, 2),
        (0, 2),
    ]


def test_a_spectator_reads_no_secret_even_one_without_readers():
    assert seen(Shared((), "R"), SPECTATOR).card is HIDDEN


def test_the_secret_fields_of_a_kind_name_their_readers():
    assert secrets_of(Stolen) == (("card", ("thief", "victim")),)
    assert secrets_of(Dealt) == (("cards", ("seat",)),)


def test_a_view_is_the_fold_of_the_facts_as_seen():
    story = (Dealt(0, ("R",)), Dealt(1, ("B", "G")), Stolen(0, 1, "B"))
    empty = Hands(((), ()))
    assert fold(empty, story) == Hands((("R", "B"), ("G",)))
    assert fold(empty, (seen(each, 0) for each in story)) == Hands((("R", "B"), (HIDDEN,)))
    assert fold(empty, (seen(each, 1) for each in story)) == Hands(((HIDDEN, "B"), ("G",)))
    assert fold(empty, (seen(each, SPECTATOR) for each in story)) == Hands(((HIDDEN, HIDDEN), (HIDDEN,)))


ANYTHING: Any = HIDDEN
PEEKS: dict[str, Callable[[], object]] = {
    "is it true": lambda: bool(ANYTHING),
    "how long is it": lambda: len(ANYTHING),
    "one more than it": lambda: ANYTHING + 1,
    "the sum of it": lambda: sum((ANYTHING,)),
    "is it less": lambda: ANYTHING < 3,
    "in order": lambda: sorted((ANYTHING, "R")),
    "the most": lambda: max(ANYTHING, ANYTHING),
    "its first": lambda: ANYTHING[0],
    "all of it": lambda: list(ANYTHING),
    "as a number": lambda: int(ANYTHING),
    "is a card in it": lambda: "R" in ANYTHING,
}


@pytest.mark.parametrize("peek", PEEKS.values(), ids=PEEKS)
def test_rules_that_peek_fail(peek):
    with pytest.raises(TypeError):
        peek()


def test_hidden_stays_one_object_when_copied():
    assert is_hidden(HIDDEN)
    assert not is_hidden("HIDDEN")
    assert pickle.loads(pickle.dumps(HIDDEN)) is HIDDEN
    assert copy.deepcopy((HIDDEN,))[0] is HIDDEN
    assert repr(HIDDEN) == "HIDDEN"


def test_taking_a_known_card_leaves_the_rest_known():
    assert take(("R", "B", HIDDEN), "R") == ("B", HIDDEN)


def test_taking_an_unknown_card_takes_a_hidden_one():
    assert take(("R", HIDDEN, HIDDEN), "G") == ("R", HIDDEN)


def test_taking_a_hidden_card_hides_the_rest():
    assert take(("R", "B", HIDDEN), HIDDEN) == (HIDDEN, HIDDEN)


def test_of_equal_cards_one_is_taken():
    assert take(("R", "R", "B"), "R") == ("R", "B")


def test_facts_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Dealt(1, ()).seat = 2
    with pytest.raises((AttributeError, TypeError)):
        Dealt(1, ()).other = 2


def test_put_changes_one_place_only():
    assert put((1, 2, 3), 1, 9) == (1, 9, 3)
