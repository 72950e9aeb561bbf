"""Deadlines, case by case: each rule moves the deadline later, and is named as a reason."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.deadline import (
    Deadline,
    Part,
    Reason,
    Turn,
    deadline_of,
    is_noticeably_later,
    negligible,
    notice,
    printed_deadline,
    reasons_later,
    seat_offer_at,
)
from pbem.domain.errors import BadInput
from pbem.domain.extension import ExtendedBy, ExtendedTo, Extension, SecondChance, parse_extension
from pbem.domain.interval import Interval
from pbem.domain.pace import parse_pace
from pbem.domain.quiet_hours import parse_quiet
from pbem.domain.week import Week, WorkingHours

BERLIN = ZoneInfo("Europe/Berlin")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def nov(text: str) -> datetime:
    """A day and time in November 2026; the 24th is a Tuesday."""
    return utc(f"2026-11-{text}")


def stop(start: str, end: str | None) -> tuple[Interval, ...]:
    return (Interval(nov(start), nov(end) if end else None),)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def turn(pace: str = "1d", accepted: str | None = "24 10:00") -> Turn:
    """A turn whose email was rendered at ten on that Tuesday."""
    return Turn(
        pace=parse_pace(pace),
        zone=ZoneInfo("UTC"),
        rendered_at=nov("24 10:00"),
        accepted_at=nov(accepted) if accepted else None,
    )


def reasons(result: Deadline) -> list[Reason]:
    return [part.reason for part in result.parts]


# The start


def test_a_clock_does_not_start_before_its_email_is_accepted() -> None:
    assert deadline_of(turn(accepted=None)) == Deadline(None, None)


def test_a_clock_starts_when_its_email_is_accepted() -> None:
    result = deadline_of(turn(accepted="24 15:00"))
    assert result.start == nov("24 15:00")
    assert result.at == nov("25 15:00")
    assert result.parts == (Part(Reason.PACE, hours(24), nov("25 15:00")),)


# The printed deadline


@pytest.mark.parametrize(
    ("pace", "rendered", "moment"),
    [
        ("5m", "24 10:00:20", "24 10:06"),
        ("59m", "24 10:00:20", "24 11:00"),
        ("1h", "24 10:00:20", "24 11:05"),
        ("12h", "24 10:02", "24 22:05"),
        ("1d", "24 10:02", "25 11:00"),
        ("1d", "24 10:00", "25 10:00"),
        ("7d", "22 10:02", "29 11:00"),
        ("Tue,Fri 20:17 Europe/Berlin", "24 06:00", "24 19:17"),
    ],
)
def test_the_printed_deadline_is_rounded_up_to_suit_the_pace(pace: str, rendered: str, moment: str) -> None:
    assert printed_deadline(replace(turn(pace), rendered_at=nov(rendered))).at == nov(moment)


def test_the_printed_deadline_is_round_in_the_players_own_zone() -> None:
    kathmandu = replace(turn(), zone=ZoneInfo("Asia/Kathmandu"))
    assert printed_deadline(kathmandu).at == nov("25 10:15")


def test_the_printed_deadline_allows_for_vacation_and_quiet_hours() -> None:
    away = replace(turn(), vacations=stop("25 00:00", "27 00:00"))
    assert printed_deadline(away).at == nov("27 12:00")
    asleep = replace(turn(), quiet=parse_quiet("08:00-13:00", ZoneInfo("UTC")))
    assert printed_deadline(asleep).at == nov("25 13:00")


def test_acceptance_within_the_rounding_keeps_the_printed_deadline() -> None:
    rendered = replace(turn("12h"), rendered_at=nov("24 10:01"))
    accepted = replace(rendered, accepted_at=nov("24 10:04"))
    assert deadline_of(accepted).at == printed_deadline(rendered).at


def test_the_printed_deadline_holds_even_if_acceptance_is_dated_before_rendering() -> None:
    early = turn(accepted="24 08:00")
    assert deadline_of(early).at == printed_deadline(early).at


# Summer time


@pytest.mark.parametrize(
    ("accepted", "moment"), [("2026-03-28 19:00", "2026-03-29 19:00"), ("2026-10-24 18:00", "2026-10-25 18:00")]
)
def test_a_day_is_24_hours_even_when_the_clocks_change(accepted: str, moment: str) -> None:
    over_night = Turn(parse_pace("1d"), BERLIN, utc(accepted), utc(accepted))
    assert deadline_of(over_night).at == utc(moment)


@pytest.mark.parametrize(
    ("zone", "rendered", "moment"),
    [
        ("Europe/Berlin", "2026-03-27 10:00", "2026-03-29 18:00"),
        ("Europe/Berlin", "2026-10-23 10:00", "2026-10-25 19:00"),
        ("America/New_York", "2026-03-07 10:00", "2026-03-09 00:00"),
        ("America/New_York", "2026-10-31 10:00", "2026-11-02 01:00"),
        ("Australia/Lord_Howe", "2026-10-03 00:00", "2026-10-04 09:00"),
        ("Australia/Lord_Howe", "2026-04-04 00:00", "2026-04-05 09:30"),
        ("Asia/Kathmandu", "2026-11-21 10:00", "2026-11-22 14:15"),
    ],
)
def test_a_calendar_moment_keeps_its_local_time_when_the_clocks_change(zone: str, rendered: str, moment: str) -> None:
    pace = parse_pace(f"Sun 20:00 {zone}")
    assert printed_deadline(Turn(pace, ZoneInfo(zone), utc(rendered))).at == utc(moment)


# Calendar paces

CALENDAR = "Tue,Fri 20:00 Europe/Berlin"


def test_an_email_shortly_before_a_calendar_moment_is_due_at_the_next() -> None:
    assert deadline_of(turn(CALENDAR, accepted="24 18:55")).at == nov("27 19:00")


def test_half_a_day_is_enough_for_a_calendar_moment() -> None:
    early = replace(turn(CALENDAR), rendered_at=nov("24 06:00"))
    assert deadline_of(replace(early, accepted_at=nov("24 07:00"))).at == nov("24 19:00")
    assert deadline_of(replace(early, accepted_at=nov("24 07:00:01"))).at == nov("27 19:00")


def test_a_calendar_moment_in_a_pause_is_replaced_by_the_next() -> None:
    paused = replace(turn(CALENDAR), pauses=stop("26 10:00", "27 19:30"))
    result = deadline_of(paused)
    assert result.at == utc("2026-12-01 19:00")
    assert reasons(result) == [Reason.PACE, Reason.PAUSE]


def test_a_pause_well_before_a_calendar_moment_changes_nothing() -> None:
    assert deadline_of(replace(turn(CALENDAR), pauses=stop("25 10:00", "26 10:00"))).at == nov("27 19:00")


def test_a_calendar_moment_at_which_a_pause_begins_still_counts() -> None:
    assert deadline_of(replace(turn(CALENDAR), pauses=stop("27 19:00", "28 19:00"))).at == nov("27 19:00")


def test_less_than_half_a_day_because_of_a_pause_means_the_next_calendar_moment() -> None:
    assert deadline_of(replace(turn(CALENDAR), pauses=stop("24 11:00", "27 18:00"))).at == utc("2026-12-01 19:00")


def test_a_calendar_moment_soon_after_an_outage_leaves_the_notice() -> None:
    result = deadline_of(replace(turn(CALENDAR), outages=stop("27 10:00", "27 15:00")))
    assert result.at == nov("28 03:00")
    assert reasons(result) == [Reason.PACE, Reason.NOTICE]


def test_a_calendar_waits_while_the_table_is_paused() -> None:
    result = deadline_of(replace(turn(CALENDAR), pauses=stop("26 10:00", None)))
    assert result.at is None
    assert result.waits_for is Reason.PAUSE


# Stops


def test_an_outage_is_given_back() -> None:
    result = deadline_of(replace(turn("3d"), outages=stop("24 20:00", "24 23:00")))
    assert result.at == nov("27 13:00")
    assert result.parts == (
        Part(Reason.PACE, hours(72), nov("27 10:00")),
        Part(Reason.OUTAGE, hours(3), nov("27 13:00")),
    )


def test_an_outage_before_the_clock_started_adds_nothing() -> None:
    assert deadline_of(replace(turn(), outages=stop("23 10:00", "24 10:00"))).at == nov("25 10:00")


def test_time_that_stops_share_counts_once_and_for_the_first_of_them() -> None:
    result = deadline_of(
        replace(
            turn("3d"),
            outages=stop("24 20:00", "24 23:00"),
            pauses=stop("24 22:00", "25 02:00"),
            vacations=stop("25 00:00", "26 00:00"),
        )
    )
    assert [(part.reason, part.by) for part in result.parts] == [
        (Reason.PACE, hours(72)),
        (Reason.OUTAGE, hours(3)),
        (Reason.PAUSE, hours(3)),
        (Reason.VACATION, hours(22)),
    ]


@pytest.mark.parametrize(
    ("field", "reason"), [("outages", Reason.OUTAGE), ("pauses", Reason.PAUSE), ("vacations", Reason.VACATION)]
)
def test_there_is_no_deadline_while_the_clock_is_stopped(field: str, reason: Reason) -> None:
    open_end = stop("25 00:00", None)
    waiting = {
        "outages": replace(turn(), outages=open_end),
        "pauses": replace(turn(), pauses=open_end),
        "vacations": replace(turn(), vacations=open_end),
    }[field]
    result = deadline_of(waiting)
    assert (result.start, result.at, result.waits_for) == (nov("24 10:00"), None, reason)


def test_a_stopped_clock_waits_for_the_stop_without_an_end() -> None:
    waiting = replace(turn(), outages=stop("24 11:00", "24 12:00"), pauses=stop("25 00:00", None))
    assert deadline_of(waiting).waits_for is Reason.PAUSE


def test_a_pause_that_begins_after_the_deadline_does_not_stop_it() -> None:
    assert deadline_of(replace(turn(), pauses=stop("25 10:00", None))).at == nov("25 10:00")


# Unreachable addresses


def test_an_unreachable_address_stops_the_clock_until_an_email_goes_through() -> None:
    result = deadline_of(replace(turn("3d"), unreachable=stop("24 12:00", "26 12:00")))
    assert result.at == nov("29 10:00")
    assert reasons(result) == [Reason.PACE, Reason.UNREACHABLE]
    assert seat_offer_at(replace(turn("3d"), unreachable=stop("24 12:00", "26 12:00"))) is None


def test_an_unreachable_address_stops_the_clock_for_a_week_at_most() -> None:
    dead = replace(turn(), unreachable=(Interval(nov("10 10:00"), None),), rendered_at=nov("10 10:00"))
    dead = replace(dead, accepted_at=nov("10 10:00"))
    assert deadline_of(dead).at == nov("18 10:00")
    assert seat_offer_at(dead) == nov("17 10:00")


def test_the_reasons_for_more_time_leave_out_the_steps_of_every_deadline() -> None:
    plain = turn()
    reasons_given = printed_deadline(plain).at
    assert reasons_given is not None
    delayed = replace(plain, promised=reasons_given, outages=stop("24 12:00", "24 15:30"))
    assert {Reason.PACE, Reason.ROUNDING} <= set(reasons(deadline_of(delayed)))
    assert reasons_later(deadline_of(delayed), reasons_given) == ["server outage"]
    slow = replace(plain, promised=reasons_given, accepted_at=nov("24 16:20"))
    assert reasons_later(deadline_of(slow), reasons_given) == ["late email"]


def test_the_patience_of_a_table_is_a_setting() -> None:
    dead = replace(turn(), unreachable=stop("24 10:00", None), patience=hours(48))
    assert deadline_of(dead).at == nov("27 10:00")
    assert seat_offer_at(dead) == nov("26 10:00")


def test_an_outage_uses_up_no_patience() -> None:
    dead = replace(turn(), unreachable=stop("24 10:00", None), patience=hours(48))
    away = replace(dead, outages=stop("24 12:00", "25 12:00"))
    assert seat_offer_at(dead) == nov("26 10:00")
    assert seat_offer_at(away) == nov("27 10:00")
    back = replace(away, unreachable=stop("24 10:00", "25 18:00"))
    assert seat_offer_at(back) is None


def test_several_failures_in_one_turn_share_the_patience() -> None:
    flapping = stop("24 12:00", "25 12:00") + stop("25 18:00", None)
    dead = replace(turn("3d"), unreachable=flapping, patience=hours(48))
    assert seat_offer_at(dead) == nov("26 18:00")


def test_a_long_dead_address_gets_no_new_week_at_each_turn() -> None:
    dead = replace(turn(), unreachable=stop("10 12:00", None))
    assert seat_offer_at(dead) == nov("17 12:00")
    assert deadline_of(dead).at == nov("25 10:00")


def test_a_failure_that_was_over_before_the_turn_does_not_count() -> None:
    healed = replace(turn(), unreachable=stop("10 12:00", "24 10:00"))
    assert seat_offer_at(healed) is None


def test_a_seat_whose_email_never_left_is_offered_too() -> None:
    dead = replace(turn(accepted=None), unreachable=stop("24 10:00", None), patience=hours(48))
    assert deadline_of(dead).at is None
    assert seat_offer_at(dead) == nov("26 10:00")


# Extensions


def test_an_extension_by_a_length_adds_running_time() -> None:
    more = replace(turn(), extensions=(ExtendedBy(hours(24)),))
    assert deadline_of(more).at == nov("26 10:00")
    away = replace(more, vacations=stop("25 12:00", "28 12:00"))
    assert deadline_of(away).at == nov("29 10:00")
    assert reasons(deadline_of(away)) == [Reason.PACE, Reason.EXTENSION]


def test_an_extension_to_a_moment_never_shortens_a_later_deadline() -> None:
    assert deadline_of(replace(turn(), extensions=(ExtendedTo(nov("26 20:00")),))).at == nov("26 20:00")
    assert deadline_of(replace(turn(), extensions=(ExtendedTo(nov("25 09:00")),))).at == nov("25 10:00")


def test_extensions_add_up_in_their_order() -> None:
    both = (ExtendedTo(nov("26 20:00")), ExtendedBy(hours(2)))
    assert deadline_of(replace(turn(), extensions=both)).at == nov("26 22:00")


def test_an_extension_into_an_open_pause_waits_for_its_end() -> None:
    paused = replace(turn(), extensions=(ExtendedBy(hours(24)),), pauses=stop("25 12:00", None))
    assert deadline_of(paused).waits_for is Reason.PAUSE
    to = replace(paused, extensions=(ExtendedTo(nov("26 20:00")),))
    assert (deadline_of(to).at, deadline_of(to).waits_for) == (None, Reason.PAUSE)


def test_an_extension_is_a_length_or_a_moment() -> None:
    now = nov("24 10:00")
    assert parse_extension("2d", now, BERLIN) == ExtendedBy(hours(48))
    expected: Extension = ExtendedTo(nov("26 19:00"))
    assert parse_extension("2026-11-26 20:00", now, BERLIN) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't an amount of time or a date"),
        ("tomorrow", "isn't an amount of time or a date"),
        ("2026-02-30 20:00", "isn't an amount of time or a date"),
        ("2026-11-26 25:00", "isn't an amount of time or a date"),
        ("31d", "thirty days"),
        ("2026-11-24 10:59", "too long, or in the past"),
        ("2026-12-31 20:00", "thirty days"),
        ("9999-12-31 23:59", "."),
        ("0001-01-01 00:00", "."),
    ],
)
def test_an_impossible_extension_is_refused_with_the_reason(text: str, says: str) -> None:
    for zone in (BERLIN, ZoneInfo("America/New_York")):
        with pytest.raises(BadInput, match=says):
            parse_extension(text, nov("24 16:00"), zone)


# Promises


def test_a_promised_deadline_is_never_moved_earlier() -> None:
    cancelled = replace(turn(), promised=nov("28 12:00"))
    result = deadline_of(cancelled)
    assert result.at == nov("28 12:00")
    assert reasons(result) == [Reason.PACE, Reason.PROMISE]


def test_a_promised_deadline_in_new_quiet_hours_still_moves_out_of_them() -> None:
    asleep = replace(turn(), promised=nov("28 23:00"), quiet=parse_quiet("22:00-07:00", BERLIN))
    assert deadline_of(asleep).at == nov("29 06:00")


@pytest.mark.parametrize(
    ("pace", "promised_at", "effective_at", "expected"),
    [
        ("1d", "25 10:00", "25 11:00", False),
        ("1d", "25 10:00", "25 11:01", True),
        ("4h", "24 14:00", "24 15:00", False),
        ("2h", "24 12:00", "24 12:30", False),
        ("2h", "24 12:00", "24 12:31", True),
        ("5m", "24 10:05", "24 10:06", False),
        ("5m", "24 10:05", "24 10:07", True),
        (CALENDAR, "24 19:00", "24 20:01", True),
    ],
)
def test_a_delay_of_over_an_hour_or_a_quarter_of_the_time_needs_a_new_email(
    pace: str, promised_at: str, effective_at: str, expected: bool
) -> None:
    assert is_noticeably_later(nov(promised_at), nov(effective_at), parse_pace(pace)) is expected


# Notice after a stop


@pytest.mark.parametrize(("pace", "least"), [("7d", 12), ("1d", 12), ("12h", 3), ("1h", 0.25), (CALENDAR, 12)])
def test_half_a_day_or_a_quarter_of_the_time_is_left_after_a_stop(pace: str, least: float) -> None:
    assert notice(parse_pace(pace)) == hours(least)


def test_an_outage_just_before_the_deadline_leaves_some_notice() -> None:
    result = deadline_of(replace(turn(), outages=stop("25 09:55", "25 12:00")))
    assert result.at == utc("2026-11-26 00:00")
    assert reasons(result) == [Reason.PACE, Reason.OUTAGE, Reason.NOTICE]


def test_an_outage_of_an_hour_only_adds_its_own_length() -> None:
    assert deadline_of(replace(turn(), outages=stop("25 09:00", "25 10:00"))).at == nov("25 11:00")
    longer = deadline_of(replace(turn(), outages=stop("25 09:00", "25 10:00:01")))
    assert longer.at == nov("25 23:00")


def test_at_a_short_pace_a_quarter_of_the_time_is_a_long_stop() -> None:
    assert negligible(parse_pace("5m")) == timedelta(seconds=75)
    result = deadline_of(replace(turn("5m"), outages=stop("24 10:04:30", "24 10:10:30")))
    assert result.at == nov("24 10:12")
    assert reasons(result)[:3] == [Reason.PACE, Reason.OUTAGE, Reason.NOTICE]


def test_pauses_and_vacations_leave_some_notice_too() -> None:
    assert deadline_of(replace(turn(), pauses=stop("25 09:00", "25 14:00"))).at == nov("26 02:00")
    assert deadline_of(replace(turn(), vacations=stop("25 09:00", "27 00:00"))).at == nov("27 12:00")


def test_the_notice_itself_runs_only_while_the_clock_runs() -> None:
    stops = stop("25 09:00", "25 14:00") + stop("25 20:00", "26 20:00")
    assert deadline_of(replace(turn(), pauses=stops)).at == nov("27 08:00")
    short = stop("25 09:00", "25 14:00") + stop("25 20:00", "25 20:30")
    assert deadline_of(replace(turn(), pauses=short)).at == nov("26 03:00")


def test_a_notice_that_runs_into_an_open_pause_waits_for_its_end() -> None:
    stops = stop("25 09:00", "25 14:00") + stop("25 20:00", None)
    assert deadline_of(replace(turn(), pauses=stops)).waits_for is Reason.PAUSE


# Quiet hours


def test_a_deadline_in_quiet_hours_moves_to_their_end_and_names_the_reason() -> None:
    asleep = replace(turn("12h", accepted="24 15:00"), quiet=parse_quiet("22:00-07:30", BERLIN))
    result = deadline_of(asleep)
    assert result.at == nov("25 06:30")
    assert result.parts[-1] == Part(Reason.QUIET, hours(3.5), nov("25 06:30"))


def test_a_deadline_after_quiet_hours_is_round_again() -> None:
    asleep = replace(turn(accepted="24 15:00"), quiet=parse_quiet("15:00-17:30", BERLIN))
    assert deadline_of(asleep).at == nov("25 17:00")


def test_a_deadline_that_quiet_hours_push_into_a_pause_comes_after_it() -> None:
    asleep = replace(
        turn(accepted="24 22:30"), quiet=parse_quiet("22:00-07:00", BERLIN), pauses=stop("26 02:00", "26 14:00")
    )
    result = deadline_of(asleep)
    assert [(part.reason, part.at) for part in result.parts] == [
        (Reason.PACE, nov("25 22:30")),
        (Reason.ROUNDING, nov("25 23:00")),
        (Reason.QUIET, nov("26 06:00")),
        (Reason.NOTICE, nov("27 02:00")),
        (Reason.QUIET, nov("27 06:00")),
    ]


# The data


def test_a_moment_that_is_not_in_utc_is_refused() -> None:
    local = datetime(2026, 11, 24, 10, tzinfo=BERLIN)
    with pytest.raises(ValueError, match="UTC"):
        replace(turn(), rendered_at=local)
    with pytest.raises(ValueError, match="UTC"):
        replace(turn(), accepted_at=local)
    with pytest.raises(ValueError, match="UTC"):
        replace(turn(), promised=local)
    with pytest.raises(ValueError, match="UTC"):
        ExtendedTo(local)


def test_patience_must_be_positive() -> None:
    with pytest.raises(ValueError, match="nobody can wait"):
        replace(turn(), patience=timedelta(0))


WEEKEND = Week((5, 6), None, ZoneInfo("UTC"))
WORK = Week((5, 6), WorkingHours((0, 1, 2, 3, 4), time(9), time(17)), ZoneInfo("UTC"))


@pytest.mark.parametrize(
    ("pace", "week", "at"),
    [
        # From Friday at ten: eight hours until the weekend's eve are left of a day, then ten more on Monday.
        pytest.param("1d", WEEKEND, "30 10:00", id="weekend"),
        pytest.param("12h", WEEKEND, "27 22:00", id="before the weekend"),
        pytest.param("14h", WEEKEND, "28 00:00", id="as the weekend begins"),
        pytest.param("12h", WORK, "30 05:00", id="work and weekend"),
        # Seven hours on Friday, nine before work on Monday, seven after it, nine before work on Tuesday, then four.
        pytest.param("36h", WORK, "01 21:00", id="over several days"),
        pytest.param("Sat 20:00 UTC", WEEKEND, "30 00:00", id="a fixed deadline on a day off"),
        pytest.param("Mon 20:00 UTC", WEEKEND, "30 20:00", id="a fixed deadline on another day"),
        pytest.param("Mon 12:00 UTC", WORK, "30 17:00", id="a fixed deadline at work"),
    ],
)
def test_a_clock_stands_still_in_time_off(pace: str, week: Week, at: str) -> None:
    asked = replace(turn(pace), rendered_at=nov("27 10:00"), accepted_at=nov("27 10:00"), week=week)
    month = "12" if at.startswith("01") else "11"
    found = deadline_of(asked)
    assert found.at == utc(f"2026-{month}-{at}")
    stands_still = deadline_of(replace(asked, week=None)).at != found.at
    assert (Reason.TIME_OFF in [part.reason for part in found.parts]) == stands_still


def test_time_off_calls_for_no_extra_notice() -> None:
    asked = replace(turn(), rendered_at=nov("27 00:30"), accepted_at=nov("27 00:30"), week=WEEKEND)
    assert deadline_of(asked).at == nov("30 01:00")


def test_a_deadline_in_quiet_hours_before_a_weekend_is_due_when_both_are_over() -> None:
    quiet = parse_quiet("22:00-07:00", ZoneInfo("UTC"))
    asked = replace(turn("12h"), rendered_at=nov("27 11:00"), accepted_at=nov("27 11:00"), week=WEEKEND, quiet=quiet)
    found = deadline_of(asked)
    assert found.at == nov("30 07:00")
    assert [part.reason for part in found.parts] == [Reason.PACE, Reason.QUIET, Reason.TIME_OFF, Reason.QUIET]


def test_quiet_hours_that_leave_no_moment_beside_work_are_left_out() -> None:
    every = Week((), WorkingHours(tuple(range(7)), time(8), time(20)), ZoneInfo("UTC"))
    asked = replace(turn("12h"), week=every, quiet=parse_quiet("20:00-09:00", ZoneInfo("UTC")))
    assert deadline_of(asked).at == nov("25 08:00")


def test_time_off_does_not_lengthen_a_second_chance() -> None:
    chance = (SecondChance(nov("27 20:00"), hours(12)),)
    assert deadline_of(replace(turn(), extensions=chance, week=WEEKEND)).at == nov("28 08:00")


def test_extra_time_passes_only_while_the_clock_runs() -> None:
    asked = replace(turn("12h"), rendered_at=nov("27 10:00"), accepted_at=nov("27 10:00"), week=WEEKEND)
    assert deadline_of(replace(asked, extensions=(ExtendedBy(hours(4)),))).at == nov("30 02:00")
    assert deadline_of(replace(asked, extensions=(ExtendedTo(nov("28 12:00")),))).at == nov("30 00:00")


def test_a_player_is_told_of_time_off_only_where_it_is_why_they_have_longer() -> None:
    asked = replace(turn("12h"), rendered_at=nov("27 10:00"), accepted_at=nov("27 10:00"), week=WEEKEND)
    late = replace(asked, accepted_at=nov("27 18:00"))
    assert reasons_later(deadline_of(late), nov("27 22:00")) == ["late email", "days off or working hours"]
    more = replace(asked, rendered_at=nov("27 20:00"), accepted_at=nov("27 20:00"), extensions=(ExtendedBy(hours(4)),))
    assert reasons_later(deadline_of(more), nov("30 08:00")) == ["more time from the organiser"]
