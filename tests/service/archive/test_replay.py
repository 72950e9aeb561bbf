"""Replays: every moment as each seat saw it then, all hands only at the end, and the course of a game in numbers."""

import pytest

from engine import registry
from engine.bots import random_bot
from engine.chance import Stream
from engine.facts import SPECTATOR
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.service import links
from pbem.service.archive import replay
from pbem.service.archive.replay import Access
from pbem.service.archive.score_history import course_of
from pbem.service.desk.acts.rewind import Rewind, turns
from pbem.service.play import seat_view, views
from pbem.service.play.log import standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import games, links as link_rows, log as log_rows
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.database import all_rows


def token_of(game, seat):
    """The token of a seat's link."""
    person = game.person_at(seat)

    def made(tx):
        row = links.make_for_seat(tx, game.server, person, game.id, game.row().turn, seat).seat
        return links.token(game.server, link_rows.read(tx, row))

    return game.server.store.write(made)


def moves(game, most):
    """Play up to `most` random choices."""
    luck = Stream(b"luck", 1)
    for _ in range(most):
        asked = game.asked()
        if not asked:
            return
        seat, decision = next(iter(asked.items()))
        game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck))
        yield


def end(game):
    """End a game without a result, which takes one statement of each player."""
    for seat in range(game.row().seats):
        game.server.run(leaving.agree_to_end, game.id, game.person_at(seat))


def facts_of(server, game):
    """The names of the facts of each turn."""
    with server.store.read() as tx:
        log = standing_entries(rules_of(game.row()), log_rows.chain(tx, game.id, game.row().key))
        return [[type(each).__name__ for each in standing.entry.facts] for standing in log]


def course(game):
    with game.server.store.read() as tx:
        return course_of(tx, games.read(tx, game.id))


@pytest.mark.parametrize("kind", registry.names())
def test_each_moment_is_what_the_seat_saw_then(server, table, kind):
    game, shown = table(kind, 3), {}
    tokens = {seat: token_of(game, seat) for seat in range(3)}
    for _ in moves(game, 45):
        number = game.row().turn - 1
        if number % 3 == 0 and number not in shown:
            shown[number] = {seat: server.read(seat_view.view_seat, token).board for seat, token in tokens.items()}
    assert len(shown) > 4
    for with_saved_views in (False, True):
        if with_saved_views:
            views.save_overdue(server)
        for number, boards in shown.items():
            for seat, board in boards.items():
                found = server.read(replay.moment, Access.SEAT, tokens[seat], number)
                assert (found.scene.turn, found.scene.board, found.table.seat) == (number, board, seat)
                assert found.scene.hands == ()


def test_while_a_game_is_played_the_public_sees_what_all_were_told_and_no_more(server, table):
    game = table("sunset-poker", 3)
    list(moves(game, 30))
    key, rules = game.row().key, rules_of(game.row())
    last = server.read(replay.moment, Access.PUBLIC, key, 10**9)
    assert last.table.seat == SPECTATOR
    assert last.scene.board == rules.board(game.view(SPECTATOR), SPECTATOR)
    assert last.scene.hands == ()
    assert not last.scene.board.mine


def test_when_a_game_is_over_each_player_s_own_board_is_shown(server, table):
    game = table("sunset-poker", 3)
    list(moves(game, 30))
    seen_then = {seat: server.read(seat_view.view_seat, token_of(game, seat)).board.mine for seat in range(3)}
    number = game.row().turn - 1
    end(game)
    found = server.read(replay.moment, Access.PUBLIC, game.row().key, number)
    assert {seat: board.mine for seat, board in found.scene.hands} == seen_then
    mine = server.read(replay.moment, Access.SEAT, token_of(game, 1), number)
    assert [seat for seat, _ in mine.scene.hands] == [0, 2]
    assert mine.scene.board.mine == seen_then[1]


