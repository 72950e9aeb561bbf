"""Seats whose players are gone: bots and substitutes that take over, and players who come back."""

import json
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from engine.search import USUAL
from pbem.domain.bounce import Bounce
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.service import links
from pbem.service.absence import offers, substitutes
from pbem.service.account import delete, personal_data
from pbem.service.clocks import more_time, reachability
from pbem.service.desk.acts.clocks import Freeze, Unfreeze
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.people import Ban
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.links import make_for_seat
from pbem.service.outgoing.email_links import expiry_of, link_keys
from pbem.service.people import addresses
from pbem.service.play import standing_orders, undo
from pbem.service.play.move import Actor
from pbem.service.tables import by_link, joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import games, players, tables
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.clock import DAY, HOUR, MINUTE
from tests.service.database import all_rows, check_atomic, email_kinds, queued_emails
from tests.service.races import meetings
from tests.service.running_game import RunningGame
from tests.web.browser import Links


@pytest.fixture(autouse=True)
def events():
    """The log for the operator."""
    with capture_logs() as lines:
        yield lines


@pytest.fixture
def absentee(time, table):
    """absentee("bot") -> a game of three, and the seat that has missed as many turns as the table allows."""

    def make(successor, *, limit=2, turns=2, private=False):
        game = table("sun-bid", 3, pace="1d", missed_limit=limit, successor=successor)
        time.server.store.write(lambda tx: tables.change_game(tx, game.id, private=private))
        (gone,) = game.asked()
        while game.players()[gone].missed < turns and game.players()[gone].person_id is not None:
            asked = game.asked()
            if gone in asked:
                time.sends()
                time.passes_until(time.due(game, gone))
                assert time.runs_out().decided == 1
            for seat, decision in asked.items():
                if seat != gone:
                    game.play(seat, decision.default)
        return game, gone

    return make


def notices(server, what):
    return [email for email in queued_emails(server, kind="notice") if json.loads(email.facts)["what"] == what]


def seated(game):
    return [(row.seat, row.by, json.loads(row.body)) for row in game.log() if row.kind == "Seated"]


def the_offer(server):
    (offer,) = server.read(offers.open_offers)
    return offer


@pytest.fixture
def turn_ends(time):
    """turn_ends(game, gone): the others answer, and the clock for the player who is gone; then reservations are settled."""

    def end(game, gone):
        turn = game.row().turn
        for seat, decision in game.asked().items():
            if seat != gone:
                game.play(seat, decision.default)
        if game.row().turn == turn:
            time.sends()
            time.passes_until(time.due(game, gone))
            assert time.runs_out().decided == 1
        time.seats_change()

    return end


# A bot takes over


def test_a_bot_takes_over_after_the_agreed_missed_turns(server, absentee):
    game, gone = absentee("bot")
    assert game.players()[gone].bot == USUAL
    ((seat, by, body),) = seated(game)
    assert (seat, by, body["player"]) == (gone, "clock", "bot")
    assert game.verifies()
    assert len(notices(server, "replaced")) == 1
    assert len(notices(server, "bot_plays")) == 2


def test_one_missed_turn_fewer_costs_nothing(server, absentee):
    game, gone = absentee("bot", limit=3, turns=2)
    assert game.players()[gone].missed == 2
    assert seated(game) == []
    assert queued_emails(server, kind="notice") == []
    assert "If you miss this turn" in queued_emails(server, kind="auto_passed")[-1].facts


def test_the_bot_plays_on_and_the_game_does_not_wait(time, absentee):
    game, gone = absentee("bot")
    while gone not in game.asked():
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    assert time.bots_play() >= 1
    assert [row.by for row in game.log() if row.seat == gone][-1] == "bot"


def test_links_of_a_replaced_player_are_dead(server, table, absentee, time):
    game, gone = absentee("substitute")
    before = game.person_at(gone)
    made = server.run(make_for_seat, before, game.id, game.row().turn, gone)
    with server.store.read() as tx:
        token = links.token(server, links.read(tx, made.seat))
    assert server.read(links.follow, token, Purpose.SEAT).seat == gone
    moderate(server, Substitute(game.id, gone), "gone for good")
    with pytest.raises(Gone):
        server.read(links.follow, token, Purpose.SEAT)


def test_a_player_whose_seat_a_bot_plays_may_come_back(server, absentee):
    game, gone = absentee("bot")
    person = json.loads(notices(server, "replaced")[0].facts)
    back = notices(server, "replaced")[0].person_id
    assert person["why"] == "missed"
    server.run(substitutes.come_back, game.id, gone, back)
    assert game.players()[gone].person_id == back
    assert game.players()[gone].missed == 0
    assert game.verifies()
    assert len(notices(server, "player_back")) == 2
    before = all_rows(server.store)
    server.run(substitutes.come_back, game.id, gone, back)
    assert all_rows(server.store) == before


