"""Strangers: what no email tells them, how many emails they get, and how long they are remembered."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from pbem.domain.errors import TooMany
from pbem.domain.strangers import StrangerLimits
from pbem.service.account import change_address, delete, my_page
from pbem.service.desk import calls
from pbem.service.people import addresses, sign_in, strangers
from pbem.service.tables import invitations, joining, leaving, listing, rematch
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import sign_up
from pbem.store import people, reachability, tournaments
from tests.service.actors import ROOT, add_organiser
from tests.service.database import all_rows, queued_emails
from tests.service.outgoing.test_deliver import drain, post_to
from tests.service.races import meetings
from tests.service.tables.test_rematch import seat_token
from tests.service.tournaments.cup import open_cup

POKER = TableSettings("sunset-poker", 3)
VICTIM = "victim@example.net"
WORDS = "Cheap pills"


@pytest.fixture
def opened(server, person):
    """A table of three that Ann has opened."""
    return server.run(joining.create_table, person("Ann"), POKER)


def emailed_to(server, clock, sink, address):
    """Everything in every email to an address, decoded."""
    drain(server, clock, post_to(sink))
    emails = sink.to(address)
    assert emails
    return "".join(
        part if isinstance(part, str) else str(part)
        for email in emails
        for part in (*email.message.items(), email.text, email.html)
    )


def plans_a_table(server, person):
    settings = replace(POKER, title=WORDS, invited=("other@example.net",))
    server.run(joining.ask_to_create, VICTIM, WORDS, settings)


def asks_to_join(server, person):
    opened = server.run(joining.create_table, person("Ann"), replace(POKER, title=WORDS))
    server.run(joining.ask_to_join, opened.game_id, VICTIM, WORDS, WORDS)


def calls_the_organiser(server, person):
    call = server.run(calls.call_from_address, VICTIM, WORDS)
    server.run(calls.answer, ROOT, call, "We are here.")


def registers(server, person):
    server.run(addresses.register, VICTIM, WORDS)


def asks_for_a_change_of_address(server, person):
    server.run(addresses.register, VICTIM, WORDS)
    server.run(change_address.ask, person("Ann"), VICTIM)


def is_invited_under_a_name(server, person):
    server.run(addresses.register, VICTIM, WORDS)
    server.run(joining.create_table, person("Ann"), replace(POKER, invited=(VICTIM,)))


def closes_a_call(server, person):
    call = server.run(calls.call_from_address, VICTIM, WORDS)
    server.run(calls.close, ROOT, call, "This is settled.")


@pytest.mark.parametrize(
    "act",
    [
        plans_a_table,
        asks_to_join,
        calls_the_organiser,
        closes_a_call,
        registers,
        asks_for_a_change_of_address,
        is_invited_under_a_name,
    ],
)
def test_no_email_brings_a_stranger_the_words_of_another(server, clock, sink, person, act):
    act(server, person)
    assert WORDS not in emailed_to(server, clock, sink, VICTIM)


def test_a_plan_with_another_host_brings_a_player_no_words_of_a_stranger(server, clock, sink, person):
    ben = server.read(addresses.read, person("Ben"))
    server.run(joining.ask_to_create, ben.address, WORDS, replace(POKER, title=WORDS))
    assert WORDS not in emailed_to(server, clock, sink, ben.address)


def test_an_email_to_confirm_names_the_game_and_how_long_its_link_works(server, clock, sink, opened):
    server.run(joining.ask_to_join, opened.game_id, VICTIM, "Dan")
    content = emailed_to(server, clock, sink, VICTIM)
    assert "Sunset Poker: please confirm your email address" in content
    assert "The link works for 3 days." in content


# Budgets. Each is a limit, and what uses it up: a number, from a network, to an address.

BUDGETS = {
    "network": (timedelta(hours=1), lambda n: (f"new{n}@d{n}.example.org", "192.0.2.0/24")),
    "mailbox": (timedelta(days=1), lambda n: (f"V.ic.tim+{n}@{('gmail', 'googlemail')[n % 2]}.com", f"192.0.{n}.0/24")),
    "domain": (timedelta(hours=1), lambda n: (f"new{n}@example.net", f"192.0.{n}.0/24")),
    "all": (timedelta(days=1), lambda n: (f"new{n}@d{n}.example.org", f"192.0.{n}.0/24")),
}


def ask(server, table, address, network):
    server.run(joining.ask_to_join, table.game_id, address, "Dan", network=network)


@pytest.mark.parametrize("budget", BUDGETS)
def test_an_email_over_a_budget_is_refused_in_any_hour_or_day_and_nothing_is_done(server, clock, opened, budget):
    period, use = BUDGETS[budget]
    # The email that confirmed Ann's address was counted too.
    clock.advance(timedelta(days=1))
    server = replace(server, strangers=replace(StrangerLimits(0, 0, 0, 0), **{budget: 3}))
    ask(server, opened, *use(0))
    clock.advance(period / 2)
    ask(server, opened, *use(1))
    ask(server, opened, *use(2))
    before = all_rows(server.store)
    with pytest.raises(TooMany) as refused:
        ask(server, opened, *use(3))
    assert refused.value.why
    assert refused.value.remedy
    assert all_rows(server.store) == before
    # The first use is over, the others are not.
    clock.advance(period / 2)
    ask(server, opened, *use(4))
    with pytest.raises(TooMany):
        ask(server, opened, *use(5))


def test_the_usual_budgets(server):
    assert server.strangers == StrangerLimits(20, 5, 100, 2000, timedelta(days=3))


def test_two_at_the_same_moment_do_not_pass_a_budget(server, clock):
    server = replace(server, strangers=StrangerLimits(mailbox=1))
    for number, meeting in enumerate(meetings(server.store)):
        use = partial(_try, server, f"victim{number}@example.net")
        assert sorted(meeting(use, use)) == [False, True]


def _try(server, address):
    try:
        server.run(strangers.count_emails, [address])
    except TooMany:
        return False
    return True


def test_budgets_do_not_tell_who_plays_here(server, opened, person):
    server = replace(server, strangers=StrangerLimits(mailbox=2))
    person("Ben")
    server.run(addresses.register, "new@example.org")
    other = server.run(joining.create_table, person("Ann"), POKER)
    refusals = set()
    for name in ("ben", "new"):
        # Of the same again within minutes, neither is told anything.
        for _ in range(2):
            ask(server, opened, f"{name}@example.org", "192.0.2.0/24")
        with pytest.raises(TooMany) as refused:
            ask(server, other, f"{name}@example.org", "192.0.3.0/24")
        refusals.add(str(refused.value).replace(name, ""))
    assert len(refusals) == 1


def test_used_up_budgets_hold_back_no_email_of_players_and_no_rematch(server, clock, sink, table, person):
    game = table("templari", 3)
    server = replace(server, strangers=StrangerLimits(1, 1, 1, 1))
    with pytest.raises(TooMany):
        server.run(strangers.count_emails, ["new@example.org"], "192.0.2.0/24")
    before = used(server)
    for seat in list(game.asked()):
        game.play(seat, game.asked()[seat].default)
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    server.run(rematch.rematch, seat_token(server, game, 0))
    server.run(sign_in.send_link, "ann@example.org")
    assert {"turn", "voided", "invitation", "links"} <= {email.kind for email in queued_emails(server)}
    assert used(server) == before


def used(server):
    """The rows of the budgets."""
    return [row for row in all_rows(server.store)["quota"] if row[0].startswith("/strangers")]


def test_invitations_and_changes_of_address_use_the_budgets(server, person, opened):
    ann = person("Ann")
    server = replace(server, strangers=StrangerLimits(network=3))
    server.run(change_address.ask, ann, "new@example.net", "192.0.2.0/24")
    before = all_rows(server.store)
    three = ("a@example.net", "b@example.net", "c@example.net")
    with pytest.raises(TooMany):
        server.run(invitations.invite, opened.game_id, ann, three, "192.0.2.0/24")
    with pytest.raises(TooMany):
        server.run(joining.create_table, ann, replace(POKER, invited=three), network="192.0.2.0/24")
    assert all_rows(server.store) == before
    server.run(invitations.invite, opened.game_id, ann, three[:2], "192.0.2.0/24")


def test_a_host_whose_invitations_are_too_many_is_told_and_opens_the_table_later(server, clock):
    server = replace(server, strangers=StrangerLimits(mailbox=1))
    server.run(strangers.count_emails, ["eve@example.org"], by_player=True)
    settings = replace(POKER, invited=("eve+friend@example.org",))
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", settings)
    with server.store.read() as tx:
        dan = people.by_mailbox(tx, "dan@example.org")
    with pytest.raises(TooMany, match=r"eve\+friend@example\.org"):
        joining.accept(server, created.game_id, dan.id)
    assert server.read(listing.by_key, created.key).status == "planned"
    clock.advance(timedelta(days=1))
    joining.accept(server, created.game_id, dan.id)
    assert server.read(listing.by_key, created.key).status == "open"


# Strangers are forgotten.


def emails_have_left(server):
    with server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE outbox SET status = 'sent'")


def forgotten(server, clock, after=timedelta(days=3, minutes=1)):
    emails_have_left(server)
    clock.advance(after)
    leaving.expire(server)
    return strangers.tidy(server)


def test_a_stranger_is_forgotten_with_everything_they_asked_for(server, clock, sink, opened):
    before = all_rows(server.store)
    ask(server, opened, VICTIM, "192.0.2.0/24")
    server.run(
        joining.ask_to_create, VICTIM, "Dan", replace(POKER, invited=("x@example.net",), private=True, bots=("greedy",))
    )
    drain(server, clock, post_to(sink))
    assert forgotten(server, clock) == 1
    after = all_rows(server.store)
    for name in ("person", "game", "player", "link", "join_request", "search_word"):
        assert after[name] == before[name], name
    assert VICTIM not in repr(after)
    assert "x@example.net" not in repr(after)


def test_a_stranger_is_remembered_for_three_days_from_the_last_email(server, clock):
    for _ in range(2):
        server.run(addresses.register, VICTIM)
        assert forgotten(server, clock, timedelta(days=2)) == 0
    assert forgotten(server, clock, timedelta(days=1, minutes=1)) == 1


def test_an_unanswered_join_request_of_a_player_is_forgotten_and_the_player_is_not(server, clock, opened, person):
    ben = person("Ben")
    ask(server, opened, "ben@example.org", "")
    assert forgotten(server, clock) == 0
    assert all_rows(server.store)["join_request"] == []
    assert server.read(addresses.read, ben).confirmed_at is not None


def test_a_stranger_with_an_invitation_is_remembered_as_long_as_the_table_waits(server, clock, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, invited=(VICTIM,)))
    assert forgotten(server, clock) == 0
    server.run(leaving.leave, created.game_id, person("Ann"))
    assert forgotten(server, clock, timedelta(minutes=1)) == 1


def test_a_stranger_who_asked_to_sign_up_is_forgotten_and_an_invited_one_is_not(server, clock, sink, person):
    ann = person("Ann")
    key = open_cup(server, ann, closes_at=server.now() + timedelta(days=30))
    server.run(sign_up.ask, key, VICTIM)
    assert "The link works for 3 days." in emailed_to(server, clock, sink, VICTIM)
    with server.store.read() as tx:
        cup = tournaments.by_key(tx, key).id
    server.run(sign_up.invite, cup, ann, ("other@example.net",))
    assert "for 3 days" not in emailed_to(server, clock, sink, "other@example.net")
    assert forgotten(server, clock) == 1
    with server.store.read() as tx:
        assert people.by_mailbox(tx, VICTIM) is None
        assert people.by_mailbox(tx, "other@example.net") is not None
    assert VICTIM not in repr(all_rows(server.store))


def test_a_stranger_whose_email_is_on_its_way_is_remembered(server, clock):
    server.run(addresses.register, VICTIM)
    clock.advance(timedelta(days=4))
    assert strangers.tidy(server) == 0


def test_a_stranger_who_wants_no_email_is_remembered(server, clock, opened):
    ask(server, opened, VICTIM, "")
    ask(server, opened, "other@example.net", "")
    with server.store.read() as tx:
        victim, other = (people.by_mailbox(tx, address).id for address in (VICTIM, "other@example.net"))
    my_page.choose_delivery(server, victim, "nothing")
    server.store.write(lambda tx: reachability.mark_unreachable(tx, other, clock.now(), "complained", "spam"))
    assert forgotten(server, clock) == 0


def plays(server, table, person):
    """Without any email: the seat alone keeps them."""
    game = table()
    with server.store.engine.begin() as tx:
        for statement in ("DELETE FROM ledger", "DELETE FROM link", "DELETE FROM outbox"):
            tx.exec_driver_sql(statement)
        tx.exec_driver_sql("UPDATE person SET confirmed_at = NULL WHERE mailbox = 'ben@example.org'")
        tx.exec_driver_sql(f"UPDATE game SET status = 'over' WHERE id = {game.id}")


def organises(server, table, person):
    add_organiser(server, "Olga")


def has_called(server, table, person):
    server.run(calls.call_from_address, VICTIM, "Hello.")


def had_the_address_before(server, table, person):
    server.run(change_address.change_address, person("Ben"), "ben@example.net")


def has_left_for_good(server, table, person):
    server.run(delete.delete_person, person("Ben"))


def is_a_guest(server, table, person):
    server.run(addresses.add_guest, "Guest")


@pytest.mark.parametrize("act", [plays, organises, has_called, had_the_address_before, has_left_for_good, is_a_guest])
def test_nobody_else_is_forgotten(server, clock, table, person, act):
    act(server, table, person)
    emails_have_left(server)
    before = all_rows(server.store)
    clock.advance(timedelta(days=4))
    assert strangers.tidy(server) == 0
    assert all_rows(server.store) == before


def test_a_planned_table_that_an_organiser_acted_on_is_kept(server, clock):
    created = server.run(joining.ask_to_create, VICTIM, "Dan", POKER)
    with server.store.engine.begin() as tx:
        tx.exec_driver_sql(
            "INSERT INTO audit (seq, at, actor, act, game_id, reason, body, nonce, body_hash, hash)"
            f" VALUES (1, '2026-11-21 12:00:00', 'x', 'close', {created.game_id}, '', '', '', '', '')"
        )
    assert forgotten(server, clock) == 0
    assert len(all_rows(server.store)["audit"]) == 1
