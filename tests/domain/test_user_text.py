"""Texts that people enter: what is allowed, what is removed, and what is refused."""

import unicodedata

import pytest

from pbem.domain.errors import BadInput
from pbem.domain.user_text import LONGEST_NAME, isolate, parse_message, parse_name, parse_title

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
HEBREW = "\u05e9\u05e8\u05d4"


@pytest.mark.parametrize(
    "name", ["Ann", "Zo\u00eb", "\u674e\u96f7", "O\u2019Neill", HEBREW, PERSIAN, FAMILY, "<b>Ann</b>"]
)
def test_a_name_in_any_script_is_kept_unchanged(name):
    assert parse_name(name) == name


@pytest.mark.parametrize(
    "name", ["\u200d", "\u200b\u200c \u200d", "\u3164", "\u2800\u2800", "\u202e", "\ufeff", "\u00ad"]
)
def test_an_invisible_name_is_refused(name):
    with pytest.raises(BadInput, match="A name is missing"):
        parse_name(name)


@pytest.mark.parametrize("name", ["A\u200dnn", "A\u200bnn", "Ann\u200c", "\u2067Ann", "An\u00adn", "\u3164Ann"])
def test_invisible_characters_in_a_name_are_removed(name):
    assert parse_name(name) == "Ann"


def test_a_name_with_piled_up_marks_is_refused():
    with pytest.raises(BadInput, match="piles up marks"):
        parse_name("A" + "\u0336\u0322\u0310\u031a\u0352" * 5)


@pytest.mark.parametrize("text", ["x" * 10_000, FAMILY * 2000, HEBREW * 3000, "\u200d" * 9_999 + "x" * 9_999])
def test_ten_thousand_characters_are_refused_with_the_limit(text):
    for read, most in ((parse_name, LONGEST_NAME), (parse_title, 80), (parse_message, 4000)):
        with pytest.raises(BadInput) as refused:
            read(text)
        assert f"{most} are the most" in refused.value.why
        # A refusal quotes a little of the text, never all of it.
        assert len(str(refused.value)) < 400


def test_a_right_to_left_name_is_isolated():
    apart = isolate(HEBREW)
    assert apart.strip("\u2068\u2069") == HEBREW
    assert unicodedata.bidirectional(apart[0]) == "FSI"
    assert unicodedata.bidirectional(apart[-1]) == "PDI"
    assert isolate("Ann") == "Ann"
    # The character that closes the isolation cannot be in a name.
    assert parse_name(f"{HEBREW}\u2069\u202e") == HEBREW
