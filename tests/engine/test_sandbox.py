"""The sandbox: made from one seat's view alone, by the rules, and as far as it goes."""

import pytest

from engine import codec, grammar, orders, registry, sandbox
from engine.chance import Stream
from engine.decisions import Refused
from engine.facts import HIDDEN
from engine.game import Game
from engine.sandbox import Step
from engine.table import begin
from engine.testing.bench import sampled
from engine.testing.differences import secret_fields

SEED = bytes(range(32))
DEPTH = 6


def opened(kind, seats=3):
    table = begin(registry.load(kind), seats, SEED)
    return table, next(iter(table.asks()))


def think(game, view, seat, seats, steps=(), world=1, order=None):
    return sandbox.think(game, view, seat, seats, 3, world, steps, order)


def line_of_thought(game, view, seat, seats, world, depth=DEPTH):
    """Return all thoughts along random choices in a world."""
    luck, steps = Stream(b"thought", world), []
    thoughts = [think(game, view, seat, seats, steps, world)]
    while thoughts[-1].decision is not None and len(steps) < depth:
        decision = thoughts[-1].decision
        # The choices that a page would list.
        choice = sampled(game, thoughts[-1].view, decision, luck) if decision.seat == seat else decision.default
        steps.append(Step(decision.seat, grammar.write(decision, choice)))
        thoughts.append(think(game, view, seat, seats, steps, world))
    return thoughts


@pytest.mark.parametrize("kind", registry.names())
def test_a_line_of_thought_goes_on_by_the_rules(kind):
    table, seat = opened(kind)
    thoughts = line_of_thought(table.position.game, table.view(seat), seat, 3, 1)
    assert len(thoughts) == DEPTH + 1
    assert codec.dumps(thoughts[-1].view) != codec.dumps(table.view(seat))
    # The same again: nothing is drawn but from the number of the world.
    assert thoughts == line_of_thought(table.position.game, table.view(seat), seat, 3, 1)


@pytest.mark.parametrize("kind", [kind for kind in registry.names() if secret_fields(registry.load(kind))])
def test_as_much_stays_hidden_in_the_imagined_view_as_at_the_table(kind):
    table, seat = opened(kind)
    game, view, hidden = table.position.game, table.view(seat), codec.dumps(HIDDEN)
    steps = []
    for _ in range(DEPTH):
        thought = think(game, view, seat, 3, steps)
        assert codec.dumps(thought.view).count(hidden) == codec.dumps(table.view(seat)).count(hidden)
        assert codec.dumps(thought.view).count(hidden) > 0
        steps.append(Step(thought.asked, grammar.write(thought.decision, thought.decision.default)))
        table = table.submit(thought.asked, table.asks()[thought.asked].default)


def test_luck_depends_on_the_world_and_on_nothing_else():
    table, seat = opened("sunset-poker")
    lines = [line_of_thought(table.position.game, table.view(seat), seat, 3, world) for world in (1, 2, 3)]
    views = {codec.dumps(line[-1].view) for line in lines}
    assert len(views) > 1


def test_an_impossible_step_is_refused_with_the_reason():
    table, seat = opened("templari")
    game, view = table.position.game, table.view(seat)
    with pytest.raises(Refused, match="too high"):
        think(game, view, seat, 3, [Step(seat, "bid 99")])
    with pytest.raises(Refused, match="turn"):
        think(game, view, seat, 3, [Step((seat + 1) % 3, "pass")])
    with pytest.raises(Refused, match="turn"):
        think(game, view, seat, 3, [Step(9, "pass")])


def test_a_line_of_thought_is_bounded():
    table, seat = opened("templari")
    with pytest.raises(Refused, match="up to 40 choices"):
        think(table.position.game, table.view(seat), seat, 3, [Step(seat, "pass")] * (sandbox.MOST_STEPS + 1))


def test_orders_go_on_as_their_choices_are_followed():
    table, seat = opened("templari")
    game, view = table.position.game, table.view(seat)
    order = orders.read_order("bid 1 then 4", table.asks()[seat])
    rivals = [Step((seat + 1) % 3, "bid 2"), Step((seat + 2) % 3, "pass")]
    followed = think(game, view, seat, 3, [Step(seat, "bid 1"), *rivals], order=order)
    assert orders.write_order(followed.order) == "4"
    assert orders.answer(followed.order, game, followed.view, seat).choice.values == (4,)
    other = think(game, view, seat, 3, [Step(seat, "bid 0"), *rivals], order=order)
    assert other.order == order


def test_a_game_that_cannot_imagine_what_is_hidden_has_no_sandbox():
    poker, seat = opened("sunset-poker")
    assert sandbox.is_possible(poker.position.game, poker.view(seat))

    class Plain(type(poker.position.game)):
        imagine = Game.imagine

    assert not sandbox.is_possible(Plain(), poker.view(seat))
    templari, seat = opened("templari")
    assert sandbox.is_possible(templari.position.game, templari.view(seat))
