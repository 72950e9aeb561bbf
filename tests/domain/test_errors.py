"""Every message to a person says what happened, why, and what to do now."""

import pytest

from pbem.domain import errors
from pbem.domain.errors import MOST_QUOTED, BadInput, Fault, PbemError, Refusal, quoted

TREE = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, PbemError)]


@pytest.mark.parametrize("kind", [kind for kind in TREE if kind is not PbemError])
def test_every_error_says_what_to_do_now(kind: type[PbemError]) -> None:
    assert str(kind("The lamp went out.")).startswith("The lamp went out. ")
    assert str(kind("The lamp went out.")).endswith(kind.usual_remedy)


def test_a_message_is_what_happened_then_why_then_what_to_do() -> None:
    error = BadInput("“7 bananas” is no bid.", why="A bid is a number.", remedy="Write bid 7.")
    assert str(error) == "“7 bananas” is no bid. A bid is a number. Write bid 7."


def test_a_refusal_is_never_a_fault() -> None:
    assert not issubclass(Refusal, Fault)
    assert not issubclass(Fault, Refusal)


def test_the_drawing_shows_the_whole_tree() -> None:
    assert errors.__doc__ is not None
    for kind in TREE:
        assert kind.__name__ in errors.__doc__


def test_a_quotation_is_one_short_printable_line() -> None:
    assert quoted("bid\r\nBcc: everyone\x1b[2J") == "“bid Bcc: everyone [2J”"
    assert len(quoted("long " * 100)) <= MOST_QUOTED + 2
    assert quoted("") == "“”"
