"""Another address for a person: both addresses are told, nothing of theirs is lost, and old links die."""

from datetime import timedelta

import pytest

from pbem.domain.errors import BadInput, Forbidden, Gone, TooMany
from pbem.links import Purpose
from pbem.service import consent, delivery, farewell, mine, moving, people, sessions, signing_in
from pbem.service import links as service_links
from pbem.store.sessions import Holder
from tests.mail.kinds import kind_of
from tests.service.stored import everything, fails_without_a_trace, letters
from tests.service.test_delivery import drain, links_in, post_to

NEW = "ann.new@example.net"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def mailed(house, clock, post, sink):
    """mailed(address) -> the mails there, by kind, the newest of each."""

    def of(address):
        clock.advance(timedelta(minutes=2))
        drain(house, clock, post)
        return {kind_of(mail.message): mail for mail in sink.to(address)}

    return of


def yes_in(mail):
    return next(token for purpose, token, _ in links_in(mail) if purpose == "y")


def asked(house, mailed, person, address=NEW):
    moving.ask(house, person, address)
    return yes_in(mailed(address)["new_address"])


def test_a_new_address_counts_when_its_own_reader_says_yes(house, mailed, person):
    ann = person("Ann")
    token = asked(house, mailed, ann)
    assert people.read(house, ann).address == "ann@example.org"
    assert consent.at(house, token).name == "Ann"
    assert consent.say_yes(house, token) == "new_address"
    found = people.read(house, ann)
    assert (found.address, found.mailbox, found.name) == (NEW, NEW, "Ann")
    before = everything(house.store)
    assert consent.say_yes(house, token) == "new_address", "pressed twice is once"
    assert everything(house.store) == before


def test_the_old_address_is_told_when_it_is_asked_for_and_both_when_it_is_done(house, mailed, person):
    ann = person("Ann")
    token = asked(house, mailed, ann)
    told = mailed("ann@example.org")
    assert not [each for each in links_in(told["new_address"]) if each[0] == "y"], "the old one cannot say yes"
    assert NEW not in str(told["new_address"].message), "nor is told which address it is"
    consent.say_yes(house, token)
    assert "moved" in mailed("ann@example.org")
    assert "moved" in mailed(NEW)
    assert "ann@example.org" not in str(mailed(NEW)["moved"].message)


def test_what_is_asked_is_mailed_to_the_new_address_and_old_links_and_browsers_are_out(house, mailed, table, clock):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    address = people.read(house, person).address
    old = next(token for purpose, token, _ in links_in(mailed(address)["turn"]) if purpose == "s")
    secret = house.write(lambda tx: sessions.open_in(tx, house, Holder(person_id=person), ""))
    consent.say_yes(house, asked(house, mailed, person))
    with pytest.raises(Gone):
        service_links.opened(house, old, Purpose.SEAT)
    assert sessions.find(house, secret) is None
    turn = mailed(NEW)["turn"]
    new = next(token for purpose, token, _ in links_in(turn) if purpose == "s")
    assert service_links.opened(house, new, Purpose.SEAT).seat == seat
    assert len([mail for mail in letters(house, person, "turn") if mail.status == "queued"]) == 0


def test_a_mail_that_was_written_and_has_not_left_goes_to_the_new_address_and_names_no_other(
    house, clock, post, sink, mailed, person
):
    ann = person("Ann")
    token = asked(house, mailed, ann)
    mine.send(house, "ann@example.org")
    sink.does("450 rcpt")
    delivery.deliver(house, post)
    (waiting,) = [mail for mail in letters(house, ann, "links") if mail.status == "queued"]
    assert b"ann@example.org" in waiting.body
    consent.say_yes(house, token)
    links = mailed(NEW)["links"]
    assert "ann@example.org" not in str(links.message)
    token = next(token for purpose, token, _ in links_in(links) if purpose == "l")
    assert signing_in.at(house, token).name == "Ann"


def test_the_old_address_is_free_for_whoever_has_it_then(house, mailed, person):
    ann = person("Ann")
    consent.say_yes(house, asked(house, mailed, ann))
    other = people.create(house, "ann@example.org", "Anna")
    assert other.id != ann
    assert (other.name, other.confirmed_at) == ("Anna", None)


def test_an_address_that_plays_here_is_not_taken_over(house, mailed, person):
    ann, ben = person("Ann"), person("Ben")
    token = asked(house, mailed, ann, "ben@example.org")
    before = everything(house.store)
    with pytest.raises(BadInput, match="plays here already"):
        consent.say_yes(house, token)
    assert everything(house.store) == before
    assert people.read(house, ben).address == "ben@example.org"


def test_asking_tells_nothing_of_whether_an_address_is_known(house, person):
    ann = person("Ann")
    person("Ben")
    assert moving.ask(house, ann, "ben@example.org") is None
    assert moving.ask(house, ann, "nobody@example.org") is None


def test_an_address_that_was_only_ever_typed_is_free(house, mailed, person):
    ann = person("Ann")
    people.create(house, NEW, "Somebody")
    consent.say_yes(house, asked(house, mailed, ann))
    assert people.read(house, ann).address == NEW
    assert people.create(house, "ann@example.org").name == ""


@pytest.mark.parametrize("wrong", ["", "ann", "ann@example.org", "ANN@example.org"])
def test_what_is_no_other_address_is_refused(house, person, wrong):
    ann = person("Ann")
    before = everything(house.store)
    with pytest.raises(BadInput):
        moving.ask(house, ann, wrong)
    assert everything(house.store) == before


def test_nobody_is_flooded_with_such_mails(house, person):
    ann = person("Ann")
    for number in range(moving.MAILS_A_DAY):
        moving.ask(house, ann, f"new{number}@example.net")
    with pytest.raises(TooMany):
        moving.ask(house, ann, "more@example.net")
    for name in ("Ben", "Cleo", "Dan", "Eve", "Fay"):
        moving.ask(house, person(name), "victim@example.net")
    with pytest.raises(TooMany):
        moving.ask(house, person("Gus"), "victim@example.net")
    assert len(letters(house, people.create(house, "victim@example.net").id, "new_address")) == moving.MAILS_A_DAY


def test_the_link_of_one_mail_says_yes_to_nothing_else_and_not_for_long(house, clock, mailed, person):
    token = asked(house, mailed, person("Ann"))
    for purpose in Purpose:
        if purpose is not Purpose.YES:
            with pytest.raises(Exception, match="nothing at this address"):
                service_links.opened(house, token, purpose)
    clock.advance(timedelta(days=1))
    with pytest.raises(Gone):
        consent.say_yes(house, token)


def test_a_guest_and_somebody_who_has_left_have_no_address_to_change(house, person):
    guest = house.write(lambda tx: people.guest_in(tx, house, "Guest")).id
    with pytest.raises(Forbidden):
        moving.ask(house, guest, NEW)
    gone = person("Ann")
    farewell.delete_person(house, gone)
    for each in (guest, gone):
        with pytest.raises(Gone):
            house.write(lambda tx, each=each: moving.change_address_in(tx, house, each, NEW))


def test_an_address_changes_whole_or_not_at_all(house, mailed, table):
    game = table("templari", 3)
    seat = next(iter(game.asked()))
    mailed("nobody@example.org")
    made = fails_without_a_trace(
        house.store,
        lambda: house.write(lambda tx: moving.change_address_in(tx, house, game.person_at(seat), NEW)),
    )
    assert made > 5