def test_a_private_table_is_seen_by_its_players_and_by_its_link_when_it_is_over(server, table):
    game = table("bid", 3, private=True, invited=("ben@example.org", "cleo@example.org"))
    list(moves(game, 12))
    with pytest.raises(NotFound):
        server.read(replay.moment, Access.PUBLIC, game.row().key, 1)
    with pytest.raises(NotFound):
        server.read(replay.whole, Access.PUBLIC, game.row().key)
    mine, other = token_of(game, 0), token_of(game, 1)
    with pytest.raises(Forbidden):
        server.run(replay.share, mine)
    end(game)
    shared = server.run(replay.share, mine)
    assert server.run(replay.share, other) == shared
    assert server.read(replay.moment, Access.SHARED, shared, 2).scene.hands
    assert server.read(replay.whole, Access.SHARED, shared).table.key == game.row().key
    # The link does nothing else, and no other link does this.
    for purpose in set(Purpose) - {Purpose.SHARE}:
        with pytest.raises(NotFound):
            server.read(links.follow, shared, purpose)
    with pytest.raises(NotFound):
        server.read(replay.moment, Access.SHARED, mine, 2)


def test_any_player_can_withdraw_a_shared_link_for_good(server, table):
    game = table("bid", 3)
    mine, other = token_of(game, 0), token_of(game, 1)
    server.run(replay.stop_sharing, mine)
    end(game)
    shared = server.run(replay.share, mine)
    assert server.read(replay.whole, Access.SEAT, other).shared
    server.run(replay.stop_sharing, other)
    assert not server.read(replay.whole, Access.SEAT, mine).shared
    before = all_rows(server.store)
    server.run(replay.stop_sharing, mine)
    assert all_rows(server.store) == before
    with pytest.raises(Gone, match="no longer shared"):
        server.read(replay.whole, Access.SHARED, shared)
    new_link = server.run(replay.share, mine)
    assert server.read(replay.whole, Access.SHARED, new_link).table.key == game.row().key
    with pytest.raises(Gone):
        server.read(replay.whole, Access.SHARED, shared)


def test_the_replay_of_a_rewound_turn_shows_the_last_one_before_it(server, table):
    game = table("templari", 3)
    list(moves(game, 30))
    turn = max(each for each in turns(standing_entries(rules_of(game.row()), game.log())) if each < 15)
    token, last = token_of(game, 0), game.row().turn
    before = server.read(replay.moment, Access.SEAT, token, turn - 1).scene
    views.save_overdue(server)
    moderate(server, Rewind(game.id, turn))
    list(moves(game, 3))
    numbers = [each for each in range(40) if server.read(replay.moment, Access.SEAT, token, each).scene.turn == each]
    assert numbers[:turn] == list(range(turn))
    assert numbers[turn] > last
    after = server.read(replay.moment, Access.SEAT, token, turn + 3).scene
    assert (after.turn, after.later) == (turn - 1, numbers[turn])
    assert (after.board, after.turn_facts) == (before.board, before.turn_facts)
    assert server.read(replay.moment, Access.SEAT, token, numbers[turn]).scene.earlier == turn - 1


def test_a_table_that_has_not_begun_has_no_replay(server, person):
    created = server.run(joining.create_table, person("Ann"), TableSettings("bid", 3))
    with pytest.raises(NotFound):
        server.read(replay.moment, Access.PUBLIC, created.key, 0)
    with pytest.raises(NotFound):
        server.read(replay.whole, Access.PUBLIC, created.key)


@pytest.mark.parametrize("kind", registry.names())
def test_the_scores_of_a_chart_are_those_on_the_board_of_that_moment(server, table, kind):
    game = table(kind, 3)
    list(moves(game, 60))
    scores = course(game).scores
    assert scores is not None
    rules, key = rules_of(game.row()), game.row().key
    for number, points in scores.moments:
        board = server.read(replay.moment, Access.PUBLIC, key, number).scene.board
        grid = board.scores()
        assert grid is not None
        place = grid.columns.index(scores.unit)
        assert tuple(numbers[place] for _, numbers in grid.rows) == points
    # In one game, the final count differs from the scores shown during play.
    assert (
        rules.standing(game.view(SPECTATOR)).over
        or scores.moments[-1][1] == rules.standing(game.view(SPECTATOR)).scores
    )


