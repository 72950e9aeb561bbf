"""The order in which emails leave: what games wait for first, each receiving domain in turn, and nobody held back by the dead."""

from collections import Counter

import pytest

from pbem.service.outgoing import deliver
from pbem.service.outgoing.deliver import BATCH, LEASE, UNSURE, Post
from pbem.service.people import addresses
from pbem.store import leases, outbox
from pbem.store.outbox import NewEmail
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.outgoing.test_deliver import HEAD, HOUR, Killed, envelope_id, queue_links, rows

MANY = 5000


@pytest.fixture
def sent():
    """The domains that emails went to, in order."""
    return []


@pytest.fixture
def post(sent):
    return Post(HEAD, FunctionTransport(lambda email: sent.append(email.recipient.partition("@")[2]) or ACCEPTED))


def reader(server, address):
    return server.run(addresses.confirm, server.run(addresses.register, address, address.partition("@")[0]).id).id


def only_links(server):
    """Leave away what people are emailed for registering."""
    for row in rows(server, "queued", kind="confirm"):
        server.store.write(lambda tx, row=row: outbox.change(tx, row.id, status="sent"))


def flood(server, address, number, kind="links"):
    """Queue many emails to one person, and nothing else."""
    person = reader(server, address)
    only_links(server)
    now = server.now()
    server.store.write(lambda tx: outbox.queue(tx, [NewEmail(person, kind)] * number, now))
    return person


def test_turns_and_reminders_leave_before_everything_else(server, clock, table, sent, person):
    kinds = []
    for number in range(BATCH + 20):
        queue_links(server, person(f"Player {number}"))
        if number == BATCH // 2:
            # More strangers of one domain are refused within an hour.
            clock.advance(HOUR)
    clock.advance(HOUR)
    game = table("sunset-poker", 3)
    clock.advance(HOUR)
    claimed, _ = server.store.write(lambda tx: leases.claim(tx, server.now(), 1, BATCH))
    kinds = [email.kind for email in claimed]
    assert kinds[:3] == ["turn"] * 3
    assert "turn" not in kinds[3:]
    assert {email.game_id for email in claimed[:3]} == {game.id}


def test_the_turns_of_a_batch_are_handed_over_first(server, clock, table, sent, person):
    handed = []
    for number in range(5):
        queue_links(server, person(f"Player {number}"))
    clock.advance(HOUR)
    game = table("sunset-poker", 3)
    clock.advance(HOUR)
    turns = [row.id for row in rows(server, game=game.id, kind="turn")]
    deliver.deliver(server, Post(HEAD, FunctionTransport(lambda email: handed.append(email.name) or ACCEPTED)))
    assert set(handed[:3]) == {envelope_id(server, turn) for turn in turns}


@pytest.mark.slow
def test_a_domain_with_thousands_of_emails_delays_no_other(server, post, sent):
    flood(server, "ann@big.example", MANY)
    flood(server, "zoe@also-big.example", MANY)
    for number in range(30):
        flood(server, f"ben@small{number:02}.example", 2)
    deliver.deliver(server, post)
    first = Counter(sent)
    assert sum(first.values()) == BATCH
    assert sum(number for domain, number in first.items() if "small" in domain) == 60, "theirs have all left"
    assert min(first["big.example"], first["also-big.example"]) >= 15, "the two share the rest"


@pytest.mark.slow
def test_among_many_domains_with_long_queues_each_gets_its_turn(server, post, sent):
    domains = [f"d{number:02}.example" for number in range(50)]
    for domain in domains:
        flood(server, f"ann@{domain}", BATCH)
    for _ in range(3):
        deliver.deliver(server, post)
    assert set(sent) == set(domains)
    assert max(Counter(sent).values()) <= 2 * leases.SHARE


def test_a_single_domain_fills_a_batch_alone(server, post, sent):
    flood(server, "ann@big.example", 2 * BATCH)
    assert deliver.deliver(server, post).accepted == BATCH
    assert deliver.deliver(server, post).accepted == BATCH
    assert deliver.deliver(server, post).dealt_with == 0


def test_a_claim_reads_no_more_from_a_long_queue_than_from_a_short_one(server, clock):
    """SQLite counts the steps of its programs; PostgreSQL plans by its statistics."""
    if not server.store.on_sqlite:
        return
    steps = []
    person = flood(server, "ann@big.example", 2 * BATCH)
    for name in ("b", "c", "d"):
        flood(server, f"ben@{name}.example", 3)

    def cost():
        count = [0]

        def step():
            count[0] += 1
            return 0

        def undo(tx):
            tx.connection.driver_connection.set_progress_handler(step, 1)
            claimed, _ = leases.claim(tx, server.now(), 1, BATCH)
            left = leases.claim_left(tx, server.now(), 1)
            tx.connection.driver_connection.set_progress_handler(None, 0)
            assert (len(claimed), left) == (BATCH, [])
            for email in claimed:
                leases.release(tx, email, email.due_at)

        server.store.write(undo)
        return count[0]

    steps.append(cost())
    now = server.now()
    server.store.write(lambda tx: outbox.queue(tx, [NewEmail(person, "links")] * 4 * MANY, now))
    steps.append(cost())
    assert steps[1] <= 1.05 * steps[0]


@pytest.mark.slow
def test_emails_that_a_dead_sender_held_leave_when_its_lease_is_over_and_new_ones_do_not_hold_them_up(
    server, clock, sent, post, person
):
    for number in range(BATCH):
        queue_links(server, person(f"Player {number}"))
    only_links(server)

    def dies(_email):
        raise Killed

    with pytest.raises(Killed):
        deliver.deliver(server, Post(HEAD, FunctionTransport(dies)))
    assert deliver.deliver(server, post).dealt_with == 0, "for all that is known, its sender lives"
    clock.advance(LEASE)
    flood(server, "zoe@big.example", MANY)
    deliver.deliver(server, post)
    assert Counter(sent) == {"big.example": BATCH, "example.org": BATCH}


def test_a_living_sender_keeps_what_it_holds_however_long_the_relay_takes(server, clock, post, sent, person):
    for number in range(3):
        queue_links(server, person(f"Player {number}"))

    def takes_a_minute(email):
        for _ in range(12):
            clock.advance(LEASE / 4)
            deliver.keep_lease(server, slow)
            deliver.deliver(server, post)
        return ACCEPTED

    slow = Post(HEAD, FunctionTransport(takes_a_minute))
    assert deliver.deliver(server, slow).accepted == 3
    assert sent == []
    assert deliver.deliver(server, post).dealt_with == 0


def test_a_sender_that_slept_past_its_lease_hands_over_nothing_more(server, clock, post, sent, person):
    for number in range(3):
        queue_links(server, person(f"Player {number}"))
    handed = []

    def sleeps(email):
        handed.append(email)
        clock.advance(LEASE - UNSURE)
        return ACCEPTED

    slow = Post(HEAD, FunctionTransport(sleeps))
    assert deliver.deliver(server, slow).accepted == len(handed) == 1
    assert deliver.deliver(server, post).accepted == 2


def test_a_process_that_works_alone_frees_at_once_what_one_before_it_held(server, post, sent, person):
    for number in range(3):
        queue_links(server, person(f"Player {number}"))
    only_links(server)

    def dies(_email):
        raise Killed

    with pytest.raises(Killed):
        deliver.deliver(server, Post(HEAD, FunctionTransport(dies)))
    deliver.end_leases(server)
    assert deliver.deliver(server, post).dealt_with == (3 if server.store.on_sqlite else 0)
