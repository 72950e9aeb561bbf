"""Addresses that no mail reaches: when one is left alone, who is told, and how it comes back.

The relay is a real server on this machine, and time passes only when it is told to.
"""

from datetime import timedelta

import pytest

from pbem.domain.bounce import MEMORY, Bounce
from pbem.domain.errors import Gone
from pbem.service import alarms, delivery, doorstep, mine, own, people, signing_in, stops
from pbem.service.moderation.clocks import Pause
from pbem.service.moderation.persons import Release
from pbem.service.outcomes import TRIES
from pbem.store import deadlines, outages, traffic
from tests.service.acting import an_organiser
from tests.service.moderated import does
from tests.service.stored import fails_without_a_trace, letters
from tests.service.test_delivery import HOUR, drain, lines_of, links_in, post_to
from tests.service.timed import DAY, MINUTE

WHY = "550 5.1.1 no such user"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def game(table, house, clock, post):
    """A game in which one decides after the other, and whose beginning has been told."""
    began = table("templari", 3)
    clock.advance(HOUR)
    delivery.deliver(house, post, limit=100)
    return began


def bounce(house, person, kind=Bounce.HARD):
    house.write(lambda tx: stops.bounced(tx, house, person, kind, WHY))


def fails(house, person):
    with house.store.read() as tx:
        return outages.failure(tx, person) is not None


def days(house, clock, person, *kinds):
    """These bounces, one a day."""
    for kind in kinds:
        bounce(house, person, kind)
        clock.advance(DAY)


HARD, SOFT = Bounce.HARD, Bounce.SOFT


@pytest.mark.parametrize(
    ("kinds", "failing"),
    [
        ([HARD] * 2, False),
        ([HARD] * 3, True),
        ([SOFT] * 5, False),
        ([SOFT] * 6, True),
        ([HARD, SOFT, SOFT, HARD], True),
        ([HARD, SOFT, HARD], False),
        ([Bounce.COMPLAINT], True),
    ],
)
def test_an_address_is_left_alone_after_enough_days_or_one_complaint(house, clock, person, kinds, failing):
    days(house, clock, person("Ann"), *kinds)
    assert fails(house, person("Ann")) is failing


def test_a_bad_day_counts_once_by_its_worst(house, clock, person):
    ann = person("Ann")
    for kind in [SOFT, HARD, SOFT, *[HARD] * 20]:
        bounce(house, ann, kind)
    clock.advance(DAY)
    bounce(house, ann, HARD)
    assert not fails(house, ann)
    clock.advance(DAY)
    bounce(house, ann, HARD)
    assert fails(house, ann)


def test_of_a_day_on_which_the_worst_came_first_nothing_is_forgiven(house, clock, person):
    ann = person("Ann")
    for _ in range(3):
        bounce(house, ann, HARD)
        bounce(house, ann, SOFT)
        clock.advance(DAY)
    assert fails(house, ann)


def test_what_came_back_long_ago_counts_no_more(house, clock, person):
    ann = person("Ann")
    days(house, clock, ann, HARD, HARD)
    clock.advance(MEMORY)
    bounce(house, ann, HARD)
    assert not fails(house, ann)


def test_a_sign_of_life_forgets_what_came_back(house, clock, person):
    ann = person("Ann")
    days(house, clock, ann, HARD, HARD)
    house.write(lambda tx: stops.heard_from(tx, house, ann))
    bounce(house, ann, HARD)
    assert not fails(house, ann)


# What follows


def test_while_an_address_is_left_alone_nothing_is_sent_there_and_its_clock_waits(house, clock, sink, post, game):
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    address = people.read(house, person).address
    bounce(house, person, Bounce.COMPLAINT)
    with house.store.read() as tx:
        assert deadlines.read(tx, game.id, game.row().window, seat).due_at is None
    before = len(sink.to(address))
    does(house, Pause(game.id), "dinner")
    clock.advance(HOUR)
    delivery.deliver(house, post)
    assert len(sink.to(address)) == before
    held = letters(house, person, "notice")[-1]
    assert (held.status, lines_of(house, held)) == ("undeliverable", ["undeliverable"])


