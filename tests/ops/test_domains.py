"""What the doctor says of the domains that emails go to."""

import pytest

from pbem.clock import SystemClock
from pbem.domain.finding import Severity
from pbem.ops.domains import PERIOD, look_at_domains
from pbem.store import reachability, traffic


def count(store, domain, many, kind, day):
    for _ in range(many):
        store.write(lambda tx: traffic.count(tx, day, kind, {domain: 1}))


@pytest.fixture
def today():
    return SystemClock().now().date()


def test_a_week_without_trouble_is_well(store, today):
    count(store, "a.example", 20, "sent", today)
    count(store, "b.example", 3, "sent", today)
    count(store, "b.example", 1, "bounced", today)
    (found,) = look_at_domains(store)
    assert (found.severity, found.says) == (Severity.OK, "23 emails were accepted at 2 domains this week")


@pytest.mark.parametrize(
    ("kind", "many", "numbers"),
    [
        ("deferred", 11, "10 accepted, 11 delayed"),
        ("bounced", 1, "10 accepted, 1 refused"),
        ("complained", 1, "10 accepted, 1 reported as spam"),
    ],
)
def test_a_domain_that_is_in_the_way_is_named_with_its_numbers(store, today, kind, many, numbers):
    count(store, "a.example", 10, "sent", today)
    count(store, "b.example", 10, "sent", today)
    count(store, "b.example", many, kind, today)
    (found,) = look_at_domains(store)
    assert found.severity is Severity.WARNING
    assert found.says == f"This week, b.example: {numbers}."
    assert found.remedy


def test_bounces_of_an_earlier_week_are_not_counted(store, today):
    count(store, "a.example", 10, "bounced", today - 2 * PERIOD)
    (found,) = look_at_domains(store)
    assert found.severity is Severity.OK


def test_people_who_cannot_be_reached_are_counted_and_not_named(store, person):
    now = SystemClock().now()
    for who in (person("Ann"), person("Ben")):
        store.write(lambda tx, who=who: reachability.mark_unreachable(tx, who, now, "bounced", "550"))
    found = list(look_at_domains(store))[-1]
    assert found.says == "2 people can't be reached by email."
