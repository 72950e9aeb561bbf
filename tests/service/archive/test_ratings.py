"""Ratings: endings are added once and in their order, whatever dies meanwhile, and ratings follow from them alone."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from pbem import failpoints
from pbem.domain.errors import BadInput, Gone
from pbem.domain.rating_words import gain_text, rating_text
from pbem.domain.ratings import NEW, OVERALL, rate
from pbem.mail.wire import parse, text_of
from pbem.service.absence.bots import play_bots
from pbem.service.account import delete, ratings as own
from pbem.service.archive import ratings
from pbem.service.archive.rebuild_ratings import rebuild
from pbem.service.desk.acts.correct import Correct
from pbem.service.desk.acts.people import Merge
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.preview import preview
from pbem.service.play.results import ending_of
from pbem.service.tables import demo, leaving, listing
from pbem.service.tables.new import TableSettings, check_settings
from pbem.store import people, personal_data, ratings as rating_rows, results as result_rows
from pbem.store.schema import GAME, RATING, RESULT, RatingRow
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.actors import moderate
from tests.service.conftest import START
from tests.service.database import count_calls
from tests.service.desk.test_put_back import back, saved_of, vanish
from tests.service.outgoing.test_deliver import HEAD


def played(table, seats=3, **more):
    """A short rated game of Bid! that is over, with its ending added."""
    return added(over(table, seats, **more))


def over(table, seats=3, **more):
    game = table("bid", seats, options={"max_auctions": 1}, **({"rated": True} | more))
    finish(game)
    return game


def finish(game):
    while game.row().status == "playing":
        if not any(True for _ in game.play_defaults()):
            play_bots(game.server)


def added(game):
    while ratings.add_endings(game.server):
        pass
    return game


def stored(server, table=RATING):
    with server.store.read() as tx:
        return sorted(tuple(row) for row in tx.execute(select(table)))


def results_of(game):
    with game.server.store.read() as tx:
        return result_rows.of_games(tx, [game.id])[game.id]


def key_of(server, person_id):
    with server.store.read() as tx:
        return people.read(tx, person_id).key


def test_an_ending_is_added_once_and_changes_two_ratings_of_each_player(server, table):
    game = over(table)
    assert stored(server) == []
    assert ratings.add_endings(server) == 1
    assert ratings.add_endings(server) == 0
    rows, ranks = results_of(game), {seat: p.number for p in game.ranking() for seat in p.seats}
    assert [(row.seat, row.rank, row.what) for row in rows] == [(seat, ranks[seat], "ended") for seat in sorted(ranks)]
    expected = dict(zip([row.player for row in rows], rate([NEW] * 3, [row.rank for row in rows]), strict=True))
    assert {(row[1], row[2]): (row[5], row[6], row[7]) for row in stored(server)} == {
        (player, kind): (after.mu, after.sigma, 1) for player, after in expected.items() for kind in ("bid", OVERALL)
    }
    assert game.row().result_seq == rows[0].seq == 1


def test_a_friendly_game_and_one_without_a_result_change_nothing(server, table):
    over(table, rated=False)
    void = table("bid", 3, rated=True)
    for seat in range(3):
        server.run(leaving.agree_to_end, void.id, void.person_at(seat))
    assert ratings.add_endings(server) == 0
    assert stored(server, RESULT) == []


def test_bots_of_a_level_are_one_player_each(server, table):
    game = played(table, bots=("beginner", "greedy"))
    assert {row.player for row in results_of(game)} == {key_of(server, game.person_at(s)) for s, p in game.players().items() if p.person_id} | {"bot:beginner", "bot:greedy"}  # fmt: skip


def test_two_bots_of_a_level_are_one_player_with_two_seats(server, table):
    game = played(table, bots=("greedy", "greedy"))
    assert len(results_of(game)) == 3
    assert len(stored(server)) == 4


def test_a_player_who_resigns_comes_last_and_a_bot_for_less_than_half_the_game_does_not_count(server, table):
    game = table("bid", 3, options={"max_auctions": 1}, rated=True, stand_in="greedy")
    turns = sum(1 for _ in over(table).log()) // 2
    gone = game.person_at(1)
    while game.row().status == "playing" and len(game.log()) <= turns + 2:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
    server.run(leaving.resign, game.id, 1, gone)
    finish(game)
    added(game)
    ranks = {(row.seat, row.player): row.rank for row in results_of(game)}
    assert ranks[1, key_of(server, gone)] == 4
    assert ranks[1, "bot:greedy"] is None
    assert all(ranks[seat, key_of(server, game.person_at(seat))] in (1, 2, 3) for seat in (0, 2))


def test_a_bot_that_plays_most_of_the_game_counts(server, table):
    game = table("bid", 3, options={"max_auctions": 1}, rated=True, stand_in="greedy")
    gone = game.person_at(1)
    server.run(leaving.resign, game.id, 1, gone)
    finish(game)
    added(game)
    ranks = {row.player: row.rank for row in results_of(game)}
    assert ranks["bot:greedy"] in (1, 2, 3)
    assert ranks[key_of(server, gone)] == 4


def test_a_player_replaced_by_the_organiser_does_not_count(server, table, person):
    game = table("bid", 3, options={"max_auctions": 1}, rated=True)
    gone, new = game.person_at(1), person("Zoe")
    moderate(server, Substitute(game.id, 1, "zoe@example.org"))
    finish(game)
    added(game)
    ranks = {row.player: row.rank for row in results_of(game)}
    assert ranks[key_of(server, gone)] is None
    assert ranks[key_of(server, new)] in (1, 2, 3)


def test_a_rebuild_changes_nothing(server, table):
    for _ in range(3):
        played(table)
    before = stored(server)
    done = rebuild(server)
    assert (done.endings, done.changed) == (3, 0)
    assert stored(server) == before
    server.store.write(lambda tx: tx.execute(update(RATING).where(RATING.c.seq == 2).values(mu=1.0)))
    assert rebuild(server).changed == 1
    assert stored(server) == before


def test_a_corrected_result_changes_all_ratings_since(server, table):
    first, later = played(table), played(table)
    moderate(server, Correct(first.id, "result", "3 2 1"))
    assert server.query(ratings.is_outdated)
    third = played(table)
    assert {row.seat: row.rank for row in results_of(first)} == {0: 3, 1: 2, 2: 1}
    expected = {}
    for game in (first, later, third):
        rows = results_of(game)
        after = rate([expected.get(row.player, NEW) for row in rows], [row.rank for row in rows])
        expected |= dict(zip([row.player for row in rows], after, strict=True))
    with server.store.read() as tx:
        now = rating_rows.current(tx, {(player, "bid") for player in expected})
    assert {player: rating for (player, _), rating in now.items()} == expected
    with pytest.raises(Gone):
        moderate(server, Correct(first.id, "result", "3 2 1"))
    for wrong in ("1 2", "1 2 4", "first", "0 1 2", ""):
        with pytest.raises(BadInput):
            moderate(server, Correct(first.id, "result", wrong))
    moderate(server, Correct(first.id, "result", "none"))
    added(first)
    assert not [row for row in stored(server) if row[0] == 1]
    assert {row[7] for row in stored(server)} == {1, 2}


def test_only_a_rated_result_can_be_corrected(server, table):
    with pytest.raises(Gone):
        moderate(server, Correct(over(table, rated=False).id, "result", "1 2 3"))
    with pytest.raises(Gone):
        moderate(server, Correct(table("bid", 3, rated=True).id, "result", "1 2 3"))


def test_a_merge_joins_the_results_of_two_players(server, table, person):
    game = played(table)
    ann, zoe = person("Ann"), person("Zoe")
    old, new = key_of(server, ann), key_of(server, zoe)
    before = {row for row in stored(server) if row[1] == old}
    moderate(server, Merge(zoe, ann))
    added(game)
    assert {(row[0], old, *row[2:]) for row in stored(server) if row[1] == new} == before
    assert not [row for row in stored(server) if row[1] == old]
    assert old in {row.player for row in results_of(game)}


def test_a_player_merged_twice_is_who_they_are_now(server):
    for key, into in (("a", "b"), ("c", "d"), ("b", "c"), ("d", "a")):
        server.run(ratings.merge, key, into)
    with server.store.read() as tx:
        merged = result_rows.merged(tx)
        asked = ("a", "b", "c", "d", "e")
        assert result_rows.present_keys(tx, asked) == {key: merged.get(key, key) for key in asked}


def test_the_name_of_a_deleted_person_goes_and_the_key_stays(server, table, person):
    game = played(table)
    ann = person("Ann")
    key, before = key_of(server, ann), stored(server)
    server.run(delete.delete_person, ann)
    assert rebuild(server).changed == 0
    assert stored(server) == before
    assert key in {row.player for row in results_of(game)}
    with server.store.read() as tx:
        gone = people.read(tx, ann)
    assert (gone.name, gone.show_ratings) == ("a former player", False)


def test_a_game_that_is_put_back_counts_once(server, table):
    game = played(table)
    before, rows = stored(server), stored(server, RESULT)
    saved = saved_of(server, game)
    back(server, saved, replacing=True)
    assert game.row().result_seq is None
    added(game)
    assert (stored(server), stored(server, RESULT)) == (before, rows)
    assert game.row().result_seq == 1


def parts(rows):
    return [(row.seat, row.player, row.rank) for row in rows]


def as_played(server, game):
    """What the log says of a game that is over."""
    return parts(server.read(ending_of, game.row()))


def test_a_game_that_ended_elsewhere_counts_for_those_who_ended_it_there(server, table, person):
    game, zoe = table("bid", 3, options={"max_auctions": 1}, rated=True), person("Zoe")
    ann, earlier = game.person_at(0), saved_of(server, game)
    moderate(server, Substitute(game.id, 0, "zoe@example.org"))
    finish(game)
    ended, rows = saved_of(server, game), as_played(server, game)
    vanish(server, game)
    _, game = back(server, earlier)
    assert game.person_at(0) == ann
    _, game = back(server, ended, replacing=True)
    assert game.person_at(0) == zoe
    added(game)
    assert parts(results_of(game)) == as_played(server, game) == rows
    with server.store.read() as tx:
        rated = rating_rows.current(tx, {(key_of(server, each), OVERALL) for each in (ann, zoe)})
    assert {key for (key, _kind), rating in rated.items() if rating.games} == {key_of(server, zoe)}


def test_a_game_put_back_counts_for_players_who_have_been_deleted_since(server, table):
    game = table("bid", 4, options={"max_auctions": 1}, rated=True)
    ann, ben = game.person_at(0), game.person_at(1)
    server.run(leaving.resign, game.id, 0, ann)
    finish(game)
    added(game)
    saved, rows, before = saved_of(server, game), parts(results_of(game)), stored(server)
    assert rows == as_played(server, game)
    for gone in (ann, ben):
        server.run(delete.delete_person, gone)
    back(server, saved, replacing=True)
    added(game)
    assert parts(results_of(game)) == as_played(server, game) == rows
    assert stored(server) == before


def test_a_corrected_result_comes_back_with_the_log_that_has_it(server, table):
    game = played(table)
    before, ranks = saved_of(server, game), {row.seat: row.rank for row in results_of(game)}
    corrected = {seat: (rank % 3) + 1 for seat, rank in ranks.items()}
    moderate(server, Correct(game.id, "result", " ".join(str(corrected[seat]) for seat in sorted(corrected))))
    added(game)
    after = saved_of(server, game)
    for saved, counts in ((after, corrected), (before, ranks), (after, corrected)):
        back(server, saved, replacing=True)
        added(game)
        assert {row.seat: row.rank for row in results_of(game)} == counts
    assert rebuild(server).changed == 0


def test_a_job_that_is_killed_at_any_point_is_done_once_by_the_next(server, table):
    games = [over(table) for _ in range(3)]
    hits = []

    class Killed(BaseException):
        pass

    def dying(point):
        hits.append(point)
        if len(hits) <= 12 and len(hits) % 3:
            raise Killed

    failpoints.set_handler(dying)
    try:
        for _ in range(30):
            try:
                if not ratings.add_endings(server):
                    break
            except Killed:
                pass
    finally:
        failpoints.set_handler(None)
    assert {"store.committing", "store.committed"} == {*hits}
    assert [game.row().result_seq for game in games] == [1, 2, 3]
    assert len(stored(server, RESULT)) == 9
    assert rebuild(server).changed == 0


def test_a_rebuild_that_is_killed_at_any_point_is_finished_by_the_next(server, table, monkeypatch):
    monkeypatch.setattr("pbem.service.archive.rebuild_ratings.AT_ONCE", 1)
    games = [played(table) for _ in range(3)]
    moderate(server, Correct(games[0].id, "result", "3 3 1"))
    waiting = over(table)

    class Killed(BaseException):
        pass

    for killed_at in range(1, 30):
        hits = []

        def dying(point, hits=hits, killed_at=killed_at):
            hits.append(point)
            if len(hits) == killed_at:
                raise Killed

        failpoints.set_handler(dying)
        try:
            added(waiting)
            break
        except Killed:
            pass
        finally:
            failpoints.set_handler(None)
    assert killed_at > 3
    assert waiting.row().result_seq == 5
    assert not server.query(ratings.is_outdated)
    assert rebuild(server).changed == 0


def test_an_ending_that_cannot_be_read_holds_up_no_other_and_is_tried_again(server, table, monkeypatch):
    bad, good = over(table), over(table)

    def broken(tx, server, row):
        if row.id == bad.id:
            raise KeyError("state")
        return ending_of(tx, server, row)

    monkeypatch.setattr(ratings, "ending_of", broken)
    added(good)
    assert (bad.row().result_seq, good.row().result_seq) == (0, 1)
    monkeypatch.undo()
    rebuild(server)
    added(bad)
    assert bad.row().result_seq == 2


def test_guests_are_never_rated(server):
    token = demo.begin(server, "bid")
    assert token
    with server.store.read() as tx:
        assert tx.execute(select(GAME.c.rated)).scalars().all() == [False]


@pytest.mark.parametrize("more", [{"doubles": True}, {"hints": True}])
def test_a_rated_table_has_one_seat_for_each_player_and_no_hints(more):
    with pytest.raises(BadInput):
        check_settings(TableSettings("bid", 3, rated=True, **more), START)


def test_ratings_are_their_owners_alone_until_they_show_them(server, table, person):
    played(table)
    ann = person("Ann")
    waiting = server.run(listing_of, ann)
    assert set(server.read(listing.by_id, waiting).ratings) == {None}
    assert [kind for kind, _rating in server.read(own.own_ratings, ann).ratings] == ["", "bid"]
    server.store.write(lambda tx: people.change(tx, ann, show_ratings=True))
    shown = server.read(listing.by_id, waiting).ratings
    assert shown == (server.read(own.own_ratings, ann).ratings[1][1],)


def listing_of(tx, server, person_id):
    """A rated table with one player that waits for more."""
    from pbem.service.tables import joining

    game_id = joining.create_table(tx, server, person_id, TableSettings("bid", 3, rated=True)).game_id
    joining.join(tx, server, game_id, person_id)
    return game_id


def test_the_export_has_ones_own_results_and_ratings_and_no_numbers_of_rows(server, table, person):
    game = played(table)
    with server.store.read() as tx:
        results, changes = personal_data.ratings(tx, key_of(server, person("Ann")))
    assert [(row["kind"], row["table"]) for row in results] == [("bid", game.row().key)]
    assert [(row["kind"], row["games"], row["table"]) for row in changes] == [
        ("", 1, game.row().key),
        ("bid", 1, game.row().key),
    ]
    assert not {"seq", "player"} & {*results[0], *changes[0]}


def test_one_reads_why_a_game_changed_ones_rating(server, table, person):
    played(table)
    latest = server.read(own.own_ratings, person("Ann")).latest
    assert len(latest) == 1
    assert latest[0].why
    assert latest[0].gain[0] in "+−±"


@pytest.fixture
def post(server):
    """Where emails go, with what was sent."""
    sent = []
    return Post(HEAD, FunctionTransport(lambda email: sent.append(email) or ACCEPTED)), sent


def result_texts(sent):
    """What emails with results say, line breaks aside."""
    texts = [" ".join(text_of(parse(email.content)).split()) for email in sent]
    return [text for text in texts if "final standings" in text.lower()]


def test_the_email_with_a_result_waits_for_the_ratings_and_says_what_changed_and_why(server, table, clock, post):
    way, sent = post
    game = over(table)
    deliver(server, way)
    assert result_texts(sent) == []
    ratings.add_endings(server)
    clock.advance(timedelta(seconds=10))
    deliver(server, way)
    texts = result_texts(sent)
    assert len(texts) == 3
    changes = [rating_rows.change_of(RatingRow(*row)) for row in stored(server)]
    for text in texts:
        assert "Your rating" in text
        assert "because you" in text or "because one player" in text or "players finished ahead of you" in text
        assert "All games:" in text
    for each in changes:
        assert any(f"{gain_text(each)}" in text and rating_text(each.after) in text for text in texts)
    assert game.row().result_seq == 1


def test_the_email_with_a_result_does_not_wait_for_ever(server, table, clock, post):
    way, sent = post
    over(table)
    clock.advance(timedelta(minutes=10))
    deliver(server, way)
    texts = result_texts(sent)
    assert len(texts) == 3
    assert all("We're still working out the ratings" in text for text in texts)


def test_the_email_with_a_result_that_was_corrected_meanwhile_says_nothing_wrong(server, table):
    game = played(table)
    moderate(server, Correct(game.id, "result", "none"))
    says = " ".join(text_of(parse(preview(server, HEAD, "result", game.id, 0))).split())
    assert "We're still working out the ratings" in says
    added(game)
    says = " ".join(text_of(parse(preview(server, HEAD, "result", game.id, 0))).split())
    assert "This game doesn't affect ratings" in says


def test_the_email_of_a_friendly_game_says_nothing_of_ratings(server, table, post):
    way, sent = post
    over(table, rated=False)
    deliver(server, way)
    texts = result_texts(sent)
    assert len(texts) == 3
    assert not any("rating" in text.lower() for text in texts)


def test_the_agreement_is_in_the_emails_of_the_start_and_the_invitation(server, table):
    for rated, says in ((True, "a rated game"), (False, "a friendly game")):
        game = table("bid", 3, rated=rated)
        for kind in ("welcome", "invitation", "substitute", "seated"):
            assert says in text_of(parse(preview(server, HEAD, kind, game.id, 1)))


def test_a_move_takes_no_statement_more_at_a_rated_table(server, table):
    calls = []
    for rated in (False, True):
        game = table("bid", 3, options={"max_auctions": 1}, rated=rated)
        with count_calls(server.store) as made:
            finish(game)
        calls.append({*made})
    assert calls[0] == calls[1]
    assert not any("result" in call or "rating " in call for call in calls[1] if call.startswith("INSERT"))


def test_a_worker_finishes_a_rebuild_that_was_stopped_before_it_adds_an_ending(server, table, monkeypatch):
    monkeypatch.setattr("pbem.service.archive.rebuild_ratings.AT_ONCE", 1)
    for _ in range(2):
        played(table)
    waiting, right = over(table), stored(server)
    server.store.write(lambda tx: tx.execute(update(RATING).values(mu=1.0)))

    class Killed(BaseException):
        pass

    def killed(done):
        raise Killed

    with pytest.raises(Killed):
        rebuild(server, killed)
    added(waiting)
    assert [row for row in stored(server) if row[0] < 3] == right
    assert rebuild(server).changed == 0


def test_a_player_who_lost_the_seat_by_missed_turns_comes_last(server, table, time):
    game = table("bid", 3, options={"max_auctions": 4}, rated=True, missed_limit=2, stand_in="greedy")
    gone = game.person_at(1)
    while game.players()[1].bot is None:
        for seat, decision in game.asked().items():
            if seat != 1:
                game.play(seat, decision.default)
        time.sends()
        time.passes(timedelta(days=2))
        time.runs_out()
        time.seats_change()
    finish(game)
    added(game)
    ranks = {row.player: row.rank for row in results_of(game)}
    assert ranks[key_of(server, gone)] == 4
