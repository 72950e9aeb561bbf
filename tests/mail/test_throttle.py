"""How fast mails leave."""

from datetime import UTC, datetime, timedelta

from pbem.mail.throttle import Throttle

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def let_through(throttle, domains, seconds):
    """How many of an endless queue to these domains leave in so many seconds, each tried anew every tenth of one."""
    gone = dict.fromkeys(domains, 0)
    for tenth in range(seconds * 10):
        for domain in domains:
            while not throttle.wait(domain, NOW + SECOND * tenth / 10):
                gone[domain] += 1
    return gone


def test_in_the_long_run_no_domain_gets_more_than_its_share():
    gone = let_through(Throttle(per_domain=2), ("a.example", "b.example"), 60)
    assert all(120 <= many <= 120 + 2 * 2 for many in gone.values())


def test_in_the_long_run_no_more_leave_altogether():
    gone = let_through(Throttle(per_second=10), ("a.example", "b.example"), 60)
    assert 600 <= sum(gone.values()) <= 600 + 10 * 2


def test_a_domain_that_is_used_up_does_not_hold_up_another():
    throttle = Throttle(per_domain=1)
    while not throttle.wait("a.example", NOW):
        pass
    assert throttle.wait("a.example", NOW) > timedelta(0)
    assert throttle.wait("b.example", NOW) == timedelta(0)


def test_without_limits_nothing_waits():
    throttle = Throttle()
    assert all(throttle.wait("a.example", NOW) == timedelta(0) for _ in range(1000))


def test_a_mail_may_go_when_its_wait_is_over():
    throttle = Throttle(per_domain=1)
    while not (wait := throttle.wait("a.example", NOW)):
        pass
    assert throttle.wait("a.example", NOW + wait) == timedelta(0)


def test_what_it_remembers_stays_small():
    throttle = Throttle(per_domain=1)
    for number in range(5000):
        throttle.wait(f"{number}.example", NOW + SECOND * number)
    assert len(throttle._used_until) <= 1001
