"""The yardstick of the other tests: it sees work that grows faster than its input."""

import pytest

from tests.fuzz.door import must_be_linear, steps


def once(length):
    return sum(1 for _each in range(length))


def each_with_each(length):
    return sum(1 for _one in range(length) for _other in range(0, length, 10))


def one_thing_or_another(length):
    once(length if length < 2000 else length + 100_000)


def test_steps_are_counted_and_always_the_same():
    assert steps(lambda: once(1000)) == steps(lambda: once(1000)) > 1000


def test_linear_work_passes_and_quadratic_work_does_not():
    must_be_linear(once)
    must_be_linear(one_thing_or_another)
    with pytest.raises(AssertionError, match="more and more steps"):
        must_be_linear(each_with_each, 300)
