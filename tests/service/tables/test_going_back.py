"""Going back by everyone's consent: proposed by one, agreed by all, ended by the next move, and refused where hidden things were seen."""

import json
from datetime import time as time_of_day

import pytest

from pbem.domain.delivery import parse_delivery
from pbem.domain.errors import Forbidden, Gone, Stale
from pbem.service.desk.acts.clocks import Pause
from pbem.service.desk.acts.seats import Substitute
from pbem.service.outgoing import preferences
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.play import standing_orders, undo
from pbem.service.play.log import Kind, public_body_of
from pbem.service.tables import going_back
from pbem.store import votes as vote_rows
from tests.mail.kinds import HEAD
from tests.mail.transports import ACCEPTED, FunctionTransport
from tests.service.actors import moderate
from tests.service.clock import DAY
from tests.service.database import all_rows, check_atomic, email_kinds, facts_of, queued_emails
from tests.service.email_replies import Replies


@pytest.fixture
def played(table, time):
    """played(...) -> a game in which one seat has moved, and has nothing left to undo; the seat, and the others."""

    def played(kind="templari", **settings):
        game = table(kind, 3, **({"going_back": True} | settings))
        (seat,) = game.asked()
        game.play(seat, game.asked()[seat].default)
        time.sends()
        return game, seat, [each for each in range(3) if each != seat]

    return played


def propose(game, seat):
    return game.server.run(going_back.propose, game.id, seat, game.person_at(seat))


def agree(game, seat, turn=None, head=""):
    turn = game.row().turn if turn is None else turn
    return game.server.run(going_back.agree, game.id, seat, game.person_at(seat), turn, head)


def votes(game):
    return game.server.query(vote_rows.back_votes, game.row())


def move(game):
    (seat,) = game.asked()
    game.play(seat, game.asked()[seat].default)


def test_a_move_is_taken_back_when_everyone_agrees(time, server, table):
    game = table("templari", 3, going_back=True)
    (seat,) = game.asked()
    turn, state = game.row().turn, game.row().state
    for _ in range(3):
        move(game)
    server.run(standing_orders.set_order, game.id, seat, "up to 3 or ask me")
    time.sends()
    one, two = (each for each in range(3) if each != seat)
    back_to = propose(game, seat)
    assert back_to == propose(game, seat), "proposing it twice changes nothing"
    asked = queued_emails(server, kind="back_proposed")
    assert {(each.person_id, each.seat, each.turn) for each in asked} == {
        (game.person_at(each), each, game.row().turn) for each in (one, two)
    }
    assert facts_of(server, asked[0]) == {"who": game.players()[seat].name, "back_to": back_to}
    before, open_turn = game.row().state, game.row().turn
    assert agree(game, one) == agree(game, one) == (back_to, False)
    assert game.row().state == before
    assert agree(game, two) == (back_to, True)
    assert agree(game, two, open_turn) == (back_to, True), "a double click is no error"
    assert (game.row().turn, game.row().orders, set(game.asked())) == (open_turn + 1, "[]", {seat})
    assert back_to != turn or game.row().state == state
    row = game.log()[-1]
    assert (row.kind, row.seat, row.by, public_body_of(row)) == (
        Kind.REWOUND,
        None,
        "person",
        {"from": back_to, "turn": open_turn + 1},
    )
    notices = [json.loads(email.facts) for email in queued_emails(server, kind="notice")]
    assert [(each["what"], each["by"]) for each in notices] == [("rewound", "everyone")] * 3
    assert email_kinds(server, game.person_at(seat))[-1] == "turn"
    # The time is a whole turn's again.
    time.sends()
    assert time.due(game, seat) >= server.now() + DAY - time.server.hold
    game.play(seat, game.asked()[seat].default)
    assert game.verifies()


ENDS = {
    "a move": lambda game, seat, other: move(game),
    "a refusal": lambda game, seat, other: game.server.run(going_back.play_on, game.id, other, game.person_at(other)),
    "a withdrawal": lambda game, seat, other: game.server.run(going_back.play_on, game.id, seat, game.person_at(seat)),
    "another player": lambda game, seat, other: moderate(game.server, Substitute(game.id, seat)),
}


@pytest.mark.parametrize("what", ENDS)
def test_a_proposal_ends_with(played, what):
    game, seat, (one, two) = played()
    propose(game, seat)
    agree(game, one)
    turn = game.row().turn
    assert set(votes(game)) == {seat, one}
    ENDS[what](game, seat, one)
    assert not votes(game)
    before = all_rows(game.server.store)
    with pytest.raises(Stale if what == "a move" else Gone):
        agree(game, two, turn)
    with pytest.raises(Gone, match="Nobody is proposing"):
        agree(game, two)
    assert all_rows(game.server.store) == before


def test_a_proposal_means_the_move_that_was_there_and_no_other(table):
    game = table("templari", 3, going_back=True)
    (seat,) = game.asked()
    game.play(seat, "bid 1")
    turn, head = game.row().turn, game.row().entry_head
    propose(game, seat)
    game.server.run(undo.take_back, game.id, turn - 1, seat, game.person_at(seat))
    game.play(seat, "bid 2")
    assert game.row().turn == turn
    assert game.row().entry_head != head
    (other, _) = (each for each in range(3) if each != seat)
    with pytest.raises(Gone, match="Nobody is proposing"):
        agree(game, other)
    # A page from before names another position, and agrees to nothing.
    propose(game, seat)
    with pytest.raises(Stale):
        agree(game, other, turn, "0" * 20)


