"""The numbers worth a button of their own, on a page and in an email, where any number of a range may be bid."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Final

from engine.decisions import Act, Amount, Choice

MOST: Final = 6
"""Numbers that each get a button; where there are more, a few of them do, and any other is typed."""


def quick_choices(act: Act, costly: Callable[[Choice], bool] = lambda choice: False) -> list[Choice]:
    """Return the choices of an act with one number that are worth a button, or none for other acts.

    They are the least, one and five more, about half of what one can give, and all of it. `costly` says of a choice whether it is
    more than that, as every greater one is then too; such a choice has a button only if all are costly.
    """
    if len(act.blanks) != 1 or not isinstance(amount := act.blanks[0], Amount):
        return []
    if amount.count() <= MOST:
        return [Choice(act.verb, (number,)) for number in amount.values()]
    low = amount.low
    numbers = range(low, amount.high + 1)
    most = low + bisect_left(numbers, 1, key=lambda number: costly(Choice(act.verb, (number,)))) - 1
    if most < low:
        most = amount.high
        steps = [low, low + 1, low + 5]
    else:
        steps = [low, low + 1, low + 5, _about_half(low, most), most]
    possible = {_nearest(amount, number) for number in steps}
    return [Choice(act.verb, (number,)) for number in sorted(possible) if number <= most]


def _about_half(low: int, most: int) -> int:
    """A number halfway between these, rounded down to fives or tens where they are far apart."""
    step = next((step for step in (10, 5) if most - low >= 4 * step), 1)
    return (low + most) // 2 // step * step


def _nearest(amount: Amount, number: int) -> int:
    """The least possible number from this one on, or else the greatest one below it."""
    nearby = (*range(number, number + 10), *range(number - 1, number - 11, -1))
    return next((each for each in nearby if each in amount), amount.high)
