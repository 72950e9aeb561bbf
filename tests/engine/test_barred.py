"""Why something cannot be done now: every game says so of what its players will miss, and never of what they can do."""

import pytest

from engine import game
from engine.bots import random_bot
from engine.chance import Stream
from engine.game import Game
from engine.table import begin
from engine.tell import say
from engine.testing import Bench, broken
from engine.testing.views import asks_from_views

MISSED = {
    "bid": {"pawn", "bid"},
    "sorcerous-futures": {"open"},
    "sun-bid": {"flip", "use", "pass"},
    "sunset-poker": {"play", "take", "fold"},
    "templari": {"bid", "sell"},
}


@pytest.mark.parametrize("name", game.names())
def test_a_game_says_of_all_that_can_be_missed_why_it_cannot_be_done(name):
    rules, told = game.load(name), {}
    for number in range(12):
        luck = Stream(b"luck", number)
        table = begin(rules, rules.seats[0] + number % 2, bytes([number]) * 32)
        while (asked := table.asks()) and not set(told) >= MISSED[name]:
            for seat, decision in asked.items():
                reasons = rules.barred(table.view(seat), seat)
                assert not set(reasons) & {act.verb for act in decision.acts}
                told |= {verb: rules.teller(seat)(why) for verb, why in reasons.items()}
            seat = next(seat for seat in asked if seat not in table.position.box)
            # Some games go as silence would have it: that is how a deck runs out.
            silent = asked[seat].default
            choice = random_bot(rules, table.view(seat), asked[seat], luck) if number % 3 else silent
            table = table.submit(seat, choice)
    assert set(told) == MISSED[name]
    assert all(why.endswith(".") for why in told.values())


def test_the_kit_notices_a_game_that_calls_impossible_what_it_offers():
    sound: Game = game.load("templari")

    class Liar(type(sound)):
        def barred(self, view, seat):
            return {"pass": say("You may not.")}

    told = broken("asks from views", asks_from_views, Bench(Liar()))
    assert "“pass” is among the acts, and called impossible" in {trouble.what for trouble in told}