def test_the_way_back_stays_open_until_the_game_ends(server, absentee, clock):
    game, gone = absentee("bot")
    (notice,) = notices(server, "replaced")
    key = link_keys(notice, {game.id: game.row()}, None)[Purpose.CONFIRM]
    back = server.run(links.make_token, key)
    clock.advance(100 * DAY)
    assert server.read(by_link.table_page, back).lost == (gone,)


def test_the_link_by_which_someone_joined_leads_back_to_the_seat_that_they_left(server, person, clock):
    ann, ben = person("Ann"), person("Ben")
    row = server.run(joining.create_table, ann, TableSettings("sun-bid", 2))
    server.run(joining.join, row.game_id, ann)
    (joined,) = queued_emails(server, ann, "joined")
    with server.store.read() as tx:
        game = games.read(tx, row.game_id)
    key = link_keys(joined, {game.id: game}, None)[Purpose.CONFIRM]
    token = server.run(links.make_token, key, expiry_of(Purpose.CONFIRM, game))
    server.run(joining.join, game.id, ben)
    clock.advance(30 * DAY)
    (seat,) = (each.seat for each in RunningGame(server, game.id).players().values() if each.person_id == ann)
    server.run(leaving.resign, game.id, seat, ann)
    assert server.read(by_link.table_page, token).lost == (seat,)


def test_a_player_who_left_one_seat_takes_no_other_one(server, table):
    game = table("sun-bid", 3, successor="substitute")
    left = game.person_at(0)
    server.run(leaving.resign, game.id, 0, left)
    moderate(server, Offer(game.id, 1), "nobody knows where they are")
    offered = next(offer for offer in server.read(offers.open_offers) if offer.seat == 1)
    with pytest.raises(Forbidden, match="another seat"):
        server.run(substitutes.take, offered.id, left)
    server.run(substitutes.come_back, game.id, 0, left)
    assert game.person_at(0) == left


def test_a_banned_player_does_not_come_back(server, absentee):
    game, gone = absentee("bot")
    back = notices(server, "replaced")[0].person_id
    moderate(server, Ban(back, None), "rude words")
    with pytest.raises(Forbidden):
        server.run(substitutes.come_back, game.id, gone, back)
    assert game.players()[gone].person_id is None


def test_only_replaced_players_are_asked_to_come_back(server, absentee, table):
    taken, gone = absentee("bot")
    back = notices(server, "replaced")[0].person_id
    offered = table("sun-bid", 3)
    moderate(server, Offer(offered.id, 1), "somebody may have to stop")

    def lost(game, person):
        key = LinkKey(Purpose.CONFIRM, person, game.id)
        token = server.store.write(lambda tx: links.token(server, links.read(tx, links.make(tx, server, key))))
        return server.read(by_link.table_page, token).lost

    assert lost(taken, back) == (gone,)
    assert lost(offered, offered.person_at(1)) == ()


def test_nobody_else_takes_a_seat_that_a_bot_plays_as_agreed(server, absentee, person):
    game, gone = absentee("bot")
    before = all_rows(server.store)
    with pytest.raises(Forbidden):
        server.run(substitutes.come_back, game.id, gone, game.person_at((gone + 1) % 3))
    assert server.read(offers.open_offers) == []
    assert all_rows(server.store) == before


def test_a_returning_player_who_misses_turns_again_is_replaced_again(server, time, absentee):
    game, gone = absentee("bot")
    back = notices(server, "replaced")[0].person_id
    server.run(substitutes.come_back, game.id, gone, back)
    while game.players()[gone].person_id is not None:
        asked = game.asked()
        for seat, decision in asked.items():
            if seat != gone:
                game.play(seat, decision.default)
        if gone in asked:
            time.sends()
            time.passes_until(time.due(game, gone))
            time.runs_out()
    assert [body["player"] for _, _, body in seated(game)] == ["bot", "person", "bot"]


@pytest.mark.slow
def test_the_last_person_among_bots_is_replaced_and_the_bots_end_the_game(server, time, table):
    game = table("sun-bid", 2, pace="1d", missed_limit=2, successor="bot", bots=("random",))
    person = next(player.seat for player in game.players().values() if player.person_id is not None)
    for _ in range(2):
        time.bots_play()
        time.sends()
        time.passes_until(time.due(game, person))
        assert time.runs_out().decided == 1
    assert [body["player"] for _, _, body in seated(game)] == ["bot"]
    (notice,) = notices(server, "replaced")
    assert json.loads(notice.facts)["seat"] == person
    while game.row().status == "playing":
        time.passes(MINUTE)
        assert time.bots_play()
    assert game.verifies()


def test_a_new_holder_of_a_seat_starts_with_a_whole_turn(server, time, absentee):
    game, gone = absentee("bot")
    back = notices(server, "replaced")[0].person_id
    while gone not in game.asked():
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    time.passes(HOUR)
    server.run(substitutes.come_back, game.id, gone, back)
    now = time.clock.now()
    time.sends()
    assert time.due(game, gone) >= now + DAY


# A substitute takes over


