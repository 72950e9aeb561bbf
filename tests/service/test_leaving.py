"""Ways out of a table, before the start and in a running game."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from engine import orders
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.links import Purpose
from pbem.service import announced, leaving, links, lobby, play, second_thoughts, substitutes
from pbem.service.play import By, rules_of
from pbem.service.record import Kind, body_of
from pbem.service.tables import Wanted
from tests.service.begun import Begun
from tests.service.stored import everything, fails_without_a_trace, kinds, letters

POKER = Wanted("sunset-poker", 3)


@pytest.fixture
def waiting(house, person):
    """A table of three that Ann has opened, and at which she and Ben sit."""
    created = lobby.create_table(house, person("Ann"), replace(POKER, invited=("eve@example.org",)))
    for name in ("Ann", "Ben"):
        lobby.join(house, created.game_id, person(name))
    return created


def status(house, created):
    return announced.by_key(house, created.key).status


def seat_of(game, person_id):
    return next(seat for seat, place in game.places().items() if place.person_id == person_id)


def seat_of_name(game, name):
    return next(seat for seat, place in game.places().items() if place.name == name)


# Before the start.


def test_a_place_that_was_left_is_free_again(house, person, waiting):
    leaving.leave(house, waiting.game_id, person("Ben"))
    assert announced.by_key(house, waiting.key).players == ("Ann",)
    for name in ("Cleo", "Dan"):
        lobby.join(house, waiting.game_id, person(name))
    assert status(house, waiting) == "playing"


def test_the_host_hears_that_somebody_left_and_hears_it_once(house, person, waiting):
    leaving.leave(house, waiting.game_id, person("Ben"))
    before = everything(house.store)
    leaving.leave(house, waiting.game_id, person("Ben"))
    assert everything(house.store) == before
    (mail,) = letters(house, person("Ann"), "left")
    assert json.loads(mail.facts) == {"who": "Ben"}


def test_whoever_left_can_come_again(house, person, waiting):
    leaving.leave(house, waiting.game_id, person("Ben"))
    assert not lobby.join(house, waiting.game_id, person("Ben")).again


def test_with_its_host_a_table_closes_and_those_who_sat_there_are_told(house, person, waiting):
    leaving.leave(house, waiting.game_id, person("Ann"))
    assert status(house, waiting) == "closed"
    assert kinds(house, person("Ben"))[-1] == "closed"
    assert "closed" not in kinds(house, person("Ann"))
    with pytest.raises(Gone, match="closed it"):
        lobby.join(house, waiting.game_id, person("Cleo"))


def test_a_closed_table_counts_no_more(house, person, waiting):
    small = replace(house, open_tables=1)
    leaving.leave(house, waiting.game_id, person("Ann"))
    lobby.create_table(small, person("Ann"), POKER)
    lobby.create_table(small, person("Ben"), POKER)


def test_nobody_leaves_a_running_game_like_that(house, table):
    game = table()
    before = everything(house.store)
    with pytest.raises(Gone, match="resign"):
        leaving.leave(house, game.id, game.person_at(0))
    assert everything(house.store) == before


def test_a_table_waits_two_weeks_and_no_longer(house, person, clock, waiting):
    clock.advance(lobby.WAITS - timedelta(seconds=1))
    assert leaving.expire(house) == []
    clock.advance(timedelta(seconds=1))
    assert leaving.expire(house) == [waiting.game_id]
    assert status(house, waiting) == "expired"
    assert kinds(house, person("Ann"))[-1] == kinds(house, person("Ben"))[-1] == "expired"
    before = everything(house.store)
    assert leaving.expire(house) == []
    assert everything(house.store) == before
    with pytest.raises(Gone, match="too long"):
        lobby.join(house, waiting.game_id, person("Cleo"))


def test_a_table_that_nobody_confirmed_goes_after_a_week_without_a_word(house, clock):
    created = lobby.ask_to_create(house, "dan@example.org", "Dan", POKER)
    clock.advance(lobby.WAITS_FOR_HOST)
    assert leaving.expire(house) == [created.game_id]
    assert [mail.kind for mail in letters(house)] == ["confirm"]


def test_a_running_game_never_expires(house, table, clock):
    game = table()
    clock.advance(timedelta(days=365))
    assert leaving.expire(house) == []
    assert game.row().status == "playing"


# Resigning.


def test_a_bot_follows_at_once_where_the_table_agreed_on_that(house, table):
    game = table(successor="bot")
    seat = next(iter(game.asked()))
    leaving.resign(house, game.id, seat, game.person_at(seat))
    place = game.places()[seat]
    assert (place.person_id, place.bot, place.name) == (None, "greedy", "Bot 1")
    with house.store.read() as tx:
        due = play.deadlines.read(tx, game.id, game.row().window, seat)
    assert due is not None
    assert (due.status, due.due_at) == ("open", house.now())


def test_the_log_says_that_a_seat_changed_hands_and_names_nobody(house, table):
    game = table()
    ann = game.person_at(0)
    leaving.resign(house, game.id, 0, ann)
    resigned, seated = game.log()[-2:]
    assert (resigned.kind, resigned.seat, resigned.by) == (Kind.RESIGNED, 0, "person")
    assert (seated.kind, seated.seat) == (Kind.SEATED, 0)
    assert body_of(rules_of(game.row()), seated) == {"player": "bot", "bot": "greedy"}
    assert game.verifies()


def test_resigning_twice_is_resigning_once(house, table):
    game = table()
    ann = game.person_at(0)
    leaving.resign(house, game.id, 0, ann)
    before = everything(house.store)
    leaving.resign(house, game.id, 0, ann)
    assert everything(house.store) == before


def test_nobody_resigns_for_another(house, table):
    game = table()
    before = everything(house.store)
    leaving.resign(house, game.id, 0, game.person_at(1))
    with pytest.raises(NotFound):
        leaving.resign(house, game.id, 7, game.person_at(1))
    assert everything(house.store) == before


def test_the_others_are_told_who_resigned(house, table):
    game = table()
    name = game.places()[1].name
    leaving.resign(house, game.id, 1, game.person_at(1))
    told = {mail.seat: json.loads(mail.facts) for mail in game.mails() if mail.kind == "resigned"}
    assert told == {0: {"who": name, "seat": 1}, 2: {"who": name, "seat": 1}}


def test_what_was_meant_for_the_one_who_left_goes_no_further(house, table):
    game = table()
    seat = next(iter(game.asked()))
    person_id, window = game.person_at(seat), game.row().window
    with house.store.engine.begin() as tx:
        rows = links.of_seat_in(tx, house, person_id, game.id, window, seat)
        token = house.keys.make(Purpose.SEAT, rows.seat, 0)
    links.opened(house, token, Purpose.SEAT)
    leaving.resign(house, game.id, seat, person_id)
    with pytest.raises(Gone):
        links.opened(house, token, Purpose.SEAT)
    assert {mail.status for mail in game.mails() if mail.seat == seat} == {"superseded"}


def test_the_standing_order_of_the_one_who_left_is_dropped(house, table):
    game = table("templari", 3)
    seat = next(seat for seat in range(3) if seat not in game.asked())
    second_thoughts.leave_order(house, game.id, seat, "up to 3")
    assert play.orders_of(game.row()) == {seat: orders.UpTo(3)}
    leaving.resign(house, game.id, seat, game.person_at(seat))
    assert play.orders_of(game.row()) == {}


def test_a_resigned_seat_that_a_substitute_takes_plays_on(house, person, table):
    game = table(successor="substitute")
    seat = next(iter(game.asked()))
    leaving.resign(house, game.id, seat, game.person_at(seat))
    (offer,) = substitutes.on_offer(house)
    substitutes.take(house, offer.id, person("Zoe"))
    assert game.person_at(seat) == person("Zoe")
    game.play(seat, game.asked()[seat].default)
    assert game.verifies()


def test_the_role_of_host_passes_to_whoever_joined_next(house, person, table):
    game = table()
    ann, ben = person("Ann"), person("Ben")
    leaving.resign(house, game.id, seat_of(game, ann), ann)
    assert game.row().host_id == ben
    assert kinds(house, ben)[-1] == "host"
    leaving.resign(house, game.id, seat_of_name(game, "Cleo"), person("Cleo"))
    assert game.row().host_id == ben


def test_a_host_with_two_seats_stays_the_host_as_long_as_one_is_left(house, person):
    created = lobby.create_table(house, person("Ann"), replace(POKER, doubles=True, bots=("random",)))
    lobby.join(house, created.game_id, person("Ann"), holding=2)
    game = Begun(house, created.game_id)
    leaving.resign(house, game.id, seat_of(game, person("Ann")), person("Ann"))
    assert game.row().host_id == person("Ann")
    assert game.row().status == "playing"
    assert "host" not in kinds(house, person("Ann"))


def test_when_nobody_is_left_the_game_ends_without_a_result(house, person, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    for name in ("Ann", "Ben"):
        leaving.resign(house, game.id, seat_of(game, person(name)), person(name))
    row = game.row()
    assert (row.status, row.ended_at) == ("void", house.now())
    assert [each.kind for each in game.log()[-2:]] == [Kind.VOIDED, Kind.REVEALED]
    assert game.verifies()


def test_one_can_resign_from_a_paused_table(house, table):
    game = table()
    with house.store.engine.begin() as tx:
        tx.exec_driver_sql("UPDATE game SET paused = true")
    leaving.resign(house, game.id, 0, game.person_at(0))
    assert game.places()[0].bot == "greedy"


# Ending a game by consent.


def test_a_game_ends_without_a_result_when_every_person_agrees(house, table):
    game = table("sunset-poker", 3, bots=("greedy",))
    first, second = (place.person_id for place in game.places().values() if place.person_id)
    assert not leaving.agree_to_end(house, game.id, first)
    assert not leaving.agree_to_end(house, game.id, first)
    assert kinds(house, second)[-1] == "end_proposed"
    assert kinds(house, second).count("end_proposed") == 1
    assert leaving.agree_to_end(house, game.id, second)
    assert game.row().status == "void"
    assert leaving.agree_to_end(house, game.id, first)
    assert kinds(house, first)[-1] == kinds(house, second)[-1] == "voided"
    assert [each.kind for each in game.log()].count(Kind.VOIDED) == 1


def test_the_secret_of_a_game_without_a_result_is_told_too(house, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person_id,) = (place.person_id for place in game.places().values() if place.person_id)
    leaving.agree_to_end(house, game.id, person_id)
    revealed = game.log()[-1]
    assert revealed.kind == Kind.REVEALED
    assert body_of(rules_of(game.row()), revealed) == {"secret": game.row().secret.hex()}


def test_in_an_ended_game_nobody_is_asked_and_no_turn_mail_leaves(house, table):
    game = table("sunset-poker", 3, bots=("greedy", "greedy"))
    (person_id,) = (place.person_id for place in game.places().values() if place.person_id)
    window = game.row().window
    leaving.agree_to_end(house, game.id, person_id)
    assert {mail.kind for mail in game.mails() if mail.status == "queued"} == {"voided"}
    with house.store.read() as tx:
        assert play.deadlines.of_game(tx, game.id) == []
    with pytest.raises(Gone):
        play.play(house, game.id, window, 0, "pass", By.PERSON)


def test_agreement_can_be_taken_back(house, table):
    game = table()
    for seat in (0, 1):
        leaving.agree_to_end(house, game.id, game.person_at(seat))
    leaving.play_on(house, game.id, game.person_at(0))
    leaving.play_on(house, game.id, game.person_at(0))
    assert not leaving.agree_to_end(house, game.id, game.person_at(2))
    assert leaving.agree_to_end(house, game.id, game.person_at(0))


def test_the_last_one_who_did_not_agree_ends_the_game_by_resigning(house, table):
    game = table()
    for seat in (0, 1):
        leaving.agree_to_end(house, game.id, game.person_at(seat))
    leaving.resign(house, game.id, 2, game.person_at(2))
    assert game.row().status == "void"
    assert game.verifies()


def test_a_vote_is_no_secret_but_only_players_have_one(house, person, table):
    game, zoe = table(), person("Zoe")
    before = everything(house.store)
    with pytest.raises(Forbidden):
        leaving.agree_to_end(house, game.id, zoe)
    assert everything(house.store) == before


def test_nobody_is_asked_more_than_three_times_a_day_whether_to_end_a_game(house, table, clock):
    game = table()
    for _ in range(leaving.PROPOSALS_A_DAY + 2):
        leaving.agree_to_end(house, game.id, game.person_at(0))
        leaving.play_on(house, game.id, game.person_at(0))
    assert kinds(house, game.person_at(1)).count("end_proposed") == leaving.PROPOSALS_A_DAY
    clock.advance(timedelta(days=1))
    leaving.agree_to_end(house, game.id, game.person_at(0))
    assert kinds(house, game.person_at(1)).count("end_proposed") == leaving.PROPOSALS_A_DAY + 1


def test_a_game_that_is_over_or_has_not_begun_has_no_way_out(house, person, waiting, table):
    over = table("sunset-poker", 3, bots=("greedy", "greedy"))
    ann = person("Ann")
    leaving.agree_to_end(house, over.id, ann)
    for game_id in (waiting.game_id, over.id):
        with pytest.raises(Gone):
            leaving.resign(house, game_id, 0, ann)
        with pytest.raises(Gone):
            leaving.play_on(house, game_id, ann)
    with pytest.raises(Gone):
        leaving.agree_to_end(house, waiting.game_id, ann)


# A database that breaks.


def test_resigning_that_breaks_leaves_nothing(house, person, table):
    game = table(successor="substitute")
    ann = person("Ann")
    seat = seat_of(game, ann)
    assert fails_without_a_trace(house.store, lambda: leaving.resign(house, game.id, seat, ann)) > 10
    assert game.verifies()


def test_an_end_by_consent_that_breaks_leaves_nothing(house, table):
    game = table()
    for seat in (0, 1):
        leaving.agree_to_end(house, game.id, game.person_at(seat))
    last = game.person_at(2)
    assert fails_without_a_trace(house.store, lambda: leaving.agree_to_end(house, game.id, last)) > 8
    assert game.verifies()


def test_leaving_that_breaks_leaves_nothing(house, person, waiting):
    ann, ben = person("Ann"), person("Ben")
    assert fails_without_a_trace(house.store, lambda: leaving.leave(house, waiting.game_id, ben)) > 4
    assert fails_without_a_trace(house.store, lambda: leaving.leave(house, waiting.game_id, ann)) > 4
