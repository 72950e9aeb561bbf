"""The search next to OpenSpiel: how well it plays Kuhn poker with as many iterations, and how fast games are played out.

OpenSpiel is in no lock. To run these: `.venv/bin/pip install open_spiel`.
"""

import time
from itertools import count

import pytest

from engine.bots import random_bot
from engine.chance import Draw
from engine.registry import load, names
from engine.search.course import Course, Luck
from engine.table import begin, deal, replay
from tests.engine import solved

pytestmark = pytest.mark.bench

ITERATIONS = (100, 400)
SEARCHES = 48
"""Each of our searches ends in one choice, and the average of a few is easier to exploit than that of many."""
ROUNDS = 5
SECONDS = 0.25


@pytest.fixture(scope="module")
def pyspiel():
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: .venv/bin/pip install open_spiel")


def kuhn_by_open_spiel(pyspiel, iterations):
    """What OpenSpiel's search does in Kuhn poker: the choices of some searches with different seeds."""
    game = pyspiel.load_game("kuhn_poker")
    bold = {}
    for place, card in enumerate(solved.CARDS):
        for done in solved.ASKED:
            seat = len(done) % 2
            state = game.new_initial_state()
            cards = [place, (place + 1) % 3] if seat == 0 else [(place + 1) % 3, place]
            for action in (*cards, *(int(verb in ("bet", "call")) for verb in done)):
                state.apply_action(action)
            found = 0.0
            for seed in range(SEARCHES):
                bot = pyspiel.ISMCTSBot(
                    seed,
                    pyspiel.RandomRolloutEvaluator(1, seed),
                    2.0,
                    iterations,
                    -1,
                    pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT,
                    False,
                    False,
                )
                found += dict(bot.get_policy(state)).get(1, 0.0) / SEARCHES
            bold[card, done] = found
    return bold


@pytest.mark.timeout(0)
@pytest.mark.parametrize("iterations", ITERATIONS)
def test_kuhn_poker_with_as_many_iterations(pyspiel, iterations):
    own = solved.kuhn_exploitability(solved.kuhn_by_search(iterations, SEARCHES))
    other = solved.kuhn_exploitability(kuhn_by_open_spiel(pyspiel, iterations))
    print(f"\nKuhn poker, {iterations} iterations: exploitability {own:.3f}, OpenSpiel's ISMCTS {other:.3f} chips")


def rates(works):
    """The most things that each work did in a second of CPU time, the works in turn."""
    best = dict.fromkeys(works, 0.0)
    for _ in range(ROUNDS):
        for name, work in works.items():
            begun, done = time.process_time(), 0
            while time.process_time() - begun < SECONDS:
                done += work()
            best[name] = max(best[name], done / (time.process_time() - begun))
    return best


def choices_of(game, start, seats, luck: Draw) -> int:
    """Play a game on at random; the number of choices."""
    course, choices = Course(game, seats, start, lambda _turn: luck), 0
    while course.asks:
        box = {}
        for seat, decision in course.opened.items():
            choices += 1
            box[seat] = random_bot(game, course.state, decision, luck)
            if box[seat].verb in decision.closes:
                box = {seat: box[seat]}
                break
        course.go(box)
    return choices


def random_table(game, seats):
    """A short game at a table, between random players."""
    table, luck = begin(game, seats, b"p" * 32, dict(game.short)), Luck(1)
    while asks := [seat for seat in table.position.open() if seat not in table.position.box]:
        decision = game.asks(table.view(asks[0]), asks[0])
        table = table.submit(asks[0], random_bot(game, table.view(asks[0]), decision, luck))
    return table


def test_games_next_to_python_dominoes(pyspiel):
    import random

    # It registers itself.
    pytest.importorskip("open_spiel.python.games.block_dominoes")

    dominoes = pyspiel.load_game("python_block_dominoes")
    chance = random.Random(1)

    def domino():
        state, choices = dominoes.new_initial_state(), 0
        while not state.is_terminal():
            choices += 1
            state.apply_action(chance.choice(state.legal_actions()))
        return choices

    works = {"dominoes": domino}
    for name in names():
        game, numbers = load(name), count()
        seats = game.seats[0]
        table = random_table(game, seats)
        start = deal(game, seats, b"p" * 32, dict(game.short))[0].state

        def played(game=game, seats=seats, start=start, numbers=numbers):
            return choices_of(game, start, seats, Luck(next(numbers)))

        def replayed(game=game, seats=seats, table=table):
            replay(game, seats, table.options, table.log)
            return sum(len(entry.choices) for entry in table.log)

        works |= {f"{name}, played": played, f"{name}, replayed": replayed}
    found = rates(works)
    shares = {name: rate / found["dominoes"] for name, rate in found.items()}
    for name, rate in found.items():
        print(f"\n{name}: {rate:,.0f} choices a second ({shares[name]:.2f} of dominoes)", end="")
    for name in names():
        assert shares[f"{name}, played"] >= 0.5
        assert shares[f"{name}, replayed"] >= 1.0
