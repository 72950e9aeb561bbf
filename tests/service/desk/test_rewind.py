"""Rewinding: the game goes on from an earlier turn, with new luck, and every player is told."""

import pytest

from engine.chance import follows
from engine.decisions import Choice
from engine.facts import HIDDEN, SPECTATOR, seen
from pbem.domain.errors import BadInput, Gone, Stale
from pbem.ops.verify import verify_file, verify_game
from pbem.service.archive import export
from pbem.service.desk import table as desk_table
from pbem.service.desk.acts.perform import perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.play import standing_orders, undo, views
from pbem.service.play.log import Kind, body_of, standing_entries
from pbem.service.play.move import Actor
from pbem.service.play.positions import orders_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import knowledge_of
from pbem.store import deadlines, games, views as saved_views
from tests.service.actors import OLGA, moderate
from tests.service.database import all_rows, check_atomic, queued_emails
from tests.service.races import meetings

KINDS = [("sun-bid", 3), ("sorcerous-futures", 3), ("bid", 3), ("sunset-poker", 3), ("templari", 3)]


def goes_on(game, moves):
    """Play a number of moves, each a valid choice or else the default."""
    for _ in range(moves):
        asked = game.asked()
        if not asked:
            return
        seat, decision = next(iter(asked.items()))
        choices = [choice for act in decision.acts if act.count() < 50 for choice in act.choices()]
        choice = next((c for c in choices if isinstance(c, Choice) and is_fine(game, seat, c)), decision.default)
        game.play(seat, choice)


def is_fine(game, seat, choice):
    return rules_of(game.row()).objects(game.view(seat), seat, choice) is None


def sound(game):
    with game.server.store.read() as tx:
        return verify_game(tx, game.id).problems == ()


def standing(game):
    return standing_entries(rules_of(game.row()), game.log())


def at_turn(game, moves):
    """Play on; return the turn before that, the view of each seat and the spectator at it, and the state."""
    turn = game.row().turn
    known = {seat: game.view(seat) for seat in (*game.players(), SPECTATOR)}
    state = game.row().state
    goes_on(game, moves)
    return turn, known, state


@pytest.mark.parametrize(("kind", "seats"), KINDS)
def test_a_rewound_game_is_as_it_was_for_every_seat_and_its_log_verifies(table, kind, seats):
    game = table(kind, seats)
    goes_on(game, 3)
    turn, known, state = at_turn(game, 7)
    reached = game.row().turn
    assert reached > turn
    moderate(game.server, Rewind(game.id, turn))
    assert game.row().state == state
    assert {seat: game.view(seat) for seat in known} == known
    assert game.row().turn == reached + 1
    assert sound(game)
    goes_on(game, 6)
    assert sound(game)


@pytest.mark.parametrize(("kind", "seats"), KINDS)
def test_no_luck_is_drawn_twice_however_often_a_game_is_rewound(table, kind, seats):
    game = table(kind, seats)
    for _ in range(3):
        turn, _, _ = at_turn(game, 6)
        if game.row().status != "playing":
            break
        moderate(game.server, Rewind(game.id, turn))
    goes_on(game, 6)
    rules = rules_of(game.row())
    rows = [body_of(rules, row) for row in game.log() if row.kind == Kind.ENTRY]
    streams = [body["turn"] for body in rows]
    assert len(streams) == len(set(streams)), "an entry drew from a stream that was used before"
    assert all(follows(game.row().seed, body["turn"], body["entry"].drawn) for body in rows)
    assert sound(game)


def test_a_rewind_opens_no_turn_that_an_undo_has_closed_again(table):
    game = table("templari", 3)
    goes_on(game, 1)
    turn = game.row().turn
    (seat,) = game.asked()
    game.play(seat, game.asked()[seat].default)
    game.server.run(undo.take_back, game.id, turn, seat)
    assert game.row().turn == turn
    moderate(game.server, Rewind(game.id, turn - 1))
    assert game.row().turn == turn + 2
    assert sound(game)


def test_draws_after_a_rewind_differ_from_those_before(table):
    game = table("sun-bid", 3)
    turn = game.row().turn

    def drawn_since(first):
        return [each.entry.drawn for each in standing(game) if each.turn >= first and each.entry.drawn]

    goes_on(game, 30)
    before = drawn_since(turn)
    assert before
    moderate(game.server, Rewind(game.id, turn))
    goes_on(game, 30)
    assert drawn_since(turn)[0] != before[0]


