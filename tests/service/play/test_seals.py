"""Seals: the server is bound to each sealed choice before it tells anyone, and tells nobody who has sealed one."""

import hashlib
import json

import pytest
from sqlalchemy import event

from pbem.service.desk.acts.rewind import Rewind
from pbem.service.play import seals, seat_view, undo
from pbem.service.play.log import CLOSES_TURN, Kind, json_body_of, latest_entries, sealed_in, standing_entries
from pbem.service.play.move import Actor
from pbem.service.play.rules import rules_of
from pbem.service.tables import leaving
from pbem.store import log as log_rows
from tests.service.actors import moderate
from tests.web.browser import Links


@pytest.fixture
def poker(table):
    """A game whose three players all seal a choice at once."""
    return table("sunset-poker", 3)


def choices(game, seat):
    return list(game.open()[seat].choices())


def fingerprints(game):
    """The fingerprints of all sealed rows, in the order of the log."""
    return [row.body_hash.hex() for row in game.log() if row.kind == Kind.SEALED]


def closing(game):
    """What each row that closed a turn with sealed choices says of them."""
    bodies = (json_body_of(row) for row in game.log() if row.kind in CLOSES_TURN)
    return [(body.get("sealed", []), body["all_sealed"]) for body in bodies if "all_sealed" in body]


def over_all(fingerprints):
    """The hash over these fingerprints, one after the other."""
    hashed = b""
    for each in fingerprints:
        hashed = hashlib.sha256(hashed + bytes.fromhex(each)).digest()
    return hashed.hex()


def view(game, seat):
    return game.server.read(seat_view.view_seat, Links(game.server).of(game, seat)[1])


def test_a_fingerprint_is_the_hash_of_a_nonce_and_of_game_turn_seat_and_choice(poker):
    receipt = poker.play(1, choices(poker, 1)[2])
    proof = receipt.proof
    hashed = hashlib.sha256(bytes.fromhex(proof.nonce) + proof.text.encode()).hexdigest()
    assert proof.fingerprint == hashed == poker.log()[-1].body_hash.hex()
    choice = {"is": "Choice", "verb": "pick", "values": list(receipt.choice.values)}
    assert json.loads(proof.text) == {"game": poker.row().key, "turn": 1, "seat": 1, "choice": choice}
    assert poker.log()[-1].body.decode() == proof.text


def test_the_same_choice_has_another_fingerprint_in_each_row(poker):
    choice = choices(poker, 0)[0]
    first = poker.play(0, choice).proof
    undo_at = poker.row().turn
    poker.server.run(undo.take_back, poker.id, undo_at, 0)
    assert poker.play(0, choice).proof.fingerprint != first.fingerprint


def test_a_player_is_shown_the_proof_of_their_own_choice_alone(poker):
    receipt = poker.play(0, choices(poker, 0)[0])
    assert poker.play(0, receipt.choice).proof == receipt.proof
    assert view(poker, 0).proof == receipt.proof
    assert view(poker, 1).proof is None
    assert poker.play(1, choices(poker, 1)[0]).proof.fingerprint != receipt.proof.fingerprint
    assert view(poker, 0).proof == receipt.proof
    poker.server.run(undo.take_back, poker.id, poker.row().turn, 0)
    assert view(poker, 0).proof is None


def test_the_clocks_sealed_choice_has_a_proof_too(poker):
    decision = poker.open()[0]
    receipt = poker.play(0, decision.default, Actor.CLOCK)
    assert view(poker, 0).proof == receipt.proof
    assert receipt.proof.text == poker.log()[-1].body.decode()


def test_a_choice_that_closes_the_turn_is_told_and_has_no_proof(poker):
    for seat in (0, 1):
        assert poker.play(seat, choices(poker, seat)[0]).proof is not None
    assert poker.play(2, choices(poker, 2)[0]).proof is None


def test_the_row_that_closes_a_turn_lists_what_counts_in_an_order_that_tells_nothing(poker):
    for seat in (2, 0):
        poker.play(seat, choices(poker, seat)[0])
    poker.play(1, choices(poker, 1)[0])
    all_of_it = fingerprints(poker)
    assert closing(poker) == [(sorted(all_of_it), over_all(all_of_it))]


def test_replaced_and_withdrawn_choices_are_bound_but_not_listed(poker):
    turn = poker.row().turn
    for choice in choices(poker, 0)[:2]:
        poker.play(0, choice)
    poker.server.run(undo.take_back, poker.id, turn, 0)
    poker.play(0, choices(poker, 0)[2])
    for seat in (1, 2):
        poker.play(seat, choices(poker, seat)[0])
    first, second, third, other = fingerprints(poker)
    assert closing(poker) == [(sorted([third, other]), over_all([first, second, third, other]))]


def test_the_seat_that_closes_a_turn_has_no_fingerprint_there_even_if_it_had_sealed_another_choice(poker):
    poker.play(1, choices(poker, 1)[0])
    poker.server.run(undo.take_back, poker.id, poker.row().turn, 1)
    for seat in (0, 2):
        poker.play(seat, choices(poker, seat)[0])
    poker.play(1, choices(poker, 1)[1])
    withdrawn, *others = fingerprints(poker)
    assert closing(poker) == [(sorted(others), over_all([withdrawn, *others]))]


def test_a_choice_dropped_unseen_is_bound_but_not_listed(table):
    game = table("bid", 3)
    game.play(0, "bid 2")
    game.play(1, "pawn")
    assert closing(game) == [([], over_all(fingerprints(game)))]


def test_a_rewind_and_an_end_without_a_result_bind_what_they_drop(poker):
    for seat in (0, 1, 2, 0):
        poker.play(seat, choices(poker, seat)[0])
    moderate(poker.server, Rewind(poker.id, 1))
    poker.play(2, choices(poker, 2)[0])
    for seat in (0, 1, 2):
        poker.server.run(leaving.agree_to_end, poker.id, poker.person_at(seat))
    assert poker.row().status == "void"
    dropped = [[each] for each in fingerprints(poker)[2:]]
    assert closing(poker)[1:] == [([], over_all(each)) for each in dropped]


def test_seals_take_no_more_room_however_often_a_player_thinks_again(poker):
    sizes = set()
    for choice in choices(poker, 0)[:6] * 2:
        poker.play(0, choice)
        sizes.add(len(poker.row().seals))
    # Some cards have longer names.
    assert max(sizes) < min(sizes) + 10
    for seat in (1, 2):
        poker.play(seat, choices(poker, seat)[0])
    assert poker.row().seals == "[]"
    assert seals.seals_of(poker.row()) == seals.Seals()


def test_an_entry_says_which_choices_in_it_were_sealed(poker):
    for _ in range(2):
        for seat in (0, 1, 2):
            poker.play(seat, choices(poker, seat)[0])
    poker.play(0, choices(poker, 0)[0])
    rules, rows = rules_of(poker.row()), poker.log()
    entries = standing_entries(rules, rows)
    assert [len(each.sealed) for each in entries] == [0, 2, 2]
    assert latest_entries(rules, reversed(rows), 1) == entries[1:]
    assert sealed_in(entries, 0) == (2, entries[2].sealed)
    assert sealed_in(entries[:1], 0) is None


def test_sealing_reads_no_row_of_the_log(poker):
    made = []
    event.listen(
        poker.server.store.engine, "before_cursor_execute", lambda *given: made.append(given[2])
    )  # the statement is the third
    poker.play(0, choices(poker, 0)[0])
    reads = [each for each in made if each.startswith("SELECT") and f" {log_rows.LOG.name} " in each]
    assert reads == []