def test_a_seat_is_offered_by_email_to_volunteers(server, absentee, person):
    zoe, yan, xia = person("Zoe"), person("Yan"), person("Xia")
    for willing in (zoe, yan):
        server.run(offers.set_volunteer, willing, volunteers=True)
    server.run(offers.set_volunteer, xia, volunteers=True)
    server.run(offers.set_volunteer, xia, volunteers=False)
    game, gone = absentee("substitute")
    asked = queued_emails(server, kind="substitute")
    assert {email.person_id for email in asked} == {zoe, yan}
    assert {json.loads(email.facts)["offer"] for email in asked} == {the_offer(server).id}
    assert game.players()[gone].person_id is not None
    assert len(notices(server, "seat_offered")) == 1
    assert len(notices(server, "seat_on_offer")) == 2, "the others know whom they may be waiting for"
    offered = [(row.seat, row.by, json.loads(row.body)) for row in game.log() if row.kind == "Offered"]
    assert offered == [(gone, "clock", {"why": "missed"})]
    assert game.verifies()


def test_volunteers_at_the_table_or_unreachable_are_not_asked(server, table, absentee, person):
    ann, zoe = person("Ann"), person("Zoe")
    for willing in (ann, zoe):
        server.run(offers.set_volunteer, willing, volunteers=True)
    server.run(reachability.note_refusal, zoe, "550")
    absentee("substitute")
    assert queued_emails(server, kind="substitute") == []


def test_the_first_taker_has_the_seat_when_the_turn_ends_and_the_second_is_told(
    server, time, absentee, person, turn_ends
):
    zoe, yan = person("Zoe"), person("Yan")
    game, gone = absentee("substitute")
    offer = the_offer(server)
    assert not server.run(substitutes.take, offer.id, zoe, "Zora")
    before = all_rows(server.store)
    assert not server.run(substitutes.take, offer.id, zoe)
    with pytest.raises(Gone, match="Someone else has asked"):
        server.run(substitutes.take, offer.id, yan)
    time.seats_change()
    assert all_rows(server.store) == before
    turn_ends(game, gone)
    assert (game.players()[gone].person_id, game.players()[gone].name) == (zoe, "Zora")
    assert email_kinds(server, zoe)[-1] in ("seated", "turn")
    before = all_rows(server.store)
    assert server.run(substitutes.take, offer.id, zoe)
    with pytest.raises(Gone):
        server.run(substitutes.take, offer.id, yan)
    time.seats_change()
    assert all_rows(server.store) == before
    assert server.read(offers.open_offers) == []
    assert len(notices(server, "seat_taken")) == 1
    assert len(notices(server, "substitute_plays")) == 2
    assert seated(game) == [(gone, "person", {"player": "person"})]
    assert game.verifies()


def test_a_substitute_sees_what_the_seat_may_see_and_nothing_else(server, time, table, person):
    game = table("sun-bid", 3, pace="1d", successor="substitute")
    (seat,) = game.asked()
    server.run(leaving.resign, game.id, seat, game.person_at(seat))
    before = game.view(seat)
    assert server.run(substitutes.take, the_offer(server).id, person("Zoe"))
    assert game.view(seat) == before


def test_any_move_of_the_player_keeps_the_seat(server, absentee, person, time):
    game, gone = absentee("substitute")
    offer = the_offer(server)
    while gone not in game.asked():
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    time.passes(HOUR)
    game.play(gone, game.asked()[gone].default)
    assert server.read(offers.open_offers) == []
    with pytest.raises(Gone):
        server.run(substitutes.take, offer.id, person("Zoe"))
    time.seats_change()
    assert server.read(offers.read_offer, offer.id).status == "back"


def test_more_time_from_another_player_keeps_no_seat_whose_player_is_gone(server, absentee, person, time):
    game, gone = absentee("substitute")
    offer = the_offer(server)
    while gone not in game.asked():
        for seat, decision in game.asked().items():
            game.play(seat, decision.default)
    time.passes(HOUR)
    giver = (gone + 1) % 3
    server.run(more_time.give, game.id, giver, game.person_at(giver), gone)
    assert the_offer(server).id == offer.id
    time.seats_change()
    assert server.read(offers.read_offer, offer.id).status == "open"
    assert not server.run(substitutes.take, offer.id, person("Zoe"))


def test_a_seat_that_nobody_takes_is_offered_once_and_time_goes_on(server, time, absentee):
    game, gone = absentee("substitute")
    for _ in range(2):
        while gone not in game.asked():
            for seat, decision in game.asked().items():
                game.play(seat, decision.default)
        time.sends()
        time.passes_until(time.due(game, gone))
        assert time.runs_out().decided == 1
    assert len(notices(server, "seat_offered")) == 1
    assert game.players()[gone].missed == 4


def test_strangers_are_not_asked_to_a_private_table(server, absentee, person):
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    game, gone = absentee("substitute", private=True)
    assert game.players()[gone].bot is not None
    assert queued_emails(server, kind="substitute") == []
    earlier, later = (json.loads(email.facts)["warning"] for email in queued_emails(server, kind="auto_passed"))
    assert earlier == "If you miss this turn, a bot will take over your seat."
    assert later.startswith("A bot is now playing your seat")


