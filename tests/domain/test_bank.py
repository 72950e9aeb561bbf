"""Banks: exact to the second against a model that counts seconds, and never worse for what a player cannot help."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, strategies as st

from pbem.domain.bank import PastTurn, bank_after, spent
from pbem.domain.deadline import Reason, Turn, deadline_of
from pbem.domain.extension import ExtendedBy
from pbem.domain.interval import Interval
from pbem.domain.pace import Bank, parse_pace
from pbem.domain.week import Week, WorkingHours

BERLIN = ZoneInfo("Europe/Berlin")
BEGINNING = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
START, REFILL, MOST = 300, 60, 420
"""The bank, in seconds."""


def seconds(count: int) -> timedelta:
    return timedelta(seconds=count)


def bank() -> Bank:
    parsed = parse_pace("5m+1m max 7m")
    assert isinstance(parsed, Bank)
    return parsed


spans = st.tuples(st.integers(0, 3000), st.integers(0, 200))
"""A start and a length."""
histories = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 500), st.integers(0, 100)), max_size=6)
"""For each turn the seconds until its clock starts, until it is answered, and given by the organiser or by a player."""


def turns_of(
    history: list[tuple[int, int, int]], outages: list[tuple[int, int]], week: Week | None = None
) -> list[PastTurn]:
    """These turns, one after the other."""
    turns, at = [], 0
    for wait, used, given_more in history:
        started = BEGINNING + seconds(at + wait)
        turn = Turn(
            pace=bank(),
            zone=BERLIN,
            rendered_at=started,
            accepted_at=started,
            week=week,
            outages=tuple(Interval(BEGINNING + seconds(a), BEGINNING + seconds(a + length)) for a, length in outages),
            extensions=(ExtendedBy(seconds(given_more), 1 if used % 2 else None),) if given_more else (),
        )
        turns.append(PastTurn(turn, started + seconds(used)))
        at += wait + used
    return turns


def counted(history: list[tuple[int, int, int]], outages: list[tuple[int, int]]) -> int:
    """What is left, counted second by second."""
    left, at = START, 0
    for wait, used, given_more in history:
        begin = at + wait
        at = begin + used
        running = sum(not any(a <= second < a + length for a, length in outages) for second in range(begin, at))
        left = min(MOST, max(0, left - max(0, running - given_more)) + REFILL)
    return left


@given(histories, st.lists(spans, max_size=3))
def test_a_bank_is_exact_to_the_second(history: list[tuple[int, int, int]], outages: list[tuple[int, int]]) -> None:
    left = bank_after(bank(), turns_of(history, outages)).left
    assert left == seconds(counted(history, outages))
    assert seconds(REFILL) <= left <= seconds(MOST)


@given(histories, st.lists(spans, max_size=2), st.integers(0, 59), st.integers(1, 90))
def test_nothing_is_spent_in_working_hours(
    history: list[tuple[int, int, int]], outages: list[tuple[int, int]], begin: int, minutes: int
) -> None:
    """On a day when clocks show these hours twice: the first of the two count."""
    end = (datetime(2026, 1, 1, 2, begin) + timedelta(minutes=minutes)).time()
    week = Week((), WorkingHours((6,), time(2, begin), end), BERLIN)
    (off,) = week.intervals(BEGINNING, BEGINNING)
    assert off.end is not None
    first, last = (round((moment - BEGINNING).total_seconds()) for moment in (off.start, off.end))
    left = bank_after(bank(), turns_of(history, outages, week)).left
    assert left == seconds(counted(history, [*outages, (first, last - first)]))


@given(histories, st.lists(spans, max_size=2), st.lists(spans, max_size=2))
def test_an_outage_found_out_later_never_leaves_less(
    history: list[tuple[int, int, int]], outages: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    before = bank_after(bank(), turns_of(history, outages)).left
    assert bank_after(bank(), turns_of(history, outages + more)).left >= before


def test_a_turn_answered_before_its_clock_started_uses_nothing() -> None:
    (past,) = turns_of([(30, 100, 0)], [])
    assert spent(past.turn, past.closed_at) == seconds(100)
    assert spent(past.turn, past.closed_at - seconds(101)) == seconds(0)
    assert spent(replace(past.turn, accepted_at=None), past.closed_at) == seconds(0)


def test_a_deadline_says_what_was_left_in_the_bank() -> None:
    (past,) = turns_of([(0, 290, 0)], [])
    now = replace(past.turn, pace=bank_after(bank(), [past]))
    (part, *_) = deadline_of(now).parts
    assert (part.reason, part.by) == (Reason.BANK, seconds(START - 290 + REFILL))
