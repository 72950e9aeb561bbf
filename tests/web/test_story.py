"""What happened, as pages tell it: sentences that were told before are told again, to each reader in their own words."""

from dataclasses import dataclass
from typing import Any

from engine.facts import Fact
from engine.tell import Teller
from pbem.domain.causes import TurnFacts
from pbem.web.phrases import story


@dataclass(frozen=True)
class Paid(Fact[Any]):
    """{seat} [pays|pay] {coins:coin|coins}."""

    seat: int
    coins: Any


def sentences(*facts, reader=None, names=("Ann", "Ben"), times=2):
    stories = [story((TurnFacts(1, facts, {}),), lambda _turn: Teller(reader, names)) for _ in range(times)]
    assert all(each == stories[0] for each in stories)
    return stories[0]


def test_a_sentence_is_told_to_each_reader_by_the_names_of_now():
    assert sentences(Paid(1, 3)) == ["Ben pays 3 coins."]
    assert sentences(Paid(1, 3), names=("Ann", "Bo")) == ["Bo pays 3 coins."]
    assert sentences(Paid(1, 3), reader=1) == ["You pay 3 coins."]
    assert sentences(Paid(1, 3), Paid(0, 1)) == ["Ben pays 3 coins.", "Ann pays 1 coin."]


def test_a_fact_with_something_that_cannot_be_looked_up_is_told_all_the_same():
    assert sentences(Paid(0, {"Sea": 1})) == ["Ann pays {'Sea': 1} coins."]


def test_a_silent_fact_stays_silent():
    class Noted(Paid):
        silent = True

    assert sentences(Noted(0, 1)) == []
