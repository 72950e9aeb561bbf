"""The catalogue for translators has every message of a game."""

from io import BytesIO
from pathlib import Path

import pytest

from engine import game as games, registry
from engine.options import Listed
from engine.testing.messages import messages


def of_game(kind):
    """Return the messages in a game's modules."""
    found = set()
    for module in games.modules_of(registry.load(kind)):
        with Path(module.__file__).open("rb") as file:
            found |= {message[2] for message in messages(file, (), (), {})}
    return found


@pytest.mark.parametrize("kind", registry.names())
def test_every_sentence_option_and_passage_of_a_game_is_a_message(kind):
    rules, found = registry.load(kind), of_game(kind)
    kinds = [each for each in games.facts_of(rules).values() if not each.silent]
    assert kinds
    for each in kinds:
        assert " ".join(each.__doc__.split()) in found
    spoken = [words for option in rules.options if isinstance(option, Listed) for _value, words in option.spoken]
    assert {words.template for words in spoken} <= found
    assert {option.called.template for option in rules.options} <= found
    assert {option.about.template for option in rules.options} <= found
    assert set(rules.rules.split("\n\n")) <= found
    assert rules.length.template in found


def test_a_noun_in_two_forms_is_a_message_of_its_own():
    text = b'say("{seat} [pays|pay] {price:coin|coins}.", seat=0, price=1)'
    assert {found[2] for found in messages(BytesIO(text), (), (), {})} == {
        "{seat} [pays|pay] {price:coin|coins}.",
        "coin|coins",
    }


@pytest.mark.parametrize(
    "text",
    [
        'say("one" if few else "two")',
        'words = "one" if few else "two"\nsay(words)',
        'WORDS: Final = {True: "one", False: "two"}\ndef told(): return say(WORDS[few])',
        'say({1: "one"}.get(number, "two"))',
        'first, second = "one", "two"\nsay(first)',
    ],
)
def test_each_sentence_that_may_be_said_is_a_message(text):
    assert {found[2] for found in messages(BytesIO(text.encode()), (), (), {})} == {"one", "two"}
