"""Ways out of a table, before the start and in a running game."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engine import orders
from engine.search import USUAL
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.service import links
from pbem.service.absence import offers, substitutes
from pbem.service.play import move, standing_orders as play_orders
from pbem.service.play.log import Kind, body_of
from pbem.service.play.move import Actor
from pbem.service.play.positions import orders_of
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining, leaving, listing
from pbem.service.tables.new import TableSettings
from pbem.tokens import Purpose
from tests.service.database import all_rows, check_atomic, email_kinds, facts_of, queued_emails
from tests.service.running_game import RunningGame

POKER = TableSettings("sunset-poker", 3)


@pytest.fixture
def waiting(server, person):
    """A table of three that Ann has opened, and at which she and Ben sit."""
    created = server.run(joining.create_table, person("Ann"), replace(POKER, invited=("eve@example.org",)))
    for name in ("Ann", "Ben"):
        server.run(joining.join, created.game_id, person(name))
    return created


def status(server, created):
    return server.read(listing.by_key, created.key).status


def seat_of(game, person_id):
    return next(seat for seat, player in game.players().items() if player.person_id == person_id)


def seat_of_name(game, name):
    return next(seat for seat, player in game.players().items() if player.name == name)


# Before the start.


def test_a_seat_that_was_left_is_free_again(server, person, waiting):
    server.run(leaving.leave, waiting.game_id, person("Ben"))
    assert server.read(listing.by_key, waiting.key).players == ("Ann",)
    for name in ("Cleo", "Dan"):
        server.run(joining.join, waiting.game_id, person(name))
    assert status(server, waiting) == "playing"


def test_the_host_is_emailed_once_that_a_player_left(server, person, waiting):
    server.run(leaving.leave, waiting.game_id, person("Ben"))
    before = all_rows(server.store)
    server.run(leaving.leave, waiting.game_id, person("Ben"))
    assert all_rows(server.store) == before
    (email,) = queued_emails(server, person("Ann"), "left")
    assert facts_of(server, email) == {"who": "Ben"}


def test_a_player_who_left_can_join_again(server, person, waiting):
    server.run(leaving.leave, waiting.game_id, person("Ben"))
    assert not server.run(joining.join, waiting.game_id, person("Ben")).again


def test_a_table_closes_with_its_host_and_emails_its_players(server, person, waiting):
    server.run(leaving.leave, waiting.game_id, person("Ann"))
    assert status(server, waiting) == "closed"
    assert email_kinds(server, person("Ben"))[-1] == "closed"
    assert "closed" not in email_kinds(server, person("Ann"))
    with pytest.raises(Gone, match="closed it"):
        server.run(joining.join, waiting.game_id, person("Cleo"))


def test_a_closed_table_does_not_count_against_the_limit(server, person, waiting):
    small = replace(server, open_tables=1)
    server.run(leaving.leave, waiting.game_id, person("Ann"))
    small.run(joining.create_table, person("Ann"), POKER)
    small.run(joining.create_table, person("Ben"), POKER)


def test_a_running_game_is_left_only_by_resigning(server, table):
    game = table()
    before = all_rows(server.store)
    with pytest.raises(Gone, match="on your seat's page"):
        server.run(leaving.leave, game.id, game.person_at(0))
    assert all_rows(server.store) == before


def test_a_table_waits_two_weeks_and_no_longer(server, person, clock, waiting):
    clock.advance(joining.WAITS - timedelta(seconds=1))
    assert leaving.expire(server) == []
    clock.advance(timedelta(seconds=1))
    assert leaving.expire(server) == [waiting.game_id]
    assert status(server, waiting) == "expired"
    assert email_kinds(server, person("Ann"))[-1] == email_kinds(server, person("Ben"))[-1] == "expired"
    before = all_rows(server.store)
    assert leaving.expire(server) == []
    assert all_rows(server.store) == before
    with pytest.raises(Gone, match="didn't fill up"):
        server.run(joining.join, waiting.game_id, person("Cleo"))


def test_an_unconfirmed_table_expires_without_email(server, clock):
    created = server.run(joining.ask_to_create, "dan@example.org", "Dan", POKER)
    clock.advance(server.strangers.lifetime)
    assert leaving.expire(server) == [created.game_id]
    assert [email.kind for email in queued_emails(server)] == ["confirm"]


def test_a_running_game_never_expires(server, table, clock):
    game = table()
    clock.advance(timedelta(days=365))
    assert leaving.expire(server) == []
    assert game.row().status == "playing"


# Resigning.


def test_a_bot_follows_at_once_where_the_table_agreed_on_that(server, table):
    game = table(successor="bot")
    seat = next(iter(game.asked()))
    server.run(leaving.resign, game.id, seat, game.person_at(seat))
    player = game.players()[seat]
    assert (player.person_id, player.bot, player.name) == (None, USUAL, "Bot 1")
    with server.store.read() as tx:
        due = move.deadlines.read(tx, game.id, game.row().turn, seat)
    assert due is not None
    assert (due.status, due.due_at) == ("open", server.now())


def test_the_log_says_that_a_seat_changed_hands_and_names_nobody(server, table):
    game = table()
    ann = game.person_at(0)
    server.run(leaving.resign, game.id, 0, ann)
    resigned, seated = game.log()[-2:]
    assert (resigned.kind, resigned.seat, resigned.by) == (Kind.RESIGNED, 0, "person")
    assert (seated.kind, seated.seat) == (Kind.SEATED, 0)
    assert body_of(rules_of(game.row()), seated) == {"player": "bot", "bot": USUAL}
    assert game.verifies()


def test_resigning_twice_is_resigning_once(server, table):
    game = table()
    ann = game.person_at(0)
    server.run(leaving.resign, game.id, 0, ann)
    before = all_rows(server.store)
    server.run(leaving.resign, game.id, 0, ann)
    assert all_rows(server.store) == before


def test_nobody_resigns_for_another(server, table):
    game = table()
    before = all_rows(server.store)
    server.run(leaving.resign, game.id, 0, game.person_at(1))
    with pytest.raises(NotFound):
        server.run(leaving.resign, game.id, 7, game.person_at(1))
    assert all_rows(server.store) == before


def test_the_others_are_told_who_resigned(server, table):
    game = table()
    name = game.players()[1].name
    server.run(leaving.resign, game.id, 1, game.person_at(1))
    notices = {email.seat: facts_of(server, email) for email in game.emails() if email.kind == "resigned"}
    assert notices == {0: {"who": name, "seat": 1}, 2: {"who": name, "seat": 1}}


def test_queued_emails_and_links_of_a_player_who_left_are_void(server, table):
    game = table()
    seat = next(iter(game.asked()))
    person_id, turn = game.person_at(seat), game.row().turn
    with server.store.engine.begin() as tx:
        rows = links.make_for_seat(tx, server, person_id, game.id, turn, seat)
        token = links.token(server, links.read(tx, rows.seat))
    server.read(links.follow, token, Purpose.SEAT)
    server.run(leaving.resign, game.id, seat, person_id)
    with pytest.raises(Gone):
        server.read(links.follow, token, Purpose.SEAT)
    assert {email.status for email in game.emails() if email.seat == seat} == {"superseded"}


def test_the_standing_order_of_a_player_who_left_is_dropped(server, table):
    game = table("templari", 3)
    seat = next(seat for seat in range(3) if seat not in game.asked())
    server.run(play_orders.set_order, game.id, seat, "up to 3")
    assert orders_of(game.row()) == {seat: orders.UpTo(3)}
    server.run(leaving.resign, game.id, seat, game.person_at(seat))
    assert orders_of(game.row()) == {}


def test_a_resigned_seat_that_a_substitute_takes_plays_on(server, person, table):
    game = table(successor="substitute")
    seat = next(iter(game.asked()))
    server.run(leaving.resign, game.id, seat, game.person_at(seat))
    (offer,) = server.read(offers.open_offers)
    server.run(substitutes.take, offer.id, person("Zoe"))
    assert game.person_at(seat) == person("Zoe")
    game.play(seat, game.asked()[seat].default)
    assert game.verifies()


def test_the_role_of_host_passes_in_the_order_of_joining(server, person, table):
    game = table()
    ann, ben = person("Ann"), person("Ben")
    server.run(leaving.resign, game.id, seat_of(game, ann), ann)
    assert game.row().host_id == ben
    assert email_kinds(server, ben)[-1] == "host"
    server.run(leaving.resign, game.id, seat_of_name(game, "Cleo"), person("Cleo"))
    assert game.row().host_id == ben


def test_a_host_with_two_seats_stays_the_host_as_long_as_one_is_left(server, person):
    created = server.run(joining.create_table, person("Ann"), replace(POKER, doubles=True, bots=("random",)))
    server.run(joining.join, created.game_id, person("Ann"), holding=2)
    game = RunningGame(server, created.game_id)
    server.run(leaving.resign, game.id, seat_of(game, person("Ann")), person("Ann"))
    assert game.row().host_id == person("Ann")
    assert game.row().status == "playing"
    assert "host" not in email_kinds(server, person("Ann"))


def test_when_nobody_is_left_the_game_ends_without_a_result(server, person, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    for name in ("Ann", "Ben"):
        server.run(leaving.resign, game.id, seat_of(game, person(name)), person(name))
    row = game.row()
    assert (row.status, row.ended_at) == ("void", server.now())
    assert [each.kind for each in game.log()[-2:]] == [Kind.VOIDED, Kind.REVEALED]
    assert game.verifies()


def test_a_player_can_resign_from_a_paused_table(server, table):
    game = table()
    with server.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = true")
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    assert game.players()[0].bot == USUAL


# Ending a game by consent.


def test_a_game_ends_without_a_result_when_every_person_agrees(server, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    first, second = (player.person_id for player in game.players().values() if player.person_id)
    assert not server.run(leaving.agree_to_end, game.id, first)
    assert not server.run(leaving.agree_to_end, game.id, first)
    assert email_kinds(server, second)[-1] == "end_proposed"
    assert email_kinds(server, second).count("end_proposed") == 1
    assert server.run(leaving.agree_to_end, game.id, second)
    assert game.row().status == "void"
    assert server.run(leaving.agree_to_end, game.id, first)
    assert email_kinds(server, first)[-1] == email_kinds(server, second)[-1] == "voided"
    assert [each.kind for each in game.log()].count(Kind.VOIDED) == 1


def test_the_secret_of_a_game_without_a_result_is_told_too(server, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person_id,) = (player.person_id for player in game.players().values() if player.person_id)
    server.run(leaving.agree_to_end, game.id, person_id)
    revealed = game.log()[-1]
    assert revealed.kind == Kind.REVEALED
    assert body_of(rules_of(game.row()), revealed) == {"secret": game.row().secret.hex()}


def test_an_ended_game_asks_nobody_and_sends_no_turn_email(server, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person_id,) = (player.person_id for player in game.players().values() if player.person_id)
    turn = game.row().turn
    server.run(leaving.agree_to_end, game.id, person_id)
    assert {email.kind for email in game.emails() if email.status == "queued"} == {"voided"}
    with server.store.read() as tx:
        assert move.deadlines.of_game(tx, game.id) == []
    with pytest.raises(Gone):
        server.run(move.play, game.id, turn, 0, "pass", Actor.PERSON)


def test_agreement_can_be_taken_back(server, table):
    game = table()
    for seat in (0, 1):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    server.run(leaving.play_on, game.id, game.person_at(0))
    server.run(leaving.play_on, game.id, game.person_at(0))
    assert not server.run(leaving.agree_to_end, game.id, game.person_at(2))
    assert server.run(leaving.agree_to_end, game.id, game.person_at(0))


def test_the_last_one_who_did_not_agree_ends_the_game_by_resigning(server, table):
    game = table()
    for seat in (0, 1):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    server.run(leaving.resign, game.id, 2, game.person_at(2))
    assert game.row().status == "void"
    assert game.verifies()


def test_a_vote_is_no_secret_but_only_players_have_one(server, person, table):
    game, zoe = table(), person("Zoe")
    before = all_rows(server.store)
    with pytest.raises(Forbidden):
        server.run(leaving.agree_to_end, game.id, zoe)
    assert all_rows(server.store) == before


def test_nobody_is_asked_more_than_three_times_a_day_whether_to_end_a_game(server, table, clock):
    game = table()
    for _ in range(leaving.PROPOSALS_A_DAY + 2):
        server.run(leaving.agree_to_end, game.id, game.person_at(0))
        server.run(leaving.play_on, game.id, game.person_at(0))
    assert email_kinds(server, game.person_at(1)).count("end_proposed") == leaving.PROPOSALS_A_DAY
    clock.advance(timedelta(days=1))
    server.run(leaving.agree_to_end, game.id, game.person_at(0))
    assert email_kinds(server, game.person_at(1)).count("end_proposed") == leaving.PROPOSALS_A_DAY + 1


def test_only_a_running_game_can_be_resigned_or_ended(server, person, waiting, table):
    over = table("sunset-poker", 3, bots=("greedy", "greedy"))
    ann = person("Ann")
    server.run(leaving.agree_to_end, over.id, ann)
    for game_id in (waiting.game_id, over.id):
        with pytest.raises(Gone):
            server.run(leaving.resign, game_id, 0, ann)
        with pytest.raises(Gone):
            server.run(leaving.play_on, game_id, ann)
    with pytest.raises(Gone):
        server.run(leaving.agree_to_end, waiting.game_id, ann)


# A database that breaks.


def test_resigning_that_breaks_leaves_nothing(server, person, table):
    game = table(successor="substitute")
    ann = person("Ann")
    seat = seat_of(game, ann)
    assert check_atomic(server.store, lambda: server.run(leaving.resign, game.id, seat, ann)) > 10
    assert game.verifies()


def test_an_end_by_consent_that_breaks_leaves_nothing(server, table):
    game = table()
    for seat in (0, 1):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    last = game.person_at(2)
    assert check_atomic(server.store, lambda: server.run(leaving.agree_to_end, game.id, last)) > 8
    assert game.verifies()


def test_leaving_that_breaks_leaves_nothing(server, person, waiting):
    ann, ben = person("Ann"), person("Ben")
    assert check_atomic(server.store, lambda: server.run(leaving.leave, waiting.game_id, ben)) > 4
    assert check_atomic(server.store, lambda: server.run(leaving.leave, waiting.game_id, ann)) > 4
