"""Changing a person's address: both addresses get an email, nothing is lost, and old links die."""

from datetime import timedelta
from functools import partial

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.service import links as service_links
from pbem.service.account import change_address, consent, delete
from pbem.service.incoming import unverified_replies
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, sessions, sign_in
from pbem.service.tables import groups
from pbem.service.tournaments import by_link, reading, sign_up
from pbem.store import people
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.mail.kinds import kind_of
from tests.service.account.test_deleted_names import text_of
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.inbox import HOST, Inbox
from tests.service.outgoing.test_deliver import drain, links_in, post_to
from tests.service.tournaments.cup import open_cup

NEW = "ann.new@example.net"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def emails_to(server, clock, post, sink):
    """emails_to(address) -> the newest email of each kind there, by kind."""

    def of(address):
        clock.advance(timedelta(minutes=2))
        drain(server, clock, post)
        return {kind_of(email.message): email for email in sink.to(address)}

    return of


def token_in(email, path):
    return next(token for purpose, token, _ in links_in(email) if purpose == path)


def yes_in(email):
    return token_in(email, "y")


def asked(server, emails_to, person, address=NEW):
    server.run(change_address.ask, person, address)
    return yes_in(emails_to(address)["new_address"])


def test_a_new_address_counts_after_its_reader_consents(server, emails_to, person):
    ann = person("Ann")
    token = asked(server, emails_to, ann)
    assert server.read(addresses.read, ann).address == "ann@example.org"
    assert server.read(consent.consent_request, token).name == "Ann"
    assert server.run(consent.give_consent, token) == "new_address"
    found = server.read(addresses.read, ann)
    assert (found.address, found.mailbox, found.name) == (NEW, NEW, "Ann")
    before = all_rows(server.store)
    assert server.run(consent.give_consent, token) == "new_address", "pressed twice is once"
    assert all_rows(server.store) == before


def test_the_old_address_is_emailed_at_the_request_and_both_at_the_change(server, emails_to, person):
    ann = person("Ann")
    token = asked(server, emails_to, ann)
    emails = emails_to("ann@example.org")
    assert not [each for each in links_in(emails["new_address"]) if each[0] == "y"], "the old one cannot say yes"
    assert NEW not in str(emails["new_address"].message), "nor is told which address it is"
    server.run(consent.give_consent, token)
    assert "moved" in emails_to("ann@example.org")
    assert "moved" in emails_to(NEW)
    assert "ann@example.org" not in str(emails_to(NEW)["moved"].message)


def test_open_turns_are_emailed_again_and_old_links_and_sessions_end(server, emails_to, table, clock):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    address = server.read(addresses.read, person).address
    old = next(token for purpose, token, _ in links_in(emails_to(address)["turn"]) if purpose == "s")
    secret = server.run(sessions.start, Holder(person_id=person), "")
    server.run(consent.give_consent, asked(server, emails_to, person))
    with pytest.raises(Gone):
        server.read(service_links.follow, old, Purpose.SEAT)
    assert server.read(sessions.find, secret) is None
    turn = emails_to(NEW)["turn"]
    new = next(token for purpose, token, _ in links_in(turn) if purpose == "s")
    assert server.read(service_links.follow, new, Purpose.SEAT).seat == seat
    assert len([email for email in queued_emails(server, person, "turn") if email.status == "queued"]) == 0


def test_an_unsent_email_goes_to_the_new_address_and_names_no_other(server, clock, post, sink, emails_to, person):
    ann = person("Ann")
    token = asked(server, emails_to, ann)
    server.run(sign_in.send_link, "ann@example.org")
    sink.does("450 rcpt")
    deliver.deliver(server, post)
    (waiting,) = [email for email in queued_emails(server, ann, "links") if email.status == "queued"]
    assert b"ann@example.org" in waiting.body
    server.run(consent.give_consent, token)
    links = emails_to(NEW)["links"]
    assert "ann@example.org" not in str(links.message)
    token = next(token for purpose, token, _ in links_in(links) if purpose == "l")
    assert server.read(sign_in.name_of_link, token) == "Ann"


def test_the_old_address_is_free_for_a_new_person(server, emails_to, person):
    ann = person("Ann")
    server.run(consent.give_consent, asked(server, emails_to, ann))
    other = server.run(addresses.register, "ann@example.org", "Anna")
    assert other.id != ann
    assert (other.name, other.confirmed_at) == ("Anna", None)


def test_an_address_that_plays_here_is_not_taken_over(server, emails_to, person):
    ann, ben = person("Ann"), person("Ben")
    token = asked(server, emails_to, ann, "ben@example.org")
    before = all_rows(server.store)
    with pytest.raises(BadInput, match="already plays here"):
        server.run(consent.give_consent, token)
    assert all_rows(server.store) == before
    assert server.read(addresses.read, ben).address == "ben@example.org"


def test_a_request_does_not_reveal_whether_an_address_is_known(server, person):
    ann = person("Ann")
    person("Ben")
    assert server.run(change_address.ask, ann, "ben@example.org") is None
    assert server.run(change_address.ask, ann, "nobody@example.org") is None


def test_an_address_that_was_only_ever_typed_is_free(server, emails_to, person):
    ann = person("Ann")
    server.run(addresses.register, NEW, "Somebody")
    server.run(consent.give_consent, asked(server, emails_to, ann))
    assert server.read(addresses.read, ann).address == NEW
    assert server.run(addresses.register, "ann@example.org").name == ""


