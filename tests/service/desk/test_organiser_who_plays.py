"""An organiser who plays: they never see the hidden side of a table where they sit or sat, and never sit where
they have looked, under any identity that the server knows to be theirs."""

from datetime import timedelta
from functools import partial

import pytest

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Forbidden, Gone
from pbem.service import alarms, links
from pbem.service.absence import offers, substitutes
from pbem.service.account import change_address, delete
from pbem.service.alarms import AlarmKind
from pbem.service.desk import (
    alarm_emails,
    audit,
    calls,
    deliverability,
    email as desk_email,
    jobs,
    organisers,
    table as desk_table,
)
from pbem.service.desk.acts.emails import RetryDeadline, RetryIncoming
from pbem.service.desk.acts.people import ChangeAddress, Merge
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.seats import Substitute
from pbem.service.people import addresses
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import deadlines, due_turns, insiders, organisers as rows, received
from pbem.store.audit import AuditFilter
from tests.service.actors import PASSPHRASE, ROOT, add_organiser, moderate
from tests.service.database import facts_of, queued_emails
from tests.service.inbox import Inbox
from tests.service.outgoing.test_deliver import drain, post_to

NEW = "elsewhere@example.net"
SPELLING = "Elsewhere+games@example.net"
HAND = "I hold the red seven."
WHY = "looking why it bounced"


@pytest.fixture
def game(table):
    """A table where a seat that is given up is offered to substitutes."""
    return table("templari", 3, successor="substitute")


@pytest.fixture
def player(server, game):
    """The person at the first seat, who has had their links by email."""
    person_id = game.person_at(0)
    server.store.write(lambda tx: links.make_for_seat(tx, server, person_id, game.id, game.row().turn, 0))
    return person_id


@pytest.fixture
def olga(server, player):
    """The organiser who has that person's address."""
    return organiser_with(server, server.read(addresses.read, player).address)


def organiser_with(server, address):
    name, _at, domain = address.partition("@")
    return add_organiser(server, name, domain)


def actor_of(server, organiser):
    with server.store.read() as tx:
        return organisers.actor_of(tx, rows.read(tx, organiser.id))


def confirmed(server, address, name=""):
    person_id = server.run(addresses.register, address, name).id
    return server.run(addresses.confirm, person_id).id


def look(server, organiser, game, seat=1, turn=None):
    return server.run(desk_table.see_as, actor_of(server, organiser), game.id, seat, WHY, turn)


def see_nothing(server, organiser, game):
    for act in (Act.TABLE, Act.SEE_AS, Act.READ_MAIL, Act.CALL):
        with server.store.read() as tx, pytest.raises(Forbidden, match="You play at this table"):
            audit.must_be_allowed(tx, actor_of(server, organiser), act, game.id)
    for turn in (None, 0):
        with pytest.raises(Forbidden, match="You play at this table"):
            look(server, organiser, game, turn=turn)


def changes_address(server, game, player, olga):
    server.run(change_address.change_address, player, NEW)


def changes_address_and_registers_the_old_one(server, game, player, olga):
    server.run(change_address.change_address, player, NEW)
    confirmed(server, olga.address)
    server.run(delete.delete_person, player)


def is_merged(server, game, player, olga):
    moderate(server, Merge(confirmed(server, NEW), player))


def resigns(server, game, player, olga):
    server.run(leaving.resign, game.id, 0, player)


def resigns_and_merges_themselves(server, game, player, olga):
    server.run(leaving.resign, game.id, 0, player)
    server.run(perform, actor_of(server, olga), Merge(confirmed(server, NEW), player), "two addresses of mine")


def is_replaced(server, game, player, olga):
    moderate(server, Substitute(game.id, 0, NEW))


def leaves_for_good(server, game, player, olga):
    server.run(delete.delete_person, player)


def leaves_for_good_and_returns(server, game, player, olga):
    server.run(delete.delete_person, player)
    server.run(addresses.register, olga.address, "")


def leaves_twice_and_returns(server, game, player, olga):
    moderate(server, Substitute(game.id, 0))
    server.run(delete.delete_person, player)
    again = confirmed(server, olga.address, "Again")
    moderate(server, Substitute(game.id, 0, olga.address))
    server.run(delete.delete_person, again)
    confirmed(server, olga.address)


def an_alarm_brings_them_back(server, game, player, olga):
    server.run(delete.delete_person, player)
    server.run(calls.call, game.person_at(1), "Hello?")
    server.clock.advance(alarm_emails.GATHERED + timedelta(minutes=1))
    alarm_emails.send(server)