def test_a_refused_substitute_changes_nothing(server, clock, absentee, person):
    game, gone = absentee("substitute")
    offer = the_offer(server)
    unknown = server.run(addresses.register, "new@example.org", "New").id
    zoe = person("Zoe")
    before = all_rows(server.store)
    with pytest.raises(Forbidden):
        server.run(substitutes.take, offer.id, unknown)
    with pytest.raises(Forbidden):
        server.run(substitutes.take, offer.id, game.person_at((gone + 1) % 3))
    with pytest.raises(NotFound):
        server.run(substitutes.take, 999, zoe)
    assert all_rows(server.store) == before


@pytest.mark.parametrize("doubles", [False, True])
def test_a_player_is_offered_a_second_seat_only_with_doubles(server, absentee, doubles):
    game, gone = absentee("substitute")
    server.store.write(lambda tx: tables.change_game(tx, game.id, doubles=doubles))
    me = game.person_at((gone + 1) % 3)
    found = server.read(by_link.table_page, Links(server).made(Purpose.CONFIRM, me, game.id))
    assert found.joined
    assert [free.offer for free in found.offers] == ([the_offer(server).id] if doubles else [])
    assert found.no_second is not doubles


def test_a_second_seat_is_mentioned_only_to_players_when_one_is_free(server, table, absentee, person):
    game, _ = absentee("substitute")
    found = server.read(by_link.table_page, Links(server).made(Purpose.CONFIRM, person("Zoe"), game.id))
    assert found.offers
    assert not found.no_second
    running = table("bid", 3)
    assert not server.read(
        by_link.table_page, Links(server).made(Purpose.CONFIRM, running.person_at(0), running.id)
    ).no_second


def test_a_person_at_too_many_tables_takes_no_seat(server, absentee, person):
    absentee("substitute")
    with pytest.raises(TooMany):
        replace(server, open_tables=0).run(substitutes.take, the_offer(server).id, person("Zoe"))


@pytest.mark.slow
def test_taking_a_seat_that_breaks_at_any_call_leaves_nothing_half_done(server, absentee, person):
    game, gone = absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    assert check_atomic(server.store, lambda: server.run(substitutes.take, offer.id, zoe)) > 10
    turn = game.row().turn
    while game.row().turn == turn:
        for seat, decision in game.asked().items():
            game.play(seat, decision.default, "clock" if seat == gone else "person")
    assert check_atomic(server.store, lambda: server.run(substitutes._tidy, offer.id)) > 10
    assert game.person_at(gone) == zoe


def test_a_reservation_waits_while_its_table_is_paused(server, time, absentee, person, turn_ends):
    game, gone = absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe)
    server.store.write(lambda tx: tables.change_game(tx, game.id, paused=True, turn=game.row().turn + 1))
    substitutes.tidy(server)
    assert game.person_at(gone) != zoe
    server.store.write(lambda tx: tables.change_game(tx, game.id, paused=False))
    substitutes.tidy(server)
    assert game.person_at(gone) == zoe


def test_a_person_who_withdraws_frees_the_seat_for_others(server, absentee, person, turn_ends):
    game, gone = absentee("substitute")
    zoe, yan, offer = person("Zoe"), person("Yan"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe)
    assert not server.run(substitutes.withdraw, offer.id, yan)
    assert the_offer(server).taken_by == zoe
    assert server.run(substitutes.withdraw, offer.id, zoe)
    assert the_offer(server) == offer
    assert not server.run(substitutes.withdraw, offer.id, zoe)
    server.run(substitutes.take, offer.id, yan)
    turn_ends(game, gone)
    assert game.person_at(gone) == yan


def test_a_request_withdrawn_as_its_turn_ends_is_withdrawn_or_the_seat_is_theirs(server, table, person):
    zoe = person("Zoe")
    game = table("bid", 3, successor="substitute")
    for meeting in meetings(server.store):
        gone = game.person_at(2)
        moderate(server, Offer(game.id, 2))
        offer = the_offer(server)
        server.run(substitutes.take, offer.id, zoe)
        for seat, decision in game.asked().items():
            game.play(seat, decision.default, "clock" if seat == 2 else "person")
        withdrawn, _ = meeting(
            lambda offer=offer: server.run(substitutes.withdraw, offer.id, zoe), lambda: substitutes.tidy(server)
        )
        assert (withdrawn is True) == (game.person_at(2) == gone), withdrawn
        assert withdrawn is True or isinstance(withdrawn, Gone)
        # An offer stays until its seat changes hands.
        moderate(server, Substitute(game.id, 2, "fay@example.org" if gone == person("Yan") else "yan@example.org"))


def test_a_seat_that_is_theirs_already_is_not_withdrawn_from(server, absentee, person, turn_ends):
    game, gone = absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe)
    turn_ends(game, gone)
    with pytest.raises(Gone, match="already have this seat"):
        server.run(substitutes.withdraw, offer.id, zoe)
    assert game.person_at(gone) == zoe


