"""The search next to OpenSpiel: how well it plays Kuhn poker with as many iterations, and how fast games are played out.

OpenSpiel is in no lock. To run these: `.venv/bin/pip install open_spiel`.
"""

import time

import pytest

from engine.bots import random_bot
from engine.chance import Draw
from engine.game import load, names
from engine.search.course import Course, Luck
from engine.table import deal
from tests.engine import solved

pytestmark = pytest.mark.bench

ITERATIONS = (100, 400)
SEARCHES = 12
SECONDS = 2.0


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


def playouts(play):
    """How many random playouts a second of CPU time gives."""
    begun, done = time.process_time(), 0
    while time.process_time() - begun < SECONDS:
        play(done)
        done += 1
    return done / (time.process_time() - begun)


def turns_of(game, start, seats, luck: Draw) -> int:
    course = Course(game, seats, start, lambda _turn: luck)
    while course.asks:
        box = {}
        for seat, decision in course.opened.items():
            box[seat] = random_bot(game, course.state, decision, luck)
            if box[seat].verb in decision.closes:
                box = {seat: box[seat]}
                break
        course.go(box)
    return course.turn


def test_random_playouts_next_to_python_dominoes(pyspiel):
    import random

    # It registers itself.
    pytest.importorskip("open_spiel.python.games.block_dominoes")

    dominoes = pyspiel.load_game("python_block_dominoes")
    chance = random.Random(1)
    moves = 0

    def domino(_number):
        nonlocal moves
        state = dominoes.new_initial_state()
        while not state.is_terminal():
            moves += 1
            state.apply_action(chance.choice(state.legal_actions()))

    rate = playouts(domino)
    print(f"\npython_block_dominoes: {rate:,.0f} playouts a second")
    for name in names():
        game = load(name)
        seats = game.seats[0]
        start = deal(game, seats, b"p" * 32, dict(game.short))[0].state
        turns, games = 0, 0

        def game_of(number, game=game, seats=seats, start=start):
            nonlocal turns, games
            turns += turns_of(game, start, seats, Luck(number))
            games += 1

        rate = playouts(game_of)
        print(f"{name}, {seats} seats, short: {rate:,.0f} playouts a second of {turns / games:.0f} turns each")
