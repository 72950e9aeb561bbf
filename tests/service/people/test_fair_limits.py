"""Nobody can use up the emails that another needs: not of links, not of confirmations, not of invitations."""

from datetime import timedelta

import pytest

from pbem.domain.errors import TooMany
from pbem.domain.states import EmailKind
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, quota, sign_in
from pbem.service.people.quota import Quota
from pbem.service.people.sign_in import EMAILS_A_DAY, FROM_NETWORK
from pbem.service.tables import groups, invitations, joining
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import reading, sign_up
from pbem.tokens import Purpose
from tests.service.clock import HOUR
from tests.service.database import queued_emails
from tests.service.outgoing.test_deliver import links_in, post_to
from tests.service.races import meetings
from tests.service.tournaments.cup import open_cup

VICTIM = "victim@example.net"
MINUTES = timedelta(minutes=1)
POKER = TableSettings("sunset-poker", 3)


@pytest.fixture
def deliver_now(server, clock, sink):
    """Send what is due, as a worker does each minute."""

    def send():
        sign_in.send_requested(server)
        clock.advance(MINUTES)
        deliver.deliver(server, post_to(sink), limit=100)

    return send


def links_sent(server):
    return queued_emails(server, kind=EmailKind.LINKS)


def use_up(server, clock, deliver_now, address, networks=range(9)):
    """Strangers of several networks ask for the links of an address as often as they are heard."""
    for number in networks:
        server.run(sign_in.ask_for_link, address, network=f"192.0.{number}.0/24")
        deliver_now()
        clock.advance(11 * MINUTES)


def test_strangers_use_up_no_links_of_someone_who_has_shown_who_they_are(server, clock, deliver_now, person):
    ann = person("Ann")
    use_up(server, clock, deliver_now, "ann@example.org")
    assert len(links_sent(server)) == EMAILS_A_DAY
    for _ in range(EMAILS_A_DAY + 1):
        server.run(sign_in.send_link_to, ann)
    assert len(links_sent(server)) == 2 * EMAILS_A_DAY


def test_signing_in_with_one_of_the_emails_gives_their_owner_all_of_them_back(server, clock, sink, deliver_now, person):
    person("Ann")
    use_up(server, clock, deliver_now, "ann@example.org")
    tokens = [token for purpose, token, _ in links_in(sink.to("ann@example.org")[-1]) if purpose == Purpose.SIGN_IN]
    server.run(sign_in.sign_in, tokens[0], "Firefox")
    server.run(sign_in.ask_for_link, "ann@example.org", network="198.51.100.0/24")
    sign_in.send_requested(server)
    assert len(links_sent(server)) == EMAILS_A_DAY + 1


def test_one_network_leaves_some_links_for_others(server, clock, deliver_now, person):
    person("Ann")
    use_up(server, clock, deliver_now, "ann@example.org", networks=[7] * 9)
    assert len(links_sent(server)) == FROM_NETWORK
    server.run(sign_in.ask_for_link, "ann@example.org", network="198.51.100.0/24")
    sign_in.send_requested(server)
    assert len(links_sent(server)) == FROM_NETWORK + 1


def test_links_asked_for_again_within_minutes_are_sent_once_and_count_once(server, clock, deliver_now, person):
    person("Ann")
    for _ in range(9):
        server.run(sign_in.ask_for_link, "ann@example.org", network="192.0.2.0/24")
        deliver_now()
    assert len(links_sent(server)) == 1
    clock.advance(11 * MINUTES)
    use_up(server, clock, deliver_now, "ann@example.org", networks=[1] * 2)
    assert len(links_sent(server)) == 3


def test_links_are_sent_again_at_once_after_signing_in(server, clock, sink, deliver_now, person):
    person("Ann")
    server.run(sign_in.ask_for_link, "ann@example.org")
    deliver_now()
    token = next(token for purpose, token, _ in links_in(sink.to("ann@example.org")[-1]) if purpose == Purpose.SIGN_IN)
    server.run(sign_in.sign_in, token, "Firefox")
    server.run(sign_in.ask_for_link, "ann@example.org")
    deliver_now()
    assert len(links_sent(server)) == 2


def open_tables(server, person, count):
    return [server.run(joining.create_table, person("Ann"), POKER).game_id for _ in range(count)]


def ask(server, game_id, network, address=VICTIM):
    server.run(joining.ask_to_join, game_id, address, "Dan", network=network)


def fill(server, person):
    """Strangers of several networks use up all that an address may be emailed because it was typed."""
    for number, game_id in enumerate(open_tables(server, person, 5)):
        ask(server, game_id, f"192.0.{number}.0/24")
    (game_id,) = open_tables(server, person, 1)
    with pytest.raises(TooMany):
        ask(server, game_id, "192.0.9.0/24")
    return game_id


def test_strangers_keep_no_host_from_inviting(server, person):
    game_id = fill(server, person)
    server.run(invitations.invite, game_id, person("Ann"), (VICTIM,), "192.0.2.0/24")
    server.run(groups.invite, person("Ann"), server.run(groups.create, person("Ann"), "Friday"), (VICTIM,))
    assert {"invitation", "group_invitation"} <= {email.kind for email in queued_emails(server)}


def test_one_network_leaves_some_confirmations_for_others(server, person):
    *games, last = open_tables(server, person, 4)
    for game_id in games:
        ask(server, game_id, "192.0.2.0/24")
    with pytest.raises(TooMany, match="from your network") as refused:
        ask(server, last, "192.0.2.0/24")
    assert VICTIM in refused.value.what
    ask(server, last, "198.51.100.0/24")


def test_someone_whose_mailbox_was_filled_confirms_with_any_of_the_emails_and_then_has_links(server, person):
    fill(server, person)
    emails = queued_emails(server, kind="confirm")
    victim = emails[-1].person_id
    server.run(addresses.confirm, victim)
    server.run(sign_in.ask_for_link, VICTIM)
    sign_in.send_requested(server)
    assert [email.person_id for email in links_sent(server)] == [victim]


def test_a_confirmation_asked_for_again_within_minutes_is_sent_once_and_counts_once(server, clock, deliver_now, person):
    first, second, third = open_tables(server, person, 3)
    for _ in range(9):
        ask(server, first, "192.0.2.0/24")
        deliver_now()
    assert len([email for email in queued_emails(server, kind="confirm") if email.game_id == first]) == 1
    ask(server, second, "192.0.2.0/24")
    ask(server, third, "192.0.2.0/24")


def test_strangers_keep_no_host_from_inviting_to_a_tournament(server, person):
    for number in range(5):
        cup = open_cup(server, person(f"Host {number}"), name=f"Cup {number}")
        server.run(sign_up.ask, cup, VICTIM, f"192.0.{number}.0/24")
    cup = server.read(reading.page, open_cup(server, person("Ann"), name="Last")).summary.row.id
    assert server.run(sign_up.invite, cup, person("Ann"), (VICTIM,), "192.0.2.0/24") == 1


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
def test_two_that_are_the_first_at_the_same_moment_do_not_both_get_the_only_one(server, names):
    for number, meeting in enumerate(meetings(server.store)):
        quotas = [Quota(f"/test/{name} {number}", 1, HOUR) for name in names]

        def use(quotas=quotas):
            return server.run(quota.take, quotas) is None

        assert sorted(meeting(use, use)) == [False, True]