def test_the_bids_of_a_chart_are_those_that_were_made_auction_by_auction(server, table):
    game = table("templari", 3)
    made = []
    while len(made) < 12:
        seat, decision = next(iter(game.asked().items()))
        act = next((act for act in decision.acts if act.verb == "bid"), None)
        choice = decision.default if act is None or len(made) % 4 == 3 else next(iter(act.choices()))
        if choice.verb == "bid":
            made.append((game.row().turn, seat, choice.values[0]))
        elif act is not None:
            made.append(None)
        game.play(seat, choice)
    auctions = course(game).auctions
    bids = [[call for call in auction.calls if call.kind == "bid"] for auction in auctions]
    assert [(bid.turn, bid.seat, bid.value) for each in bids for bid in each] == [each for each in made if each]
    for each in bids:
        amounts = [bid.value for bid in each]
        assert amounts == sorted(amounts)


def test_bids_that_are_opened_together_are_charted_with_that_of_each_seat(server, table):
    game = table("sorcerous-futures", 3)
    while (asked := game.asked()) and not any(decision.acts[0].verb == "bid" for decision in asked.values()):
        seat, decision = next(iter(asked.items()))
        closed = next((act for act in decision.acts if act.verb == "closed"), None)
        game.play(seat, decision.default if closed is None else next(iter(closed.choices())))
    for seat in game.asked():
        game.play(seat, f"bid {seat + 1}")
    (auction,) = course(game).auctions
    assert [(bid.seat, bid.value) for bid in auction.calls] == [(0, 1), (1, 2), (2, 3)]
    assert (auction.over, auction.winner) == (True, 2)


def test_every_sale_is_an_auction_of_its_own_up_to_the_last(server, table):
    game = table("sorcerous-futures", 3)
    list(moves(game, 400))
    assert rules_of(game.row()).standing(game.view(SPECTATOR)).over
    auctions = course(game).auctions
    assert len(auctions) == 20
    assert all(auction.over and auction.winner is not None for auction in auctions)
    assert all(len({call.turn for call in auction.calls}) <= 5 for auction in auctions)


def test_a_tie_is_charted_with_the_tied_bids_and_not_as_another_auction(server, table):
    game = table("bid", 3)
    while not any("BidCoins" in names for names in facts_of(server, game)):
        asked = game.asked()
        bids = [{*next(act for act in each.acts if act.verb in ("bid", "pay")).choices()} for each in asked.values()]
        # All bid the same where they can.
        same = min(set.intersection(*bids), key=str, default=None)
        for seat, decision in asked.items():
            game.play(seat, same or decision.default)
    names = facts_of(server, game)
    auctions = course(game).auctions
    assert len(auctions) == sum("BidTiles" in each for each in names)
    assert {sum(call.kind == "bid" for call in auction.calls) for auction in auctions} == {3}


def test_a_choice_that_stays_secret_is_in_no_chart(server, table):
    game = table("sunset-poker", 3)
    list(moves(game, 60))
    picked = {turn for turn, names in enumerate(facts_of(server, game)) if "Picked" in names}
    charted = {call.turn for auction in course(game).auctions for call in auction.calls}
    assert picked
    assert charted
    assert not picked & charted


def test_a_bid_that_waits_in_the_box_is_in_no_chart(server, table):
    game = table("bid", 3)
    before = course(game)
    seat, decision = next(iter(game.asked().items()))
    game.play(seat, decision.acts[0].sample(Stream(b"x", 1)))
    assert game.row().box != "[]"
    assert course(game) == before


def test_a_moment_shows_the_bids_that_were_known_then(server, table):
    game = table("templari", 3)
    list(moves(game, 40))
    token, last = token_of(game, 0), game.row().turn - 1
    for turn in range(0, last, 3):
        board = server.read(replay.moment, Access.SEAT, token, turn).scene.board
        known = [auction for auction in course(game).auctions if auction.calls[0].turn <= turn]
        shown = [fold for fold in board.folds if fold.label.template == "Recent bids"]
        assert len(shown) == bool(known)
