"""Sending rates."""

from datetime import UTC, datetime, timedelta

from pbem.mail.send.rate_limits import Throttle

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def let_through(throttle, domains, seconds, *, new=False):
    """The number of emails to these domains that leave in that many seconds, tried ten times a second."""
    used, gone = {}, dict.fromkeys(domains, 0)
    for tenth in range(seconds * 10):
        for domain in domains:
            while not throttle.wait(used, domain, NOW + SECOND * tenth / 10, new=new):
                gone[domain] += 1
    return gone


def use_up(throttle, domain):
    """The shares after as many emails to a domain as may leave together, and the wait of the next."""
    used = {}
    while not (wait := throttle.wait(used, domain, NOW)):
        pass
    return used, wait


def test_in_the_long_run_no_domain_gets_more_than_its_share():
    gone = let_through(Throttle(per_domain=2), ("a.example", "b.example"), 60)
    assert all(120 <= many <= 120 + 2 * 2 for many in gone.values())


def test_in_the_long_run_the_total_rate_is_kept():
    gone = let_through(Throttle(per_second=10), ("a.example", "b.example"), 60)
    assert 600 <= sum(gone.values()) <= 600 + 10 * 2


def test_a_new_domain_gets_its_hourly_share_and_no_more():
    throttle = Throttle(per_domain=1, new_domain=200)
    assert let_through(throttle, ("new.example",), 900, new=True)["new.example"] in range(200, 252)
    assert let_through(throttle, ("old.example",), 900)["old.example"] >= 900


def test_a_domain_without_a_share_does_not_hold_up_another():
    throttle = Throttle(per_domain=1)
    used, _ = use_up(throttle, "a.example")
    assert throttle.wait(used, "a.example", NOW) > timedelta(0)
    assert throttle.wait(used, "b.example", NOW) == timedelta(0)


def test_without_limits_nothing_waits():
    used = {}
    assert all(Throttle().wait(used, "a.example", NOW) == timedelta(0) for _ in range(1000))
    assert not used


def test_a_resting_domain_waits_even_without_limits():
    used = {"a.example": NOW + 5 * SECOND}
    assert Throttle().wait(used, "a.example", NOW) == 5 * SECOND
    assert Throttle().wait(used, "b.example", NOW) == timedelta(0)


def test_an_email_may_leave_when_its_wait_is_over():
    throttle = Throttle(per_domain=1)
    used, wait = use_up(throttle, "a.example")
    assert throttle.wait(used, "a.example", NOW + wait) == timedelta(0)
