"""Half-open intervals of time, and clocks that stand still during some of them.

An interval holds its first moment and not its last; one without an end is still going on. Whatever
stops a player's clock (an outage, a pause, a vacation) is such an interval, so this is the whole
arithmetic behind every deadline.

Moments are aware and in `datetime.UTC`, and anything else is refused: in another zone, Python adds
wall-clock hours, which is wrong on two days of the year. This module never asks what time it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ZERO = timedelta(0)


@dataclass(frozen=True, slots=True)
class Interval:
    """From `start` until just before `end`; an `end` of None means that it is still going on."""

    start: datetime
    end: datetime | None

    def __post_init__(self) -> None:
        require_utc(self.start)
        if self.end is not None:
            require_utc(self.end)
            if self.end < self.start:
                raise ValueError(f"an interval cannot end at {self.end}, before {self.start}")

    def holds(self, moment: datetime) -> bool:
        """Whether the moment lies in it."""
        return self.start <= moment and (self.end is None or moment < self.end)


def require_utc(moment: datetime) -> None:
    """Refuse a moment that is naive or in another zone: the programmer forgot to convert it."""
    if moment.tzinfo is not UTC:
        raise ValueError(f"{moment!r} is not in datetime.UTC; convert it with astimezone(UTC)")


def union(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same time as the fewest intervals, in order; what overlaps or touches becomes one."""
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda each: each.start):
        if interval.end == interval.start:
            continue
        last = merged[-1] if merged else None
        if last is None or (last.end is not None and last.end < interval.start):
            merged.append(interval)
        elif last.end is not None and (interval.end is None or interval.end > last.end):
            merged[-1] = Interval(last.start, interval.end)
    return tuple(merged)


def overlap(start: datetime, end: datetime, stopped: Iterable[Interval]) -> timedelta:
    """How much of the time between two moments lies in the intervals, counted once each."""
    total = ZERO
    for interval in union(stopped):
        first = max(start, interval.start)
        last = end if interval.end is None else min(end, interval.end)
        total += max(last - first, ZERO)
    return total


def running(start: datetime, end: datetime, stopped: Iterable[Interval]) -> timedelta:
    """How long a clock ran between two moments that stands still during the intervals."""
    return end - start - overlap(start, end, stopped)


def later_by(start: datetime, amount: timedelta, stopped: Iterable[Interval]) -> datetime | None:
    """The first moment at which a clock started at `start` has run for `amount`.

    None where the clock stands still now and nobody knows until when: there is no such moment yet.
    """
    require_utc(start)
    if amount < ZERO:
        raise ValueError(f"a clock does not run for {amount}")
    moment = start + amount
    for interval in union(stopped):
        if interval.end is not None and interval.end <= start:
            continue
        if interval.start >= moment:
            break
        if interval.end is None:
            return None
        moment += interval.end - max(interval.start, start)
    return moment


def at_most(intervals: Iterable[Interval], most: timedelta) -> tuple[Interval, ...]:
    """The first part of the intervals, up to a total length; an open end is closed by it."""
    kept: list[Interval] = []
    left = most
    for interval in union(intervals):
        if left <= ZERO:
            break
        end = interval.start + left
        if interval.end is not None:
            end = min(end, interval.end)
        kept.append(Interval(interval.start, end))
        left -= end - interval.start
    return tuple(kept)
