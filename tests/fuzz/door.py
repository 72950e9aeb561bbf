"""What every door is tried with: hostile fragments, and inputs that grow by repeating them.

An input is a beginning, a fragment and an end. It is tried at two lengths, and the longer one may cost no more steps than its
length explains: a step is a line or a call of Python, so no clock is read and the same input always counts the same. What
costs time inside one step, such as a regular expression that goes back and forth, shows at the largest input a door takes:
the suite stops what hangs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from hypothesis import HealthCheck, Phase, settings, strategies as st

SLICE: Final = 20

examples: Final = settings(
    max_examples=int(os.environ.get("PBEM_TEST_EXAMPLES", SLICE)),
    # Explaining a failure would count steps in the middle of the work.
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
"""A slice of the inputs; `make fuzz` tries many more."""

SHORT: Final = 1000
GROWTH: Final = 4
SLACK: Final = 1.5
UNEVEN: Final = 5000
"""Steps that differ for other reasons than length: a cache that was full, a limit that was passed."""

_FRAGMENTS: Final = (
    *(" ", "\n", "\r", "\t", "\0", "\x0b", "\u2028", "\u202e", "\xa0", "é", "\U0001f98a", "\ud800"),
    *("a", "A", "7", "٣", "9" * 40, "-", "+", "_", ".", ",", ";", ":", "!", "?", "'", '"', "\\", "/", "%", "&", "="),
    *("<", ">", "(", ")", "[", "]", "{", "}", "@", "#", "*", "~", "|", "`", "$"),
    *(
        "<a@b>",
        "a@",
        "=?",
        "?=",
        "\n ",
        "--",
        "0x",
        "1e9",
        "NaN",
        "%41",
        "%ff",
        "%00",
        "&amp;",
        "&#0;",
        "../",
        "\r\n\r\n",
    ),
    *(
        "bid 7",
        "pass",
        "up to ",
        "always ",
        "never ",
        "then ",
        "or ",
        "talk ",
        "undo",
        "vacation ",
        "2026-12-01",
        "09:00-17:00",
        "Sat",
    ),
)
"""Pieces of text that stand for something somewhere; each door adds its own."""


@dataclass(frozen=True)
class Growing:
    """An input of any length."""

    beginning: str
    fragment: str
    end: str

    def at(self, length: int) -> str:
        """The input at about this length."""
        return self.beginning + self.fragment * (length // len(self.fragment) + 1) + self.end


def pieces(*more: str, most: int = 4) -> st.SearchStrategy[str]:
    """Texts of a few fragments, those of a door among them."""
    return st.lists(st.sampled_from((*more, *more, *_FRAGMENTS)), min_size=1, max_size=most).map("".join)


def growing(*more: str) -> st.SearchStrategy[Growing]:
    """Inputs that grow, from fragments of a door among others."""
    # Most faults of length need one fragment again and again.
    return st.builds(Growing, pieces(*more), st.one_of(pieces(*more, most=1), pieces(*more)), pieces(*more))


class TooManySteps(BaseException):
    """Work that was stopped."""


def steps(work: Callable[[], object], most: int = 10**8) -> int:
    """The lines and calls of Python that some work takes. Raises TooManySteps beyond the most."""
    count = 0

    def note(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        if count > most:
            raise TooManySteps
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def must_be_linear(work: Callable[[int], object], short: int = SHORT) -> None:
    """Fail if the work for an input that is longer takes more steps than its length explains.

    Where the steps jump once, a limit was passed, and something else is done. They must not jump again.
    """
    # Imports, and what is compiled or kept the first time, are no part of the work.
    work(short * GROWTH)
    length, few = short, steps(lambda: work(short))
    for _jump in range(2):
        longer = length * GROWTH
        many = steps(lambda at=longer: work(at))  # type: ignore[misc]
        if many <= few * GROWTH * SLACK + UNEVEN:
            return
        length, few = longer, many
    raise AssertionError(f"more and more steps for an input that grows: {many} for {length}")