def test_a_reservation_by_someone_banned_since_leaves_the_seat_on_offer(server, absentee, person, turn_ends):
    game, gone = absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe)
    moderate(server, Ban(zoe, None), "They insult others.")
    turn_ends(game, gone)
    assert the_offer(server) == replace(offer, taken_by=None)
    (lost,) = notices(server, "reservation_lost")
    assert (lost.person_id, json.loads(lost.facts)["outcome"]) == (zoe, "refused")
    yan = person("Yan")
    server.run(substitutes.take, offer.id, yan)
    turn_ends(game, gone)
    assert game.person_at(gone) == yan


def test_a_move_is_not_taken_back_once_a_seat_has_changed_hands(server, clock, table, person):
    game = table("templari", 3, successor="substitute")
    zoe, turn = person("Zoe"), game.row().turn
    (bidder,) = game.asked()
    gone = (bidder + 2) % 3
    moderate(server, Offer(game.id, gone))
    server.run(substitutes.take, the_offer(server).id, zoe)
    clock.advance(MINUTE)
    game.play(bidder, "bid 1")
    assert game.row().turn > turn
    substitutes.tidy(server)
    assert game.person_at(gone) == zoe
    with pytest.raises(Gone, match="can no longer be taken back"):
        server.run(undo.take_back, game.id, turn, bidder)
    assert [email.status for email in queued_emails(server, zoe, "seated")] == ["queued"]


def test_a_frozen_table_keeps_its_offers(server, time, absentee, person):
    game, _gone = absentee("substitute")
    server.run(substitutes.take, the_offer(server).id, person("Zoe"))
    reserved = the_offer(server)
    moderate(server, Freeze(game.id), "A player thinks a turn was logged wrongly.")
    time.seats_change()
    moderate(server, Unfreeze(game.id), "The log is sound.")
    assert the_offer(server) == reserved


def test_a_seat_that_was_reserved_before_its_player_resigned_goes_to_the_same_person(
    server, absentee, person, turn_ends
):
    game, gone = absentee("substitute")
    zoe, yan = person("Zoe"), person("Yan")
    server.run(substitutes.take, the_offer(server).id, zoe)
    server.run(leaving.resign, game.id, gone, game.person_at(gone))
    with pytest.raises(Gone, match="Someone else has asked"):
        server.run(substitutes.take, the_offer(server).id, yan)
    game.play(gone, game.asked()[gone].default, "bot") if gone in game.asked() else turn_ends(game, gone)
    substitutes.tidy(server)
    assert game.person_at(gone) == zoe


@pytest.mark.parametrize("outcome", ["other", "over"])
def test_a_taker_is_told_that_the_seat_went_elsewhere(server, time, absentee, person, outcome):
    game, gone = absentee("substitute")
    zoe, _yan = person("Zoe"), person("Yan")
    server.run(substitutes.take, the_offer(server).id, zoe)
    if outcome == "other":
        moderate(server, Substitute(game.id, gone, "yan@example.org"), "Yan asked first.")
    else:
        for seat in range(3):
            server.run(leaving.agree_to_end, game.id, game.person_at(seat))
        time.seats_change()
    (lost,) = notices(server, "reservation_lost")
    assert (lost.person_id, lost.game_id, json.loads(lost.facts)["outcome"]) == (zoe, game.id, outcome)


def test_an_organiser_gives_the_seat_to_its_taker_without_a_word_of_loss(server, absentee, person):
    game, gone = absentee("substitute")
    server.run(substitutes.take, the_offer(server).id, person("Zoe"))
    moderate(server, Substitute(game.id, gone, "zoe@example.org"), "They need not wait.")
    assert game.person_at(gone) == person("Zoe")
    assert notices(server, "reservation_lost") == []


def test_reservations_count_as_tables_so_nobody_reserves_every_seat(server, table, person):
    zoe, small = person("Zoe"), replace(server, open_tables=1)
    for seat in (1, 2):
        moderate(server, Offer(table("bid", 3, successor="substitute").id, seat))
    first, second = server.read(offers.open_offers)
    small.run(substitutes.take, first.id, zoe)
    with pytest.raises(TooMany):
        small.run(substitutes.take, second.id, zoe)


def test_a_reservation_is_in_its_takers_export_and_goes_with_them(server, absentee, person):
    game, gone = absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe, "Zora")
    exported = json.loads("".join(personal_data.export_person(server, zoe)))
    turn = game.row().turn
    assert exported["reservations"] == [
        {"table": game.row().key, "seat": gone, "reserved_turn": turn, "reserved_as": "Zora"}
    ]
    server.run(delete.delete_person, zoe)
    assert the_offer(server) == offer


def test_an_offer_ends_with_its_game(server, time, absentee):
    game, _ = absentee("substitute")
    offer = the_offer(server)
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    assert game.row().status == "void"
    assert server.read(offers.open_offers) == []
    time.seats_change()
    assert server.read(offers.read_offer, offer.id).status == "over"


# Resigned, unreachable, replaced