def test_the_others_at_the_table_and_the_organisers_are_told_and_told_again_when_it_is_over(
    house,
    clock,
    sink,
    post,
    game,
):
    an_organiser(house, "Olga", "example.net")
    person, name = game.person_at(0), game.places()[0].name
    bounce(house, person, Bounce.COMPLAINT)
    clock.advance(HOUR)
    delivery.deliver(house, post)
    told = [mail for mail in sink.kept if f"{name} cannot be reached" in str(mail.message["subject"])]
    assert {mail.recipient for mail in told} == {people.read(house, game.person_at(seat)).address for seat in (1, 2)}
    assert alarms.tell(house) == 1
    house.write(lambda tx: stops.heard_from(tx, house, person))
    delivery.deliver(house, post)
    over = [mail for mail in sink.kept if f"{name} can be reached again" in str(mail.message["subject"])]
    assert len(over) == 2
    assert any(mail.recipient == "olga@example.net" for mail in sink.kept)


def test_a_turn_that_was_held_back_is_mailed_when_the_address_works_again(house, clock, sink, post, game):
    seat = next(iter(game.asked()))
    following = game.person_at((seat + 1) % 3), game.person_at((seat + 2) % 3)
    for person in following:
        bounce(house, person, Bounce.COMPLAINT)
    game.play(seat, game.asked()[seat].default)
    clock.advance(HOUR)
    delivery.deliver(house, post)
    asked = next(iter(game.asked()))
    person = game.person_at(asked)
    assert letters(house, person, "turn")[-1].status == "undeliverable"
    house.write(lambda tx: stops.heard_from(tx, house, person))
    delivery.deliver(house, post)
    assert letters(house, person, "turn")[-1].status == "sent"
    with house.store.read() as tx:
        row = deadlines.read(tx, game.id, game.row().window, asked)
    assert row.accepted_at == clock.now()


# How it comes back


def test_a_link_that_was_mailed_since_ends_it_and_an_older_one_does_not(house, clock, sink, post, game):
    person = game.person_at(0)
    address = people.read(house, person).address
    mine.send(house, address)
    delivery.deliver(house, post)
    old = next(token for purpose, token, _ in links_in(sink.to(address)[-1]) if purpose == "l")
    clock.advance(MINUTE)
    bounce(house, person, Bounce.COMPLAINT)
    assert own.at(house, person).failing_since == clock.now()
    signing_in.sign_in(house, old, "")
    assert fails(house, person)
    clock.advance(MINUTE)
    mine.send(house, address)
    delivery.deliver(house, post)
    new = next(token for purpose, token, _ in links_in(sink.to(address)[-1]) if purpose == "l")
    signing_in.sign_in(house, new, "")
    assert not fails(house, person)


def test_confirming_the_address_anew_ends_it(house, clock, sink, post):
    zoe = people.create(house, "zoe@example.org", "Zoe")
    bounce(house, zoe.id, Bounce.COMPLAINT)
    clock.advance(MINUTE)
    people.create(house, "zoe@example.org", "Zoe")
    delivery.deliver(house, post)
    token = next(token for purpose, token, _ in links_in(sink.to("zoe@example.org")[-1]) if purpose == "c")
    doorstep.come_in(house, token, "Zoe", "")
    assert not fails(house, zoe.id)


def test_after_thirty_days_an_address_is_tried_again(house, clock, person):
    ann = person("Ann")
    bounce(house, ann, Bounce.COMPLAINT)
    clock.advance(MEMORY - MINUTE)
    assert stops.forgive(house) == 0
    clock.advance(MINUTE)
    assert stops.forgive(house) == 1
    assert not fails(house, ann)


