"""Unreachable addresses: when one is left alone, who is told, and how it becomes reachable.

The relay is a real server on this machine, and time passes only when it is told to.
"""

from datetime import timedelta

import pytest

from pbem.domain.bounce import MEMORY, Bounce
from pbem.domain.errors import Gone
from pbem.service.account import my_page
from pbem.service.clocks import reachability
from pbem.service.desk import alarm_emails
from pbem.service.desk.acts.clocks import Pause
from pbem.service.desk.acts.people import Release
from pbem.service.outgoing import deliver
from pbem.service.outgoing.outcomes import TRIES
from pbem.service.people import addresses, sign_in
from pbem.service.tables import by_link
from pbem.store import deadlines, reachability as reachability_rows, traffic
from tests.service.actors import add_organiser, moderate
from tests.service.clock import DAY, MINUTE
from tests.service.database import check_atomic, queued_emails
from tests.service.outgoing.test_deliver import HOUR, drain, lines_of, links_in, post_to

WHY = "550 5.1.1 no such user"


@pytest.fixture
def post(sink):
    """What this server sends with."""
    return post_to(sink)


@pytest.fixture
def game(table, server, clock, post):
    """A game in which one decides after the other, and whose beginning has been told."""
    began = table("templari", 3)
    clock.advance(HOUR)
    deliver.deliver(server, post, limit=100)
    return began


def bounce(server, person, kind=Bounce.HARD):
    server.run(reachability.note_bounce, person, kind, WHY)


def fails(server, person):
    with server.store.read() as tx:
        return reachability_rows.failure(tx, person) is not None


def days(server, clock, person, *kinds):
    """These bounces, one a day."""
    for kind in kinds:
        bounce(server, person, kind)
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
def test_an_address_is_left_alone_after_enough_days_or_one_complaint(server, clock, person, kinds, failing):
    days(server, clock, person("Ann"), *kinds)
    assert fails(server, person("Ann")) is failing


def test_a_bad_day_counts_once_by_its_worst(server, clock, person):
    ann = person("Ann")
    for kind in [SOFT, HARD, SOFT, *[HARD] * 20]:
        bounce(server, ann, kind)
    clock.advance(DAY)
    bounce(server, ann, HARD)
    assert not fails(server, ann)
    clock.advance(DAY)
    bounce(server, ann, HARD)
    assert fails(server, ann)


def test_a_milder_bounce_after_the_worst_of_a_day_changes_nothing(server, clock, person):
    ann = person("Ann")
    for _ in range(3):
        bounce(server, ann, HARD)
        bounce(server, ann, SOFT)
        clock.advance(DAY)
    assert fails(server, ann)


def test_old_bounces_no_longer_count(server, clock, person):
    ann = person("Ann")
    days(server, clock, ann, HARD, HARD)
    clock.advance(MEMORY)
    bounce(server, ann, HARD)
    assert not fails(server, ann)


def test_contact_clears_earlier_bounces(server, clock, person):
    ann = person("Ann")
    days(server, clock, ann, HARD, HARD)
    server.run(reachability.note_contact, ann)
    bounce(server, ann, HARD)
    assert not fails(server, ann)


# What follows


def test_while_an_address_is_left_alone_nothing_is_sent_there_and_its_clock_waits(server, clock, sink, post, game):
    seat = next(iter(game.asked()))
    person = game.person_at(seat)
    address = server.read(addresses.read, person).address
    bounce(server, person, Bounce.COMPLAINT)
    with server.store.read() as tx:
        assert deadlines.read(tx, game.id, game.row().turn, seat).due_at is None
    before = len(sink.to(address))
    moderate(server, Pause(game.id), "dinner")
    clock.advance(HOUR)
    deliver.deliver(server, post)
    assert len(sink.to(address)) == before
    held = queued_emails(server, person, "notice")[-1]
    assert (held.status, lines_of(server, held)) == ("undeliverable", ["undeliverable"])


def test_the_others_at_the_table_and_the_organisers_are_told_and_told_again_when_it_is_over(
    server, clock, sink, post, game
):
    add_organiser(server, "Olga", "example.net")
    person, name = game.person_at(0), game.players()[0].name
    bounce(server, person, Bounce.COMPLAINT)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    notices = [email for email in sink.emails if f"we can't reach {name}" in str(email.message["subject"])]
    assert {email.recipient for email in notices} == {
        server.read(addresses.read, game.person_at(seat)).address for seat in (1, 2)
    }
    assert alarm_emails.send(server) == 1
    server.run(reachability.note_contact, person)
    deliver.deliver(server, post)
    over = [email for email in sink.emails if f"we can reach {name} again" in str(email.message["subject"])]
    assert len(over) == 2
    assert any(email.recipient == "olga@example.net" for email in sink.emails)


def test_a_turn_that_was_held_back_is_emailed_when_the_address_works_again(server, clock, sink, post, game):
    seat = next(iter(game.asked()))
    following = game.person_at((seat + 1) % 3), game.person_at((seat + 2) % 3)
    for person in following:
        bounce(server, person, Bounce.COMPLAINT)
    game.play(seat, game.asked()[seat].default)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    asked = next(iter(game.asked()))
    person = game.person_at(asked)
    assert queued_emails(server, person, "turn")[-1].status == "undeliverable"
    server.run(reachability.note_contact, person)
    deliver.deliver(server, post)
    assert queued_emails(server, person, "turn")[-1].status == "sent"
    with server.store.read() as tx:
        row = deadlines.read(tx, game.id, game.row().turn, asked)
    assert row.accepted_at == clock.now()


# How it comes back


