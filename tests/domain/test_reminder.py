"""Reminders: often enough to be noticed, rarely enough to be read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from pbem.domain.deadline import Deadline, Turn, deadline_of
from pbem.domain.errors import BadInput
from pbem.domain.interval import Interval
from pbem.domain.pace import Pace, parse_pace
from pbem.domain.quiet_hours import QuietHours, parse_quiet
from pbem.domain.reminder import DEFAULT, Cadence, TimeLeft, TimeUsed, parse_cadence, reminders

UNIVERSAL = ZoneInfo("UTC")


def nov(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=UTC)


def turn(pace: str) -> Turn:
    """A turn that started at ten on the 24th."""
    return Turn(parse_pace(pace), UNIVERSAL, nov("24 10:00"), nov("24 10:00"))


def plan(asked: Turn, cadence: str = "50%,80%,2h") -> list[str]:
    """The player's reminders, as day and time."""
    moments = reminders(asked, deadline_of(asked), parse_cadence(cadence))
    return [f"{moment:%d %H:%M}" for moment in moments]


def test_a_player_is_reminded_at_half_at_four_fifths_and_two_hours_before() -> None:
    assert plan(turn("3d")) == ["25 22:00", "26 19:36", "27 08:00"]
    assert parse_cadence("50%,80%,2h") == DEFAULT


def test_of_two_reminders_within_an_hour_the_later_one_stays() -> None:
    assert plan(turn("12h")) == ["24 16:00", "24 20:00"]


def test_reminders_may_be_an_hour_apart() -> None:
    assert plan(turn("1d"), "2h,1h,23h") == ["24 11:00", "25 08:00", "25 09:00"]


def test_a_short_pace_has_its_reminders_closer_together() -> None:
    assert plan(turn("1h")) == ["24 10:30", "24 10:48"]
    assert plan(turn("5m"), "50%,60%") == ["24 10:03"]


def test_nobody_is_reminded_right_after_the_turn_starts() -> None:
    assert plan(turn("1d"), "1%,50%") == ["24 22:00"]
    assert plan(turn("3h"), "150m") == []


def test_a_mark_longer_than_the_whole_time_is_left_out() -> None:
    assert plan(turn("2h"), "2h") == []
    assert plan(turn("1h"), "2h,50%") == ["24 10:30"]


def test_an_empty_cadence_has_no_reminders() -> None:
    assert plan(turn("3d"), "none") == []


def test_there_is_no_reminder_without_a_deadline() -> None:
    assert reminders(turn("1d"), Deadline(None, None), DEFAULT) == ()
    paused = replace(turn("1d"), pauses=(Interval(nov("24 12:00"), None),))
    assert reminders(paused, deadline_of(paused), DEFAULT) == ()


def test_marks_count_running_time() -> None:
    away = replace(turn("2d"), vacations=(Interval(nov("25 00:00"), nov("29 00:00")),))
    assert deadline_of(away).at == nov("30 10:00")
    assert plan(away) == ["29 10:00", "30 00:24", "30 08:00"]


def test_a_reminder_in_quiet_hours_waits_for_their_end() -> None:
    asleep = replace(turn("3d"), quiet=parse_quiet("21:00-07:00", UNIVERSAL))
    assert plan(asleep, "50%") == ["26 07:00"]


def test_an_hour_after_quiet_hours_is_enough_to_decide() -> None:
    asleep = replace(turn("12h"), rendered_at=nov("24 20:00"), quiet=parse_quiet("22:00-07:00", UNIVERSAL))
    assert deadline_of(replace(asleep, accepted_at=nov("24 20:00"))).at == nov("25 08:00")
    assert plan(replace(asleep, accepted_at=nov("24 20:00")), "2h") == ["25 07:00"]


def test_a_reminder_in_a_pause_is_left_out() -> None:
    asleep = replace(turn("3d"), quiet=parse_quiet("21:00-07:00", UNIVERSAL))
    paused = replace(asleep, pauses=(Interval(nov("26 06:00"), nov("26 12:00")),))
    assert plan(paused, "50%,2h") == ["27 14:00"]


def test_a_reminder_too_late_after_quiet_hours_comes_before_them() -> None:
    asleep = replace(turn("12h"), quiet=parse_quiet("20:30-07:30", UNIVERSAL))
    assert deadline_of(asleep).at == nov("25 07:30")
    assert plan(asleep, "2h") == ["24 19:30"]


@pytest.mark.parametrize("text", ["50%,80%,2h", "1%", "99%", "30m,1d", "none"])
def test_a_cadence_parses_back_from_its_text(text: str) -> None:
    assert str(parse_cadence(text)) == text


def test_a_cadence_parses_as_people_write_it() -> None:
    assert parse_cadence(" 50 % , 2 h ") == Cadence((TimeUsed(50), TimeLeft(timedelta(hours=2))))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't a reminder time"),
        ("often", "isn't a reminder time"),
        ("0%", "isn't a reminder time"),
        ("100%", "isn't a reminder time"),
        ("50%,", "isn't a reminder time"),
        ("none,50%", "isn't a reminder time"),
        ("10%,20%,30%,40%,50%,60%", "6 reminders are too many"),
    ],
)
def test_an_impossible_cadence_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_cadence(text)


paces = st.sampled_from(["5m", "1h", "12h", "3d", "Tue,Fri 20:00 Europe/Berlin"]).map(parse_pace)
cadences = st.lists(
    st.integers(1, 99).map(TimeUsed) | st.integers(1, 48).map(lambda hours: TimeLeft(timedelta(hours=hours))),
    max_size=5,
).map(lambda marks: Cadence(tuple(marks)))
pauses = st.lists(
    st.builds(
        lambda start, hours: Interval(
            nov("24 00:00") + timedelta(hours=start), nov("24 00:00") + timedelta(hours=start + hours)
        ),
        st.integers(0, 90),
        st.integers(1, 40),
    ),
    max_size=2,
).map(tuple)
nights = st.none() | st.just(parse_quiet("21:00-07:00", ZoneInfo("Europe/Berlin")))


@given(paces, cadences, pauses, nights)
def test_reminders_are_in_order_and_apart_before_the_deadline_and_outside_quiet_hours(
    pace: Pace, cadence: Cadence, stops: tuple[Interval, ...], quiet: QuietHours | None
) -> None:
    asked = replace(turn("1d"), pace=pace, pauses=stops, quiet=quiet)
    result = deadline_of(asked)
    planned = reminders(asked, result, cadence)
    assert result.start is not None
    assert result.at is not None
    apart = min(timedelta(hours=1), asked.pace.scale / 4)
    assert len(planned) <= len(cadence.marks)
    for earlier, later in zip((result.start, *planned), planned, strict=False):
        assert later - earlier >= apart
    for moment in planned:
        assert moment < result.at
        assert asked.quiet is None or asked.quiet.period_around(moment) is None
        assert not any(stop.contains(moment) for stop in stops)
