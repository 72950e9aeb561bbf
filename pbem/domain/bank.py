"""What is left in a player's bank: the time their earlier turns have used, by the same arithmetic as their deadlines.

It follows each time from all turns of a seat, so an outage found out later gives its time back. Time in which the
clock stood still is not used, and more time that was given is used up before the bank is. This module must never read a
clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pbem.domain.deadline import Reason, Turn, deadline_of, stops
from pbem.domain.interval import ZERO, running_time
from pbem.domain.pace import Bank


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that a seat has answered or missed, and when."""

    turn: Turn
    closed_at: datetime


def bank_after(bank: Bank, past: Iterable[PastTurn]) -> Bank:
    """The bank of a seat after its turns so far, the first one first."""
    for each in past:
        bank = bank.after(spent(replace(each.turn, pace=bank), each.closed_at))
    return bank


def left_at(turn: Turn, now: datetime) -> timedelta | None:
    """The time left in the bank of an open turn; None at a table without banks."""
    return max(ZERO, turn.pace.left - spent(turn, now)) if isinstance(turn.pace, Bank) else None


def spent(turn: Turn, closed_at: datetime) -> timedelta:
    """The time of the bank that a turn has used, which is none if it was answered before its clock started."""
    start = None if turn.accepted_at is None else max(turn.rendered_at, turn.accepted_at)
    if start is None or closed_at <= start:
        return ZERO
    parts = deadline_of(turn).parts
    still = stops(turn, max((closed_at, *(part.at for part in parts))))
    more = [part for part in parts if part.reason in (Reason.EXTENSION, Reason.GIFT)]
    given = sum((running_time(part.at - part.by, part.at, still) for part in more), ZERO)
    return max(ZERO, running_time(start, closed_at, still) - given)