def test_a_link_that_was_emailed_since_ends_it_and_an_older_one_does_not(server, clock, sink, post, game):
    person = game.person_at(0)
    address = server.read(addresses.read, person).address
    server.run(sign_in.send_link, address)
    deliver.deliver(server, post)
    old = next(token for purpose, token, _ in links_in(sink.to(address)[-1]) if purpose == "l")
    clock.advance(MINUTE)
    bounce(server, person, Bounce.COMPLAINT)
    assert server.read(my_page.my_games, person).failing_since == clock.now()
    server.run(sign_in.sign_in, old, "")
    assert fails(server, person)
    clock.advance(MINUTE)
    server.run(sign_in.send_link, address)
    deliver.deliver(server, post)
    new = next(token for purpose, token, _ in links_in(sink.to(address)[-1]) if purpose == "l")
    server.run(sign_in.sign_in, new, "")
    assert not fails(server, person)


def test_confirming_the_address_again_ends_it(server, clock, sink, post):
    zoe = server.run(addresses.register, "zoe@example.org", "Zoe")
    bounce(server, zoe.id, Bounce.COMPLAINT)
    clock.advance(MINUTE)
    server.run(addresses.register, "zoe@example.org", "Zoe")
    deliver.deliver(server, post)
    token = next(token for purpose, token, _ in links_in(sink.to("zoe@example.org")[-1]) if purpose == "c")
    by_link.confirm_and_join(server, token, "Zoe", "")
    assert not fails(server, zoe.id)


def test_after_thirty_days_an_address_is_tried_again(server, clock, person):
    ann = person("Ann")
    bounce(server, ann, Bounce.COMPLAINT)
    clock.advance(MEMORY - MINUTE)
    assert reachability.retry_failed(server) == 0
    clock.advance(MINUTE)
    assert reachability.retry_failed(server) == 1
    assert not fails(server, ann)


def test_an_acceptance_by_the_relay_ends_only_refusals_by_the_relay(server, clock, sink, post, person):
    ann, ben = person("Ann"), person("Ben")
    drain(server, clock, post)
    server.run(reachability.note_refusal, ann, WHY)
    days(server, clock, ben, HARD, HARD, HARD)
    for each in ("ann", "ben"):
        server.run(sign_in.send_link, f"{each}@example.org")
    deliver.deliver(server, post)
    assert not fails(server, ann)
    assert fails(server, ben), "a mail that bounced was taken by the relay, too"


def test_an_organiser_lets_emails_go_there_again_and_what_came_back_before_counts_no_more(
    server, clock, sink, post, game
):
    seat = next(iter(game.asked()))
    following = game.person_at((seat + 1) % 3), game.person_at((seat + 2) % 3)
    for person in following:
        days(server, clock, person, HARD, HARD, HARD)
    game.play(seat, game.asked()[seat].default)
    clock.advance(HOUR)
    deliver.deliver(server, post)
    asked = next(iter(game.asked()))
    person = game.person_at(asked)
    assert queued_emails(server, person, "turn")[-1].status == "undeliverable"
    done = moderate(server, Release(person), "Her mailbox has room again.")
    assert "Held-back turn emails sent: 1." in done.says
    assert {(notice.kind, notice.what) for notice in done.emails} == {("notice", "reachable")}
    deliver.deliver(server, post)
    assert queued_emails(server, person, "turn")[-1].status == "sent"
    bounce(server, person)
    assert not fails(server, person)
    with pytest.raises(Gone, match="already emailing them"):
        moderate(server, Release(person), "Her mailbox has room again.")


# What the relay says


def test_a_full_mailbox_is_tried_again_and_counted_and_left_alone_in_the_end(server, clock, sink, post, person):
    ann = person("Ann")
    drain(server, clock, post)
    server.run(sign_in.send_link, "ann@example.org")
    sink.does(*["552 rcpt"] * 50)
    for tried in range(1, TRIES + 1):
        deliver.deliver(server, post)
        assert queued_emails(server, ann, "links")[-1].attempts == tried
        clock.advance(timedelta(hours=2, minutes=15))
    assert queued_emails(server, ann, "links")[-1].status == "undeliverable"
    assert fails(server, ann)


def test_a_refusal_of_the_sender_is_no_fault_of_the_readers(server, clock, sink, post, person):
    ann = person("Ann")
    drain(server, clock, post)
    server.run(sign_in.send_link, "ann@example.org")
    sink.does(*["571 rcpt"] * 50)
    for _ in range(TRIES + 1):
        deliver.deliver(server, post)
        clock.advance(timedelta(hours=2, minutes=15))
    assert queued_emails(server, ann, "links")[-1].status == "parked"
    assert not fails(server, ann)


def test_outcomes_are_counted_by_domain_and_day_without_addresses(server, clock, sink, post, person):
    for name in ("Ann", "Ben", "Cleo", "Dan"):
        person(name)
    drain(server, clock, post)
    for name in ("ann", "ben", "cleo", "dan"):
        server.run(sign_in.send_link, f"{name}@example.org")
    sink.does("accept", "450 rcpt", "550 rcpt", "550 data")
    today = clock.now().date()
    with server.store.read() as tx:
        before = {row.domain: row for row in traffic.since(tx, today)}
    deliver.deliver(server, post)
    bounce(server, person("Ann"), Bounce.COMPLAINT)
    with server.store.read() as tx:
        (row,) = traffic.since(tx, today)
    assert before == {}
    assert (row.domain, row.sent, row.deferred, row.bounced, row.complained) == ("example.org", 1, 1, 2, 1)


def test_a_bounce_is_recorded_whole_or_not_at_all(server, clock, game):
    person = game.person_at(0)
    days(server, clock, person, HARD, HARD)
    assert check_atomic(server.store, lambda: bounce(server, person)) > 8
    assert fails(server, person)
