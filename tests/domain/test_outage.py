"""Nobody is timed out because the server was down or a clock was moved."""

from datetime import UTC, datetime, timedelta

import pytest

from pbem.domain.interval import Interval
from pbem.domain.outage import LONGEST_GAP, SETTLING_TIME, outage_between, reason_to_wait

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LONG_AGO = NOW - timedelta(days=3)


def ago(**length: int) -> datetime:
    return NOW - timedelta(**length)


def test_a_gap_of_five_minutes_is_not_an_outage() -> None:
    assert outage_between(NOW - LONGEST_GAP, NOW) is None


def test_a_longer_gap_is_an_outage_from_the_last_heartbeat_until_now() -> None:
    last_beat = NOW - LONGEST_GAP - SECOND
    assert outage_between(last_beat, NOW) == Interval(last_beat, NOW)


def test_a_server_that_never_ran_has_no_outage() -> None:
    assert outage_between(None, NOW) is None


def test_a_clock_set_back_is_not_an_outage() -> None:
    assert outage_between(NOW + timedelta(days=1), NOW) is None


def test_a_healthy_worker_may_fire() -> None:
    assert reason_to_wait(NOW, LONG_AGO, ago(seconds=15), []) is None


def test_nothing_fires_in_the_first_minutes_after_a_start() -> None:
    reason = reason_to_wait(NOW, NOW - SETTLING_TIME + SECOND, ago(seconds=15), [])
    assert reason is not None
    assert "woke up 9 minutes ago" in reason
    assert reason_to_wait(NOW, NOW - SETTLING_TIME, ago(seconds=15), []) is None


def test_nothing_fires_in_the_first_minutes_after_an_outage() -> None:
    outage = Interval(ago(hours=5), ago(minutes=9))
    reason = reason_to_wait(NOW, LONG_AGO, ago(seconds=15), [outage])
    assert reason is not None
    assert "woke up 9 minutes ago" in reason
    old = Interval(ago(hours=5), ago(minutes=10))
    assert reason_to_wait(NOW, LONG_AGO, ago(seconds=15), [old]) is None


def test_the_settling_time_is_a_setting() -> None:
    started = ago(minutes=1)
    assert reason_to_wait(NOW, started, NOW, [], settling=timedelta(minutes=1)) is None


def test_nothing_fires_before_the_first_heartbeat() -> None:
    assert reason_to_wait(NOW, LONG_AGO, None, []) is not None


@pytest.mark.parametrize(
    ("worker_started", "last_beat", "outages"),
    [
        pytest.param(LONG_AGO, NOW + timedelta(seconds=31), [], id="a beat"),
        pytest.param(NOW + timedelta(hours=2), ago(seconds=15), [], id="the start"),
        pytest.param(LONG_AGO, ago(seconds=15), [Interval(ago(hours=3), NOW + timedelta(hours=2))], id="an outage"),
    ],
)
def test_nothing_fires_while_a_heartbeat_or_outage_is_in_the_future(
    worker_started: datetime, last_beat: datetime, outages: list[Interval]
) -> None:
    reason = reason_to_wait(NOW, worker_started, last_beat, outages)
    assert reason is not None
    assert "clock went back" in reason


def test_the_clocks_of_two_machines_may_differ_by_seconds() -> None:
    assert reason_to_wait(NOW, LONG_AGO, NOW + timedelta(seconds=30), []) is None


@pytest.mark.parametrize("hole", [LONGEST_GAP + SECOND, timedelta(hours=2), timedelta(days=400)])
def test_nothing_fires_after_a_gap_that_no_outage_explains(hole: timedelta) -> None:
    reason = reason_to_wait(NOW, NOW - timedelta(days=500), NOW - hole, [])
    assert reason is not None
    assert "no heartbeat" in reason


def test_a_recorded_outage_explains_the_gap() -> None:
    last_beat = ago(hours=3)
    outage = Interval(last_beat, ago(minutes=11))
    reason = reason_to_wait(NOW, LONG_AGO, last_beat, [outage])
    assert reason is not None
    assert "no heartbeat for 11 minutes" in reason
    assert reason_to_wait(NOW, LONG_AGO, ago(minutes=1), [outage]) is None


def test_nothing_fires_during_an_outage() -> None:
    assert reason_to_wait(NOW, LONG_AGO, NOW, [Interval(ago(hours=1), None)]) == "an outage is going on"
