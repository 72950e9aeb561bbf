"""The move: one choice, one transaction."""

import json
from collections import Counter
from datetime import timedelta
from functools import partial
from threading import Thread

import pytest

from engine import codec, registry
from engine.bots import random_bot
from engine.chance import Stream, commitment, follows
from engine.decisions import Choice
from engine.facts import SPECTATOR, fold, seen
from pbem.domain.choice_links import choice_segment
from pbem.domain.errors import BadInput, Gone, NotFound, Refusal, Stale
from pbem.domain.hash_chain import verify
from pbem.service import links
from pbem.service.absence import seats, substitutes
from pbem.service.play import by_link, move
from pbem.service.play.log import Kind, body_of, standing_entries
from pbem.service.play.move import Actor
from pbem.service.play.positions import POSITIONS
from pbem.service.play.rules import rules_of
from pbem.service.tables import joining, leaving
from pbem.service.tables.new import TableSettings
from pbem.store import games, people
from tests.service.database import all_rows, check_atomic, count_calls
from tests.service.races import meetings
from tests.service.running_game import RunningGame

MOST_STATEMENTS = 8
"""Most statements in a move; reading the link is one more, nine in all."""


def statements(made):
    return [each for each in made if not each.startswith(("BEGIN", "COMMIT"))]


def to_the_end(game: RunningGame, seed: int, most: int = 10_000) -> Counter[str]:
    """Play a game at random, each choice as a URL segment; return how many choices were sealed and how many told."""
    luck = Stream(seed.to_bytes(32), 0)
    rules, seen_kinds = rules_of(game.row()), Counter[str]()
    for _ in range(most):
        asked = game.asked()
        if not asked:
            return seen_kinds
        seat = luck.pick(sorted(asked))
        choice = random_bot(rules, game.position().state, asked[seat], luck)
        turn = game.row().turn
        with count_calls(game.server.store) as made:
            receipt = game.server.run(move.play, game.id, turn, seat, choice_segment(choice), Actor.PERSON)
        assert receipt.choice == choice
        assert len(statements(made)) <= MOST_STATEMENTS, made
        again = game.play(seat, choice, turn=turn)
        assert (again.again, again.choice) == (True, choice)
        seen_kinds["sealed" if receipt.sealed else "told"] += 1
    raise AssertionError("the game has no end")


@pytest.mark.parametrize("kind", registry.names())
def test_the_cached_position_equals_the_stored_snapshot(table, kind, monkeypatch):
    game, luck = table(kind, 3), Stream(b"luck", 7)
    while game.row().seq < 30 and (asked := game.asked()):
        seat = luck.pick(sorted(asked))
        game.play(seat, random_bot(rules_of(game.row()), game.position().state, asked[seat], luck))
        with monkeypatch.context() as patched:
            patched.delattr(codec, "loads")
            remembered = game.position()
        POSITIONS.clear()
        assert game.position() == remembered
        assert codec.dumps(game.position().asks()) == codec.dumps(remembered.asks())
    assert game.row().seq > 20


@pytest.mark.parametrize("kind", registry.names())
def test_a_whole_game_is_played_counted_and_checked(table, kind):
    low, _ = registry.load(kind).seats
    game = table(kind, low)
    came = to_the_end(game, 11)
    row = game.row()
    assert row.status == "over"
    assert row.ended_at == game.server.now()
    assert game.verifies()
    assert game.open() == {}
    assert came.total() >= low
    # The result reveals the committed secret, and every draw follows from it.
    rules, log = rules_of(row), game.log()
    began, revealed = body_of(rules, log[0]), body_of(rules, log[-1])
    assert log[-1].kind == Kind.REVEALED
    secret = bytes.fromhex(revealed["secret"])
    assert commitment(secret) == began["commitment"] == row.commitment
    entries = standing_entries(rules, log)
    assert all(follows(row.seed, each.turn, each.entry.drawn) for each in entries)
    # The snapshot is the fold of the facts, and each view is the fold of the facts that its reader saw.
    start = rules.start(row.seats, json.loads(row.options))
    facts = [fact for each in entries for fact in each.entry.facts]
    assert move.codec.dumps(fold(start, facts)) == row.state
    for seat in (SPECTATOR, *range(low)):
        assert game.view(seat) == fold(start, (seen(fact, seat) for fact in facts))
    results = [email for email in game.emails() if email.kind == "result"]
    assert sorted(email.seat for email in results) == list(range(low))