CHANGES = [
    changes_address,
    changes_address_and_registers_the_old_one,
    is_merged,
    resigns,
    resigns_and_merges_themselves,
    is_replaced,
    leaves_for_good,
    leaves_for_good_and_returns,
    leaves_twice_and_returns,
    an_alarm_brings_them_back,
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_organiser_who_plays_is_shut_out_whatever_they_change(server, game, player, olga, change):
    change(server, game, player, olga)
    see_nothing(server, olga, game)


@pytest.mark.parametrize("first", ["plays", "is organiser"])
@pytest.mark.parametrize(
    "address, spelling",
    [("olga@example.org", "Olga+games@example.org"), ("olga@gmail.com", "o.lg.a@googlemail.com")],
    ids=["tag", "dots"],
)
def test_another_spelling_of_their_address_is_the_same_person_and_no_organiser(server, game, address, spelling, first):
    steps = [
        lambda: moderate(server, Substitute(game.id, 0, spelling)),
        lambda: organisers.add(server, ROOT, "Olga Two", address, PASSPHRASE),
    ]
    for step in steps if first == "plays" else reversed(steps):
        step()
    with server.store.read() as tx:
        olga = rows.by_name(tx, "Olga Two")
    see_nothing(server, olga, game)
    assert olga.person_id != game.person_at(0)


@pytest.mark.parametrize("first", ["plays", "moves", "moves on"])
def test_another_spelling_of_an_address_they_moved_to_is_the_same_person(server, game, first):
    olga = organiser_with(server, "olga@example.org")
    moves = [NEW] if first != "moves on" else [NEW, "third@example.net"]
    steps = [partial(server.run, change_address.change_address, olga.person_id, address) for address in moves]
    steps.insert(0 if first == "plays" else len(steps), lambda: moderate(server, Substitute(game.id, 0, SPELLING)))
    for step in steps:
        step()
    see_nothing(server, olga, game)


def test_one_who_gave_up_an_address_before_it_was_an_organisers_is_shut_out(server, game, player):
    address = server.read(addresses.read, player).address
    server.run(change_address.change_address, player, NEW)
    organisers.add(server, ROOT, "Olga", address, PASSPHRASE)
    with server.store.read() as tx:
        see_nothing(server, rows.by_name(tx, "Olga"), game)


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_a_player_calls_from_that_table_reaches_them(server, clock, sink, game, player, olga, change):
    change(server, game, player, olga)
    add_organiser(server, "Otto")
    server.run(calls.call, game.person_at(1), HAND, game_id=game.id, seat=1)
    clock.advance(alarm_emails.APART)
    alarm_emails.send(server)
    alerts = [alert for alert in queued_emails(server, kind="alert") if HAND in f"{facts_of(server, alert)}"]
    with server.store.read() as tx:
        ottos = rows.by_name(tx, "Otto").person_id
        own = insiders.everyone(tx, rows.read(tx, olga.id).person_id)
    assert {alert.person_id for alert in alerts} == {ottos}
    assert ottos not in own
    actor = actor_of(server, olga)
    queue = server.read(calls.queue, actor, "open")
    assert not any(HAND in call.row.text for call in queue.calls)
    assert queue.hidden == 1
    drain(server, clock, post_to(sink))
    for alert in alerts:
        with pytest.raises(Forbidden, match="You play at this table"):
            server.run(desk_email.read, actor, alert.id, WHY, person_id=alert.person_id)


@pytest.mark.parametrize("what", AlarmKind)
def test_no_alarm_of_their_table_can_be_read_in_the_email_of_another_organiser(server, clock, sink, game, olga, what):
    otto = add_organiser(server, "Otto")
    server.run(alarms.raise_alarm, what, "Email 31: 554 no such mailbox", game.id)
    clock.advance(alarm_emails.APART)
    alarm_emails.send(server)
    (alert,) = [each for each in queued_emails(server, kind="alert") if each.person_id == otto.person_id]
    drain(server, clock, post_to(sink))
    with pytest.raises(Forbidden, match="You play at this table"):
        server.run(desk_email.read, actor_of(server, olga), alert.id, WHY, person_id=alert.person_id)


def test_not_even_a_preview_tells_them_which_reply_was_given_up_at_their_table(server, time, game, olga):
    box, seat = Inbox(server, time.clock), next(iter(game.asked()))
    box.takes(box.written(game, seat, "help"), box.reply_address(game, seat))
    for status in ("done", "parked"):
        server.store.write(lambda tx, status=status: received.change(tx, 1, status=status))
        with pytest.raises(Gone, match="hasn't been given up"):
            server.dry_run(perform, actor_of(server, olga), RetryIncoming(1), WHY)
    server.dry_run(perform, actor_of(server, add_organiser(server, "Otto")), RetryIncoming(1), WHY)


def test_an_alarm_goes_where_the_organiser_is_now_and_not_to_the_mailbox_they_left(server, clock, game, player, olga):
    changes_address(server, game, player, olga)
    server.run(calls.call, game.person_at(1), "Hello?")
    clock.advance(alarm_emails.APART)
    alarm_emails.send(server)
    assert [alert.person_id for alert in queued_emails(server, kind="alert")] == [player]


def test_they_cannot_act_on_players_of_a_table_they_left(server, game, player, olga):
    resigns(server, game, player, olga)
    victim, actor = game.person_at(1), actor_of(server, olga)
    with pytest.raises(Forbidden, match="You play with this person"):
        server.run(perform, actor, ChangeAddress(victim, NEW), "they asked me")
    assert victim in server.read(deliverability.played_with, actor)


def test_they_cannot_act_on_former_players_of_a_table_where_they_play(server, game, player, olga):
    victim = game.person_at(1)
    server.run(leaving.resign, game.id, 1, victim)
    with pytest.raises(Forbidden, match="You play with this person"):
        server.run(perform, actor_of(server, olga), ChangeAddress(victim, NEW), "they asked me")


def test_their_job_leaves_out_a_table_they_left(server, game, player, olga):
    resigns_and_merges_themselves(server, game, player, olga)
    plan = server.read(jobs.plan, actor_of(server, olga), jobs.What.PAUSE, {})
    assert [target.number for target in plan.left_alone] == [game.id]


def test_an_organiser_cannot_take_a_seat_after_a_look(server, game):
    olga = organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    look(server, olga, game)
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    (offer,) = server.read(offers.open_offers)
    with pytest.raises(Forbidden, match="looked at a table"):
        server.run(substitutes.take, offer.id, me)
    with pytest.raises(Forbidden, match="looked at a table"):
        moderate(server, Substitute(game.id, 0, "olga@example.org"))
    assert game.players()[0].person_id is None


@pytest.mark.parametrize("returns", [False, True])
def test_nor_can_they_under_another_identity(server, game, returns):
    olga = organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    look(server, olga, game)
    if returns:
        server.run(delete.delete_person, me)
        me = confirmed(server, "olga@example.org", "Olga")
    else:
        other = confirmed(server, NEW, "Other")
        moderate(server, Merge(other, me))
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    (offer,) = server.read(offers.open_offers)
    for identity in {me} if returns else {me, other}:
        with pytest.raises(Forbidden, match="looked at a table"):
            server.run(substitutes.take, offer.id, identity)


def test_no_merge_joins_a_player_with_an_organiser_after_a_look(server, game):
    olga = organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    look(server, olga, game)
    with pytest.raises(BadInput, match="looked at table"):
        moderate(server, Merge(me, game.person_at(0)))
    with pytest.raises(BadInput, match="looked at table"):
        moderate(server, Merge(game.person_at(0), me))


def test_an_organiser_cannot_take_a_seat_after_reading_an_email_about_it(server, clock, sink, game):
    drain(server, clock, post_to(sink))
    olga = organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    turn = next(email for email in queued_emails(server, kind="turn") if email.game_id == game.id)
    server.run(desk_email.read, actor_of(server, olga), turn.id, WHY, game_id=game.id)
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    (offer,) = server.read(offers.open_offers)
    with pytest.raises(Forbidden, match="looked at a table"):
        server.run(substitutes.take, offer.id, me)


def test_an_organiser_cannot_take_a_seat_after_a_call_from_that_table(server, game):
    organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    server.run(calls.call, game.person_at(1), HAND, game_id=game.id, seat=1)
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    (offer,) = server.read(offers.open_offers)
    with pytest.raises(Forbidden, match="looked at a table"):
        server.run(substitutes.take, offer.id, me)


def test_a_player_comes_back_whatever_was_called_meanwhile(server, game, player, olga):
    resigns(server, game, player, olga)
    server.run(calls.call, game.person_at(1), HAND, game_id=game.id, seat=1)
    server.run(substitutes.come_back, game.id, 0, player)
    assert game.person_at(0) == player


def test_a_look_before_the_game_begins_shows_nothing_and_keeps_no_organiser_out(server, person):
    olga = organiser_with(server, "olga@example.org")
    me = confirmed(server, "olga@example.org", "Olga")
    waiting = server.run(joining.create_table, person("Ann"), TableSettings("sun-bid", 2)).game_id
    server.run(joining.join, waiting, person("Ann"))
    (joined,) = queued_emails(server, person("Ann"), "joined")
    server.run(desk_email.read, actor_of(server, olga), joined.id, WHY, game_id=waiting)
    assert server.run(joining.join, waiting, me).begun
    with server.store.read() as tx:
        assert not insiders.has_looked(tx, me, waiting)


def test_of_a_player_who_leaves_nothing_says_any_more_that_two_addresses_were_theirs(server, person):
    ann, annabel = person("Ann"), person("Annabel")
    moderate(server, Merge(annabel, ann))
    with server.store.read() as tx:
        assert set(insiders.everyone(tx, ann)) == {ann, annabel}
    server.run(delete.delete_person, annabel)
    with server.store.read() as tx:
        assert set(insiders.everyone(tx, ann)) == {ann}


def test_the_audit_tells_nobody_whose_clock_had_run_out(server, game):
    seat = next(iter(game.asked()))
    with server.store.engine.begin() as tx:
        asked = deadlines.read(tx, game.id, game.row().turn, seat)
        due_turns.release(tx, asked, attempts=due_turns.MOST_ATTEMPTS)
    moderate(server, RetryDeadline(game.id, seat))
    (row,) = server.read(audit.newest, AuditFilter(game_id=game.id))
    assert (row.act, row.body) == (Act.RETRY_DEADLINE, "{}")
