"""How fast the engine is, in replaces: the ratios that `make bench` must keep, never rates.

The floor is a loop of `dataclasses.replace` on a frozen dataclass of ten fields, measured in turn with the product, in
CPU time, and the best of several rounds of each is taken.
"""

import time
from dataclasses import dataclass, replace

import pytest

from engine import codec
from engine.board import plain
from engine.chance import Stream
from engine.registry import load, names
from engine.table import begin, replay

pytestmark = pytest.mark.bench

ROUNDS = 5
GAMES = 6


@dataclass(frozen=True)
class Ten:
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    e: int = 0
    f: int = 0
    g: int = 0
    h: int = 0
    i: int = 0
    j: int = 0


def floor(times=20_000):
    value = Ten()
    for number in range(times):
        value = replace(value, a=number)
    return times


def rates(*works):
    """The best number of things each work did in a second of CPU time, the works interleaved."""
    best = [0.0] * len(works)
    for _ in range(ROUNDS):
        for i, work in enumerate(works):
            before = time.process_time()
            done = work()
            best[i] = max(best[i], done / (time.process_time() - before))
    return best


def playout(game, seats, seed):
    """A random game; a random choice that the rules object to is replaced by the default."""
    table, luck = begin(game, seats, bytes([seed]) * 32), Stream(b"luck", seed)
    while asks := table.asks():
        before = len(table.log)
        for seat, decision in asks.items():
            choice = decision.sample(luck)
            if game.objects(table.view(seat), seat, choice) is not None:
                choice = decision.default
            table = table.submit(seat, choice)
            if len(table.log) > before:
                break
    return table


def facts_of(table):
    return [happened for entry in table.log for happened in entry.facts]


@pytest.mark.parametrize("name", names())
def test_a_log_replays_and_a_game_is_played_at_a_fair_share_of_bare_replaces(name, record_property):
    game = load(name)
    seats = sum(game.seats) // 2
    tables = [playout(game, seats, seed) for seed in range(GAMES)]
    facts = sum(len(facts_of(table)) for table in tables)
    texts = [[codec.dumps(happened) for happened in facts_of(table)] for table in tables]

    def from_objects():
        for table in tables:
            replay(game, seats, table.options, table.log)
        return facts

    def from_text():
        for table, lines in zip(tables, texts, strict=True):
            state = game.start(seats, table.options)
            for line in lines:
                state = codec.loads(game, line).apply(state)
        return facts

    def played():
        # Each fact is folded into the state, into every seat's view and into the spectator's.
        return sum(len(facts_of(playout(game, seats, seed))) for seed in range(GAMES)) * (seats + 2)

    bare, objects, text, random = rates(floor, from_objects, from_text, played)
    print(
        f"\n{name}, {seats} seats: {bare:,.0f} replaces a second; facts from objects {objects:,.0f} ({objects / bare:.2f}), "
        f"from JSON {text:,.0f} ({text / bare:.2f}); playout {random:,.0f} facts times views ({random / bare:.2f})"
    )
    record_property("bench.replay", objects / bare)
    assert objects / bare >= 0.3
    assert text / bare >= 0.12
    assert random / bare >= 0.15


@pytest.mark.parametrize("name", names())
def test_a_decision_and_its_board_cost_at_most_two_hundred_replaces(name):
    game = load(name)
    seats = sum(game.seats) // 2
    table, luck = begin(game, seats, b"s" * 32), Stream(b"luck", 0)
    asked = []
    while (asks := table.asks()) and len(table.log) < 60:
        seat, decision = next((s, d) for s, d in asks.items() if s not in table.position.box)
        asked.append((table.view(seat), seat))
        table = table.submit(
            seat, decision.default if len(table.log) % 2 else _legal(game, table, seat, decision, luck)
        )

    def looked():
        for view, seat in asked:
            game.asks(view, seat)
            plain(game.board(view, seat), game.teller(seat))
        return len(asked)

    bare, looks = rates(floor, looked)
    print(
        f"\n{name}, {seats} seats: {bare:,.0f} replaces a second; decision and board {looks:,.0f} ({bare / looks:.0f} replaces)"
    )
    assert bare / looks <= 200


def _legal(game, table, seat, decision, luck):
    choice = decision.sample(luck)
    return choice if game.objects(table.view(seat), seat, choice) is None else decision.default
