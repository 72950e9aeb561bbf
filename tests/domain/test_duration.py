"""Durations, parsed and printed."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from pbem.domain.duration import duration_text, extension_text, parse_duration, rough_text, short_duration
from pbem.domain.errors import BadInput


@pytest.mark.parametrize(
    ("text", "length"), [("5m", timedelta(minutes=5)), ("12h", timedelta(hours=12)), (" 3 D ", timedelta(days=3))]
)
def test_a_duration_is_a_number_and_a_unit(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", ["", "5", "h", "0h", "-1d", "1.5h", "1w", "9" * 5000 + "d", "٣d"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match="30m, 12h or 3d"):
        parse_duration(text)


@given(st.integers(1, 99_999))
def test_the_short_form_parses_back_to_the_same_duration(minutes: int) -> None:
    length = timedelta(minutes=minutes)
    assert parse_duration(short_duration(length)) == length


def test_the_short_form_uses_the_largest_unit_that_fits() -> None:
    assert short_duration(timedelta(days=7)) == "7d"
    assert short_duration(timedelta(hours=36)) == "36h"
    assert short_duration(timedelta(minutes=90)) == "90m"


@pytest.mark.parametrize("length", [timedelta(seconds=90), timedelta(0)])
def test_a_duration_without_a_short_form_is_an_error(length: timedelta) -> None:
    with pytest.raises(ValueError, match="whole number of minutes"):
        short_duration(length)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(0), "less than a minute"),
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=59, seconds=59), "59 minutes"),
        (timedelta(hours=1), "1 hour"),
        (timedelta(hours=2, minutes=30), "2 hours 30 minutes"),
        (timedelta(days=1, hours=3, minutes=59), "1 day 3 hours"),
        (timedelta(days=2, minutes=5), "2 days"),
        (timedelta(days=400), "400 days"),
    ],
)
def test_a_duration_is_printed_in_its_two_largest_units(length: timedelta, words: str) -> None:
    assert duration_text(length) == words


@pytest.mark.parametrize(
    ("more", "text"), [("2d", "2 days"), ("36h", "1 day 12 hours"), ("2026-12-01 20:00", "2026-12-01 20:00")]
)
def test_an_extension_is_printed_in_words_and_a_moment_as_entered(more, text):
    assert extension_text(more) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=2, hours=23), "2 days"),
        (timedelta(hours=3, minutes=59), "3 hours"),
        (timedelta(minutes=1, seconds=59), "1 minute"),
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(seconds=-1), "less than a minute"),
    ],
)
def test_a_rough_text_has_the_largest_unit_alone(length: timedelta, text: str) -> None:
    assert rough_text(length) == text
