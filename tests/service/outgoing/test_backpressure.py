"""Bad days of relays and domains: nothing is lost, nothing storms when they are over, and nobody else suffers.

The far end is a real SMTP server on this machine. Time passes in steps, and a worker looks at the queue once in each.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from pbem.config.settings import Security, Smtp
from pbem.mail.send.rate_limits import Throttle
from pbem.mail.send.relay import Relay
from pbem.service.desk import alarm_emails
from pbem.service.desk.acts.emails import Resend
from pbem.service.outgoing import deliver
from pbem.service.outgoing.deliver import IN_A_ROW, RESTS, Post
from pbem.service.people import addresses, sign_in
from pbem.store import reachability
from tests.mail.sink import Sink, client_trust, server_tls
from tests.service.actors import moderate
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import HEAD

DOMAINS = ("alpha", "beta", "gamma")
EACH = 5
LIMITS = Throttle(per_second=10, per_domain=1)
STEP = timedelta(seconds=2)
MINUTE = timedelta(minutes=1)


@dataclass
class Worker:
    """A worker whose clock moves in steps, and what came in at each."""

    server: object
    clock: object
    post: Post
    sink: Sink
    arrived: list[Counter] = field(default_factory=list)

    def works(self, length, step=STEP):
        """Look at the queue at each step of this length of time."""
        until = self.clock.now() + length
        while self.clock.now() < until:
            before = len(self.sink.emails)
            while deliver.deliver(self.server, self.post).dealt_with:
                pass
            self.arrived.append(Counter(email.recipient.rpartition("@")[2] for email in self.sink.emails[before:]))
            self.clock.advance(step)

    def reaches(self, sink, **given):
        """From now on this is the relay."""
        self.sink = sink
        self.post.transport = relay(sink.port, **given)


def relay(port, *, security=Security.NONE, trust=None, timeout=1):
    return Relay(Smtp("127.0.0.1", security, port, "", "", timeout), trust)


@pytest.fixture
def sink():
    """The relay, and all mail servers behind it."""
    with Sink() as listening:
        yield listening


@pytest.fixture
def worker(server, clock, sink):
    """A worker with limits, some people in each of three domains, and an email to each of them in the queue."""
    for domain in DOMAINS:
        for number in range(EACH):
            person = server.run(addresses.register, f"p{number}@{domain}.example")
            server.run(addresses.confirm, person.id)
    working = Worker(server, clock, Post(HEAD, relay(sink.port), LIMITS), sink)
    working.works(MINUTE)
    assert not sink.emails, "confirmed addresses are not asked again"
    working.arrived.clear()
    for domain in DOMAINS:
        for number in range(EACH):
            server.run(sign_in.send_link, f"p{number}@{domain}.example")
    return working


def each_once(sink):
    """Assert that everyone got the email, and nobody got two."""
    got = Counter(email.recipient for email in sink.emails)
    assert got == Counter(f"p{number}@{domain}.example" for domain in DOMAINS for number in range(EACH))


def no_storm(arrived):
    """Assert that no domain got more in one step than its share."""
    assert max(step.total() for step in arrived) <= 10 * 2
    assert max(many for step in arrived for many in step.values()) <= 2


@pytest.mark.slow
def test_a_relay_that_is_down_for_two_hours_loses_nothing_and_is_not_stormed_afterwards(worker, server, clock):
    with Sink() as gone:
        pass
    worker.reaches(gone)
    worker.works(timedelta(hours=2), MINUTE)
    assert {row.attempts for row in queued_emails(server, kind="links")} == {0}, "it is no mail's fault"
    with Sink() as back:
        worker.reaches(back)
        worker.works(timedelta(minutes=15))
        each_once(back)
    no_storm(worker.arrived)


@pytest.mark.slow
def test_a_relay_that_returns_is_noticed_within_a_minute_by_one_email(worker):
    with Sink() as gone:
        pass
    worker.reaches(gone)
    worker.works(timedelta(hours=6), MINUTE)
    # It returns just after a try, so the wait for the next one is as long as it gets.
    worker.clock.advance(timedelta(minutes=2))
    deliver.deliver(worker.server, worker.post)
    with Sink() as back:
        worker.reaches(back)
        for _ in range(30):
            deliver.deliver(worker.server, worker.post)
            if back.emails:
                break
            worker.clock.advance(timedelta(seconds=2))
        assert len(back.emails) == 1
        worker.works(timedelta(seconds=10))
        assert len(back.emails) > 1


def test_a_relay_that_rests_is_tried_again_when_the_clock_is_set_back(worker, clock):
    with Sink() as gone:
        pass
    worker.reaches(gone)
    worker.works(MINUTE)
    clock.set(clock.now() - timedelta(seconds=1))
    with Sink() as back:
        worker.reaches(back)
        worker.post.rests_until = clock.now() + timedelta(hours=2)
        worker.works(MINUTE)
        assert back.emails


@pytest.mark.slow
def test_a_relay_that_is_down_for_five_minutes_is_an_alarm_and_one_only(worker, server, clock):
    with Sink() as gone:
        pass
    worker.reaches(gone)
    worker.works(4 * MINUTE, STEP)
    clock.advance(timedelta(minutes=6))
    assert alarm_emails.send(server) == 0
    worker.works(timedelta(hours=2), MINUTE)
    assert alarm_emails.send(server) == 1


@pytest.mark.slow
def test_a_domain_that_accepts_nothing_holds_up_no_other_and_gets_everything_later(worker, sink, server, clock):
    sink.does_to(beta="450 rcpt")
    worker.works(10 * STEP)
    assert Counter(email.recipient.rpartition("@")[2] for email in sink.emails) == {
        "alpha.example": EACH,
        "gamma.example": EACH,
    }
    assert worker.arrived[0]["alpha.example"] == 2, "at once, as much as its share is"
    worker.works(timedelta(hours=1), timedelta(seconds=15))
    sink.does_to()
    worker.works(timedelta(hours=3), timedelta(seconds=15))
    each_once(sink)
    no_storm(worker.arrived)


def test_a_domain_that_refuses_again_and_again_is_left_alone_for_a_while(worker, sink, server, clock):
    sink.does_to(beta="450 rcpt")
    worker.works(RESTS)
    tries = [row.attempts for row in queued_emails(server, kind="links") if row.status == "queued"]
    assert sum(tries) <= IN_A_ROW + 1, "after some in a row nothing more is tried"


def test_addresses_refused_by_one_domain_do_not_concern_others(worker, sink, server, clock):
    sink.does_to(beta="550 rcpt")
    worker.works(10 * STEP)
    assert Counter(email.recipient.rpartition("@")[2] for email in sink.emails) == {
        "alpha.example": EACH,
        "gamma.example": EACH,
    }
    assert len([row for row in queued_emails(server, kind="links") if row.status == "undeliverable"]) == EACH


def test_refused_emails_are_parked_for_an_organiser_and_can_be_resent(worker, sink, server, clock):
    sink.does_to(beta="550 data")
    worker.works(10 * STEP)
    parked = [row for row in queued_emails(server, kind="links") if row.status == "parked"]
    assert len(parked) == EACH
    with server.store.read() as tx:
        assert all(reachability.failure(tx, row.person_id) is None for row in parked), "no reader is blamed"
    clock.advance(timedelta(minutes=6))
    assert alarm_emails.send(server) == EACH
    sink.does_to()
    for row in parked:
        moderate(server, Resend(row.game_id, row.id))
    worker.works(10 * STEP)
    each_once(sink)


def test_a_relay_that_does_not_offer_encryption_gets_nothing(worker, sink, server):
    worker.reaches(sink, security=Security.STARTTLS, trust=client_trust())
    worker.works(timedelta(minutes=10), MINUTE)
    assert sink.emails == []
    with Sink(tls_context=server_tls()) as protected:
        worker.reaches(protected, security=Security.STARTTLS, trust=client_trust())
        worker.works(timedelta(minutes=15))
        each_once(protected)
    no_storm(worker.arrived)


@pytest.mark.slow
def test_a_relay_that_hangs_is_left_alone_and_loses_nothing(worker, sink, server, clock):
    sink.does_to(**dict.fromkeys(DOMAINS, "hang"))
    worker.works(3 * STEP)
    assert worker.post.rests_until is not None
    assert sum(row.attempts for row in queued_emails(server, kind="links")) == IN_A_ROW, (
        "each try counts, and no more are made"
    )
    sink.does_to()
    worker.works(timedelta(hours=2), timedelta(seconds=15))
    each_once(sink)
    no_storm(worker.arrived)


def test_workers_side_by_side_keep_to_the_limits_together(worker, sink, server, clock):
    other = Worker(server, clock, Post(HEAD, relay(sink.port), LIMITS), sink)
    for _ in range(3):
        before = Counter(email.recipient.rpartition("@")[2] for email in sink.emails)
        for each in (worker, other, worker, other):
            while deliver.deliver(server, each.post, limit=1).dealt_with:
                pass
        after = Counter(email.recipient.rpartition("@")[2] for email in sink.emails)
        assert max((after - before).values()) <= 2
        clock.advance(STEP)


def test_a_new_domain_gets_few_emails_on_its_first_day_and_all_later(worker, sink, server, clock):
    worker.post.throttle = Throttle(new_domain=2)
    worker.works(10 * STEP)
    assert Counter(email.recipient.rpartition("@")[2] for email in sink.emails) == dict.fromkeys(
        (f"{name}.example" for name in DOMAINS), 2
    )
    worker.works(timedelta(hours=3), MINUTE)
    each_once(sink)
    clock.advance(timedelta(days=1))
    for number in range(EACH):
        server.run(sign_in.send_link, f"p{number}@beta.example")
    before = len(sink.emails)
    worker.works(STEP)
    assert len(sink.emails) == before + EACH
