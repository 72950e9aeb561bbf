"""Emails that are not worth sending any more, by their kind and what has become of their subject."""

import pytest

from pbem.domain.outdated import ANSWERED, Subject, why_outdated

ASKED = Subject("playing", 5, plays=True, asked=True)
DECIDED = Subject("playing", 5, plays=True)


@pytest.mark.parametrize("kind", ["turn", "reminder"])
def test_an_email_that_asks_is_worth_sending_while_its_seat_is_asked(kind):
    assert why_outdated(kind, 5, ASKED) is None
    assert why_outdated(kind, 5, DECIDED) == ANSWERED
    assert why_outdated(kind, 4, ASKED) == "the game has moved on"
    assert why_outdated(kind, 5, Subject("over", 5, plays=True)) == "the game has ended"


def test_an_email_to_a_seat_is_not_sent_to_its_former_player():
    assert why_outdated("turn", 5, Subject("playing", 5, plays=False, asked=True)) == "someone else plays the seat now"


def test_a_notice_is_outdated_only_with_the_turn_that_it_is_about():
    assert why_outdated("notice", None, DECIDED) is None
    assert why_outdated("notice", 5, DECIDED) == ANSWERED


def test_a_sealed_choice_is_confirmed_until_it_is_changed_or_taken_back():
    assert why_outdated("sealed", 5, DECIDED) is None
    assert why_outdated("sealed", 5, ASKED) == "the choice was changed or taken back"
    changed = Subject("playing", 5, plays=True, settled=True)
    assert why_outdated("sealed", 5, changed) == "the choice was changed or taken back"
    assert why_outdated("sealed", 4, DECIDED) == "the game has moved on"


@pytest.mark.parametrize("kind", ["invitation", "joined", "declined", "left"])
def test_news_from_before_the_start_is_outdated_by_the_start(kind):
    assert why_outdated(kind, None, Subject("open", 0)) is None
    assert why_outdated(kind, None, Subject("playing", 1)) == "the table is no longer open"


def test_a_free_seat_is_offered_until_someone_has_it_or_the_game_ends():
    assert why_outdated("substitute", None, Subject("playing", 5)) is None
    for subject in (Subject("playing", 5, settled=True), Subject("over", 5)):
        assert why_outdated("substitute", None, subject) == "the seat is no longer on offer"


@pytest.mark.parametrize(
    ("kind", "why"), [("confirm", "the address is confirmed"), ("digest", "all its games are over"), ("links", None)]
)
def test_an_email_about_no_table_is_outdated_when_nothing_is_left_to_say(kind, why):
    assert why_outdated(kind, None, Subject()) is None
    assert why_outdated(kind, None, Subject(settled=True)) == why


def test_news_of_the_past_is_never_outdated():
    assert why_outdated("result", None, Subject("over", 5, plays=True)) is None
    assert why_outdated("closed", None, Subject("closed", 0)) is None