@pytest.fixture
def invited(server, emails_to, clock, person):
    """Someone who is invited to a group and a tournament by an address that has become Ann's since: the emails' links and replies."""
    ann, ben = person("Ann"), person("Ben")
    server.run(groups.invite, ben, server.run(groups.create, ben, "Friday club"), (NEW,))
    cup = server.read(reading.page, open_cup(server, ben)).summary.row
    server.run(sign_up.invite, cup.id, ben, (NEW,))
    with server.store.read() as tx:
        gone = people.by_mailbox(tx, NEW).id
    # Someone else has answered one of them, so its reader is asked.
    inbox = Inbox(server, clock)
    (email,) = queued_emails(server, gone, "group_invitation")
    token = inbox.token(Purpose.REPLY, person_id=gone, outbox_id=email.id)
    assert inbox.answers_email(gone, token, "yes", From="Else <else@example.com>").status == "doubted"
    found = emails_to(NEW)
    server.run(consent.give_consent, asked(server, emails_to, ann))
    return gone, found


def test_a_link_of_an_invitation_is_not_for_an_address_that_has_become_anothers(server, invited):
    _gone, emails = invited
    yes, entry = yes_in(emails["group_invitation"]), token_in(emails["sign_up"], "e")
    written = token_in(emails["was_it_you"], "w")
    for press in (
        partial(server.read, consent.consent_request, yes),
        partial(server.run, consent.give_consent, yes),
        partial(server.read, by_link.entry_page, entry),
        partial(by_link.enter, server, entry, "Ann", ""),
        partial(by_link.leave, server, entry),
        partial(unverified_replies.read, server, written),
    ):
        with pytest.raises(Gone, match="belongs to another account now"):
            press()


@pytest.mark.parametrize("kind", ["group_invitation", "sign_up"])
def test_a_reply_to_an_invitation_of_an_address_that_has_become_anothers_only_gets_a_word(
    server, clock, emails_to, invited, kind
):
    gone, _emails = invited
    inbox = Inbox(server, clock)
    (email,) = queued_emails(server, gone, kind)
    token = inbox.token(Purpose.REPLY, person_id=gone, outbox_id=email.id)
    proof = "play.example.org; dmarc=pass header.from=example.net"
    for _ in range(2):
        row = inbox.answers_email(gone, token, "yes", From=f"Someone <{NEW}>", Authentication_Results=proof)
        assert (row.status, row.outcome, row.attempts) == ("done", "to someone who is gone", 1)
    with server.store.read() as tx:
        ann = people.by_mailbox(tx, NEW).id
    assert len(queued_emails(server, ann, "invitation_receipt")) == 1
    receipt = emails_to(NEW)["invitation_receipt"]
    assert "Nothing changed. Invitations to it are yours now, on your page." in " ".join(text_of(receipt).split())
    assert "Reply-To" not in receipt.message, "there's nothing to accept"


@pytest.mark.parametrize("sender", ["Else <else@example.com>", f"Someone <{NEW}>"])
def test_nobody_hears_of_a_reply_to_someone_gone_that_may_be_anyones(server, clock, invited, sender):
    gone, _emails = invited
    inbox = Inbox(server, clock)
    (email,) = queued_emails(server, gone, "sign_up")
    token = inbox.token(Purpose.REPLY, person_id=gone, outbox_id=email.id)
    row = inbox.answers_email(gone, token, "yes", From=sender, Authentication_Results=None)
    assert row.outcome == "to someone who is gone"
    assert inbox.takes(b"Subject: Yes\r\n\r\n" + b"x" * 25 * 2**20, f"r+{token}@{HOST}") == "too large"
    assert not queued_emails(server, kind="invitation_receipt")


@pytest.mark.parametrize("wrong", ["", "ann", "ann@example.org", "ANN@example.org"])
def test_an_invalid_or_unchanged_address_is_refused(server, person, wrong):
    ann = person("Ann")
    before = all_rows(server.store)
    with pytest.raises(BadInput):
        server.run(change_address.ask, ann, wrong)
    assert all_rows(server.store) == before


def test_emails_about_a_change_are_limited_by_the_day(server, person):
    ann = person("Ann")
    for number in range(change_address.EMAILS_A_DAY):
        server.run(change_address.ask, ann, f"new{number}@example.net")
    with pytest.raises(TooMany):
        server.run(change_address.ask, ann, "more@example.net")
    for name in ("Ben", "Cleo", "Dan", "Eve", "Fay"):
        server.run(change_address.ask, person(name), "victim@example.net")
    with pytest.raises(TooMany):
        server.run(change_address.ask, person("Gus"), "victim@example.net")
    with server.store.read() as tx:
        victim = people.by_mailbox(tx, "victim@example.net")
    assert len(queued_emails(server, victim.id, "new_address")) == server.strangers.mailbox


def test_a_consent_link_is_for_one_request_and_expires(server, clock, emails_to, person):
    token = asked(server, emails_to, person("Ann"))
    for purpose in Purpose:
        if purpose is not Purpose.YES:
            with pytest.raises(Exception, match="nothing at this address"):
                server.read(service_links.follow, token, purpose)
    clock.advance(timedelta(days=1))
    with pytest.raises(Gone):
        server.run(consent.give_consent, token)


def test_guests_and_deleted_people_have_no_address_to_change(server, person):
    guest = server.run(addresses.add_guest, "Guest").id
    with pytest.raises(Forbidden):
        server.run(change_address.ask, guest, NEW)
    gone = person("Ann")
    server.run(delete.delete_person, gone)
    for each in (guest, gone):
        with pytest.raises(Gone):
            server.store.write(lambda tx, each=each: change_address.change_address(tx, server, each, NEW))


def test_an_address_changes_whole_or_not_at_all(server, emails_to, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    emails_to("nobody@example.org")
    made = check_atomic(server.store, lambda: server.run(change_address.change_address, game.person_at(seat), NEW))
    assert made > 5
