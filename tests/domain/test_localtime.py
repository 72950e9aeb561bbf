"""Local times when the clocks change, and in zones with odd offsets."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput
from pbem.domain.localtime import (
    is_known,
    local_day,
    moment_at,
    parse_moment,
    parse_wall,
    parse_zone,
    round_up,
    stored_zone,
)

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"]

# The local time, and the moment it means.
LOCAL_TIMES = [
    ("Europe/Berlin", "2026-11-24 20:00", "2026-11-24 19:00"),
    ("Europe/Berlin", "2026-06-24 20:00", "2026-06-24 18:00"),
    ("Europe/Berlin", "2026-03-29 01:59", "2026-03-29 00:59"),
    ("Europe/Berlin", "2026-03-29 02:00", "2026-03-29 01:00"),  # skipped
    ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29 01:00"),  # skipped
    ("Europe/Berlin", "2026-03-29 03:00", "2026-03-29 01:00"),
    ("Europe/Berlin", "2026-10-25 02:00", "2026-10-25 00:00"),  # shown twice
    ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25 00:30"),  # shown twice
    ("Europe/Berlin", "2026-10-25 03:00", "2026-10-25 02:00"),
    ("America/New_York", "2026-03-08 02:30", "2026-03-08 07:00"),  # skipped
    ("America/New_York", "2026-11-01 01:30", "2026-11-01 05:30"),  # shown twice
    ("America/New_York", "2026-11-01 02:00", "2026-11-01 07:00"),
    ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03 15:30"),  # skipped: half an hour
    ("Australia/Lord_Howe", "2026-10-04 02:30", "2026-10-03 15:30"),
    ("Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04 14:45"),  # shown twice
    ("Australia/Lord_Howe", "2026-04-05 02:00", "2026-04-04 15:30"),
    ("Asia/Kathmandu", "2026-11-24 20:00", "2026-11-24 14:15"),
    ("Pacific/Apia", "2011-12-29 23:59", "2011-12-30 09:59"),
    ("Pacific/Apia", "2011-12-30 00:00", "2011-12-30 10:00"),  # a whole day skipped
    ("Pacific/Apia", "2011-12-30 20:00", "2011-12-30 10:00"),  # a whole day skipped
    ("Pacific/Apia", "2011-12-31 00:00", "2011-12-30 10:00"),
    ("UTC", "2026-03-29 02:30", "2026-03-29 02:30"),
]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("zone", "shown", "moment"), LOCAL_TIMES)
def test_a_local_time_means_one_moment(zone: str, shown: str, moment: str) -> None:
    local = datetime.fromisoformat(shown)
    assert moment_at(local.date(), local.time(), ZoneInfo(zone)) == utc(moment)


@pytest.mark.parametrize(("zone", "shown", "moment"), LOCAL_TIMES)
def test_a_typed_time_means_the_same_moment(zone: str, shown: str, moment: str) -> None:
    assert parse_moment(shown, ZoneInfo(zone)) == parse_moment(shown.replace(" ", "T"), ZoneInfo(zone)) == utc(moment)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-12-24", "2026-12-24 20:00+05:00", "2026-02-30 20:00", "2026-12-24 24:00"]
)
def test_a_time_that_does_not_say_when_in_the_zone_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="isn't a date and time"):
        parse_moment(text, ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("text", "zone"), [("9999-12-31 20:00", "America/New_York"), ("0001-01-01 00:00", "Asia/Tokyo")]
)
def test_a_time_beyond_the_calendar_is_refused(text: str, zone: str) -> None:
    with pytest.raises(BadInput, match="isn't a date and time"):
        parse_moment(text, ZoneInfo(zone))


days = st.dates(date(2009, 1, 1), date(2030, 12, 31))
walls = st.times().map(lambda wall: wall.replace(second=0, microsecond=0))
zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(datetime(2009, 1, 1), datetime(2030, 12, 31), timezones=st.just(UTC))


@given(days, walls, zones)
def test_the_clocks_show_the_time_or_have_just_skipped_it(day: date, wall: time, zone: ZoneInfo) -> None:
    moment = moment_at(day, wall, zone)
    expected = datetime.combine(day, wall)
    assert moment.tzinfo is UTC
    assert moment.astimezone(zone).replace(tzinfo=None) >= expected
    before = (moment - timedelta(microseconds=1)).astimezone(zone).replace(tzinfo=None)
    assert before < expected


@given(days, walls, days, walls, zones)
def test_a_later_local_time_is_never_an_earlier_moment(
    day: date, wall: time, other_day: date, other_wall: time, zone: ZoneInfo
) -> None:
    first, last = sorted([(day, wall), (other_day, other_wall)])
    assert moment_at(*first, zone) <= moment_at(*last, zone)


def test_the_local_day_is_the_date_in_the_zone() -> None:
    assert local_day(utc("2026-11-24 23:30"), ZoneInfo("Europe/Berlin")) == date(2026, 11, 25)
    assert local_day(utc("2026-11-24 03:00"), ZoneInfo("America/New_York")) == date(2026, 11, 23)


@pytest.mark.parametrize(
    ("zone", "moment", "minutes", "rounded"),
    [
        ("UTC", "2026-11-24 19:00", 60, "2026-11-24 19:00"),
        ("UTC", "2026-11-24 19:00:01", 60, "2026-11-24 20:00"),
        ("UTC", "2026-11-24 19:00:01", 1, "2026-11-24 19:01"),
        ("UTC", "2026-11-24 19:01", 5, "2026-11-24 19:05"),
        ("Asia/Kathmandu", "2026-11-24 14:10", 60, "2026-11-24 14:15"),
        ("Australia/Lord_Howe", "2026-04-04 14:40", 60, "2026-04-04 15:30"),
        ("Australia/Lord_Howe", "2026-10-03 15:20", 60, "2026-10-03 16:00"),
    ],
)
def test_rounding_is_in_local_time(zone: str, moment: str, minutes: int, rounded: str) -> None:
    step = timedelta(minutes=minutes)
    assert round_up(utc(moment), step, ZoneInfo(zone)) == utc(rounded)


@given(moments, st.sampled_from([1, 5, 60]), zones)
def test_rounding_never_goes_back_and_leaves_a_round_moment_alone(
    moment: datetime, minutes: int, zone: ZoneInfo
) -> None:
    step = timedelta(minutes=minutes)
    rounded = round_up(moment, step, zone)
    assert rounded >= moment
    assert rounded.astimezone(zone).minute % minutes == 0
    assert round_up(rounded, step, zone) == rounded


@pytest.mark.parametrize("name", ["Europe/Atlantis", "America/Argentina", "Europe/Berlin/", ""])
def test_a_stored_zone_that_is_not_known_here_is_utc_under_its_own_name(name: str) -> None:
    zone = stored_zone(name)
    assert zone.key == name
    assert zone is stored_zone(name)
    assert not is_known(name)
    assert moment_at(date(2026, 7, 1), time(12), zone) == utc("2026-07-01 12:00")


def test_a_stored_zone_that_is_known_has_its_rules() -> None:
    assert stored_zone("Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert is_known("Europe/Berlin")


@pytest.mark.parametrize("name", ["Europe/Berlin", " UTC ", "America/Argentina/Ushuaia", "Etc/GMT+5"])
def test_a_zone_is_found_by_its_name(name: str) -> None:
    assert parse_zone(name).key == name.strip()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Berlin",
        "Europe/Atlantis",
        "America/Argentina",
        "localtime",
        "right/UTC",
        "../../etc/passwd",
        "Europe/../UTC",
        "Europe/" + "x" * 5000,
        "Europe/Berlin\0",
    ],
)
def test_an_unknown_zone_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(BadInput, match="Europe/Berlin"):
        parse_zone(name)


@pytest.mark.parametrize(("text", "wall"), [("20:00", time(20)), ("7:05", time(7, 5))])
def test_a_time_of_day_is_hours_and_minutes(text: str, wall: time) -> None:
    assert parse_wall(text) == wall


@pytest.mark.parametrize("text", ["", "24:00", "20", "20:60", "8pm", "٢٠:٠٠"])
def test_anything_but_a_time_of_day_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match="07:30 or 20:00"):
        parse_wall(text)
