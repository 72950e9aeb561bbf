"""A stopped clock: overlaps count once, and running time is neither lost nor gained."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.interval import (
    ZERO,
    Interval,
    first_part,
    moment_after,
    moment_before,
    overlap,
    running_time,
    union,
    without,
)

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def between(start: float, end: float | None) -> Interval:
    """From that many hours after noon until that many, or without an end."""
    return Interval(NOON + hours(start), None if end is None else NOON + hours(end))


times = st.integers(-50, 50)
closed = st.builds(lambda a, b: between(min(a, b), max(a, b)), times, times)
several = st.lists(closed, max_size=6)
amounts = st.integers(0, 60).map(hours)


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 11, 24, 12),
        datetime(2026, 11, 24, 12, tzinfo=ZoneInfo("Europe/London")),
        datetime(2026, 11, 24, 12, tzinfo=timezone(hours(1))),
    ],
)
def test_a_moment_that_is_not_in_utc_is_refused(moment: datetime) -> None:
    with pytest.raises(ValueError, match="UTC"):
        Interval(moment, None)
    with pytest.raises(ValueError, match="UTC"):
        Interval(NOON - hours(100), moment)
    with pytest.raises(ValueError, match="UTC"):
        moment_after(moment, hours(1), [])


def test_an_interval_cannot_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="cannot end"):
        between(1, 0)


def test_an_interval_contains_its_first_moment_and_not_its_last() -> None:
    assert between(0, 1).contains(NOON)
    assert not between(0, 1).contains(NOON + hours(1))
    assert between(0, None).contains(NOON + hours(10_000))
    assert not between(0, None).contains(NOON - hours(1))


def test_union_merges_intervals_that_overlap_or_touch_and_no_others() -> None:
    assert union([between(5, 6), between(0, 1), between(1, 2), between(1.5, 3)]) == (between(0, 3), between(5, 6))


def test_union_of_an_interval_inside_another_is_the_outer_one() -> None:
    assert union([between(0, 9), between(2, 3)]) == (between(0, 9),)


def test_union_drops_empty_intervals() -> None:
    assert union([between(1, 1)]) == ()


def test_union_with_an_open_interval_is_open() -> None:
    assert union([between(0, None), between(3, 4), between(-1, 0)]) == (between(-1, None),)
    assert union([between(0, 5), between(3, None)]) == (between(0, None),)


@given(several)
def test_union_does_not_depend_on_order_or_repetition(intervals: list[Interval]) -> None:
    assert union(intervals) == union(list(reversed(intervals)) + intervals)


@given(times, several, several)
def test_intervals_without_others_are_the_time_that_only_they_cover(
    a: int, some: list[Interval], others: list[Interval]
) -> None:
    left, moment = without(some, others), NOON + hours(a)
    assert any(each.contains(moment) for each in left) == (
        any(each.contains(moment) for each in some) and not any(each.contains(moment) for each in others)
    )
    assert left == union(left)


def test_overlap_counts_time_shared_by_two_stops_once() -> None:
    assert overlap(NOON, NOON + hours(10), [between(1, 4), between(3, 5)]) == hours(4)


def test_overlap_counts_only_time_in_the_span() -> None:
    assert overlap(NOON, NOON + hours(2), [between(-3, 1), between(1.5, None)]) == hours(1.5)


@given(times, times, times, several)
def test_overlap_is_additive(a: int, b: int, c: int, stops: list[Interval]) -> None:
    first, middle, last = (NOON + hours(each) for each in sorted((a, b, c)))
    assert overlap(first, middle, stops) + overlap(middle, last, stops) == overlap(first, last, stops)


@given(times, times, several)
def test_running_and_stopped_time_make_up_the_whole(a: int, b: int, stops: list[Interval]) -> None:
    first, last = NOON + hours(min(a, b)), NOON + hours(max(a, b))
    assert running_time(first, last, stops) + overlap(first, last, stops) == last - first


@pytest.mark.parametrize(
    ("stops", "expected"),
    [
        pytest.param([], 10, id="nothing stopped it"),
        pytest.param([between(-9, -1)], 10, id="over before the start"),
        pytest.param([between(-9, 0)], 10, id="over at the start"),
        pytest.param([between(-9, 2)], 12, id="began before the start"),
        pytest.param([between(0, 2)], 12, id="began at the start"),
        pytest.param([between(2, 3), between(3, 5)], 13, id="two that touch"),
        pytest.param([between(2, 3), between(10.5, 20)], 20.5, id="second reached by the first"),
        pytest.param([between(10, 12)], 10, id="begins when the time has run out"),
        pytest.param([between(10, None)], 10, id="open, begins when the time has run out"),
        pytest.param([between(9, None)], None, id="open, before the time has run out"),
        pytest.param([between(-5, None)], None, id="open since before the start"),
    ],
)
def test_moment_after_counts_only_running_time(stops: list[Interval], expected: float | None) -> None:
    moment = None if expected is None else NOON + hours(expected)
    assert moment_after(NOON, hours(10), stops) == moment


@given(times, amounts, several)
def test_moment_after_is_the_first_with_that_much_running_time(
    start: int, amount: timedelta, stops: list[Interval]
) -> None:
    begun = NOON + hours(start)
    moment = moment_after(begun, amount, stops)
    assert moment is not None
    assert running_time(begun, moment, stops) == amount
    if amount:
        just_before = moment - timedelta(seconds=1)
        assert running_time(begun, just_before, stops) < amount


@given(times, amounts, amounts, several)
def test_moment_after_twice_is_moment_after_the_sum(
    start: int, one: timedelta, other: timedelta, stops: list[Interval]
) -> None:
    begun = NOON + hours(start)
    halfway = moment_after(begun, one, stops)
    assert halfway is not None
    assert moment_after(halfway, other, stops) == moment_after(begun, one + other, stops)


@given(times, amounts, several)
def test_moment_before_is_the_latest_with_that_much_running_time_since(
    ended: int, amount: timedelta, stops: list[Interval]
) -> None:
    end = NOON + hours(ended)
    moment = moment_before(end, amount, stops)
    assert running_time(moment, end, stops) == amount
    assert amount == ZERO or running_time(moment + timedelta.resolution, end, stops) < amount


def test_a_clock_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="does not run"):
        moment_after(NOON, hours(-1), [])


def test_first_part_drops_the_rest_and_closes_an_open_end() -> None:
    assert first_part([between(0, 2), between(5, None)], hours(3)) == (between(0, 2), between(5, 6))
    assert first_part([between(0, 2), between(5, 6)], hours(2)) == (between(0, 2),)
    assert first_part([between(0, 2)], hours(9)) == (between(0, 2),)
