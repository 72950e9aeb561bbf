"""Another address for a person: both addresses are told, nothing of theirs is lost, and old links die."""

from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.service import links as service_links
from pbem.service.account import change_address, consent, delete
from pbem.service.outgoing import deliver
from pbem.service.people import addresses, send_links, sessions
from pbem.store.sessions import Holder
from pbem.tokens import Purpose
from tests.mail.kinds import kind_of
from tests.service.outgoing.test_deliver import drain, links_in, post_to
from tests.service.stored import everything, fails_without_a_trace, letters

NEW = "ann.new@example.net"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def mailed(server, clock, post, sink):
    """mailed(address) -> the mails there, by kind, the newest of each."""

    def of(address):
        clock.advance(timedelta(minutes=2))
        drain(server, clock, post)
        return {kind_of(mail.message): mail for mail in sink.to(address)}

    return of


def yes_in(mail):
    return next(token for purpose, token, _ in links_in(mail) if purpose == "y")


def asked(server, mailed, person, address=NEW):
    change_address.ask(server, person, address)
    return yes_in(mailed(address)["new_address"])


def test_a_new_address_counts_when_its_own_reader_says_yes(server, mailed, person):
    ann = person("Ann")
    token = asked(server, mailed, ann)
    assert addresses.read(server, ann).address == "ann@example.org"
    assert consent.at(server, token).name == "Ann"
    assert consent.say_yes(server, token) == "new_address"
    found = addresses.read(server, ann)
    assert (found.address, found.mailbox, found.name) == (NEW, NEW, "Ann")
    before = everything(server.store)
    assert consent.say_yes(server, token) == "new_address", "pressed twice is once"
    assert everything(server.store) == before


def test_the_old_address_is_told_when_it_is_asked_for_and_both_when_it_is_done(server, mailed, person):
    ann = person("Ann")
    token = asked(server, mailed, ann)
    told = mailed("ann@example.org")
    assert not [each for each in links_in(told["new_address"]) if each[0] == "y"], "the old one cannot say yes"
    assert NEW not in str(told["new_address"].message), "nor is told which address it is"
    consent.say_yes(server, token)
    assert "moved" in mailed("ann@example.org")
    assert "moved" in mailed(NEW)
    assert "ann@example.org" not in str(mailed(NEW)["moved"].message)


def test_what_is_asked_is_mailed_to_the_new_address_and_old_links_and_browsers_are_out(server, mailed, table, clock):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    address = addresses.read(server, person).address
    old = next(token for purpose, token, _ in links_in(mailed(address)["turn"]) if purpose == "s")
    secret = server.write(lambda tx: sessions.open_in(tx, server, Holder(person_id=person), ""))
    consent.say_yes(server, asked(server, mailed, person))
    with pytest.raises(Gone):
        service_links.opened(server, old, Purpose.SEAT)
    assert sessions.find(server, secret) is None
    turn = mailed(NEW)["turn"]
    new = next(token for purpose, token, _ in links_in(turn) if purpose == "s")
    assert service_links.opened(server, new, Purpose.SEAT).seat == seat
    assert len([mail for mail in letters(server, person, "turn") if mail.status == "queued"]) == 0


def test_a_mail_that_was_written_and_has_not_left_goes_to_the_new_address_and_names_no_other(
    server, clock, post, sink, mailed, person
):
    ann = person("Ann")
    token = asked(server, mailed, ann)
    send_links.send(server, "ann@example.org")
    sink.does("450 rcpt")
    deliver.deliver(server, post)
    (waiting,) = [mail for mail in letters(server, ann, "links") if mail.status == "queued"]
    assert b"ann@example.org" in waiting.body
    consent.say_yes(server, token)
    links = mailed(NEW)["links"]
    assert "ann@example.org" not in str(links.message)
    token = next(token for purpose, token, _ in links_in(links) if purpose == "l")
    assert sessions.welcome(server, token).name == "Ann"


def test_the_old_address_is_free_for_whoever_has_it_then(server, mailed, person):
    ann = person("Ann")
    consent.say_yes(server, asked(server, mailed, ann))
    other = addresses.create(server, "ann@example.org", "Anna")
    assert other.id != ann
    assert (other.name, other.confirmed_at) == ("Anna", None)


def test_an_address_that_plays_here_is_not_taken_over(server, mailed, person):
    ann, ben = person("Ann"), person("Ben")
    token = asked(server, mailed, ann, "ben@example.org")
    before = everything(server.store)
    with pytest.raises(BadInput, match="plays here already"):
        consent.say_yes(server, token)
    assert everything(server.store) == before
    assert addresses.read(server, ben).address == "ben@example.org"


def test_asking_tells_nothing_of_whether_an_address_is_known(server, person):
    ann = person("Ann")
    person("Ben")
    assert change_address.ask(server, ann, "ben@example.org") is None
    assert change_address.ask(server, ann, "nobody@example.org") is None


def test_an_address_that_was_only_ever_typed_is_free(server, mailed, person):
    ann = person("Ann")
    addresses.create(server, NEW, "Somebody")
    consent.say_yes(server, asked(server, mailed, ann))
    assert addresses.read(server, ann).address == NEW
    assert addresses.create(server, "ann@example.org").name == ""


@pytest.mark.parametrize("wrong", ["", "ann", "ann@example.org", "ANN@example.org"])
def test_what_is_no_other_address_is_refused(server, person, wrong):
    ann = person("Ann")
    before = everything(server.store)
    with pytest.raises(BadInput):
        change_address.ask(server, ann, wrong)
    assert everything(server.store) == before


def test_nobody_is_flooded_with_such_mails(server, person):
    ann = person("Ann")
    for number in range(change_address.MAILS_A_DAY):
        change_address.ask(server, ann, f"new{number}@example.net")
    with pytest.raises(TooMany):
        change_address.ask(server, ann, "more@example.net")
    for name in ("Ben", "Cleo", "Dan", "Eve", "Fay"):
        change_address.ask(server, person(name), "victim@example.net")
    with pytest.raises(TooMany):
        change_address.ask(server, person("Gus"), "victim@example.net")
    assert (
        len(letters(server, addresses.create(server, "victim@example.net").id, "new_address"))
        == change_address.MAILS_A_DAY
    )


def test_the_link_of_one_mail_says_yes_to_nothing_else_and_not_for_long(server, clock, mailed, person):
    token = asked(server, mailed, person("Ann"))
    for purpose in Purpose:
        if purpose is not Purpose.YES:
            with pytest.raises(Exception, match="nothing at this address"):
                service_links.opened(server, token, purpose)
    clock.advance(timedelta(days=1))
    with pytest.raises(Gone):
        consent.say_yes(server, token)


def test_a_guest_and_somebody_who_has_left_have_no_address_to_change(server, person):
    guest = server.write(lambda tx: addresses.guest_in(tx, server, "Guest")).id
    with pytest.raises(Forbidden):
        change_address.ask(server, guest, NEW)
    gone = person("Ann")
    delete.delete_person(server, gone)
    for each in (guest, gone):
        with pytest.raises(Gone):
            server.write(lambda tx, each=each: change_address.change_address_in(tx, server, each, NEW))


def test_an_address_changes_whole_or_not_at_all(server, mailed, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    mailed("nobody@example.org")
    made = fails_without_a_trace(
        server.store,
        lambda: server.write(lambda tx: change_address.change_address_in(tx, server, game.person_at(seat), NEW)),
    )
    assert made > 5
