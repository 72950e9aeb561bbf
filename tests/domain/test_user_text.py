"""Words that people choose: what they may be, what is taken out of them, and what is refused with a reason."""

import unicodedata

import pytest

from pbem.domain.errors import BadInput
from pbem.domain.user_text import LONGEST_NAME, name_of, set_apart, text_of, title_of

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
HEBREW = "\u05e9\u05e8\u05d4"


@pytest.mark.parametrize(
    "name", ["Ann", "Zo\u00eb", "\u674e\u96f7", "O\u2019Neill", HEBREW, PERSIAN, FAMILY, "<b>Ann</b>"]
)
def test_a_name_may_be_in_any_script_and_is_kept_as_it_is(name):
    assert name_of(name) == name


@pytest.mark.parametrize(
    "name", ["\u200d", "\u200b\u200c \u200d", "\u3164", "\u2800\u2800", "\u202e", "\ufeff", "\u00ad"]
)
def test_a_name_that_nobody_can_see_is_none(name):
    with pytest.raises(BadInput, match="A name is missing"):
        name_of(name)


@pytest.mark.parametrize("name", ["A\u200dnn", "A\u200bnn", "Ann\u200c", "\u2067Ann", "An\u00adn", "\u3164Ann"])
def test_a_name_with_something_unseen_in_it_is_the_name_that_is_seen(name):
    assert name_of(name) == "Ann"


def test_a_name_that_runs_over_the_lines_of_others_is_refused():
    with pytest.raises(BadInput, match="piles up marks"):
        name_of("A" + "\u0336\u0322\u0310\u031a\u0352" * 5)


@pytest.mark.parametrize("text", ["x" * 10_000, FAMILY * 2000, HEBREW * 3000, "\u200d" * 9_999 + "x" * 9_999])
def test_ten_thousand_characters_are_refused_with_how_many_there_may_be(text):
    for read, most in ((name_of, LONGEST_NAME), (title_of, 80), (text_of, 4000)):
        with pytest.raises(BadInput) as refused:
            read(text)
        assert f"{most} are the most" in refused.value.why
        # A refusal quotes a little of what was written, never all of it.
        assert len(str(refused.value)) < 400


def test_a_name_from_the_right_keeps_its_direction_to_itself():
    apart = set_apart(HEBREW)
    assert apart.strip("\u2068\u2069") == HEBREW
    assert unicodedata.bidirectional(apart[0]) == "FSI"
    assert unicodedata.bidirectional(apart[-1]) == "PDI"
    assert set_apart("Ann") == "Ann"
    # What closes the isolation can be in no name.
    assert name_of(f"{HEBREW}\u2069\u202e") == HEBREW
