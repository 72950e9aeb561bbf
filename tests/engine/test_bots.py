"""Bots: they follow the rules, see one view only, and the greedy one is a real opponent."""

import pytest

from engine.bots import greedy, random_bot
from engine.chance import Stream
from engine.facts import Hidden
from engine.registry import load, names
from engine.table import begin


def finish(game, seats, seed, bots):
    """Return the final standing of a game between these bots, one for each seat."""
    table, luck = begin(game, seats, bytes([seed]) * 32), Stream(b"bots", seed)
    while asks := {s: d for s, d in table.asks().items() if s not in table.position.box}:
        seat, decision = next(iter(asks.items()))
        table = table.submit(seat, bots[seat](game, table.view(seat), decision, luck))
    return game.standing(table.position.state)


@pytest.mark.parametrize("name", names())
def test_a_bot_makes_the_same_choice_with_the_same_view_and_chance(name):
    game = load(name)
    table = begin(game, game.seats[0], b"s" * 32)
    seat, decision = next(iter(table.asks().items()))
    # The levels are tried elsewhere, with fewer attempts.
    for bot in (random_bot, greedy):
        first = bot(game, table.view(seat), decision, Stream(b"x", 1))
        assert bot(game, table.view(seat), decision, Stream(b"x", 1)) == first
        assert first in decision


@pytest.mark.parametrize("name", names())
def test_an_imagined_world_hides_nothing_and_looks_the_same_to_its_owner(name):
    game = load(name)
    table = begin(game, game.seats[0], b"s" * 32)
    for seat in range(table.position.seats):
        world = game.imagine(table.view(seat), seat, Stream(b"x", 1))
        assert not any(isinstance(part, Hidden) for part in _parts(world))
        assert game.asks(world, seat) == game.asks(table.view(seat), seat)
        assert game.tally(world) == game.tally(table.position.state)


def _parts(value):
    if isinstance(value, tuple):
        return [part for each in value for part in _parts(each)]
    if hasattr(value, "__dataclass_fields__"):
        return [part for name in value.__dataclass_fields__ for part in _parts(getattr(value, name))]
    return [value]


@pytest.mark.slow
@pytest.mark.slice(2 / 5)
@pytest.mark.parametrize("name", names())
def test_greedy_clearly_beats_random(name):
    game = load(name)
    seats, games = game.seats[0], 16
    won = 0.0
    for seed in range(games):
        me = seed % seats
        bots = [greedy if seat == me else random_bot for seat in range(seats)]
        first = finish(game, seats, seed, bots).ranking[0]
        won += (me in first) / len(first)
    # By chance it would be 1 in `seats`; half as much again is no accident in this many games.
    assert won / games > 1.6 / seats, f"{won} of {games} at {seats} seats"