def test_links_and_forms_from_before_a_rewind_are_stale(table):
    game = table("templari", 3)
    goes_on(game, 2)
    turn = game.row().turn
    goes_on(game, 3)
    before, last = standing(game), game.row().turn
    moderate(game.server, Rewind(game.id, turn))
    rows = all_rows(game.server.store)
    for present in range(1, last + 1):
        for seat, decision in game.asked().items():
            if present >= turn:
                with pytest.raises(Stale):
                    game.play(seat, decision.default, turn=present)
    assert all_rows(game.server.store) == rows
    assert [each.turn for each in standing(game)] == [each.turn for each in before if each.turn < turn]


def test_saved_views_of_rewound_turns_are_dropped_and_the_rest_stay(table):
    game = table("sun-bid", 3)
    goes_on(game, 25)
    views.save_overdue(game.server)
    turn, known, _ = at_turn(game, 25)
    views.save_overdue(game.server)
    moderate(game.server, Rewind(game.id, turn))
    with game.server.store.read() as tx:
        saved = saved_views.of_game(tx, game.id)
    assert saved
    assert all(each.turn < turn for each in saved)
    assert {seat: game.view(seat) for seat in known} == known
    goes_on(game, 25)
    views.save_overdue(game.server)
    assert sound(game)


@pytest.mark.parametrize(("kind", "seats"), KINDS)
def test_no_seat_is_shown_facts_of_rewound_turns_as_recent(table, kind, seats):
    game = table(kind, seats)
    goes_on(game, 2)
    turn, _, _ = at_turn(game, 8)
    moderate(game.server, Rewind(game.id, turn))
    with game.server.store.read() as tx:
        row = games.read(tx, game.id)
        for seat in range(seats):
            known = knowledge_of(tx, row, rules_of(row), seat)
            assert known.view == game.view(seat)
            assert all(fact.turn < turn for fact in known.recent_facts)


def test_all_seats_are_told_why_and_those_asked_get_a_turn_of_full_length(table):
    game = table("bid", 3, pace="1d")
    turn = game.row().turn
    goes_on(game, 6)
    already = {email.id for email in queued_emails(game.server)}
    moderate(game.server, Rewind(game.id, turn), "Ben's mails were lost.")
    new = [email for email in queued_emails(game.server) if email.id not in already]
    notices = [email for email in new if email.kind == "notice"]
    assert sorted(email.person_id for email in notices) == sorted(game.person_at(seat) for seat in range(3))
    assert all("Ben's mails were lost." in email.facts for email in notices)
    present = game.row().turn
    assert {(email.seat, email.turn) for email in new if email.kind == "turn"} == {
        (seat, present) for seat in game.open()
    }
    with game.server.store.read() as tx:
        asked = deadlines.of_game(tx, game.id)
    assert {(row.seat, row.turn) for row in asked} == {(seat, present) for seat in game.open()}
    assert all((row.accepted_at, row.due_at) == (None, None) for row in asked)


def test_the_log_says_who_rewound_and_why(table):
    game = table("bid", 3)
    turn, _, _ = at_turn(game, 6)
    moderate(game.server, Rewind(game.id, turn), "Ben's mails were lost.")
    row = next(row for row in game.log() if row.kind == Kind.REWOUND)
    body = {"from": turn, "turn": game.row().turn, "reason": "Ben's mails were lost."}
    assert (row.by, row.seat, body_of(rules_of(game.row()), row)) == ("organiser", None, body)
    assert game.row().entry_head == row.hash, "the head in mails is a witness of it"


def test_sealed_choices_and_standing_orders_are_dropped_by_a_rewind(table):
    game = table("sun-bid", 2)
    goes_on(game, 4)
    turn = next(iter(turns(game)))
    seat = next(iter(game.asked()))
    with game.server.store.read() as tx:
        offered = rules_of(games.read(tx, game.id)).asks(game.view(seat), seat)
    assert offered is not None
    other = 1 - seat
    game.server.run(standing_orders.set_order, game.id, other, "pass this auction")
    assert orders_of(game.row())
    moderate(game.server, Rewind(game.id, turn))
    assert orders_of(game.row()) == {}
    assert game.row().box == "[]"
    assert sound(game)


def turns(game):
    """The turns that the desk offers, the first one first."""
    return [turn for turn, _ in reversed(game.server.read(desk_table.table, OLGA, game.id).turns)]


def test_missed_turns_before_a_rewind_do_not_count(table):
    game = table("bid", 3)
    goes_on(game, 3)
    turn = game.row().turn
    for seat, decision in game.asked().items():
        game.play(seat, decision.default, Actor.CLOCK)
    assert any(player.missed for player in game.players().values())
    moderate(game.server, Rewind(game.id, turn))
    assert not any(player.missed for player in game.players().values())


