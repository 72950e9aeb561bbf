"""Choices as segments of URLs."""

import pytest

from engine.decisions import Choice
from pbem.domain.choice_links import choice_segment, segment_text, text_segment


@pytest.mark.parametrize(
    ("choice", "segment"),
    [
        (Choice("pass"), "pass"),
        (Choice("bid", (7,)), "bid-7"),
        (Choice("rank", (("Sun", "Moon"), 2)), "rank-sun-moon-2"),
    ],
)
def test_a_choice_is_one_segment(choice, segment):
    assert choice_segment(choice) == segment


def test_a_segment_reads_back_as_text():
    assert segment_text("bid-7") == "bid 7"


@pytest.mark.parametrize("text", ["bid -1", "bid--1", "bid 7", "pass"])
def test_text_is_read_unchanged_so_that_no_sign_is_lost(text):
    assert segment_text(text) == text


def test_typed_text_compares_with_a_choice():
    assert text_segment("Bid  7") == choice_segment(Choice("bid", (7,))) == text_segment("bid-7")