def test_that_the_relay_takes_a_mail_ends_only_what_the_relay_itself_has_said(house, clock, sink, post, person):
    ann, ben = person("Ann"), person("Ben")
    drain(house, clock, post)
    house.write(lambda tx: stops.refused(tx, house, ann, WHY))
    days(house, clock, ben, HARD, HARD, HARD)
    for each in ("ann", "ben"):
        mine.send(house, f"{each}@example.org")
    delivery.deliver(house, post)
    assert not fails(house, ann)
    assert fails(house, ben), "a mail that came back was taken by the relay, too"


def test_an_organiser_lets_mails_go_there_again_and_what_came_back_before_counts_no_more(
    house, clock, sink, post, game
):
    seat = next(iter(game.asked()))
    following = game.person_at((seat + 1) % 3), game.person_at((seat + 2) % 3)
    for person in following:
        days(house, clock, person, HARD, HARD, HARD)
    game.play(seat, game.asked()[seat].default)
    clock.advance(HOUR)
    delivery.deliver(house, post)
    asked = next(iter(game.asked()))
    person = game.person_at(asked)
    assert letters(house, person, "turn")[-1].status == "undeliverable"
    done = does(house, Release(person), "Her mailbox has room again.")
    assert "Turns that were held back and are mailed now: 1. Clocks that waited go on." in done.says
    assert {(told.kind, told.what) for told in done.told} == {("notice", "reachable")}
    delivery.deliver(house, post)
    assert letters(house, person, "turn")[-1].status == "sent"
    bounce(house, person)
    assert not fails(house, person)
    with pytest.raises(Gone, match="not left alone"):
        does(house, Release(person), "Her mailbox has room again.")


# What the relay says


def test_a_full_mailbox_is_tried_again_and_counted_and_left_alone_in_the_end(house, clock, sink, post, person):
    ann = person("Ann")
    drain(house, clock, post)
    mine.send(house, "ann@example.org")
    sink.does(*["552 rcpt"] * 50)
    for tried in range(1, TRIES + 1):
        delivery.deliver(house, post)
        assert letters(house, ann, "links")[-1].attempts == tried
        clock.advance(timedelta(hours=2, minutes=15))
    assert letters(house, ann, "links")[-1].status == "undeliverable"
    assert fails(house, ann)


def test_a_refusal_of_the_sender_is_no_fault_of_the_readers(house, clock, sink, post, person):
    ann = person("Ann")
    drain(house, clock, post)
    mine.send(house, "ann@example.org")
    sink.does(*["571 rcpt"] * 50)
    for _ in range(TRIES + 1):
        delivery.deliver(house, post)
        clock.advance(timedelta(hours=2, minutes=15))
    assert letters(house, ann, "links")[-1].status == "parked"
    assert not fails(house, ann)


def test_what_became_of_mails_is_counted_by_domain_and_day_without_addresses(house, clock, sink, post, person):
    for name in ("Ann", "Ben", "Cleo", "Dan"):
        person(name)
    drain(house, clock, post)
    for name in ("ann", "ben", "cleo", "dan"):
        mine.send(house, f"{name}@example.org")
    sink.does("accept", "450 rcpt", "550 rcpt", "550 data")
    today = clock.now().date()
    with house.store.read() as tx:
        before = {row.domain: row for row in traffic.since(tx, today)}
    delivery.deliver(house, post)
    bounce(house, person("Ann"), Bounce.COMPLAINT)
    with house.store.read() as tx:
        (row,) = traffic.since(tx, today)
    assert before == {}
    assert (row.domain, row.sent, row.deferred, row.bounced, row.complained) == ("example.org", 1, 1, 2, 1)


def test_noting_a_bounce_is_done_whole_or_not_at_all(house, clock, game):
    person = game.person_at(0)
    days(house, clock, person, HARD, HARD)
    assert fails_without_a_trace(house.store, lambda: bounce(house, person)) > 8
    assert fails(house, person)
