"""The reasons that games give for verbs that cannot be used now."""

from __future__ import annotations

from typing import Any

from engine.bots import random_bot
from engine.chance import Stream
from engine.game import Game
from engine.table import begin

GAMES = 12


def reasons(rules: Game[Any]) -> dict[str, str]:
    """Return the verbs that are barred at some time in a few games, each with a reason."""
    found: dict[str, str] = {}
    for number in range(GAMES):
        luck = Stream(b"luck", number)
        table = begin(rules, rules.seats[0] + number % 2, bytes([number]) * 32)
        while asked := table.asks():
            for seat, decision in asked.items():
                barred = rules.barred(table.view(seat), seat)
                assert not set(barred) & {act.verb for act in decision.acts}
                found |= {verb: rules.teller(seat)(why) for verb, why in barred.items()}
            seat = next(seat for seat in asked if seat not in table.position.box)
            # Some games take every default, because that is how a deck runs out.
            silent = asked[seat].default
            table = table.submit(seat, random_bot(rules, table.view(seat), asked[seat], luck) if number % 3 else silent)
    return found
