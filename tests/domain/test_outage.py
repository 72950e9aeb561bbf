"""Nobody is timed out by our own downtime, nor by a clock that was moved."""

from datetime import UTC, datetime, timedelta

import pytest

from pbem.domain.interval import Interval
from pbem.domain.outage import LONGEST_HOLE, SETTLING, may_fire, outage_between

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LONG_AGO = NOW - timedelta(days=3)


def ago(**length: int) -> datetime:
    return NOW - timedelta(**length)


def test_a_hole_of_five_minutes_is_none() -> None:
    assert outage_between(NOW - LONGEST_HOLE, NOW) is None


def test_a_longer_hole_is_an_outage_from_the_last_beat_until_now() -> None:
    last_beat = NOW - LONGEST_HOLE - SECOND
    assert outage_between(last_beat, NOW) == Interval(last_beat, NOW)


def test_a_server_that_never_ran_was_never_down() -> None:
    assert outage_between(None, NOW) is None


def test_a_clock_that_went_back_is_no_outage() -> None:
    assert outage_between(NOW + timedelta(days=1), NOW) is None


def test_a_healthy_worker_may_fire() -> None:
    assert may_fire(NOW, LONG_AGO, ago(seconds=15), []) is None


def test_nothing_fires_in_the_first_minutes_after_a_start() -> None:
    said = may_fire(NOW, NOW - SETTLING + SECOND, ago(seconds=15), [])
    assert said is not None
    assert "woke up 9 minutes ago" in said
    assert may_fire(NOW, NOW - SETTLING, ago(seconds=15), []) is None


def test_nothing_fires_in_the_first_minutes_after_an_outage() -> None:
    outage = Interval(ago(hours=5), ago(minutes=9))
    said = may_fire(NOW, LONG_AGO, ago(seconds=15), [outage])
    assert said is not None
    assert "woke up 9 minutes ago" in said
    old = Interval(ago(hours=5), ago(minutes=10))
    assert may_fire(NOW, LONG_AGO, ago(seconds=15), [old]) is None


def test_the_time_to_settle_can_be_chosen() -> None:
    started = ago(minutes=1)
    assert may_fire(NOW, started, NOW, [], settling=timedelta(minutes=1)) is None


def test_nothing_fires_before_the_first_heartbeat() -> None:
    assert may_fire(NOW, LONG_AGO, None, []) is not None


@pytest.mark.parametrize(
    ("worker_started", "last_beat", "outages"),
    [
        pytest.param(LONG_AGO, NOW + timedelta(seconds=31), [], id="a beat"),
        pytest.param(NOW + timedelta(hours=2), ago(seconds=15), [], id="the start"),
        pytest.param(
            LONG_AGO,
            ago(seconds=15),
            [Interval(ago(hours=3), NOW + timedelta(hours=2))],
            id="an outage",
        ),
    ],
)
def test_nothing_fires_while_something_lies_in_the_future(
    worker_started: datetime, last_beat: datetime, outages: list[Interval]
) -> None:
    said = may_fire(NOW, worker_started, last_beat, outages)
    assert said is not None
    assert "clock went back" in said


def test_the_clocks_of_two_machines_may_differ_by_seconds() -> None:
    assert may_fire(NOW, LONG_AGO, NOW + timedelta(seconds=30), []) is None


@pytest.mark.parametrize("hole", [LONGEST_HOLE + SECOND, timedelta(hours=2), timedelta(days=400)])
def test_nothing_fires_after_a_hole_that_no_outage_explains(hole: timedelta) -> None:
    said = may_fire(NOW, NOW - timedelta(days=500), NOW - hole, [])
    assert said is not None
    assert "no heartbeat" in said


def test_an_outage_written_down_explains_the_hole() -> None:
    last_beat = ago(hours=3)
    outage = Interval(last_beat, ago(minutes=11))
    said = may_fire(NOW, LONG_AGO, last_beat, [outage])
    assert said is not None
    assert "no heartbeat for 11 minutes" in said
    assert may_fire(NOW, LONG_AGO, ago(minutes=1), [outage]) is None


def test_nothing_fires_during_an_outage_that_goes_on() -> None:
    assert may_fire(NOW, LONG_AGO, NOW, [Interval(ago(hours=1), None)]) == "an outage is going on"
