"""A catalogue of translations finds everything that the rules of a game may say."""

import inspect
from pathlib import Path

import pytest

from engine import game as games
from engine.facts import Fact
from engine.game import Listed
from engine.testing.messages import messages


def of_game(kind):
    """The messages of a game's module."""
    module = inspect.getmodule(type(games.load(kind)))
    with Path(module.__file__).open("rb") as file:
        return module, {found[2] for found in messages(file, (), (), {})}


@pytest.mark.parametrize("kind", games.names())
def test_every_sentence_option_and_passage_of_a_game_is_a_message(kind):
    module, found = of_game(kind)
    facts = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Fact)]
    told = [each for each in facts if each.__module__ == module.__name__ and not each.silent]
    assert told
    for each in told:
        assert " ".join(each.__doc__.split()) in found
    rules = games.load(kind)
    spoken = [words for option in rules.options if isinstance(option, Listed) for _value, words in option.spoken]
    assert {words.template for words in spoken} <= found
    assert {option.called.template for option in rules.options} <= found
    assert {option.about.template for option in rules.options} <= found
    assert set(rules.rules.split("\n\n")) <= found
    assert rules.length.template in found


def test_a_noun_in_two_forms_is_a_message_of_its_own():
    _, found = of_game("bid")
    assert "coin|coins" in found