def test_a_resigned_seat_goes_on_with_a_bot_and_is_offered_where_that_was_agreed(server, time, table, person):
    zoe = person("Zoe")
    server.run(offers.set_volunteer, zoe, volunteers=True)
    game = table("sun-bid", 3, pace="1d", successor="substitute")
    (seat,) = game.asked()
    server.run(leaving.resign, game.id, seat, game.person_at(seat))
    assert game.players()[seat].bot is not None
    assert time.bots_play() >= 1
    assert [email.person_id for email in queued_emails(server, kind="substitute")] == [zoe]
    server.run(substitutes.take, the_offer(server).id, zoe)
    assert game.players()[seat].person_id == zoe


def test_an_unreachable_players_seat_is_given_up_after_a_week(server, time, table):
    game = table("sun-bid", 3, pace="1d", successor="bot")
    (seat,) = game.asked()
    time.sends()
    server.run(reachability.note_refusal, game.person_at(seat), "550 no such user")
    time.passes(7 * DAY - HOUR)
    time.seats_change()
    assert game.players()[seat].person_id is not None
    assert time.due(game, seat) is None
    time.passes(HOUR)
    time.seats_change()
    assert game.players()[seat].bot is not None
    assert time.bots_play() >= 1


def test_many_dead_addresses_and_a_broken_table_delay_no_seat(server, time, table):
    games = [table("sun-bid", 3, pace="1d", successor="bot") for _ in range(2)]
    dead = [server.run(addresses.register, f"dead{number}@example.org").id for number in range(60)]
    gone = [game.person_at(seat) for game in games for seat in game.asked()]
    for person_id in dead + gone:
        server.run(reachability.note_refusal, person_id, "550 no such user")
    time.passes(7 * DAY)
    server.store.write(lambda tx: tables.change_game(tx, games[0].id, state="{"))
    time.seats_change()
    ((seat, _decision),) = games[1].asked().items()
    assert games[1].players()[seat].bot is not None


def test_the_others_do_not_wait_for_ever_for_a_substitute(server, time, table):
    game = table("sun-bid", 3, pace="1d", successor="substitute")
    (seat,) = game.asked()
    # The first email bounced before any server accepted it.
    server.run(reachability.note_refusal, game.person_at(seat), "550 no such user")
    time.passes(7 * DAY)
    time.seats_change()
    assert len(server.read(offers.open_offers)) == 1
    time.passes_until(time.due(game, seat))
    assert time.runs_out().decided == 1


def test_an_unreachable_player_who_moves_on_the_pages_keeps_the_seat(server, time, table):
    game = table("sun-bid", 2, pace="1d", successor="bot")
    (seat,) = game.asked()
    person = game.person_at(seat)
    server.run(reachability.note_refusal, person, "550 no such user")
    time.passes(3 * DAY)
    game.play(seat, game.asked()[seat].default)
    while seat not in game.asked():
        for other, decision in game.asked().items():
            game.play(other, decision.default)
    assert time.due(game, seat) is None
    time.passes(5 * DAY)
    time.seats_change()
    assert game.players()[seat].person_id == person
    assert time.due(game, seat) is not None, "the others wait for an address no longer than that, whoever plays without"


@pytest.mark.parametrize("sent", [True, False])
def test_players_who_report_their_emails_as_spam_stop_their_clocks_for_a_week_in_thirty_days(server, time, table, sent):
    game = table("sun-bid", 2, pace="1d", successor="bot")
    (seat,) = game.asked()
    person = game.person_at(seat)
    time.sends()
    server.run(reachability.note_bounce, person, Bounce.COMPLAINT, "abuse")
    assert time.due(game, seat) is None
    time.passes(7 * DAY - HOUR)
    server.run(reachability.note_contact, person)
    game.play(seat, game.asked()[seat].default)
    while seat not in game.asked():
        for other, decision in game.asked().items():
            game.play(other, decision.default)
    if sent:
        time.sends()
    server.run(reachability.note_bounce, person, Bounce.COMPLAINT, "abuse")
    assert time.due(game, seat) is None
    time.passes(HOUR)
    time.seats_change()
    due = time.due(game, seat)
    assert due is not None
    assert due <= time.server.now() + 2 * DAY
    assert game.players()[seat].person_id == person, "the seat itself is lost only after a week"


def test_an_organiser_gives_a_seat_to_another_with_a_public_reason(server, time, table, person):
    game = table("sun-bid", 3, pace="1d")
    (seat,) = game.asked()
    time.sends()
    person("Zoe")
    moderate(server, Substitute(game.id, seat, "zoe@example.org"), "Ann has moved to sea")
    assert game.players()[seat].name == "Zoe"
    assert seated(game) == [(seat, "organiser", {"player": "person", "reason": "Ann has moved to sea"})]
    assert all("Ann has moved to sea" in email.facts for email in notices(server, "substitute_plays"))
    assert time.sends()[seat].at is not None


