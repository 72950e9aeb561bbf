"""The imprint of a table: what its players are offered, know and have scored, as a few bytes.

Two releases that leave the same imprint after every entry treat the players of that game alike. Words, prompts and boards
are left out, and so is what the log tells.

"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

from engine import codec
from engine.decisions import Blank, Decision
from engine.game import Game
from engine.rulings import Part

BYTES: Final = 4
"""The bytes of a part. They show a change, but stop no forger."""

SIZE: Final = BYTES * len(Part)


def imprint(game: Game[Any], state: Any, views: tuple[Any, ...]) -> bytes:
    """Return the imprint of a table by its state and views, the spectator's last: the digest of each `Part` in turn."""
    asked = ((seat, game.asks(state, seat)) for seat in range(len(views) - 1))
    offers = [(seat, offered(decision)) for seat, decision in asked if decision is not None]
    standing = game.standing(state)
    parts = (json.dumps(offers), codec.dumps(views), json.dumps([standing.scores, standing.ranking]))
    return b"".join(blake2b(part.encode(), digest_size=BYTES).digest() for part in parts)


def changed(before: bytes | bytearray, now: bytes | bytearray) -> Iterator[Part]:
    """Yield the parts in which two imprints differ."""
    for number, part in enumerate(Part):
        of_part = slice(number * BYTES, (number + 1) * BYTES)
        if before[of_part] != now[of_part]:
            yield part


def offered(decision: Decision) -> list[Any]:
    """Return what a decision offers as plain data, without any words."""
    acts = [(act.verb, [_possible(blank) for blank in act.blanks]) for act in decision.acts]
    default = (decision.default.verb, decision.default.values)
    return [acts, default, sorted(decision.closes), decision.topic, decision.public]


def _possible(blank: Blank) -> list[Any]:
    things = [thing.value for thing in getattr(blank, "things", ())]
    numbers = [getattr(blank, name) for name in ("low", "high", "many", "total") if hasattr(blank, name)]
    return [type(blank).__name__, things, numbers, sorted(getattr(blank, "endings", ()))]
