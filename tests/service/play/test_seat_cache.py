"""The cache of what seats know is never out of date, and never shows one seat another's view."""

import pytest

from engine import registry
from pbem.lru import LRU
from pbem.service.play import move, seat_cache, undo
from pbem.service.play.rules import rules_of
from pbem.store import games


@pytest.fixture(autouse=True)
def empty_cache():
    """Each test begins and ends with an empty cache."""
    seat_cache.CACHE.clear()
    yield
    seat_cache.CACHE.clear()


def of(game, seat):
    """What is known to a seat, as a page asks for it."""
    with game.server.store.read() as tx:
        row = games.read(tx, game.id)
        return seat_cache.knowledge_of(tx, row, rules_of(row), seat)


@pytest.mark.parametrize("kind", registry.names())
def test_cached_knowledge_equals_freshly_computed_knowledge_after_every_move(table, kind):
    game = table(kind, 3)
    for _ in range(12):
        seat, decision = next(iter(game.asked().items()))
        game.play(seat, decision.default)
        remembered = [of(game, each) for each in range(3)]
        assert [of(game, each) for each in range(3)] == remembered
        seat_cache.CACHE.clear()
        assert [of(game, each) for each in range(3)] == remembered


def test_a_choice_that_is_taken_back_is_forgotten(table):
    game = table("templari", 3)
    seat, decision = next(iter(game.asked().items()))
    before, turn = of(game, seat), game.row().turn
    game.play(seat, decision.default)
    assert of(game, seat).view != before.view
    game.server.run(undo.take_back, game.id, turn, seat)
    assert of(game, seat).view == before.view
    assert of(game, seat).recent_facts == before.recent_facts


def test_two_seats_of_one_game_never_share_a_cached_view(table):
    game = table("sunset-poker", 3)
    assert len({repr(of(game, seat).view) for seat in range(3)}) == 3


def test_a_move_that_was_not_committed_is_seen_by_nobody(table):
    game = table("templari", 3)
    seat, decision = next(iter(game.asked().items()))
    before = of(game, seat).view

    class Failed(Exception):
        """The database refuses the commit."""

    def move_and_fail(tx):
        row = games.lock(tx, game.id)
        move.play_locked(
            tx, game.server, row, row.turn, seat, decision.default, move.Actor.PERSON, game.person_at(seat)
        )
        moved = games.read(tx, game.id)
        assert seat_cache.knowledge_of(tx, moved, rules_of(moved), seat).view != before
        raise Failed

    with pytest.raises(Failed):
        game.server.store.write(move_and_fail)
    assert of(game, seat).view == before


def test_a_full_cache_drops_the_least_recently_used_entry():
    cache: LRU[str] = LRU(2)
    cache.put("a", "A")
    cache.put("b", "B")
    assert cache.get("a") == "A"
    cache.put("c", "C")
    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]
