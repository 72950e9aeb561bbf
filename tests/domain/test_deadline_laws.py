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
extensions = st.lists(
    st.builds(ExtendedBy, st.integers(1, 48).map(lambda hours: timedelta(hours=hours)))
    | st.builds(ExtendedBy, st.just(timedelta(days=1)), st.integers(0, 3))
    | st.builds(ExtendedTo, moments),
    max_size=2,
).map(tuple)
turns = st.builds(
    lambda pace, zone, rendered_at, slow, promised, outages, pauses, dead, away, more, quiet: Turn(
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
)


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
        assert running_time(result.start, result.at, stops(turn)) >= turn.pace.allowed


@given(turns)
def test_a_deadline_is_never_in_quiet_hours(turn: Turn) -> None:
    assert turn.quiet is None or turn.quiet.period_around(moment_of(turn)) is None


@given(turns)
def test_a_deadline_is_never_at_a_moment_when_the_clock_is_stopped(turn: Turn) -> None:
    at = moment_of(turn)
    assert not any(stop.start < at and stop.contains(at) for stop in stops(turn))


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
