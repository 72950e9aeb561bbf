"""Weeks: days off and working hours, whole or not at all."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput
from pbem.domain.interval import overlap
from pbem.domain.pace import parse_pace
from pbem.domain.week import (
    BOUNDS,
    MOST,
    Week,
    WorkingHours,
    counting_text,
    end_of_time_off,
    parse_week,
    read_week,
    usual_bound,
    week_text,
)

BERLIN = ZoneInfo("Europe/Berlin")
WEEKEND, WORKDAYS = ("Sat", "Sun"), ("Mon", "Tue", "Wed", "Thu", "Fri")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def week(off: tuple[str, ...] = WEEKEND, working: tuple[str, ...] = WORKDAYS, hours: str = "09:00-17:00") -> Week:
    parsed = parse_week(off, working, hours if working else "", BERLIN)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("found", "moment", "end"),
    [
        pytest.param(week(), "2026-11-27 07:59", "2026-11-27 07:59", id="before work"),
        pytest.param(week(), "2026-11-27 08:00", "2026-11-27 08:00", id="as work begins"),
        pytest.param(week(), "2026-11-27 08:01", "2026-11-27 16:00", id="at work"),
        pytest.param(week(), "2026-11-27 23:00", "2026-11-27 23:00", id="as the weekend begins"),
        pytest.param(week(), "2026-11-28 00:00", "2026-11-29 23:00", id="on the weekend"),
        pytest.param(week(), "2026-10-24 12:00", "2026-10-25 23:00", id="a long weekend"),
        pytest.param(week(), "2026-03-28 12:00", "2026-03-29 22:00", id="a short weekend"),
        pytest.param(
            week(working=("Fri",), hours="22:00-02:00"), "2026-11-27 21:30", "2026-11-29 23:00", id="touching"
        ),
        pytest.param(week((), ("Sat",), "22:00-02:30"), "2026-10-24 21:00", "2026-10-25 00:30", id="the first of two"),
        pytest.param(week((), ("Sun",), "02:15-02:45"), "2026-03-29 01:00", "2026-03-29 01:00", id="skipped"),
    ],
)
def test_time_off_ends_when_its_local_time_does(found: Week, moment: str, end: str) -> None:
    assert end_of_time_off(utc(moment), found) == utc(end)


def test_without_a_week_nothing_moves() -> None:
    assert end_of_time_off(utc("2026-11-28 12:00"), None) == utc("2026-11-28 12:00")


@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]), st.integers(0, 52)
)
def test_the_time_off_of_any_week_is_what_it_says_but_for_the_hour_of_a_clock_change(zone: str, number: int) -> None:
    found = parse_week(WEEKEND, WORKDAYS, "09:00-17:00", ZoneInfo(zone))
    assert found is not None
    start = utc("2026-01-05 00:00") + number * timedelta(weeks=1)
    off = overlap(start, start + timedelta(weeks=1), found.intervals(start, start + timedelta(weeks=1)))
    assert abs(off - timedelta(hours=found.hours)) <= timedelta(hours=1)


@pytest.mark.parametrize(
    "found",
    [
        week(),
        week(working=()),
        week((), ("Mon", "Wed"), "20:30-04:00"),
        week(("Mon", "Wed", "Sun"), ("Fri",), "01:00-13:00"),
    ],
)
def test_a_week_reads_back_from_its_text(found: Week) -> None:
    assert read_week(str(found)) == found


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (week(), "Sat, Sun; Mon to Fri from 09:00 to 17:00"),
        (week(working=()), "Sat, Sun"),
        (week((), ("Mon", "Wed", "Thu"), "20:30-4:00"), "Mon, Wed, Thu from 20:30 to 04:00"),
    ],
)
def test_a_week_is_told_in_words(found: Week, text: str) -> None:
    assert week_text(found) == text


@pytest.mark.parametrize(
    ("found", "bound", "counts"),
    [
        (week(), 0, None),
        (week(), 48, week(working=())),
        (week(), 108, week()),
        (week(("Fri", "Sat", "Sun"), ("Mon",)), 48, week((), ("Mon",))),
        (week(("Fri", "Sat", "Sun"), ()), 48, None),
        (week((), WORKDAYS, "09:00-19:00"), 48, None),
        (
            week(("Sat",), ("Mon", "Tue", "Wed"), "09:00-17:00"),
            48,
            week(("Sat",), ("Mon", "Tue", "Wed"), "09:00-17:00"),
        ),
    ],
)
def test_days_off_count_before_working_hours_each_whole_or_not_at_all(
    found: Week, bound: int, counts: Week | None
) -> None:
    assert found.counting(bound) == counts


def test_every_week_counts_where_the_most_do() -> None:
    assert max(BOUNDS) == MOST
    assert week(hours="08:00-20:00").hours == MOST
    assert week(hours="08:00-20:00").counting(MOST) == week(hours="08:00-20:00")


@pytest.mark.parametrize(
    ("found", "bound", "says"),
    [
        (week(), 0, "Your time off doesn't count at this table."),
        (week(), 48, "Your days off count (Sat, Sun). Your working hours don't"),
        (week(), 108, "Your time off counts: your clocks stop on Sat, Sun; Mon to Fri from 09:00 to 17:00."),
        (
            week(("Fri", "Sat", "Sun"), ("Mon",)),
            48,
            "Your working hours count (Mon from 09:00 to 17:00). Your days off don't",
        ),
    ],
)
def test_a_person_is_told_what_counts(found: Week, bound: int, says: str) -> None:
    assert says in counting_text(found, bound)


def test_a_day_off_has_no_working_hours() -> None:
    assert week(working=(*WORKDAYS, *WEEKEND)) == week()


def test_a_form_without_anything_is_no_week() -> None:
    assert parse_week((), (), " ", BERLIN) is None


@pytest.mark.parametrize(
    ("off", "working", "hours", "field", "says"),
    [
        (("Mon", "Tue", "Wed", "Thu"), (), "", "days_off", "4 days off are too many"),
        (("Someday",), (), "", "days_off", "isn't a day of the week"),
        ((), ("Sat ",), "09:00-17:00", "workdays", "isn't a day of the week"),
        ((), ("Mon",), "by day", "hours", "isn't a range of hours"),
        ((), ("Mon",), "09:00-25:00", "hours", "isn't a time of day"),
        ((), ("Mon",), "08:00-20:01", "hours", "up to twelve hours"),
        ((), ("Mon",), "08:00-08:00", "hours", "up to twelve hours"),
        ((), ("Mon",), "", "hours", "working hours are missing"),
        (("Mon",), (), "09:00-17:00", "hours", "No workday"),
        (("Mon", "Tue", "Wed"), ("Thu", "Fri", "Sat", "Sun"), "08:00-20:00", "hours", "That's 120 hours a week"),
    ],
)
def test_an_impossible_week_is_refused_beside_its_field(
    off: tuple[str, ...], working: tuple[str, ...], hours: str, field: str, says: str
) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        parse_week(off, working, hours, BERLIN)
    assert set(refused.value.fields) == {field}


def test_working_hours_of_no_length_are_none() -> None:
    with pytest.raises(ValueError, match="nobody works"):
        WorkingHours((0,), time(9), time(9))


@pytest.mark.parametrize(
    ("pace", "bound"),
    [("5m", 0), ("6h", 0), ("12h", 48), ("3d", 48), ("Tue,Fri 20:00 UTC", 48), ("6h+1h", 0), ("3d+12h", 48)],
)
def test_weekends_count_by_default_where_turns_are_long(pace: str, bound: int) -> None:
    assert usual_bound(parse_pace(pace)) == bound