@pytest.mark.parametrize("in_secret", ["seals", "seals and takes it back", "leaves an order"])
def test_an_offer_does_not_tell_that_its_player_has_answered_in_secret(server, clock, table, person, in_secret):
    game = table("bid", 3, successor="substitute")
    gone, turn = 2, game.row().turn
    assert len(game.asked()) == 3
    moderate(server, Offer(game.id, gone))
    clock.advance(MINUTE)
    offer = the_offer(server)
    if in_secret == "leaves an order":
        server.run(standing_orders.set_order, game.id, gone, "always bid 0 unless round is over 90")
    else:
        game.play(gone, game.asked()[gone].default)
    if in_secret == "seals and takes it back":
        server.run(undo.take_back, game.id, turn, gone)
    substitutes.tidy(server)
    assert the_offer(server) == offer, "the others at the table may read it too"
    zoe = person("Zoe")
    assert not server.run(substitutes.take, offer.id, zoe)
    substitutes.tidy(server)
    assert notices(server, "reservation_lost") == []
    for seat, decision in game.asked().items():
        game.play(seat, decision.default)
    assert game.row().turn > turn
    substitutes.tidy(server)
    assert server.read(offers.open_offers) == []
    assert game.person_at(gone) == offer.person_id
    (lost,) = notices(server, "reservation_lost")
    assert (lost.person_id, json.loads(lost.facts)["outcome"]) == (zoe, "back")


# In a loop


def test_a_player_resigns_and_comes_back_only_a_few_times(server, table, person):
    server.run(offers.set_volunteer, person("Zoe"), volunteers=True)
    game = table("sun-bid", 3, successor="substitute")
    (seat,) = game.asked()
    left = game.person_at(seat)
    link = Links(server).made(Purpose.CONFIRM, left, game.id)
    for _ in range(substitutes.MOST_RESIGNATIONS - 1):
        server.run(leaving.resign, game.id, seat, left)
        assert server.read(by_link.table_page, link).lost == (seat,)
        server.run(substitutes.come_back, game.id, seat, left)
    server.run(leaving.resign, game.id, seat, left)
    assert server.read(by_link.table_page, link).lost == ()
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="resigned from this table 3 times"):
        server.run(substitutes.come_back, game.id, seat, left)
    assert all_rows(server.store) == before
    assert len(queued_emails(server, kind="substitute")) == 1


def test_a_substitute_who_keeps_resigning_takes_the_seat_only_a_few_times(server, table, person):
    game = table("sun-bid", 3, successor="substitute")
    zoe = person("Zoe")
    server.run(leaving.resign, game.id, 0, game.person_at(0))
    for _ in range(substitutes.MOST_RESIGNATIONS):
        assert server.run(substitutes.take, the_offer(server).id, zoe)
        server.run(leaving.resign, game.id, 0, zoe)
    with pytest.raises(Forbidden, match="resigned"):
        server.run(substitutes.take, the_offer(server).id, zoe)
    assert server.run(substitutes.take, the_offer(server).id, person("Yan"))


def test_a_volunteer_is_offered_a_few_seats_a_day_and_one_of_each_table(server, clock, table, person):
    zoe = person("Zoe")
    server.run(offers.set_volunteer, zoe, volunteers=True)
    games = [table("sun-bid", 3, successor="substitute") for _ in range(offers.OFFERS_A_DAY + 1)]
    for game in games:
        for seat in (0, 1):
            server.run(leaving.resign, game.id, seat, game.person_at(seat))
    offered = [email.game_id for email in queued_emails(server, zoe, "substitute")]
    assert offered == [game.id for game in games[:-1]]
    clock.advance(DAY + HOUR)
    moderate(server, Offer(games[0].id, 2))
    assert len(queued_emails(server, zoe, "substitute")) == len(offered) + 1


@pytest.mark.parametrize("way", ["comes back", "substitutes"])
def test_a_player_with_a_seat_again_in_one_turn_is_never_timed_out_before_their_new_email(
    server, time, table, person, way
):
    game = table("sun-bid", 3, pace="1d", successor="substitute")
    (seat,) = game.asked()
    player = game.person_at(seat)
    if way == "substitutes":
        player = person("Zoe")
        server.run(leaving.resign, game.id, seat, game.person_at(seat))
        server.run(substitutes.take, the_offer(server).id, player)
    time.sends()
    due = time.due(game, seat)
    server.run(leaving.resign, game.id, seat, player)
    if way == "substitutes":
        server.run(substitutes.take, the_offer(server).id, player)
    else:
        server.run(substitutes.come_back, game.id, seat, player)
    # The email that holds the only links that work has not left yet.
    time.passes_until(due + HOUR)
    assert time.runs_out().decided == 0
    time.sends()
    assert time.due(game, seat) > server.now()
    time.passes_until(time.due(game, seat))
    assert time.runs_out().decided == 1


def test_a_request_that_was_withdrawn_is_not_made_again(server, absentee, person):
    absentee("substitute")
    zoe, offer = person("Zoe"), the_offer(server)
    server.run(substitutes.take, offer.id, zoe)
    server.run(substitutes.withdraw, offer.id, zoe)
    before = all_rows(server.store)
    with pytest.raises(Forbidden, match="withdrawn your request"):
        server.run(substitutes.take, offer.id, zoe)
    assert all_rows(server.store) == before
    assert not server.run(substitutes.take, offer.id, person("Yan"))


