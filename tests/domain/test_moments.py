"""Moments as text: always with the day, the zone and, for deadlines, the reason."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.deadline import Turn, deadline_of
from pbem.domain.interval import Interval
from pbem.domain.moments import explanation, moment_text, relative_text
from pbem.domain.pace import parse_pace

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "moment", "words"),
    [
        ("Europe/Berlin", "2026-11-24 19:00", "Tue 24 Nov 2026, 20:00 (Europe/Berlin); 19:00 UTC"),
        ("America/New_York", "2026-11-25 01:00", "Tue 24 Nov 2026, 20:00 (America/New_York); Wed 25 Nov, 01:00 UTC"),
        ("Pacific/Apia", "2026-12-31 12:00", "Fri 1 Jan 2027, 01:00 (Pacific/Apia); Thu 31 Dec, 12:00 UTC"),
        ("UTC", "2026-11-24 09:05", "Tue 24 Nov 2026, 09:05 UTC"),
        # Shown twice that night: the time in UTC tells which.
        ("Europe/Berlin", "2026-10-25 01:30", "Sun 25 Oct 2026, 02:30 (Europe/Berlin); 01:30 UTC"),
    ],
)
def test_a_moment_is_printed_in_the_players_zone_and_in_utc(zone: str, moment: str, words: str) -> None:
    assert moment_text(utc(moment), ZoneInfo(zone)) == words


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(days=2), "in 2 days"),
        (timedelta(hours=3, minutes=20), "in 3 hours 20 minutes"),
        (timedelta(seconds=59), "now"),
        (timedelta(seconds=-59), "now"),
        (timedelta(hours=-1), "1 hour ago"),
    ],
)
def test_a_relative_time_is_in_the_future_or_the_past(length: timedelta, words: str) -> None:
    assert relative_text(NOW, NOW + length) == words


def test_an_explanation_lists_the_steps_of_a_deadline() -> None:
    turn = Turn(
        pace=parse_pace("3d"),
        zone=ZoneInfo("Europe/Berlin"),
        rendered_at=NOW,
        accepted_at=NOW,
        outages=(Interval(utc("2026-11-25 08:00"), utc("2026-11-25 10:00")),),
    )
    assert explanation(deadline_of(turn), turn.zone, {}) == (
        "Start: Tue 24 Nov 2026, 13:00 (Europe/Berlin); 12:00 UTC",
        "+ 3 days: the table's time per turn",
        "+ 2 hours: server outage",
        "Due: Fri 27 Nov 2026, 15:00 (Europe/Berlin); 14:00 UTC",
    )


def test_an_explanation_of_a_stopped_clock_gives_the_reason() -> None:
    waiting = Turn(parse_pace("1d"), ZoneInfo("UTC"), NOW)
    assert explanation(deadline_of(waiting), waiting.zone, {}) == ("Your time starts when the email goes out.",)
    paused = Turn(parse_pace("1d"), ZoneInfo("UTC"), NOW, NOW, pauses=(Interval(NOW, None),))
    assert explanation(deadline_of(paused), paused.zone, {})[-1] == ("Clock stopped: table paused")
