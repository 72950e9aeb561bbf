"""Reviews: one for each person when a game is over, made once, for that person alone until they share it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from pbem.child_process import Failed
from pbem.coach import Coach
from pbem.domain.errors import Forbidden, NotFound
from pbem.domain.guests import guest_address
from pbem.service.absence.bots import play_bots
from pbem.service.archive import reviews
from pbem.service.archive.reviews import LEASE, make_next, of_seat, share
from pbem.service.outgoing import preferences
from pbem.service.outgoing.review_content import review_words
from pbem.service.play.move import Actor
from pbem.service.tables import leaving
from pbem.store import people, personal_data
from pbem.store.reviews import MOST_A_DAY, MOST_ATTEMPTS
from pbem.store.schema import REVIEW
from tests.plugins import broken
from tests.service.absence.test_database_away import Away
from tests.service.archive.sample_review import SAMPLE, sample
from tests.service.archive.test_replay import token_of
from tests.service.database import queued_emails
from tests.service.desk.test_put_back import back, saved_of


def over(table, **more):
    """A short game of Bid! that is over."""
    game = table("bid", 3, options={"max_auctions": 1}, **more)
    while game.row().status == "playing":
        if not any(True for _ in game.play_defaults()):
            play_bots(game.server)
    return game


def rows(server):
    """The rows of reviews, by game and seat."""
    with server.store.read() as tx:
        return {(row["game_id"], row["seat"]): row for row in tx.execute(select(REVIEW)).mappings()}


def failing(_task):
    raise Failed("it ended")


def test_each_person_at_a_finished_table_gets_one_review_and_no_bot_does(server, table):
    game = over(table, bots=("greedy",))
    people_seats = {seat for seat, player in game.players().items() if player.person_id is not None}
    assert {seat for _game, seat in rows(server)} == people_seats
    asked = []
    while make_next(server, lambda task: asked.append(task.seat) or sample(task)):
        pass
    assert sorted(asked) == sorted(people_seats)
    assert all(row["body"] for row in rows(server).values())


def test_a_finished_game_that_is_put_back_is_reviewed_again(server, table):
    game = over(table)
    saved = saved_of(server, game)
    while make_next(server, sample):
        pass
    back(server, saved, replacing=True)
    assert not any(row["body"] for row in rows(server).values())
    assert [each for each in queued_emails(server) if each.kind == "review" and each.status == "queued"] == []
    while make_next(server, sample):
        pass
    assert len(rows(server)) == 3
    assert all(row["body"] for row in rows(server).values())


def test_nothing_is_reviewed_before_the_end(server, table):
    game = table("bid", 3, options={"max_auctions": 1})
    assert not make_next(server, sample)
    with pytest.raises(Forbidden):
        server.read(of_seat, token_of(game, 0))
    list(game.play_defaults())
    assert make_next(server, sample)


def test_a_game_without_a_result_gets_no_review(server, table):
    game = table("bid", 3)
    for seat in range(3):
        server.run(leaving.agree_to_end, game.id, game.person_at(seat))
    assert rows(server) == {}
    with pytest.raises(Forbidden):
        server.read(of_seat, token_of(game, 0))


def test_a_review_is_read_by_its_player_alone_until_they_share_it(server, table):
    game = over(table)
    while make_next(server, sample):
        pass
    tokens = {seat: token_of(game, seat) for seat in range(3)}
    assert server.read(of_seat, tokens[1]).review == replace(SAMPLE, seat=1)
    assert server.read(of_seat, tokens[1]).own
    with pytest.raises(NotFound):
        server.read(of_seat, tokens[1], 0)
    server.run(share, tokens[0], shared=True)
    found = server.read(of_seat, tokens[1], 0)
    assert found.review == SAMPLE
    assert not found.own
    assert server.read(of_seat, tokens[1]).others == (0,)
    server.run(share, tokens[0], shared=False)
    with pytest.raises(NotFound):
        server.read(of_seat, tokens[1], 0)
    assert server.read(of_seat, tokens[1]).others == ()


def test_a_review_that_is_not_made_can_not_be_shared(server, table):
    game = over(table)
    with pytest.raises(NotFound):
        server.run(share, token_of(game, 0), shared=True)
    assert server.read(of_seat, token_of(game, 0)).review is None


def test_two_workers_never_make_the_same_review(server, table):
    over(table)
    inner = []

    def other_worker_meanwhile(task):
        if len(inner) < 3:
            inner.append(task.seat)
            make_next(server, other_worker_meanwhile)
        return sample(task)

    make_next(server, other_worker_meanwhile)
    assert sorted(inner) == [0, 1, 2]
    assert not make_next(server, sample)


@pytest.mark.parametrize("step", ["_task", "_keep"])
def test_a_review_is_made_as_soon_as_a_failed_database_is_back(server, table, monkeypatch, step):
    over(table)
    away, held = Away(monkeypatch, reviews, step), []
    away.gone = True
    for _ in range(MOST_ATTEMPTS + 1):
        assert not make_next(server, sample, held=held)
    away.gone = False
    while make_next(server, sample, held=held):
        pass
    assert [(bool(row["body"]), row["attempts"]) for row in rows(server).values()] == [(True, 1)] * 3


def test_a_review_whose_worker_was_killed_is_made_later(server, clock, table):
    over(table)

    class Killed(BaseException):
        pass

    def killed(_task):
        raise Killed

    for _ in range(3):
        with pytest.raises(Killed):
            make_next(server, killed)
    assert not make_next(server, sample)
    clock.advance(LEASE + timedelta(seconds=1))
    for _ in range(3):
        assert make_next(server, sample)
    assert all(row["body"] for row in rows(server).values())


def test_a_review_that_fails_again_and_again_is_given_up_and_its_page_says_so(server, clock, table):
    game = over(table)
    token = token_of(game, 0)
    for _ in range(MOST_ATTEMPTS):
        assert not server.read(of_seat, token).failed
        while make_next(server, failing):
            pass
        clock.advance(LEASE + timedelta(seconds=1))
    assert not make_next(server, sample)
    assert server.read(of_seat, token).failed


def test_a_worker_that_is_told_to_stop_gives_its_review_back(server, table):
    over(table)
    assert not make_next(server, failing, stopping=lambda: True)
    assert {row["attempts"] for row in rows(server).values()} == {0}
    assert make_next(server, sample)


def test_the_coach_is_told_only_of_turns_in_which_the_player_chose(server, table):
    game = table("bid", 3, options={"max_auctions": 2})
    turn = game.row().turn
    for seat, decision in game.asked().items():
        game.play(seat, decision.default, Actor.CLOCK if seat == 0 else Actor.PERSON)
    list(game.play_defaults())
    tasks = {}
    while make_next(server, lambda task: tasks.setdefault(task.seat, task) and sample(task)):
        pass
    assert turn not in tasks[0].own
    assert turn in tasks[1].own
    assert tasks[0].seed == game.row().seed
    assert [number for number, _entry in tasks[0].turns] == list(range(game.row().turn))


def test_a_deleted_person_s_review_is_deleted_and_an_export_has_it(server, table):
    game = over(table)
    while make_next(server, sample):
        pass
    ann, ben = game.person_at(0), game.person_at(1)
    with server.store.read() as tx:
        about = personal_data.about(tx, ann)["reviews"]
    assert [(row["table"], row["seat"], bool(row["body"])) for row in about] == [(game.row().key, 0, True)]
    server.store.write(lambda tx: personal_data.forget(tx, people.lock(tx, ann), "UTC"))
    assert {row["person_id"] for row in rows(server).values()} == {ben, game.person_at(2)}


def test_a_new_player_of_a_seat_never_reads_the_review_of_another(server, table, person):
    game = over(table)
    while make_next(server, sample):
        pass
    token, other = token_of(game, 0), person("Zoe")
    server.store.write(lambda tx: tx.exec_driver_sql(f"UPDATE review SET person_id = {other} WHERE seat = 0"))
    found = server.read(of_seat, token)
    assert found.review is None
    assert not found.possible
    with pytest.raises(NotFound):
        server.run(share, token, shared=True)


def test_the_review_of_a_foreign_game_is_not_asked_for(server, table, offered):
    offered(broken.LANTERNS)
    game = table("lanterns", 2)
    list(game.play_defaults())
    assert game.row().status == "over"
    assert rows(server) == {}
    assert not server.read(reviews.of_seat, token_of(game, 0)).possible


def test_a_review_is_emailed_once_to_those_who_want_that(server, table):
    game = over(table)
    ann, ben = game.person_at(0), game.person_at(1)
    server.run(preferences.set_reviews, ben, on=False)
    while make_next(server, sample):
        pass
    found = {each: queued_emails(server, each, "review") for each in (ann, ben, game.person_at(2))}
    assert [[email.seat for email in emails] for emails in found.values()] == [[0], [], [2]]
    known, opened = server.query(review_words, game.row(), 0)["sides"]
    assert known["mistakes"][0].endswith("With every hand visible, it was a mistake too.")
    assert opened["best"][0].endswith("From what you could see, it was one of your best decisions too.")


def test_a_guest_of_the_demo_gets_no_review(server, table):
    game = table("bid", 3, options={"max_auctions": 1})
    guest = game.person_at(1)
    server.store.write(lambda tx: people.change(tx, guest, mailbox=guest_address("x")))
    list(game.play_defaults())
    assert {seat for _game, seat in rows(server)} == {0, 2}


@pytest.mark.slow
def test_a_trusted_game_of_another_package_is_reviewed_in_the_child_too(server, table, offered):
    offered(broken.LANTERNS, "paper-lamps")
    game = table("lanterns", 2)
    list(game.play_defaults())
    coach = Coach()
    try:
        assert make_next(server, coach)
    finally:
        coach.close()
    assert server.read(of_seat, token_of(game, min(seat for _game, seat in rows(server)))).possible
    assert any(row["body"] for row in rows(server).values())


def test_someone_with_many_reviews_in_a_day_waits_and_holds_up_nobody(server, clock, table, person):
    for _ in range(MOST_A_DAY):
        over(table, bots=("random", "random"))
        clock.advance(timedelta(minutes=1))
    while make_next(server, sample):
        pass
    last, others = over(table, bots=("random", "random")), over(table)
    token = next(token_of(last, seat) for seat, player in last.players().items() if player.person_id == person("Ann"))
    made = set()
    while make_next(server, lambda task: made.add(task.seat) or sample(task)):
        pass
    assert len(made) == 2, "the two who had none yet"
    assert server.read(of_seat, token).waits
    assert {row["due_at"] - clock.now() > timedelta(hours=23) for row in rows(server).values() if not row["body"]} == {
        True
    }
    clock.advance(timedelta(days=1, hours=1))
    while make_next(server, sample):
        pass
    assert not server.read(of_seat, token).waits
    assert server.read(of_seat, token).review
    assert others.row().status == "over"
