"""Emails that can be switched off, and seats that a line of talk mentions."""

import pytest
from hypothesis import given, strategies as st

from pbem.domain.states import EmailKind
from pbem.domain.talk import mentioned
from pbem.domain.topics import USUAL, Topic, read_topics, topic_of, topics_text

NAMES = {0: "Ann", 1: "Ann Lee", 2: "Åsa (x)", 3: "Ben"}


@given(st.sets(st.sampled_from(Topic)))
def test_stored_topics_are_read_back(topics: set[Topic]) -> None:
    assert read_topics(topics_text(topics)) == topics


def test_every_topic_has_emails_and_no_email_about_an_account_has_a_topic() -> None:
    of_kinds = {topic_of(kind) for kind in EmailKind} | {topic_of(EmailKind.NOTICE, "player_back")}
    assert of_kinds - {None} == set(Topic)
    assert topic_of(EmailKind.NOTICE, "seat_taken") is topic_of(EmailKind.CONFIRM) is topic_of(EmailKind.LINKS) is None
    assert Topic.TALK not in USUAL


@pytest.mark.parametrize(
    ("text", "seats"),
    [
        ("@Ann, your move", {0}),
        ("hello @ann lee!", {1}),
        ("@Ann @Ann Lee @ben", {0, 1, 3}),
        ("@åsa (x)?", {2}),
        ("@Anna and Ben, ben@example.org, @ Ben", set()),
    ],
)
def test_a_mention_is_an_at_sign_and_a_whole_name(text: str, seats: set[int]) -> None:
    assert mentioned(text, NAMES) == seats
