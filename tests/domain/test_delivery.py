"""When a person is mailed: the ways, what becomes of each kind of mail, quiet hours, and the day of a digest."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from pbem import paths
from pbem.domain.delivery import (
    ANSWERS,
    ASKED_FOR,
    AT_ONCE,
    RESULTS,
    RUNNING,
    Delivery,
    Fate,
    Judged,
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


def judged(kind, wish, *, queued=NOON, now=NOON, quiet=None, last=False):
    return judge(kind, wish, queued, now, quiet, last=last)


@pytest.mark.parametrize("wish", EVERY, ids=str)
def test_a_way_reads_back_from_how_it_is_written(wish):
    assert parse_delivery(str(wish)) == wish
    assert parse_delivery(f"  {str(wish).upper()} ") == wish


@pytest.mark.parametrize("text", ["", "after", "after 0m", "after 13h", "after -5m", "weekly", "daily 08:00", "\0"])
def test_what_is_no_way_is_refused_with_the_ways_there_are(text):
    with pytest.raises(BadInput) as refused:
        parse_delivery(text)
    assert refused.value.why
    assert refused.value.remedy


@pytest.mark.parametrize("wish", EVERY, ids=str)
@pytest.mark.parametrize("kind", sorted(ASKED_FOR))
def test_what_was_asked_for_leaves_whatever_is_wished_at_any_hour(kind, wish):
    assert judged(kind, wish, now=MIDNIGHT, quiet=NIGHT) == Judged(Fate.SEND)


@pytest.mark.parametrize("kind", sorted(ANSWERS))
def test_an_answer_is_never_withheld_but_waits_for_the_morning(kind):
    nothing = Delivery(Way.NOTHING)
    assert judged(kind, nothing) == Judged(Fate.SEND)
    assert judged(kind, nothing, now=MIDNIGHT, quiet=NIGHT) == Judged(Fate.WAIT, MORNING)


@pytest.mark.parametrize(
    ("way", "sent", "withheld", "told_later"),
    [
        (Way.AT_ONCE, {*RUNNING, *RESULTS, "invitation", "substitute"}, set(), set()),
        (Way.DAILY, {*RESULTS, "invitation", "substitute"}, set(), RUNNING),
        (Way.REMINDERS, {*RESULTS, "reminder", "invitation"}, RUNNING - {"reminder"}, set()),
        (Way.RESULTS, {*RESULTS, "invitation", "substitute"}, RUNNING, set()),
        (Way.NOTHING, set(), {*RUNNING, *RESULTS, "invitation", "substitute"}, set()),
    ],
)
def test_each_way_sends_withholds_and_tells_later_what_it_says(way, sent, withheld, told_later):
    fates = {kind: judged(kind, Delivery(way)).fate for kind in sent | withheld | told_later}
    assert {kind for kind, fate in fates.items() if fate is Fate.SEND} == sent
    assert {kind for kind, fate in fates.items() if fate is Fate.WITHHOLD} == withheld
    assert {kind for kind, fate in fates.items() if fate is Fate.DIGEST} == told_later


def test_a_delayed_mail_leaves_so_much_later_and_then_not_in_quiet_hours():
    wish = parse_delivery("after 30m")
    later = NOON + timedelta(minutes=30)
    assert judged("turn", wish) == Judged(Fate.WAIT, later)
    assert judged("turn", wish, now=later) == Judged(Fate.SEND)
    before_ten = datetime(2026, 11, 24, 20, 45, tzinfo=UTC)
    assert judged("turn", wish, queued=before_ten, now=before_ten, quiet=NIGHT) == Judged(Fate.WAIT, MORNING)


def test_in_quiet_hours_a_mail_waits_for_their_end():
    assert judged("turn", AT_ONCE, now=MIDNIGHT, quiet=NIGHT) == Judged(Fate.WAIT, MORNING)
    assert judged("turn", AT_ONCE, now=MORNING, quiet=NIGHT) == Judged(Fate.SEND)


def test_the_last_reminder_does_not_wait_for_a_digest_but_is_no_way_around_a_stop():
    assert judged("reminder", Delivery(Way.DAILY), last=True) == Judged(Fate.SEND)
    assert judged("reminder", Delivery(Way.DAILY)) == Judged(Fate.DIGEST)
    assert judged("reminder", Delivery(Way.NOTHING), last=True) == Judged(Fate.WITHHOLD)
    assert judged("reminder", Delivery(Way.RESULTS), last=True) == Judged(Fate.WITHHOLD)


def test_a_clock_without_a_mail_starts_when_a_mail_sent_at_once_would_have_left():
    hold = timedelta(seconds=60)
    assert starts_without_mail(NOON, hold, None) == NOON + hold
    assert starts_without_mail(MIDNIGHT, hold, NIGHT) == MORNING


def test_every_kind_that_is_named_here_is_a_mail_of_ours():
    there = {each.name for each in Path(paths.templates() / "mail").iterdir() if each.is_dir()}
    # Answers to what somebody has written have their words elsewhere.
    assert (ASKED_FOR | ANSWERS | RUNNING | RESULTS) - there <= {"receipt", "was_it_you"}


# The day of a digest


def day_of(now, at="08:00", zone=BERLIN, last=None):
    return digest_day(now, time.fromisoformat(at), zone, last)


def test_a_day_has_its_digest_from_its_time_on_and_only_once():
    assert day_of(datetime(2026, 11, 24, 6, 59, tzinfo=UTC)) is None
    assert day_of(datetime(2026, 11, 24, 7, 0, tzinfo=UTC)) == date(2026, 11, 24)
    assert day_of(datetime(2026, 11, 24, 20, 0, tzinfo=UTC), last=date(2026, 11, 23)) == date(2026, 11, 24)
    assert day_of(datetime(2026, 11, 24, 20, 0, tzinfo=UTC), last=date(2026, 11, 24)) is None


def test_days_on_which_nobody_worked_have_one_digest_together():
    assert day_of(datetime(2026, 11, 29, 9, 0, tzinfo=UTC), last=date(2026, 11, 24)) == date(2026, 11, 29)


def test_a_time_that_the_clocks_skip_is_the_moment_after_the_gap():
    # In Berlin there was no 02:30 on 29 March 2026.
    assert day_of(datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "02:30") is None
    assert day_of(datetime(2026, 3, 29, 1, 0, tzinfo=UTC), "02:30") == date(2026, 3, 29)


def test_a_time_that_the_clocks_show_twice_is_the_first_of_the_two_and_one_digest():
    # In Berlin it was 02:30 at 00:30 and at 01:30 UTC on 25 October 2026.
    first, second = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert day_of(first - timedelta(minutes=1), "02:30") is None
    assert day_of(first, "02:30") == date(2026, 10, 25)
    assert day_of(second, "02:30", last=date(2026, 10, 25)) is None


def test_who_moves_to_another_zone_gets_no_second_digest_of_a_day():
    honolulu = ZoneInfo("Pacific/Honolulu")
    moment = datetime(2026, 11, 24, 20, 0, tzinfo=UTC)
    assert day_of(moment, zone=honolulu, last=date(2026, 11, 24)) is None
    assert day_of(moment + timedelta(days=1), zone=honolulu, last=date(2026, 11, 24)) == date(2026, 11, 25)
