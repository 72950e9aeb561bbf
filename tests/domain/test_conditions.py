"""Conditions for joining a table: what they ask, who meets them, and what they say."""

import pytest

from pbem.domain.conditions import MOST_FINISHED, NONE, Conditions, Record, lacks, readers, words
from pbem.domain.errors import BadInput, read_fields

NEWCOMER = Record(None, 0, None)


def test_a_newcomer_is_asked_neither_for_punctuality_nor_for_a_rating():
    assert lacks(Conditions(in_time=100, lowest=1900, highest=2000), NEWCOMER) == []


@pytest.mark.parametrize(
    ("asked", "person", "sentences"),
    [
        (Conditions(in_time=90), Record(90, 0, None), []),
        (
            Conditions(in_time=90),
            Record(89, 0, None),
            ["This table asks for at least 90% of turns on time; you have 89%."],
        ),
        (Conditions(finished=3), Record(None, 3, None), []),
        (Conditions(finished=3), NEWCOMER, ["This table asks for 3 games finished in the last year; you have 0."]),
        (Conditions(finished=1), NEWCOMER, ["This table asks for one game finished in the last year; you have 0."]),
        (Conditions(lowest=1200, highest=1600), Record(None, 0, 1200), []),
        (Conditions(lowest=1200), Record(None, 0, 3000), []),
        (
            Conditions(lowest=1200, highest=1600),
            Record(None, 0, 1601),
            ["This table asks for a rating from 1200 to 1600; yours is 1601."],
        ),
        (
            Conditions(highest=1600),
            Record(None, 0, 1601),
            ["This table asks for a rating of at most 1600; yours is 1601."],
        ),
        (
            Conditions(lowest=1600),
            Record(None, 0, 1599),
            ["This table asks for a rating of at least 1600; yours is 1599."],
        ),
    ],
)
def test_a_person_is_told_what_is_asked_and_their_own_figure(asked, person, sentences):
    assert lacks(asked, person) == sentences


def test_several_things_that_a_person_lacks_are_told_at_once():
    assert len(lacks(Conditions(90, 3, 1200, 1600), Record(50, 1, 1000))) == 3


def test_conditions_are_stored_without_what_they_do_not_ask():
    assert str(NONE) == "{}"
    for asked in (NONE, Conditions(finished=3), Conditions(90, 3, 1200, 1600)):
        assert Conditions.of(str(asked)) == asked
    assert words(NONE) == []
    assert words(Conditions(90, 3, 1200)) == [
        "at least 90% of turns on time",
        "at least 3 games finished in the last year",
        "a rating of at least 1200",
    ]


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("in_time", Conditions(in_time=101)),
        ("in_time", Conditions(in_time=-1)),
        ("finished", Conditions(finished=MOST_FINISHED + 1)),
        ("finished", Conditions(finished=True)),
        ("lowest", Conditions(lowest=4001)),
        ("highest", Conditions(highest=-5)),
        ("highest", Conditions(lowest=1600, highest=1500)),
    ],
)
def test_conditions_that_nobody_could_meet_are_refused_beside_their_field(field, asked):
    with pytest.raises(BadInput) as refused:
        read_fields(readers(asked))
    assert list(refused.value.fields) == [field]