def test_the_same_choice_again_gives_the_same_receipt_and_changes_nothing(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    first = game.play(seat, "bid 1")
    before = all_rows(game.server.store)
    for again in ("bid 1", "bid-1", "BID 1", Choice("bid", (1,))):
        receipt = game.play(seat, again, turn=turn)
        assert (receipt.choice, receipt.turn, receipt.again) == (first.choice, turn, True)
    assert all_rows(game.server.store) == before


def test_the_receipt_of_an_old_choice_can_be_had_turns_later(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    for _ in range(2):
        (other,) = game.asked()
        game.play(other, "pass")
    assert game.play(seat, "bid-1", turn=turn).again


def test_another_choice_for_an_old_turn_is_refused_and_changes_nothing(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    game.play(seat, "bid 1")
    before = all_rows(game.server.store)
    for choice in ("bid 2", "pass", "nonsense", "bid-1-2", ""):
        with pytest.raises(Stale, match="moved on"):
            game.play(seat, choice, turn=turn)
    assert all_rows(game.server.store) == before


def test_a_turn_that_has_not_come_is_refused(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    before = all_rows(game.server.store)
    for turn in (0, -1, game.row().turn + 1, 10**9):
        with pytest.raises(Stale):
            game.play(seat, "pass", turn=turn)
    assert all_rows(game.server.store) == before


def test_nobody_moves_for_another_or_out_of_turn(table):
    game = table("templari", 3)
    (asked,) = game.asked()
    before = all_rows(game.server.store)
    for seat in {0, 1, 2, 3, -1, 99} - {asked}:
        with pytest.raises(Stale, match="It's not your turn"):
            game.play(seat, "pass")
    assert all_rows(game.server.store) == before


@pytest.mark.parametrize(
    "wrong",
    ["", " ", "-", "bid", "bid 99", "bid -1", "bid 1.0", "bid 1e3", "flee", "b" * 10_000, "bid ١", "bid 1\x00", "пас"],
    ids=ascii,
)
def test_a_choice_that_cannot_be_says_what_can_be_and_changes_nothing(table, wrong):
    game = table("templari", 3)
    (seat,) = game.asked()
    before = all_rows(game.server.store)
    with pytest.raises(BadInput, match="pass"):
        game.play(seat, wrong)
    assert all_rows(game.server.store) == before


@pytest.mark.parametrize(
    "wrong", [Choice("bid", (99,)), Choice("bid", (True,)), Choice("bid", ("1",)), Choice("pass", (1,)), Choice("flee")]
)
def test_a_choice_as_data_is_checked_as_closely(table, wrong):
    game = table("templari", 3)
    (seat,) = game.asked()
    before = all_rows(game.server.store)
    with pytest.raises(BadInput):
        game.play(seat, wrong)
    assert all_rows(game.server.store) == before


def test_a_move_in_an_unknown_or_waiting_game_is_refused(server, person):
    created = server.run(joining.create_table, person("Ann"), TableSettings("templari", 3))
    with pytest.raises(NotFound):
        server.run(move.play, 99, 1, 0, "pass", Actor.PERSON)
    with pytest.raises(Gone, match="hasn't started"):
        server.run(move.play, created.game_id, 0, 0, "pass", Actor.PERSON)


def test_a_choice_after_the_end_is_refused(table):
    game = table("templari", 3)
    for _ in game.play_defaults():
        pass
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="is over"):
        game.play(0, "bid 3")
    assert all_rows(game.server.store) == before


def test_the_whole_move_is_recorded_and_the_next_player_is_asked_by_one_email(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    emails = len(game.emails())
    before = game.row()
    game.play(seat, "bid 1", Actor.REPLY)
    row = game.row()
    entry = game.log()[-1]
    assert (entry.kind, entry.seat, entry.by, entry.at) == (Kind.ENTRY, seat, "reply", game.server.now())
    assert row.seq == before.seq + 1
    assert row.turn == before.turn + 1
    assert row.head == row.entry_head == entry.hash
    (email,) = game.emails()[emails:]
    (other,) = game.asked()
    assert (email.kind, email.seat, email.turn, email.seq) == ("turn", other, row.turn, row.seq)
    assert email.person_id == game.person_at(other)


def test_an_email_about_a_move_that_can_be_undone_is_held_for_a_minute(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    game.play(seat, "bid 1")
    assert game.emails()[-1].due_at == game.server.now() + timedelta(seconds=60)


# Sealed choices.


def test_a_sealed_choice_is_recorded_but_told_to_nobody(table):
    game = table("sunset-poker", 3)
    before = game.row()
    views = [game.view(seat) for seat in (SPECTATOR, 0, 1, 2)]
    emails = len(game.emails())
    receipt = game.play(0, game.asked()[0].default)
    row = game.row()
    assert receipt.sealed
    assert (row.turn, row.state, row.entry_head) == (before.turn, before.state, before.entry_head)
    assert row.head != before.head
    assert game.log()[-1].kind == Kind.SEALED
    assert [game.view(seat) for seat in (SPECTATOR, 0, 1, 2)] == views
    assert len(game.emails()) == emails


def test_a_sealed_choice_can_be_replaced_until_the_turn_closes(table):
    game = table("sunset-poker", 3)
    first, second, *_ = game.asked()[0].choices()
    game.play(0, first)
    assert not game.play(0, second).again
    assert game.play(0, second).again
    turn = game.row().turn
    for seat in (1, 2):
        game.play(seat, game.asked()[seat].default)
    (entry,) = (each for each in standing_entries(rules_of(game.row()), game.log()) if each.turn == turn)
    assert entry.entry.choices[0] == second
    with pytest.raises(Stale):
        game.play(0, first, turn=turn)
    assert game.play(0, second, turn=turn).again


def test_a_form_stays_good_while_others_seal_their_choices(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    for seat in (2, 0, 1):
        receipt = game.play(seat, game.asked()[seat].default, turn=turn)
    assert not receipt.sealed
    assert game.row().turn > turn


def test_the_fingerprint_in_emails_does_not_reveal_who_has_sealed(table):
    game = table("sunset-poker", 3)
    printed = game.row().entry_head
    game.play(1, game.asked()[1].default)
    assert game.row().entry_head == printed
    row = game.row()
    assert verify(game.log(), game=row.key, head=row.head, printed=[printed.hex()[:20]]).sound


def test_an_act_that_closes_the_turn_drops_what_was_sealed_unseen(table):
    game = table("bid", 3)
    turn = game.row().turn
    game.play(0, "bid 2")
    assert not game.play(1, "pawn").sealed
    assert game.row().turn > turn
    (entry,) = (each for each in standing_entries(rules_of(game.row()), game.log()) if each.turn == turn)
    assert set(entry.entry.choices) == {1}
    with pytest.raises(Stale):
        game.play(0, "bid 2", turn=turn)


# Who plays a seat.


def test_missed_turns_are_counted_until_a_turn_that_the_player_answered_is_over(table):
    game = table("sunset-poker", 3)
    for expected in (1, 2):
        for seat in (0, 1, 2):
            game.play(seat, game.asked()[seat].default, Actor.CLOCK if seat == 0 else Actor.PERSON)
        assert game.players()[0].missed == expected
    game.play(0, game.asked()[0].default, Actor.API)
    assert game.players()[0].missed == 2, (
        "until the turn is over, what follows from this would tell that they have answered"
    )
    for seat in (1, 2):
        game.play(seat, game.asked()[seat].default)
    assert [game.players()[seat].missed for seat in (0, 1, 2)] == [0, 0, 0]


def test_the_clock_never_takes_the_place_of_a_players_choice(table):
    game = table("sunset-poker", 3)
    own = next(choice for choice in game.asked()[0].choices() if choice != game.asked()[0].default)
    default = game.asked()[0].default
    game.play(0, own)
    before = all_rows(game.server.store)
    with pytest.raises(Stale):
        game.play(0, default, Actor.CLOCK)
    assert all_rows(game.server.store) == before
    assert game.position().box == {0: own}


def test_a_late_choice_still_replaces_that_of_the_clock(table):
    game = table("sunset-poker", 3)
    own = next(choice for choice in game.asked()[0].choices() if choice != game.asked()[0].default)
    game.play(0, game.asked()[0].default, Actor.CLOCK)
    game.play(0, own)
    assert game.position().box == {0: own}
    assert game.players()[0].missed == 0


def test_a_late_bot_does_not_move_for_the_player_who_came_back(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    person_id = game.person_at(seat)
    game.server.run(leaving.resign, game.id, seat, person_id)
    game.server.run(substitutes.come_back, game.id, seat, person_id)
    with pytest.raises(Stale, match="person plays"):
        game.play(seat, "pass", Actor.BOT)
    game.play(seat, "bid 1")


def test_a_player_who_left_does_not_move_for_their_successor(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    person_id = game.person_at(seat)
    game.server.run(leaving.resign, game.id, seat, person_id)
    with pytest.raises(Gone, match="changed hands"):
        game.server.store.write(
            lambda tx: move.play_locked(
                tx,
                game.server,
                games.lock(tx, game.id),
                game.row().turn,
                seat,
                "pass",
                Actor.PERSON,
                person_id=person_id,
            )
        )


def test_a_player_who_left_does_not_learn_the_choice_of_their_successor(table):
    game = table("sunset-poker", 3)
    person_id, turn = game.person_at(0), game.row().turn
    choices = list(game.asked()[0].choices())
    game.server.run(leaving.resign, game.id, 0, person_id)
    game.play(0, choices[0], Actor.BOT)

    def guess(choice):
        with pytest.raises(Gone, match="changed hands"):
            game.server.store.write(
                lambda tx: move.play_locked(
                    tx, game.server, games.lock(tx, game.id), turn, 0, choice, Actor.PERSON, person_id
                )
            )

    for choice in choices:
        guess(choice)
    while game.row().turn == turn:
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default, Actor.BOT if seat == 0 else Actor.PERSON)
    for choice in choices:
        guess(choice)


# Races. The second act runs at each call to the database that the first makes.


@pytest.mark.parametrize("first_by, second_by", [(Actor.PERSON, Actor.CLOCK), (Actor.CLOCK, Actor.PERSON)])
def test_a_time_out_and_a_move_at_once_are_one_decision(table, first_by, second_by):
    game = table("templari", 3)
    met = 0
    for meeting in meetings(game.server.store):
        seat, choices = a_real_turn(game)
        turn, missed = game.row().turn, game.players()[seat].missed
        outcomes = meeting(
            partial(game.play, seat, choices[first_by], first_by, turn),
            partial(game.play, seat, choices[second_by], second_by, turn),
        )
        (won,) = (outcome for outcome in outcomes if not isinstance(outcome, Exception))
        (lost,) = (outcome for outcome in outcomes if isinstance(outcome, Exception))
        assert isinstance(lost, Stale)
        assert entry_of(game, turn).choices[seat] == won.choice
        assert game.players()[seat].missed == (missed + 1 if won.choice == choices[Actor.CLOCK] else 0)
        met += 1
    assert met > 4
    assert game.verifies()


@pytest.mark.parametrize("first_by, second_by", [(Actor.PERSON, Actor.CLOCK), (Actor.CLOCK, Actor.PERSON)])
def test_a_time_out_and_a_sealed_choice_at_once_leave_the_players_choice(table, first_by, second_by):
    game = table("sunset-poker", 3)
    met = 0
    for meeting in meetings(game.server.store):
        seat, choices = a_real_turn(game)
        turn = game.row().turn
        meeting(
            partial(game.play, seat, choices[first_by], first_by, turn),
            partial(game.play, seat, choices[second_by], second_by, turn),
        )
        assert game.position().box[seat] == choices[Actor.PERSON]
        assert game.players()[seat].missed == 0
        for other, decision in game.asked().items():
            game.play(other, decision.default, turn=turn)
        met += 1
    assert met > 4
    assert game.verifies()


def a_real_turn(game):
    """Play on to the next turn with a real choice; return its seat, another choice than the default, and the default."""
    while True:
        seat, decision = next(iter(game.asked().items()))
        others = [choice for choice in decision.choices(20) if choice != decision.default]
        if others:
            return seat, {Actor.PERSON: others[0], Actor.CLOCK: decision.default}
        game.play(seat, decision.default)


def entry_of(game, turn):
    """The entry of a turn."""
    entries = standing_entries(rules_of(game.row()), game.log())
    return next(each.entry for each in entries if each.turn == turn)


def test_a_double_click_is_one_move(table):
    game = table("templari", 3)
    met = 0
    for meeting in meetings(game.server.store):
        (seat,) = game.asked()
        turn, rows = game.row().turn, len(game.log())
        click = partial(game.play, seat, "pass", turn=turn)
        one, other = meeting(click, click)
        assert sorted([one.again, other.again]) == [False, True]
        assert one.choice == other.choice
        assert sum(each.seat == seat for each in game.log()[rows:]) == 1
        met += 1
    assert met > 4
    assert game.verifies()


def give_away(game, seat, person_id):
    """Let another person play a seat from now on."""
    server = game.server

    def given(tx):
        row, person = games.lock(tx, game.id), people.read(tx, person_id)
        seats.give_to_person(tx, server, row, seat, "organiser", person, f"Number {person_id}")

    return server.store.write(given)


def link_of(game, seat):
    """The token by which the player of a seat may decide in this turn."""
    server, turn, person_id = game.server, game.row().turn, game.person_at(seat)

    def made(tx):
        row = links.make_for_seat(tx, server, person_id, game.id, turn, seat).move
        return links.token(server, links.read(tx, row))

    return server.store.write(made)


def test_a_link_that_is_pressed_while_its_seat_changes_hands_does_not_play_for_the_next_player(table, person):
    game, newcomers = table("templari", 3), {person("yan"), person("zoe"), person("max"), person("kim")}
    refused = 0
    for meeting in meetings(game.server.store):
        seat = next(iter(game.asked()))
        next_player = min(newcomers - {player.person_id for player in game.players().values()})
        press = partial(game.server.run, by_link.move, link_of(game, seat), "pass")
        _, pressed = meeting(partial(give_away, game, seat, next_player), press)
        if isinstance(pressed, Exception):
            assert isinstance(pressed, Gone)
            refused += 1
            continue
        assert [row.kind for row in game.log()[-2:]] == [Kind.ENTRY, Kind.SEATED]
    assert refused > 4
    assert game.verifies()


def test_the_last_two_of_a_turn_at_once_both_count(table):
    game = table("sunset-poker", 3)
    for meeting in meetings(game.server.store):
        asked = game.asked()
        turn = game.row().turn
        game.play(0, asked[0].default)
        one, other = meeting(*(partial(game.play, seat, asked[seat].default, turn=turn) for seat in (1, 2)))
        assert sorted([one.sealed, other.sealed]) == [False, True]
        assert entry_of(game, turn).choices == {seat: asked[seat].default for seat in (0, 1, 2)}
    assert game.verifies()


def test_twenty_clicks_at_once_are_one_move(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn, rows = game.row().turn, len(game.log())
    receipts, refusals = [], []

    def click():
        try:
            receipts.append(game.play(seat, "bid 1", turn=turn))
        except Refusal as refused:
            refusals.append(refused)

    threads = [Thread(target=click) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refusals == []
    assert Counter(receipt.again for receipt in receipts) == {True: 19, False: 1}
    assert len(game.log()) == rows + 1


# A database that breaks.


def test_a_move_that_breaks_leaves_nothing(table):
    game = table("templari", 3)
    (seat,) = game.asked()
    turn = game.row().turn
    act = partial(game.server.run, move.play, game.id, turn, seat, "bid 1", Actor.PERSON)
    assert check_atomic(game.server.store, act) > 4

    assert game.verifies()


def test_a_sealed_choice_that_breaks_leaves_nothing(table):
    game = table("sunset-poker", 3)
    turn, default = game.row().turn, game.asked()[0].default
    act = partial(game.server.run, move.play, game.id, turn, 0, default, Actor.PERSON)
    assert check_atomic(game.server.store, act) > 4

    assert game.verifies()


def test_the_last_move_that_breaks_leaves_nothing(table):
    game = table("templari", 3)
    while True:
        (seat,) = game.asked()
        turn, default = game.row().turn, game.asked()[seat].default
        _, made = game.position().submit(seat, default)
        after = [fact for entry in made for fact in entry.facts]
        if rules_of(game.row()).standing(fold(game.position().state, after)).over:
            break
        game.play(seat, default)
    act = partial(game.server.run, move.play, game.id, turn, seat, default, Actor.PERSON)
    assert check_atomic(game.server.store, act) > 4
    assert game.row().status == "over"
    assert game.verifies()