def test_only_a_decided_turn_that_was_not_rewound_can_be_gone_back_to(table):
    game = table("templari", 3)
    goes_on(game, 6)
    for turn in {0, -1, game.row().turn, 999} | ({each.turn for each in standing(game)} - set(turns(game))):
        with pytest.raises(BadInput):
            moderate(game.server, Rewind(game.id, turn))
    first, *later = turns(game)
    moderate(game.server, Rewind(game.id, first))
    for turn in later:
        with pytest.raises(BadInput):
            moderate(game.server, Rewind(game.id, turn))


@pytest.mark.slow
def test_a_game_whose_secret_was_revealed_is_not_rewound(table):
    game = table("sunset-poker", 3)
    turn = game.row().turn
    for _ in game.play_defaults():
        pass
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="over"):
        moderate(game.server, Rewind(game.id, turn))
    assert all_rows(game.server.store) == before


def test_a_rewound_game_can_be_checked_by_anyone_when_it_is_over(table, tmp_path):
    game = table("sun-bid", 2)
    turn, _, _ = at_turn(game, 3)
    moderate(game.server, Rewind(game.id, turn))
    goes_on(game, 3)
    moderate(game.server, Rewind(game.id, turns(game)[-1]))
    for _ in game.play_defaults():
        pass
    file = tmp_path / "game.json"
    file.write_text(export.write(game.server.read(export.of_game, game.id)), encoding="utf-8")
    assert verify_file(file).problems == ()


def test_a_choice_made_after_a_rewind_can_be_taken_back(table):
    game = table("templari", 3)
    goes_on(game, 4)
    moderate(game.server, Rewind(game.id, turns(game)[-1]))
    present, seat = game.row().turn, next(iter(game.asked()))
    before = game.row().state
    game.play(seat, game.asked()[seat].default)
    if game.row().turn != present:
        game.server.run(undo.take_back, game.id, present, seat)
    assert (game.row().turn, game.row().state) == (present, before)
    assert sound(game)


def test_a_turn_that_was_rewound_is_not_taken_back_once_more_when_it_was_played_again(table):
    game = table("templari", 3)
    turn, (seat,) = game.row().turn, game.asked()
    game.play(seat, "bid 1")
    moderate(game.server, Rewind(game.id, turn))
    game.play(seat, "bid 2")
    before = all_rows(game.server.store)
    with pytest.raises(Gone, match="taken back already"):
        game.server.run(undo.take_back, game.id, turn, seat)
    assert all_rows(game.server.store) == before


@pytest.mark.parametrize(("kind", "seats"), KINDS)
def test_the_preview_tells_who_saw_what_and_nothing_hidden(table, kind, seats):
    game = table(kind, seats)
    turn = game.row().turn
    goes_on(game, 12)
    says = game.server.dry_run(perform, OLGA, Rewind(game.id, turn), "to see what it would do").says
    facts = [fact for each in standing(game) if each.turn >= turn for fact in each.entry.facts]
    names = tuple(game.players()[seat].name for seat in range(seats))
    public = rules_of(game.row()).teller(None, names)
    sentences = {sentence for fact in facts if (sentence := public.tell(seen(fact, SPECTATOR))) is not None}
    assert {line.partition(": ")[2] for line in says if line.startswith("Turn ")} == sentences
    hidden = [fact for fact in facts if HIDDEN in vars_of(seen(fact, SPECTATOR))]
    private = [line for line in says if line.startswith("Only ")]
    assert bool(private) == any(seen(fact, seat) != seen(fact, SPECTATOR) for fact in hidden for seat in range(seats))


def vars_of(fact):
    return [getattr(fact, name) for name in fact.__dataclass_fields__]


def test_rewinding_leaves_nothing_half_done(table):
    game = table("bid", 3)
    turn, _, _ = at_turn(game, 6)
    assert check_atomic(game.server.store, lambda: moderate(game.server, Rewind(game.id, turn))) > 10


def test_a_move_at_the_same_time_as_a_rewind_comes_before_it_or_is_stale(table):
    game = table("bid", 3)
    goes_on(game, 3)
    meets = meetings(game.server.store)
    for n, meeting in enumerate(meets):
        if n % 4:
            # Atomicity at each call is tested with the move; here it is enough that some calls meet.
            continue
        turn = turns(game)[-1]
        seat, decision = next(iter(game.asked().items()))
        present = game.row().turn
        made, rewound = meeting(
            lambda present=present, seat=seat, decision=decision: game.play(seat, decision.default, turn=present),
            lambda turn=turn: moderate(game.server, Rewind(game.id, turn)),
        )
        assert not isinstance(rewound, Exception)
        assert isinstance(made, Stale) or not isinstance(made, Exception)
        assert sound(game)
        goes_on(game, 3)
        if n > 20:
            break