REFUSED = {
    "not agreed": ({"going_back": False}, lambda game, seat, one: propose(game, seat), "hasn't agreed on going back"),
    "no move": ({}, lambda game, seat, one: propose(game, one), "You have no move to take back"),
    "only bots": (
        {"bots": ("random", "random")},
        lambda game, seat, one: propose(game, next(at for at, each in game.players().items() if each.person_id)),
        "Only bots play|no move to take back",
    ),
    "rated, with a bot": (
        {"bots": ("random",), "rated": True},
        lambda game, seat, one: propose(game, next(at for at, each in game.players().items() if each.person_id)),
        "A rated game with bots can't go back",
    ),
    "nothing proposed": ({}, lambda game, seat, one: agree(game, one), "Nobody is proposing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_in_words(played, case):
    settings, does, why = REFUSED[case]
    game, seat, (one, _) = played(**settings)
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match=why):
        does(game, seat, one)
    assert all_rows(game.server.store) == before


def test_there_is_one_proposal_at_a_time_and_none_at_a_paused_table(played):
    game, seat, (one, two) = played()
    move(game)
    propose(game, seat)
    with pytest.raises(Gone, match="already proposed"):
        propose(game, next(each for each in (one, two) if each not in game.asked()))
    moderate(game.server, Pause(game.id))
    with pytest.raises(Forbidden, match="paused"):
        agree(game, one)


def test_hidden_things_that_were_seen_are_not_taken_back(table):
    game = table("sunset-poker", 3, going_back=True)
    turn = game.row().turn
    while game.row().turn == turn:
        game.play(min(game.asked()), game.asked()[min(game.asked())].default)
    with pytest.raises(Gone, match="Something hidden has been seen since then, and nobody can unsee it"):
        propose(game, 0)


def test_choices_sealed_meanwhile_are_dropped_unseen(table, time):
    game = table("sorcerous-futures", 3, going_back=True)
    while len(game.asked()) == 1:
        (opener,) = game.asked()
        choices = game.asked()[opener].choices()
        game.play(opener, next((choice for choice in choices if choice.verb == "closed"), choices[0]))
    back_to = propose(game, opener)
    one, two = (each for each in range(3) if each != opener)
    hiding = next(each for each in game.asked() if each != opener)
    game.play(hiding, game.asked()[hiding].default)
    agree(game, one)
    assert agree(game, two) == (back_to, True)
    assert (game.row().box, set(game.asked())) == ("[]", {opener})
    assert game.verifies()


def test_nobody_is_asked_more_than_three_times_a_day_whether_to_go_back(played):
    game, seat, (one, _) = played()
    for _ in range(going_back.PROPOSALS_A_DAY + 2):
        propose(game, seat)
        game.server.run(going_back.play_on, game.id, seat, game.person_at(seat))
    assert email_kinds(game.server, game.person_at(one)).count("back_proposed") == going_back.PROPOSALS_A_DAY


def test_it_is_proposed_and_agreed_by_replies(played):
    game, seat, (one, two) = played()
    answers, turn = Replies(game), game.row().turn
    player = {answers.seat(each): each for each in range(3)}
    answers.write(player[seat], "go back", turn=turn - 1)
    assert answers.outcomes() == [("go back", "applied", "back_proposed")]
    answers.write(player[one], "Agree to go back, please.")
    assert answers.outcomes() == [("Agree to go back", "applied", "back_agreed")]
    # An email of an earlier turn knows nothing of this.
    answers.write(player[two], "agree to go back", turn=turn - 1)
    assert "moved on since" in answers.answer()
    answers.write(player[two], "agree to go back")
    assert answers.outcomes() == [("agree to go back", "applied", "gone_back")]
    assert (game.row().turn, set(game.asked())) == (turn + 1, {seat})


def test_going_back_leaves_nothing_half_done(played):
    game, seat, (one, two) = played()
    assert check_atomic(game.server.store, lambda: propose(game, seat)) > 4
    agree(game, one)
    assert check_atomic(game.server.store, lambda: agree(game, two)) > 8
    assert game.verifies()


def deliver_now(game):
    deliver(game.server, Post(HEAD, FunctionTransport(lambda _email: ACCEPTED)), limit=200)


def status_of_proposals(game):
    return {each.person_id: each.status for each in queued_emails(game.server, kind="back_proposed")}


@pytest.mark.parametrize("way", ["daily", "after 12h", "reminders"])
def test_a_proposal_waits_for_no_digest_and_no_delay(clock, server, table, way):
    game = table("templari", 3, going_back=True)
    (seat,) = game.asked()
    move(game)
    one, two = (game.person_at(each) for each in range(3) if each != seat)
    server.run(preferences.choose, one, parse_delivery(way), None, time_of_day(8))
    propose(game, seat)
    clock.advance(server.hold)
    deliver_now(game)
    assert status_of_proposals(game) == {one: "sent", two: "sent"}


@pytest.mark.parametrize("ended", ["by a move", "by its proposer"])
def test_a_proposal_that_is_over_is_no_longer_sent(clock, server, table, ended):
    game = table("templari", 3, going_back=True)
    (seat,) = game.asked()
    move(game)
    propose(game, seat)
    if ended == "by a move":
        move(game)
    else:
        server.run(going_back.play_on, game.id, seat, game.person_at(seat))
    clock.advance(server.hold)
    deliver_now(game)
    assert {*status_of_proposals(game).values()} == {"superseded"}
