"""Paces, as text and as moments."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput
from pbem.domain.pace import LONGEST, SHORTEST, Bank, Calendar, Pace, PerDecision, parse_pace, read_pace

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [("5m", timedelta(minutes=5)), ("12h", timedelta(hours=12)), ("1d", timedelta(days=1)), ("7d", timedelta(days=7))],
)
def test_a_pace_can_be_a_duration(text: str, allowed: timedelta) -> None:
    assert parse_pace(text) == PerDecision(allowed)
    assert str(parse_pace(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "Tue,Fri 20:00 Europe/Berlin",
        "fri, tue 20:00 Europe/Berlin",
        "Tuesday and Friday  20:00 Europe/Berlin",
        "Tues,Fri,Tue 20:00 Europe/Berlin",
    ],
)
def test_a_pace_can_be_moments_of_the_calendar(text: str) -> None:
    assert parse_pace(text) == Calendar((1, 4), time(20), BERLIN)
    assert str(parse_pace(text)) == "Tue,Fri 20:00 Europe/Berlin"


calendars = st.builds(
    Calendar,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
    st.times().map(lambda wall: wall.replace(second=0, microsecond=0)),
    st.sampled_from(ZONES).map(ZoneInfo),
)
lengths = st.integers(1, LONGEST // SHORTEST).map(lambda count: PerDecision(count * SHORTEST))
steps = st.integers(1, LONGEST // SHORTEST).map(lambda count: count * SHORTEST)
banks = st.tuples(steps, steps, steps).map(sorted).map(lambda each: Bank(each[1], each[0], each[2], each[1]))


def test_a_stored_calendar_keeps_the_name_of_a_zone_that_is_not_known_here() -> None:
    with pytest.raises(BadInput, match="isn't a time zone"):
        parse_pace("Tue 20:00 Europe/Atlantis")
    assert str(read_pace("Tue 20:00 Europe/Atlantis")) == "Tue 20:00 Europe/Atlantis"


@pytest.mark.parametrize("text", ["3d+12h max 5d", " 3d + 12h  max 5d"])
def test_a_pace_can_be_a_bank(text: str) -> None:
    days = [timedelta(days=count) for count in (3, 0.5, 5, 3)]
    assert parse_pace(text) == Bank(*days)
    assert str(parse_pace("3d+12h")) == "3d+12h"


@given(calendars | lengths | banks)
def test_a_pace_parses_back_from_its_text(pace: Pace) -> None:
    assert parse_pace(str(pace)) == pace


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't a time per turn"),
        ("soon", "isn't a time per turn"),
        ("0m", "isn't a time per turn"),
        ("31d", "one minute to thirty days"),
        ("3d+", "isn't a time per turn"),
        ("3d+soon", "isn't an amount of time"),
        ("12h+3d", "can't be more than the bank at the start"),
        ("3d+12h max 31d", "no bank holds more than thirty days"),
        ("99999d", "one minute to thirty days"),
        ("Tue 20:00", "isn't a time per turn"),
        ("Foo 20:00 Europe/Berlin", "“foo” isn't a day of the week"),
        ("Tu,Th 20:00 Europe/Berlin", "“tu” isn't a day of the week"),
        ("and 20:00 Europe/Berlin", "“and” isn't a day of the week"),
        ("Tue 25:00 Europe/Berlin", "isn't a time of day"),
        ("Tue 20:00 Berlin", "isn't a time zone"),
        ("Tue 20:00 Europe/Berlin" + " x" * 5000, "isn't a time per turn"),
    ],
)
def test_an_impossible_pace_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_pace(text)


@pytest.mark.parametrize("allowed", [timedelta(0), timedelta(seconds=90), timedelta(days=31)])
def test_a_pace_that_cannot_be_entered_cannot_be_built(allowed: timedelta) -> None:
    with pytest.raises(ValueError, match="no pace"):
        PerDecision(allowed)


def test_a_calendar_needs_days() -> None:
    with pytest.raises(ValueError, match="needs days of the week"):
        Calendar((), time(20), BERLIN)


@pytest.mark.parametrize(
    ("pace", "earliest", "moment"),
    [
        # 2026-11-24 is a Tuesday.
        ("Tue,Fri 20:00 Europe/Berlin", "2026-11-24 18:59:59", "2026-11-24 19:00"),
        ("Tue,Fri 20:00 Europe/Berlin", "2026-11-24 19:00", "2026-11-24 19:00"),
        ("Tue,Fri 20:00 Europe/Berlin", "2026-11-24 19:00:01", "2026-11-27 19:00"),
        ("Tue 20:00 Europe/Berlin", "2026-11-24 19:00:01", "2026-12-01 19:00"),
        # The same local time is another one in UTC when summer begins and ends.
        ("Sun 20:00 Europe/Berlin", "2026-03-23 00:00", "2026-03-29 18:00"),
        ("Sun 20:00 Europe/Berlin", "2026-10-19 00:00", "2026-10-25 19:00"),
        # The time itself is skipped or shown twice.
        ("Sun 02:30 Europe/Berlin", "2026-03-23 00:00", "2026-03-29 01:00"),
        ("Sun 02:30 Europe/Berlin", "2026-10-19 00:00", "2026-10-25 00:30"),
        # The second 02:30 of that night is not another moment of the calendar.
        ("Sun 02:30 Europe/Berlin", "2026-10-25 00:31", "2026-11-01 01:30"),
        ("Sun 02:15 Australia/Lord_Howe", "2026-10-01 00:00", "2026-10-03 15:30"),
        ("Sun 01:45 Australia/Lord_Howe", "2026-04-01 00:00", "2026-04-04 14:45"),
        ("Sun 01:30 America/New_York", "2026-10-26 00:00", "2026-11-01 05:30"),
        ("Wed 00:10 Asia/Kathmandu", "2026-11-24 00:00", "2026-11-24 18:25"),
        # The Friday that Samoa skipped.
        ("Fri 20:00 Pacific/Apia", "2011-12-29 00:00", "2011-12-30 10:00"),
        ("Fri 20:00 Pacific/Apia", "2011-12-30 10:00", "2011-12-30 10:00"),
        ("Fri 20:00 Pacific/Apia", "2011-12-30 10:00:01", "2012-01-06 06:00"),
        ("Mon,Thu 20:00 UTC", "2026-11-24 00:00", "2026-11-26 20:00"),
    ],
)
def test_the_next_moment_is_in_local_time(pace: str, earliest: str, moment: str) -> None:
    calendar = parse_pace(pace)
    assert isinstance(calendar, Calendar)
    assert calendar.next_moment(utc(earliest)) == utc(moment)


@given(calendars, st.datetimes(datetime(2009, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)))
def test_the_next_moment_is_never_past_and_at_most_a_week_away(calendar: Calendar, earliest: datetime) -> None:
    moment = calendar.next_moment(earliest)
    # An hour more if summer ends in that week.
    assert timedelta(0) <= moment - earliest <= timedelta(days=7, hours=1)


@pytest.mark.parametrize(("pace", "minutes"), [("59m", 1), ("1h", 5), ("23h", 5), ("1d", 60), ("7d", 60)])
def test_a_longer_pace_has_rounder_moments(pace: str, minutes: int) -> None:
    assert parse_pace(pace).rounding_step == timedelta(minutes=minutes)
