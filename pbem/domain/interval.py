"""Half-open intervals of time, and clocks that stop during some of them.

An interval contains its first moment and not its last; an interval without an end is still going on. Everything that stops
a player's clock (an outage, a pause, a vacation) is such an interval, so this is all the arithmetic behind a deadline.

Moments must be in `datetime.UTC`: in another zone, Python adds wall-clock hours, which is wrong on two days of the year.
This module must never ask for the time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ZERO = timedelta(0)


@dataclass(frozen=True, slots=True)
class Interval:
    """The time from `start` until just before `end`; with an `end` of None it is still going on."""

    start: datetime
    end: datetime | None

    def __post_init__(self) -> None:
        require_utc(self.start)
        if self.end is not None:
            require_utc(self.end)
            if self.end < self.start:
                raise ValueError(f"an interval cannot end at {self.end}, before {self.start}")

    def contains(self, moment: datetime) -> bool:
        return self.start <= moment and (self.end is None or moment < self.end)


def require_utc(moment: datetime) -> None:
    """Check that a moment is in `datetime.UTC`. Raises ValueError if it is naive or in another zone."""
    if moment.tzinfo is not UTC:
        raise ValueError(f"{moment!r} is not in datetime.UTC; convert it with astimezone(UTC)")


def union(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same time as the fewest intervals, in order; intervals that overlap or touch are merged."""
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda interval: interval.start):
        if interval.end == interval.start:
            continue
        last = merged[-1] if merged else None
        if last is None or (last.end is not None and last.end < interval.start):
            merged.append(interval)
        elif last.end is not None and (interval.end is None or interval.end > last.end):
            merged[-1] = Interval(last.start, interval.end)
    return tuple(merged)


def without(intervals: Iterable[Interval], removed: Iterable[Interval]) -> tuple[Interval, ...]:
    """The time of the intervals that none of the removed ones covers."""
    left = union(intervals)
    for gap in union(removed):
        left = tuple(part for interval in left for part in _outside(interval, gap))
    return left


def _outside(interval: Interval, gap: Interval) -> Iterator[Interval]:
    if interval.start < gap.start:
        yield Interval(interval.start, gap.start if interval.end is None else min(interval.end, gap.start))
    if gap.end is not None and (interval.end is None or interval.end > gap.end):
        yield Interval(max(interval.start, gap.end), interval.end)


def overlap(start: datetime, end: datetime, stopped: Iterable[Interval]) -> timedelta:
    """The part of the time between two moments that the intervals cover, each moment counted once."""
    total = ZERO
    for interval in union(stopped):
        first = max(start, interval.start)
        last = end if interval.end is None else min(end, interval.end)
        total += max(last - first, ZERO)
    return total


def running_time(start: datetime, end: datetime, stopped: Iterable[Interval]) -> timedelta:
    """The time that a clock runs between two moments if it stops during the intervals."""
    return end - start - overlap(start, end, stopped)


def moment_after(start: datetime, amount: timedelta, stopped: Iterable[Interval]) -> datetime | None:
    """When a clock started at `start` has run for `amount`; None while it has stopped without a known end."""
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


def moment_before(end: datetime, amount: timedelta, stopped: Iterable[Interval]) -> datetime:
    """When a clock must have started to have run for `amount` at `end`, if it stops during the intervals; the latest moment."""
    moment = end - amount
    for interval in reversed(union(stopped)):
        if interval.end is not None and interval.end <= moment:
            break
        if interval.start < end:
            moment -= min(end, interval.end or end) - interval.start
    return moment


def first_part(intervals: Iterable[Interval], most: timedelta) -> tuple[Interval, ...]:
    """The first part of the intervals, up to a total length, which also closes an open end."""
    parts: list[Interval] = []
    left = most
    for interval in union(intervals):
        if left <= ZERO:
            break
        end = interval.start + left
        if interval.end is not None:
            end = min(end, interval.end)
        parts.append(Interval(interval.start, end))
        left -= end - interval.start
    return tuple(parts)
