"""Delivery: the preferences, the action for each kind of email, quiet hours, and the day of a digest."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from pbem import paths
from pbem.domain.delivery import (
    AT_ONCE,
    GAME_NEWS,
    PERSONAL,
    RESULTS,
    URGENT,
    Action,
    Delivery,
    Verdict,
    Way,
    digest_day,
    judge,
    parse_delivery,
    starts_without_mail,
)
from pbem.domain.errors import BadInput
from pbem.domain.quiet_hours import parse_quiet

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = parse_quiet("22:00-07:00", BERLIN)
NOON = datetime(2026, 11, 24, 11, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 24, 23, 0, tzinfo=UTC)
MORNING = datetime(2026, 11, 25, 6, 0, tzinfo=UTC)
EVERY = tuple(Delivery(way, timedelta(minutes=30) if way is Way.DELAYED else timedelta(0)) for way in Way)


def verdict_on(kind, preference, *, queued=NOON, now=NOON, quiet=None, last=False):
    return judge(kind, preference, queued, now, quiet, last=last)


@pytest.mark.parametrize("preference", EVERY, ids=str)
def test_a_preference_parses_back_from_its_text(preference):
    assert parse_delivery(str(preference)) == preference
    assert parse_delivery(f"  {str(preference).upper()} ") == preference


@pytest.mark.parametrize("text", ["", "after", "after 0m", "after 13h", "after -5m", "weekly", "daily 08:00", "\0"])
def test_an_unknown_preference_is_refused_with_the_list_of_them(text):
    with pytest.raises(BadInput) as refused:
        parse_delivery(text)
    assert refused.value.why
    assert refused.value.remedy


@pytest.mark.parametrize("preference", EVERY, ids=str)
@pytest.mark.parametrize("kind", sorted(URGENT))
def test_an_urgent_email_leaves_at_any_hour_under_any_preference(kind, preference):
    assert verdict_on(kind, preference, now=MIDNIGHT, quiet=NIGHT) == Verdict(Action.SEND)


@pytest.mark.parametrize("kind", sorted(PERSONAL))
def test_a_personal_email_is_never_withheld_but_waits_for_the_morning(kind):
    nothing = Delivery(Way.NOTHING)
    assert verdict_on(kind, nothing) == Verdict(Action.SEND)
    assert verdict_on(kind, nothing, now=MIDNIGHT, quiet=NIGHT) == Verdict(Action.WAIT, MORNING)


@pytest.mark.parametrize(
    ("way", "sent", "withheld", "digested"),
    [
        (Way.AT_ONCE, {*GAME_NEWS, *RESULTS, "invitation", "substitute"}, set(), set()),
        (Way.DAILY, {*RESULTS, "invitation", "substitute", "back_proposed"}, set(), GAME_NEWS - {"back_proposed"}),
        (
            Way.REMINDERS,
            {*RESULTS, "reminder", "invitation", "back_proposed"},
            GAME_NEWS - {"reminder", "back_proposed"},
            set(),
        ),
        (Way.RESULTS, {*RESULTS, "invitation", "substitute"}, GAME_NEWS, set()),
        (Way.NOTHING, set(), {*GAME_NEWS, *RESULTS, "invitation", "substitute"}, set()),
    ],
)
def test_each_preference_sends_withholds_or_digests_each_kind(way, sent, withheld, digested):
    actions = {kind: verdict_on(kind, Delivery(way)).action for kind in sent | withheld | digested}
    assert {kind for kind, action in actions.items() if action is Action.SEND} == sent
    assert {kind for kind, action in actions.items() if action is Action.WITHHOLD} == withheld
    assert {kind for kind, action in actions.items() if action is Action.DIGEST} == digested


def test_a_delayed_email_leaves_after_its_delay_and_outside_quiet_hours():
    preference = parse_delivery("after 30m")
    later = NOON + timedelta(minutes=30)
    assert verdict_on("turn", preference) == Verdict(Action.WAIT, later)
    assert verdict_on("turn", preference, now=later) == Verdict(Action.SEND)
    before_ten = datetime(2026, 11, 24, 20, 45, tzinfo=UTC)
    assert verdict_on("turn", preference, queued=before_ten, now=before_ten, quiet=NIGHT) == Verdict(
        Action.WAIT, MORNING
    )


def test_in_quiet_hours_an_email_waits_for_their_end():
    assert verdict_on("turn", AT_ONCE, now=MIDNIGHT, quiet=NIGHT) == Verdict(Action.WAIT, MORNING)
    assert verdict_on("turn", AT_ONCE, now=MORNING, quiet=NIGHT) == Verdict(Action.SEND)


def test_the_last_reminder_does_not_wait_for_a_digest_but_can_be_withheld():
    assert verdict_on("reminder", Delivery(Way.DAILY), last=True) == Verdict(Action.SEND)
    assert verdict_on("reminder", Delivery(Way.DAILY)) == Verdict(Action.DIGEST)
    assert verdict_on("reminder", Delivery(Way.NOTHING), last=True) == Verdict(Action.WITHHOLD)
    assert verdict_on("reminder", Delivery(Way.RESULTS), last=True) == Verdict(Action.WITHHOLD)


def test_a_clock_without_an_email_starts_when_one_sent_at_once_would_have_left():
    hold = timedelta(seconds=60)
    assert starts_without_mail(NOON, hold, None) == NOON + hold
    assert starts_without_mail(MIDNIGHT, hold, NIGHT) == MORNING


def test_every_kind_named_here_has_a_template():
    there = {each.name for each in Path(paths.templates() / "mail").iterdir() if each.is_dir()}
    # Replies to a person have their templates elsewhere.
    assert (URGENT | PERSONAL | GAME_NEWS | RESULTS) - there <= {"receipt", "was_it_you"}


# The day of a digest


def day_of(now, at="08:00", zone=BERLIN, last=None):
    return digest_day(now, time.fromisoformat(at), zone, last)


def test_a_day_has_its_digest_from_its_time_on_and_only_once():
    assert day_of(datetime(2026, 11, 24, 6, 59, tzinfo=UTC)) is None
    assert day_of(datetime(2026, 11, 24, 7, 0, tzinfo=UTC)) == date(2026, 11, 24)
    assert day_of(datetime(2026, 11, 24, 20, 0, tzinfo=UTC), last=date(2026, 11, 23)) == date(2026, 11, 24)
    assert day_of(datetime(2026, 11, 24, 20, 0, tzinfo=UTC), last=date(2026, 11, 24)) is None


def test_several_days_of_outage_have_one_digest_together():
    assert day_of(datetime(2026, 11, 29, 9, 0, tzinfo=UTC), last=date(2026, 11, 24)) == date(2026, 11, 29)


def test_a_skipped_time_is_the_moment_after_the_gap():
    # In Berlin there was no 02:30 on 29 March 2026.
    assert day_of(datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "02:30") is None
    assert day_of(datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "02:30") == date(2026, 3, 29)


def test_a_repeated_time_is_the_first_of_the_two_and_one_digest():
    # In Berlin it was 02:30 at 00:30 and at 01:30 UTC on 25 October 2026.
    first, second = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert day_of(first - timedelta(minutes=1), "02:30") is None
    assert day_of(first, "02:30") == date(2026, 10, 25)
    assert day_of(second, "02:30", last=date(2026, 10, 25)) is None


def test_moving_to_another_zone_gives_no_second_digest_on_a_day():
    honolulu = ZoneInfo("Pacific/Honolulu")
    moment = datetime(2026, 11, 24, 20, 0, tzinfo=UTC)
    assert day_of(moment, zone=honolulu, last=date(2026, 11, 24)) is None
    assert day_of(moment + timedelta(days=1), zone=honolulu, last=date(2026, 11, 24)) == date(2026, 11, 25)
