"""How moments are said: nobody has to guess the day, the zone or the reason."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.domain.deadline import Turn, due
from pbem.domain.interval import Interval
from pbem.domain.moments import explained, from_now, said
from pbem.domain.pace import parse_pace

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "moment", "words"),
    [
        (
            "Europe/Berlin",
            "2026-11-24 19:00",
            "Tue 24 Nov 2026, 20:00 (Europe/Berlin); 19:00 UTC",
        ),
        (
            "America/New_York",
            "2026-11-25 01:00",
            "Tue 24 Nov 2026, 20:00 (America/New_York); Wed 25 Nov, 01:00 UTC",
        ),
        (
            "Pacific/Apia",
            "2026-12-31 12:00",
            "Fri 1 Jan 2027, 01:00 (Pacific/Apia); Thu 31 Dec, 12:00 UTC",
        ),
        ("UTC", "2026-11-24 09:05", "Tue 24 Nov 2026, 09:05 UTC"),
        # Shown twice that night: the moment in UTC tells which.
        (
            "Europe/Berlin",
            "2026-10-25 01:30",
            "Sun 25 Oct 2026, 02:30 (Europe/Berlin); 01:30 UTC",
        ),
    ],
)
def test_a_moment_is_said_in_the_players_zone_and_in_utc(zone: str, moment: str, words: str) -> None:
    assert said(utc(moment), ZoneInfo(zone)) == words


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
def test_how_far_away_a_moment_is(length: timedelta, words: str) -> None:
    assert from_now(NOW, NOW + length) == words


def test_a_deadline_says_how_it_came_about() -> None:
    turn = Turn(
        pace=parse_pace("3d"),
        zone=ZoneInfo("Europe/Berlin"),
        rendered_at=NOW,
        accepted_at=NOW,
        outages=(Interval(utc("2026-11-25 08:00"), utc("2026-11-25 10:00")),),
    )
    assert explained(due(turn), turn.zone) == (
        "Start: Tue 24 Nov 2026, 13:00 (Europe/Berlin); 12:00 UTC",
        "+ 3 days: pace of the table",
        "+ 2 hours: outage of the server",
        "Due: Fri 27 Nov 2026, 15:00 (Europe/Berlin); 14:00 UTC",
    )


def test_a_clock_that_does_not_run_says_why() -> None:
    waiting = Turn(parse_pace("1d"), ZoneInfo("UTC"), NOW)
    assert explained(due(waiting), waiting.zone) == ("The clock has not started: the mail is still on its way.",)
    paused = Turn(parse_pace("1d"), ZoneInfo("UTC"), NOW, NOW, pauses=(Interval(NOW, None),))
    assert explained(due(paused), paused.zone)[-1] == ("The clock stands still: pause of the table")
