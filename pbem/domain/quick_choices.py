"""The numbers worth a button of their own, on a page and in an email, where any number of a range may be bid."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from engine.decisions import Act, Amount, Choice

MOST: Final = 6
"""Numbers that each get a button; where there are more, a few of them do, and any other is typed."""

MOST_BESIDE_A_FIELD: Final = 5
"""The same, of numbers that aren't costly, where costly ones can be typed besides."""


@dataclass(frozen=True, slots=True)
class Quick:
    """A choice worth a button. `why` is "least", "half" or "most", if it is one of these."""

    choice: Choice
    why: str = ""


def quick_choices(act: Act, costly: Callable[[Choice], bool] = lambda choice: False) -> list[Choice]:
    """Return the choices of an act with one number that are worth a button, or none for other acts."""
    return [each.choice for each in quick(act, costly)]


def quick(act: Act, costly: Callable[[Choice], bool] = lambda choice: False) -> list[Quick]:
    """Return the same, each with what makes it worth a button.

    They are the least, one and five more, half of what one can give, and all of it. `costly` says of a choice whether it is
    more than that, as every greater one is then too; such a choice has a button only if all are costly.
    """
    if len(act.blanks) != 1 or not isinstance(amount := act.blanks[0], Amount):
        return []
    if amount.count() <= MOST:
        return [Quick(Choice(act.verb, (number,))) for number in amount.values()]
    low, most = amount.low, _most_within_means(act, amount, costly)
    affordable = list(islice((number for number in range(low, most + 1) if number in amount), MOST_BESIDE_A_FIELD + 1))
    steps = {low: "", low + 1: "", low + 5: ""}
    if not affordable:
        most = amount.high
    elif len(affordable) <= MOST_BESIDE_A_FIELD:
        steps = dict.fromkeys(affordable, "") | {affordable[-1]: "most"}
    else:
        steps |= {number: why for number, why in ((most // 2, "half"), (most, "most")) if number > low}
    found: dict[int, str] = {}
    for number, why in steps.items():
        possible = _greatest(amount, number) if why == "most" else _nearest(amount, number)
        # Where not every number is possible, the nearest one is no longer a half.
        found.setdefault(possible, why if possible == number or why == "most" else "")
    least = min(found)
    return [
        Quick(Choice(act.verb, (number,)), found[number] or ("least" if number == least else ""))
        for number in sorted(found)
        if number <= most
    ]


def within_means(act: Act, costly: Callable[[Choice], bool] = lambda choice: False) -> int | None:
    """Return the greatest number of an act that isn't costly, or None if all are, or if it has not one number."""
    if len(act.blanks) != 1 or not isinstance(amount := act.blanks[0], Amount):
        return None
    most = _most_within_means(act, amount, costly)
    return next((number for number in range(most, amount.low - 1, -1) if number in amount), None)


def _most_within_means(act: Act, amount: Amount, costly: Callable[[Choice], bool]) -> int:
    """The greatest number that isn't costly, possible or not; less than the least one if all are costly."""
    numbers = range(amount.low, amount.high + 1)
    return amount.low + bisect_left(numbers, 1, key=lambda number: costly(Choice(act.verb, (number,)))) - 1


def _greatest(amount: Amount, number: int) -> int:
    """The greatest possible number up to this one."""
    return next((each for each in range(number, amount.low, -1) if each in amount), amount.low)


def _nearest(amount: Amount, number: int) -> int:
    """The least possible number from this one on, or else the greatest one below it."""
    nearby = (*range(number, number + 10), *range(number - 1, number - 11, -1))
    return next((each for each in nearby if each in amount), amount.high)
