"""The engine's values as canonical JSON and back, also years later."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from engine import codec, orders
from engine.decisions import Choice
from engine.facts import HIDDEN, Fact, fact, secret, seen
from engine.game import Game
from engine.registry import load, load_file, names
from engine.table import begin
from engine.tell import say

SEED = bytes(range(32))
TOYS = Path(__file__).parent / "toys"


@pytest.mark.parametrize("name", names())
def test_everything_in_a_game_can_be_stored_and_loaded(name):
    game = load(name)
    table = begin(game, game.seats[1], SEED)
    for _ in range(60):
        asks = {s: d for s, d in table.asks().items() if s not in table.position.box}
        if not asks:
            break
        seat, decision = next(iter(asks.items()))
        table = table.submit(seat, decision.default)
        for value in (table.position.state, *table.views, table.log[-1], *table.position.box.values()):
            assert codec.loads(game, codec.dumps(value)) == value


@pytest.mark.parametrize("name", names())
def test_one_value_has_one_text(name):
    game = load(name)
    table = begin(game, game.seats[0], SEED)
    text = codec.dumps(table.position.state)
    assert codec.dumps(codec.loads(game, text)) == text
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_hidden_values_stay_hidden():
    game = load_file(TOYS / "thieves.py")
    table = begin(game, 4, SEED)
    view = codec.loads(game, codec.dumps(table.view(0)))
    assert view == table.view(0)
    assert "HIDDEN" in codec.dumps(view)
    assert "HIDDEN" not in codec.dumps(table.position.state)


def test_orders_and_texts_can_be_stored_and_loaded():
    game = load_file(TOYS / "lanterns.py")
    for value in (
        orders.UpTo(14, ask=True, topic="lot 3"),
        orders.Again("pass", True),
        orders.Again("no", False, orders.Unless("points", 11, None)),
        orders.Then(("play forest", "sailor"), "play"),
        say("{seat} plays {card}.", seat=1, card="5ML"),
        Choice("give", ("XM", ("a", 1), 3)),
    ):
        assert codec.loads(game, codec.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        '{"is":"Sold"}',
        '{"is":"Sold","bids":[1,2],"seat":1,"price":2,"more":3}',
        '{"is":"Nothing"}',
        '{"is":3}',
        '{"is":["Sold"]}',
        '{"is":"Entry","choices":7,"facts":[],"drawn":[],"alone":[]}',
        "[" * 100_000,
    ],
)
def test_malformed_text_is_refused(text):
    with pytest.raises(codec.Malformed):
        codec.loads(load_file(TOYS / "lanterns.py"), text)


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ('{"bids":[1,2],"is":"Sold","more":3,"price":2,"seat":1}', True),
        ('{"is":"Sold","seat":1}', True),
        ('[{"bids":[1,2],"is":"Sold","price":2}]', True),
        ('{"is":"Nothing"}', True),
        ('{"bids":1,"is":"Sold","price":2,"seat":1}', False),
        ('{"is":["Sold"]}', False),
        ('{"is":"Nothing"', False),
    ],
)
def test_text_of_another_release_is_told_from_nonsense(text, has):
    with pytest.raises(codec.Malformed) as refused:
        codec.loads(load_file(TOYS / "lanterns.py"), text)
    assert isinstance(refused.value, codec.OtherShape) == has


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), b"bytes"])
def test_foreign_values_are_not_stored(value):
    with pytest.raises((TypeError, ValueError)):
        codec.dumps(value)


# A log outlives the code that wrote it: this class has changed its shape twice.


def _a_game_whose_fact_has_grown():
    module = ModuleType("grown")
    sys.modules["grown"] = module

    def with_price(data):
        return data | {"price": 0}

    def with_the_buyer_named(data):
        return {("buyer" if name == "seat" else name): value for name, value in data.items()}

    @fact
    class Sold(Fact):
        """{buyer:seat} buys {card} for {price}."""

        older = (with_price, with_the_buyer_named)
        buyer: int
        card: str
        price: int

    class Grown(Game):
        pass

    for kind in (Sold, Grown):
        kind.__module__ = "grown"
        setattr(module, kind.__name__, kind)
    return Grown(), Sold


def test_every_older_shape_of_a_fact_is_converted():
    game, sold = _a_game_whose_fact_has_grown()
    first = '{"card":"R1","is":"Sold","seat":2}'
    second = '{"card":"R1","is":"Sold","price":7,"seat":2,"shape":2}'
    third = '{"buyer":2,"card":"R1","is":"Sold","price":7,"shape":3}'
    assert codec.loads(game, first) == sold(2, "R1", 0)
    assert codec.loads(game, second) == sold(2, "R1", 7)
    assert codec.loads(game, third) == sold(2, "R1", 7)
    assert codec.dumps(sold(2, "R1", 7)) == third


def test_a_masked_fact_can_be_stored():
    @fact
    class Dealt(Fact):
        """{seat} is dealt {cards}."""

        seat: int
        cards: tuple[str, ...] = secret()

    assert json.loads(codec.dumps(seen(Dealt(0, ("R1", "R3")), 1)))["cards"] == [{"is": "HIDDEN"}, {"is": "HIDDEN"}]
    assert seen(Dealt(0, ("R1",)), 1).cards == (HIDDEN,)
