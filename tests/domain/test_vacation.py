"""Vacations: whole days of the player's own calendar, out of a budget."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.errors import BadInput, Refusal, TooMany
from pbem.domain.interval import Interval
from pbem.domain.vacation import Vacation, check_vacation, days_left, parse_vacation

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_vacation_is_a_first_and_a_last_day() -> None:
    expected = Vacation(date(2026, 12, 20), date(2027, 1, 3))
    assert parse_vacation("2026-12-20 to 2027-01-03") == expected
    assert parse_vacation(" 2026-12-20  until 2027-01-03 ") == expected
    assert str(expected) == "Sun 20 Dec 2026 to Sun 3 Jan 2027"


def test_a_single_day_is_a_vacation() -> None:
    assert parse_vacation("2026-12-24") == Vacation(date(2026, 12, 24), date(2026, 12, 24))


def test_a_vacation_without_a_first_day_begins_today_if_today_is_known() -> None:
    expected = Vacation(date(2026, 11, 24), date(2027, 1, 3))
    assert parse_vacation("until 2027-01-03", date(2026, 11, 24)) == expected
    for text in ("2026-11-24 to 2027-01-03", "from 2026-11-24 to 2027-01-03"):
        assert parse_vacation(text) == parse_vacation(text, date(2026, 11, 30)) == expected
    with pytest.raises(BadInput):
        parse_vacation("until 2027-01-03")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't a range of days"),
        ("until christmas", "isn't a range of days"),
        ("20261220 to 20270103", "isn't a range of days"),
        ("2026-12-20 to", "isn't a range of days"),
        ("2026-02-30 to 2026-03-03", "“2026-02-30” isn't a real date"),
    ],
)
def test_anything_else_is_refused_with_an_example(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=f"{says}.*2026-12-20 to 2027-01-03"):
        parse_vacation(text)


def test_days_in_the_wrong_order_are_refused_in_words() -> None:
    with pytest.raises(BadInput, match="would end on Sun 20 Dec 2026, before it starts on Sun 3 Jan 2027"):
        parse_vacation("2027-01-03 to 2026-12-20")


@pytest.mark.parametrize(
    ("zone", "text", "start", "end"),
    [
        ("UTC", "2026-12-24", "2026-12-24 00:00", "2026-12-25 00:00"),
        ("Europe/Berlin", "2026-12-20 to 2027-01-03", "2026-12-19 23:00", "2027-01-03 23:00"),
        ("Asia/Kathmandu", "2026-12-24", "2026-12-23 18:15", "2026-12-24 18:15"),
        # Days of 23, 25 and 24.5 hours.
        ("Europe/Berlin", "2026-03-29", "2026-03-28 23:00", "2026-03-29 22:00"),
        ("America/New_York", "2026-11-01", "2026-11-01 04:00", "2026-11-02 05:00"),
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-04 13:00", "2026-04-05 13:30"),
        # The day that Samoa skipped has no length.
        ("Pacific/Apia", "2011-12-30", "2011-12-30 10:00", "2011-12-30 10:00"),
    ],
)
def test_both_days_count_from_midnight_to_midnight(zone: str, text: str, start: str, end: str) -> None:
    covered = parse_vacation(text).interval(ZoneInfo(zone))
    assert covered == Interval(utc(start), utc(end))


def book(text: str, *booked: str) -> None:
    check_vacation(parse_vacation(text), [parse_vacation(each) for each in booked], NOW, BERLIN)


def test_a_vacation_within_the_budget_is_accepted() -> None:
    book("2026-11-24 to 2026-12-23")
    book("2026-12-25 to 2027-01-05", "2026-12-01 to 2026-12-10", "2027-01-06 to 2027-01-10")


def test_a_vacation_cannot_begin_in_the_past() -> None:
    with pytest.raises(BadInput, match="start in the past: today is Tue 24 Nov 2026"):
        book("2026-11-23 to 2026-11-30")


def test_today_is_the_date_in_the_players_zone() -> None:
    late = datetime(2026, 11, 24, 23, 30, tzinfo=UTC)
    day = parse_vacation("2026-11-24")
    check_vacation(day, [], late, ZoneInfo("America/New_York"))
    with pytest.raises(BadInput, match="today is Wed 25 Nov 2026"):
        check_vacation(day, [], late, BERLIN)


def test_a_typo_in_the_year_is_refused() -> None:
    book("2027-11-25")
    with pytest.raises(BadInput, match="more than a year"):
        book("2027-11-26")


@pytest.mark.parametrize("text", ["2026-12-10", "2026-12-01 to 2026-12-05", "2026-12-04 to 2026-12-06"])
def test_two_vacations_cannot_share_a_day(text: str) -> None:
    with pytest.raises(Refusal, match="already have a vacation then: Sat 5 Dec 2026 to Thu 10 Dec 2026"):
        book(text, "2026-12-05 to 2026-12-10")


def test_two_vacations_may_follow_each_other() -> None:
    book("2026-12-11 to 2026-12-12", "2026-12-05 to 2026-12-10")


def test_a_vacation_over_the_budget_is_refused_with_the_days_left() -> None:
    with pytest.raises(TooMany, match="takes 31 days in 2026, but you have 30 left"):
        book("2026-11-25 to 2026-12-25")
    with pytest.raises(TooMany, match="takes 5 days in 2026, but you have 4 left"):
        book("2026-12-27 to 2027-01-05", "2026-11-25 to 2026-12-20")


def test_a_vacation_over_new_year_counts_in_both_years() -> None:
    booked = [parse_vacation("2026-12-20 to 2027-01-03")]
    assert days_left(2026, booked) == 18
    assert days_left(2027, booked) == 27
    with pytest.raises(TooMany, match="takes 28 days in 2027"):
        book("2027-02-01 to 2027-02-28", "2026-12-20 to 2027-01-03")


def test_a_budget_smaller_than_the_booked_days_leaves_nothing() -> None:
    assert days_left(2026, [parse_vacation("2026-12-01 to 2026-12-10")], budget=5) == 0


def test_an_absurd_last_day_is_over_the_budget() -> None:
    with pytest.raises(TooMany):
        book("2026-12-01 to 9999-12-31")


@given(st.dates(date(2020, 1, 1), date(2030, 12, 31)), st.integers(0, 800))
def test_the_days_of_each_year_make_up_the_vacation(first: date, more: int) -> None:
    vacation = Vacation(first, first + timedelta(days=more))
    assert sum(vacation.days_in(year) for year in range(2019, 2036)) == more + 1


def test_a_vacation_cannot_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="cannot end"):
        Vacation(date(2026, 12, 2), date(2026, 12, 1))
