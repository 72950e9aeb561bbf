"""Conditions for joining a table or a tournament: what its host asks, and in words what a person lacks.

A newcomer is never kept out by what nobody can know yet: only players with enough turns are asked for punctuality, and only
those whose rating isn't provisional for a rating. Finished games can be asked of everyone, but few, and those against bots count.
Invitations are for the host to give, so people who have one are asked for nothing.

What a person lacks is told in their own figures; this module must never know anyone else's.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final, Self

from pbem.domain.errors import BadInput, Readers
from pbem.i18n.speech import gettext as _, ngettext

MOST_FINISHED: Final = 20
"""The most finished games that a table can ask for: with more, nobody new would ever get there."""

MOST_RATING: Final = 4000
"""No rating comes near it."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a table asks of the people who join it; 0 asks for nothing.

    `in_time` is the least share of turns on time in percent, `finished` the number of games finished in the last year, `lowest` and
    `highest` are the limits of the rating in the table's kind of game. With `friends`, only the host's friends can join.
    """

    in_time: int = 0
    finished: int = 0
    lowest: int = 0
    highest: int = 0
    friends: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        """Conditions as stored."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value}, sort_keys=True)


NONE: Final = Conditions()
"""What a table asks where nothing else was chosen."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known about someone who wants to join: no share of turns on time if they are few, no rating if it's provisional."""

    in_time: int | None
    finished: int
    rating: int | None


def readers(asked: Conditions) -> Readers[object]:
    """What checks each field. Raises BadInput for what nobody could meet, or what would tell nothing."""
    ratings = partial(_check, most=MOST_RATING, what=_("a rating"))
    found: dict[str, Callable[[], object]] = {
        "in_time": partial(_check, asked.in_time, most=100, what=_("a share of turns on time")),
        "finished": partial(_check, asked.finished, most=MOST_FINISHED, what=_("a number of finished games")),
        "lowest": partial(ratings, asked.lowest),
        "highest": partial(_check_highest, asked, ratings),
    }
    return found


def words(asked: Conditions) -> list[str]:
    """What is asked of the person alone, such as `at least 90% of turns on time`."""
    found = list[str]()
    if asked.in_time:
        found.append(_("at least %(share)s%% of turns on time", share=asked.in_time))
    if asked.finished:
        found.append(
            ngettext(
                "at least one game finished in the last year",
                "at least %(num)s games finished in the last year",
                asked.finished,
            )
        )
    if asked.lowest or asked.highest:
        found.append(_rating(asked))
    return found


def lacks(asked: Conditions, person: Record, *, of_tournament: bool = False) -> list[str]:
    """What a person lacks, a sentence each; nothing if they can join."""
    here = _("This tournament") if of_tournament else _("This table")
    found = list[str]()
    if person.in_time is not None and person.in_time < asked.in_time:
        found.append(
            _(
                "%(here)s asks for at least %(share)s%% of turns on time; you have %(own)s%%.",
                share=asked.in_time,
                own=person.in_time,
                here=here,
            )
        )
    if person.finished < asked.finished:
        found.append(
            ngettext(
                "%(here)s asks for one game finished in the last year; you have %(own)s.",
                "%(here)s asks for %(num)s games finished in the last year; you have %(own)s.",
                asked.finished,
                own=person.finished,
                here=here,
            )
        )
    if person.rating is not None and not asked.lowest <= person.rating <= (asked.highest or MOST_RATING):
        found.append(
            _("%(here)s asks for %(rating)s; yours is %(own)s.", here=here, rating=_rating(asked), own=person.rating)
        )
    return found


def _rating(asked: Conditions) -> str:
    if not asked.highest:
        return _("a rating of at least %(lowest)s", lowest=asked.lowest)
    if not asked.lowest:
        return _("a rating of at most %(highest)s", highest=asked.highest)
    return _("a rating from %(lowest)s to %(highest)s", lowest=asked.lowest, highest=asked.highest)


def _check(value: int, most: int, what: str) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise BadInput(
            _("A table can't ask for %(value)s as %(what)s.", value=value, what=what),
            why=_("Choose up to %(most)s, or 0 to ask for nothing.", most=most),
        )


def _check_highest(asked: Conditions, check: Callable[[int], None]) -> None:
    check(asked.highest)
    if asked.highest and asked.highest < asked.lowest:
        raise BadInput(
            _("The highest rating is below the lowest."), why=_("Nobody could join."), remedy=_("Swap the two.")
        )