def test_a_form_of_a_seat_on_offer_takes_no_other_seat(server, table, person):
    game = table("sun-bid", 3, successor="substitute")
    for seat in (0, 1):
        moderate(server, Offer(game.id, seat))
    first, second = sorted(server.read(offers.open_offers), key=lambda offer: offer.seat)
    token = server.run(links.make_token, LinkKey(Purpose.CONFIRM, person("Zoe"), game.id))
    before = all_rows(server.store)
    # As after a restore, when the number of an offer is given out a second time.
    with pytest.raises(Gone, match="no longer on offer"):
        by_link.take_over(server, token, second.id, first.seat, "Zoe")
    assert all_rows(server.store) == before


# Turns missed at the limit, and an answer since


@pytest.fixture
def at_the_limit(time, table):
    """at_the_limit("bot") -> a game in which all choose at once, and the seat whose second missed turn has just ended.

    No worker has given up the seat yet.
    """

    def make(successor):
        game, gone = table("sunset-poker", 3, missed_limit=2, successor=successor), 2
        for _ in range(2):
            time.sends()
            time.passes_until(time.due(game, gone))
            turn = game.row().turn
            game.play(gone, game.asked()[gone].default, Actor.CLOCK)
            for seat in (0, 1):
                game.play(seat, game.asked()[seat].default)
            assert game.row().turn == turn + 1
        assert game.players()[gone].missed == 2
        time.passes(MINUTE)
        return game, gone

    return make


@pytest.mark.parametrize("successor", ["bot", "substitute"])
@pytest.mark.parametrize("in_secret", ["nothing", "seals", "seals and takes it back", "leaves an order"])
def test_a_seat_at_its_limit_is_given_up_whether_or_not_its_player_has_answered(
    server, time, at_the_limit, successor, in_secret
):
    game, gone = at_the_limit(successor)
    player, turn = game.person_at(gone), game.row().turn
    if in_secret == "leaves an order":
        server.run(
            standing_orders.set_order,
            game.id,
            gone,
            f"always {game.asked()[gone].default.verb} AM unless Points over 90",
        )
    elif in_secret != "nothing":
        game.play(gone, game.asked()[gone].default)
    if in_secret == "seals and takes it back":
        server.run(undo.take_back, game.id, turn, gone)
    time.seats_change()
    assert game.row().turn == turn
    kind = "Seated" if successor == "bot" else "Offered"
    assert [row.seat for row in game.log() if row.kind == kind] == [gone]
    for seat, decision in game.asked().items():
        game.play(seat, decision.default, Actor.PERSON if seat != gone or successor == "substitute" else Actor.BOT)
    time.seats_change()
    assert (game.players()[gone].person_id == player) == (successor == "substitute")
    assert server.read(offers.open_offers) == [], "an answer in time keeps the seat"


def test_an_answer_in_a_turn_that_is_over_ends_the_count_of_missed_turns(server, time, at_the_limit):
    game, gone = at_the_limit("bot")
    for seat in (gone, 0, 1):
        game.play(seat, game.asked()[seat].default)
    assert game.players()[gone].missed == 0
    time.seats_change()
    assert game.players()[gone].person_id is not None
    game.play(gone, game.asked()[gone].default, Actor.CLOCK)
    assert game.players()[gone].missed == 1


# Names


def test_nobody_at_a_table_gets_the_name_of_a_former_player(server, table, person):
    game = table("sun-bid", 3, successor="substitute")
    left = game.person_at(1)
    server.run(leaving.resign, game.id, 1, left)
    server.run(substitutes.take, the_offer(server).id, person("Zoe"), "Ben")
    assert game.players()[1].name == "Ben 2"
    moderate(server, Correct(game.id, "name", "Ben", 0))
    assert game.players()[0].name == "Ben 3"
    server.run(leaving.resign, game.id, 1, game.person_at(1))
    server.run(substitutes.take, the_offer(server).id, left, "Ben")
    assert game.players()[1].name == "Ben"


def former_names(game):
    with game.server.store.read() as tx:
        return [each.name for each in players.former_names(tx, game.id)]


def test_the_name_of_a_former_player_can_be_corrected_and_back(server, table, person):
    game = table("sun-bid", 3, successor="substitute")
    left, was = game.person_at(1), game.players()[1].name
    server.run(leaving.resign, game.id, 1, left)
    server.run(substitutes.take, the_offer(server).id, person("Zoe"), "Zoe")
    with pytest.raises(NotFound):
        moderate(server, Correct(game.id, "name", "Bea", former="Nobody"))
    done = moderate(server, Correct(game.id, "name", "Bea", former=was))
    assert former_names(game) == ["Bea", "Bot 1"]
    assert game.players()[1].name == "Zoe"
    moderate(server, done.undo)
    assert former_names(game) == [was, "Bot 1"]
    moderate(server, Correct(game.id, "name", "zoe", former=was))
    assert former_names(game) == ["zoe 2", "Bot 1"]
