"""Quiet hours: nothing runs out while a person sleeps."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput
from pbem.domain.quiet_hours import LONGEST, QuietHours, end_of_quiet, parse_quiet

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "hours", "moment", "end"),
    [
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-11-24 20:59", "2026-11-24 20:59", id="before"),
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-11-24 21:00", "2026-11-25 06:00", id="first"),
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-11-25 05:59", "2026-11-25 06:00", id="past midnight"),
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-11-25 06:00", "2026-11-25 06:00", id="end"),
        pytest.param("Europe/Berlin", "09:00-17:00", "2026-11-25 10:00", "2026-11-25 16:00", id="by day"),
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-03-28 22:00", "2026-03-29 05:00", id="short night"),
        pytest.param("Europe/Berlin", "22:00-07:00", "2026-10-24 22:00", "2026-10-25 06:00", id="long night"),
        pytest.param("Europe/Berlin", "22:00-02:30", "2026-03-28 22:00", "2026-03-29 01:00", id="end skipped"),
        pytest.param("Europe/Berlin", "22:00-02:30", "2026-10-24 22:00", "2026-10-25 00:30", id="end twice"),
        pytest.param("Europe/Berlin", "02:15-02:45", "2026-03-29 01:00", "2026-03-29 01:00", id="all skipped"),
        pytest.param("America/New_York", "23:00-08:00", "2026-11-01 12:00", "2026-11-01 13:00", id="New York"),
        pytest.param("Australia/Lord_Howe", "22:00-02:15", "2026-10-03 15:00", "2026-10-03 15:30", id="half"),
        pytest.param("Asia/Kathmandu", "22:00-07:00", "2026-11-24 16:20", "2026-11-25 01:15", id="Kathmandu"),
        # The night before the skipped Friday runs straight into the one after it.
        pytest.param("Pacific/Apia", "22:00-07:00", "2011-12-30 09:00", "2011-12-30 17:00", id="Samoa"),
    ],
)
def test_a_moment_in_quiet_hours_moves_to_their_end(zone: str, hours: str, moment: str, end: str) -> None:
    quiet = parse_quiet(hours, ZoneInfo(zone))
    assert end_of_quiet(utc(moment), quiet) == utc(end)


def test_without_quiet_hours_no_moment_moves() -> None:
    assert end_of_quiet(utc("2026-11-25 02:00"), None) == utc("2026-11-25 02:00")


quiet_hours = st.builds(
    lambda begin, minutes, zone: QuietHours(
        time(begin // 60, begin % 60), time((begin + minutes) // 60 % 24, (begin + minutes) % 60), ZoneInfo(zone)
    ),
    st.integers(0, 24 * 60 - 1),
    st.integers(1, LONGEST // timedelta(minutes=1)),
    st.sampled_from(ZONES),
)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC))


@given(quiet_hours, moments)
def test_the_end_of_quiet_is_never_in_quiet_hours(quiet: QuietHours, moment: datetime) -> None:
    end = end_of_quiet(moment, quiet)
    assert end >= moment
    assert quiet.period_around(end) is None
    assert end_of_quiet(end, quiet) == end


@given(quiet_hours, moments, moments)
def test_a_later_moment_never_ends_earlier(quiet: QuietHours, one: datetime, other: datetime) -> None:
    assert end_of_quiet(min(one, other), quiet) <= end_of_quiet(max(one, other), quiet)


@given(quiet_hours)
def test_quiet_hours_parse_back_from_their_text(quiet: QuietHours) -> None:
    assert parse_quiet(str(quiet), quiet.zone) == quiet


@pytest.mark.parametrize("text", ["22:00 - 7:00", "22:00–07:00", "22:00 to 07:00"])
def test_quiet_hours_parse_as_people_write_them(text: str) -> None:
    assert parse_quiet(text, BERLIN) == QuietHours(time(22), time(7), BERLIN)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't a range"),
        ("at night", "isn't a range"),
        ("22-7", "isn't a time of day"),
        ("22:00-24:00", "isn't a time of day"),
        ("07:00-23:01", "sixteen hours"),
        ("07:00-07:00", "sixteen hours"),
    ],
)
def test_impossible_quiet_hours_are_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_quiet(text, BERLIN)
