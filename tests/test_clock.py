from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pbem.clock import Clock, Randomness, SystemClock, SystemRandomness
from tests.fakes import FakeClock, SeededRandomness

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_every_clock_answers_in_utc() -> None:
    berlin = FakeClock(NOON.astimezone(ZoneInfo("Europe/Berlin")))
    clocks: list[Clock] = [SystemClock(), FakeClock(NOON), berlin]
    assert [clock.now().tzinfo for clock in clocks] == [UTC, UTC, UTC]
    assert berlin.now() == NOON


def test_a_fake_clock_stops_until_it_is_moved() -> None:
    clock = FakeClock(NOON)
    assert clock.now() == clock.now() == NOON
    assert clock.advance(timedelta(hours=3)) == clock.now() == NOON + timedelta(hours=3)


def test_a_fake_clock_can_be_stepped_back_but_does_not_run_backwards() -> None:
    clock = FakeClock(NOON)
    clock.set(NOON - timedelta(days=1))
    assert clock.now() == NOON - timedelta(days=1)
    with pytest.raises(ValueError, match="use set"):
        clock.advance(timedelta(seconds=-1))


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        FakeClock(NOON.replace(tzinfo=None))


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, two, other = SeededRandomness(7), SeededRandomness(7), SeededRandomness(8)
    stream = [one.bytes(16), one.bytes(3)]
    assert stream == [two.bytes(16), two.bytes(3)]
    assert stream[0] != other.bytes(16)


def test_every_source_gives_the_requested_number_of_bytes() -> None:
    sources: list[Randomness] = [SystemRandomness(), SeededRandomness(1)]
    for source in sources:
        assert [len(source.bytes(count)) for count in (0, 1, 33)] == [0, 1, 33]
        assert source.bytes(16) != source.bytes(16)
