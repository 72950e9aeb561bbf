"""“Email my links” for a typed address: the same work for known and unknown ones, and emails for the known."""

from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, TooMany
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, sign_in
from pbem.service.people.sign_in import ASKED_AN_HOUR, EMAILS_A_DAY
from pbem.service.tables import demo
from tests.service.database import all_rows, count_calls, queued_emails
from tests.service.outgoing.test_deliver import post_to

ADDRESSES = ("ann@example.org", "unconfirmed@example.org", "nobody@example.org")


@pytest.fixture
def people(server, person):
    """Ann, whose address is confirmed, and someone whose address is not."""
    server.run(addresses.register, "unconfirmed@example.org")
    demo.begin(server, "sunset-poker")
    return person("Ann")


def test_a_request_makes_the_same_statements_and_rows_for_every_address(server, people):
    server.run(sign_in.ask_for_link, "first@example.org")
    made, grown = [], []
    for address in ADDRESSES:
        before = all_rows(server.store)
        with count_calls(server.store) as calls:
            server.run(sign_in.ask_for_link, address)
        made.append(calls)
        after = all_rows(server.store)
        grown.append({name: len(rows) - len(before[name]) for name, rows in after.items()})
    assert made[0] == made[1] == made[2]
    assert grown[0] == grown[1] == grown[2]
    assert not queued_emails(server, kind="links")


def test_a_worker_emails_the_known_and_forgets_every_request(server, people):
    for address in ADDRESSES:
        server.run(sign_in.ask_for_link, address)
    server.run(sign_in.ask_for_link, "Ann@EXAMPLE.org")
    assert sign_in.send_requested(server) == 4
    assert [email.person_id for email in queued_emails(server, kind="links")] == [people]
    assert all_rows(server.store)["link_request"] == []
    assert sign_in.send_requested(server) == 0


def test_nobody_is_emailed_more_often_than_a_day_allows(server, clock, sink, people):
    for number in range(EMAILS_A_DAY + 3):
        server.run(sign_in.ask_for_link, "ann@example.org", network=f"192.0.{number}.0/24")
        sign_in.send_requested(server)
        deliver.deliver(server, post_to(sink), limit=100)
        clock.advance(timedelta(minutes=11))
    assert len(queued_emails(server, kind="links")) == EMAILS_A_DAY


def test_one_network_can_ask_twenty_times_an_hour(server, clock):
    for number in range(ASKED_AN_HOUR):
        server.run(sign_in.ask_for_link, f"s{number}@example.org", network="192.0.2.7/32")
    before = all_rows(server.store)
    with pytest.raises(TooMany):
        server.run(sign_in.ask_for_link, "ann@example.org", network="192.0.2.7/32")
    assert all_rows(server.store) == before
    server.run(sign_in.ask_for_link, "ann@example.org", network="198.51.100.1/32")
    clock.advance(timedelta(hours=1))
    server.run(sign_in.ask_for_link, "ann@example.org", network="192.0.2.7/32")


def test_an_impossible_address_is_refused_at_once(server):
    with pytest.raises(BadInput):
        server.run(sign_in.ask_for_link, "a..b@example.org")
    assert all_rows(server.store)["link_request"] == []
