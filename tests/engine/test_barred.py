"""Barred verbs: a game says in sentences why they cannot be used, and never bars a verb that it offers."""

from pathlib import Path

import pytest

from engine import registry
from engine.game import Game
from engine.table import begin
from engine.tell import say
from engine.testing import Bench, broken
from engine.testing.views import asks_from_views
from tests.engine.barred import reasons

TOY = Path(__file__).parent / "toys" / "thieves.py"


@pytest.mark.parametrize("name", registry.names())
def test_a_game_gives_reasons_in_sentences(name):
    assert all(why.endswith(".") for why in reasons(registry.load(name)).values())


@pytest.mark.slow
def test_the_kit_notices_a_game_that_bars_a_verb_it_offers():
    sound: Game = registry.load_file(TOY)
    (verb,) = {act.verb for act in begin(sound, 2, bytes(32)).asks()[0].acts}

    class Liar(type(sound)):
        def barred(self, view, seat):
            return {verb: say("You may not.")}

    troubles = broken("asks from views", asks_from_views, Bench(Liar()))
    assert f"“{verb}” is among the acts and also barred" in {trouble.what for trouble in troubles}
