"""Deadlines, as laws: whatever happens, nobody loses time because of someone else."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, strategies as st

from pbem.domain.deadline import Turn, deadline_of, is_noticeably_later, printed_deadline, stops
from pbem.domain.extension import ExtendedBy, ExtendedTo
from pbem.domain.interval import Interval, running_time
from pbem.domain.pace import Bank, Calendar, parse_pace
from pbem.domain.quiet_hours import QuietHours
from pbem.domain.week import Week, WorkingHours

# Close to the last Sunday of October, so that clocks change in the middle of many turns.
BEGINNING = datetime(2026, 10, 23, 12, tzinfo=UTC)
MINUTES_OF_A_WEEK = 7 * 24 * 60

zones = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]).map(
    ZoneInfo
)
banks = st.builds(
    lambda seconds: Bank(timedelta(days=1), timedelta(hours=6), timedelta(days=2), timedelta(seconds=seconds)),
    st.integers(0, 2 * 24 * 60 * 60),
)
"""Banks with anything left."""
paces = banks | st.sampled_from(
    ["5m", "1h", "12h", "1d", "3d", "Tue,Fri 20:00 Europe/Berlin", "Sun 02:30 Europe/Berlin"]
).map(parse_pace)
moments = st.integers(0, MINUTES_OF_A_WEEK).map(lambda minutes: BEGINNING + timedelta(minutes=minutes))
intervals = st.builds(
    lambda start, minutes: Interval(start, start + timedelta(minutes=minutes)),
    moments,
    st.one_of(st.integers(0, 90), st.integers(0, 3 * 24 * 60)),
)
several = st.lists(intervals, max_size=3).map(tuple)
nights = st.builds(
    lambda begin, hours, zone: QuietHours(time(begin, 30), time((begin + hours) % 24, 10), zone),
    st.integers(0, 23),
    st.integers(1, 16),
    zones,
)
weeks = st.builds(
    lambda off, days, begin, half_hours, zone: week_of(off, days - off, begin, half_hours, zone),
    st.sets(st.integers(0, 6), max_size=3),
    st.sets(st.integers(0, 6)),
    st.integers(0, 47),
    st.integers(1, 24),
    zones,
)
"""Weeks of any kind, with none for those without time off, or with too much."""
extensions = st.lists(
    st.builds(ExtendedBy, st.integers(1, 48).map(lambda hours: timedelta(hours=hours)))
    | st.builds(ExtendedBy, st.just(timedelta(days=1)), st.integers(0, 3))
    | st.builds(ExtendedTo, moments),
    max_size=2,
).map(tuple)
turns = st.builds(
    lambda pace, zone, rendered_at, slow, promised, outages, pauses, dead, away, more, quiet, week: Turn(
        pace=pace,
        zone=zone,
        rendered_at=rendered_at,
        accepted_at=rendered_at + timedelta(minutes=slow),
        promised=promised,
        outages=outages,
        pauses=pauses,
        unreachable=dead,
        vacations=away,
        extensions=more,
        quiet=quiet,
        week=week,
        patience=timedelta(days=2),
    ),
    paces,
    zones,
    moments,
    st.integers(0, 600),
    st.none() | moments,
    several,
    several,
    several,
    several,
    extensions,
    st.none() | nights,
    st.none() | weeks,
)


def week_of(off: set[int], working: set[int], begin: int, half_hours: int, zone: ZoneInfo) -> Week | None:
    begins, ends = (time(each % 48 // 2, each % 2 * 30) for each in (begin, begin + half_hours))
    work = WorkingHours(tuple(sorted(working)), begins, ends) if working else None
    try:
        return Week(tuple(sorted(off)), work, zone)
    except ValueError:
        return None


def moment_of(turn: Turn) -> datetime:
    """The deadline of a turn whose stops have all ended."""
    at = deadline_of(turn).at
    assert at is not None
    return at


@given(turns, several)
def test_more_outages_never_move_a_deadline_earlier(turn: Turn, more: tuple[Interval, ...]) -> None:
    assert moment_of(replace(turn, outages=turn.outages + more)) >= moment_of(turn)


@given(turns, several)
def test_more_pauses_never_move_a_deadline_earlier(turn: Turn, more: tuple[Interval, ...]) -> None:
    assert moment_of(replace(turn, pauses=turn.pauses + more)) >= moment_of(turn)


@given(turns, several)
def test_more_vacation_never_moves_a_deadline_earlier(turn: Turn, more: tuple[Interval, ...]) -> None:
    assert moment_of(replace(turn, vacations=turn.vacations + more)) >= moment_of(turn)


@given(turns, st.integers(0, 10_000))
def test_a_later_acceptance_never_moves_a_deadline_earlier(turn: Turn, slower: int) -> None:
    assert turn.accepted_at is not None
    later = replace(turn, accepted_at=turn.accepted_at + timedelta(minutes=slower))
    assert moment_of(later) >= moment_of(turn)


@given(turns, extensions)
def test_more_extensions_never_move_a_deadline_earlier(turn: Turn, more: tuple[ExtendedBy | ExtendedTo, ...]) -> None:
    extended = replace(turn, extensions=turn.extensions + more)
    assert moment_of(extended) >= moment_of(turn)


@given(turns)
def test_a_deadline_is_never_before_the_promised_one(turn: Turn) -> None:
    assert turn.promised is None or moment_of(turn) >= turn.promised


@given(turns)
def test_a_deadline_is_never_before_the_printed_one(turn: Turn) -> None:
    floor = printed_deadline(turn).at
    assert floor is not None
    assert moment_of(turn) >= floor


@given(turns, several)
def test_a_printed_deadline_that_is_promised_holds_whatever_is_cancelled(
    turn: Turn, effective: tuple[Interval, ...]
) -> None:
    printed = printed_deadline(turn).at
    cancelled = replace(turn, promised=printed, vacations=effective, extensions=(), quiet=None)
    assert printed is not None
    assert moment_of(cancelled) >= printed


@given(turns)
def test_a_player_gets_all_the_time_of_the_pace_with_the_clock_running(turn: Turn) -> None:
    result = deadline_of(turn)
    assert result.start is not None
    assert result.at is not None
    if not isinstance(turn.pace, Calendar):
        assert running_time(result.start, result.at, stops(turn, result.at)) >= turn.pace.allowed


@given(turns)
def test_a_deadline_is_never_in_quiet_hours(turn: Turn) -> None:
    turn = replace(turn, week=None)
    assert turn.quiet is None or turn.quiet.period_around(moment_of(turn)) is None


@given(turns, weeks)
def test_a_deadline_is_in_quiet_hours_only_where_these_and_a_week_leave_too_little(
    turn: Turn, week: Week | None
) -> None:
    turn = replace(turn, quiet=QuietHours(time(22), time(7), turn.zone), week=week)
    if week is None or week.work is None or (week.zone == turn.zone and week.work.length <= timedelta(hours=8)):
        assert turn.quiet is not None
        assert turn.quiet.period_around(moment_of(turn)) is None


@given(turns)
def test_a_deadline_is_never_in_time_off(turn: Turn) -> None:
    assert turn.week is None or turn.week.period_around(moment_of(turn)) is None


@given(turns, weeks)
def test_time_off_never_moves_a_deadline_earlier(turn: Turn, week: Week | None) -> None:
    always = replace(turn, quiet=None, week=None)
    assert moment_of(replace(always, week=week)) >= moment_of(always)


@given(turns)
def test_the_clock_stands_still_in_all_time_off_before_a_deadline(turn: Turn) -> None:
    if turn.week is not None and not isinstance(turn.pace, Calendar):
        bare = Turn(turn.pace, turn.zone, turn.rendered_at, turn.accepted_at, week=turn.week)
        start = max(turn.rendered_at, turn.accepted_at or turn.rendered_at)
        year = turn.week.intervals(start, start + timedelta(days=366))
        # Rounding can lead into time off, and be due again after it.
        longer = running_time(start, moment_of(bare), year) - turn.pace.allowed
        assert timedelta(0) <= longer < 2 * turn.pace.rounding_step


@given(turns)
def test_a_deadline_is_never_at_a_moment_when_the_clock_is_stopped(turn: Turn) -> None:
    at = moment_of(turn)
    assert not any(stop.start < at and stop.contains(at) for stop in stops(turn, at))


@given(turns)
def test_a_deadline_is_round_on_the_players_own_clock(turn: Turn) -> None:
    at = moment_of(turn).astimezone(turn.zone)
    past_the_hour = timedelta(minutes=at.minute, seconds=at.second)
    assert past_the_hour % turn.pace.rounding_step == timedelta(0)


@given(turns)
def test_the_parts_lead_from_the_start_to_the_deadline(turn: Turn) -> None:
    result = deadline_of(turn)
    assert result.start is not None
    at = result.start
    for part in result.parts:
        assert part.by > timedelta(0)
        at += part.by
        assert part.at == at
    assert at == result.at


@given(turns)
def test_a_deadline_computed_again_with_itself_as_promise_stays(turn: Turn) -> None:
    at = moment_of(turn)
    again = moment_of(replace(turn, promised=at))
    assert again == at
    assert not is_noticeably_later(at, again, turn.pace)


@given(turns, moments)
def test_an_open_stop_gives_no_deadline_or_the_same_one(turn: Turn, since: datetime) -> None:
    result = deadline_of(replace(turn, pauses=(*turn.pauses, Interval(since, None))))
    assert result.at is None or result.at == moment_of(turn)
    assert (result.at is None) == (result.waits_for is not None)
