"""Lanterns that break in every way a game can: each is the toy with one thing put into it."""

from pathlib import Path
from typing import Final

LANTERNS: Final = (Path(__file__).parents[1] / "engine" / "toys" / "lanterns.py").read_text(encoding="utf-8")

FOR_EVER: Final = "while True: pass"
GREEDY: Final = "hoard = bytearray(2**34)"
GONE: Final = "__import__('os')._exit(3)"
KILLED: Final = "__import__('os').kill(__import__('os').getpid(), 9)"
ASLEEP: Final = "__import__('time').sleep(600)"
RAISES: Final = "raise ZeroDivisionError('the red lantern is the best')"
LEAVES: Final = "raise SystemExit"

_PLACES: Final = {
    "import": ("COLOURS: Final =", "{}\nCOLOURS: Final ="),
    "start": ('        vetoes = (options["vetoes"]', '        {}\n        vetoes = (options["vetoes"]'),
    "setup": (
        "        for seat in range(len(state.coins)):",
        "        {}\n        for seat in range(len(state.coins)):",
    ),
    "asks": ("        if not view.lot:", "        {}\n        if not view.lot:"),
    "resolve": (
        "choices: Mapping[int, Choice], draw: Draw) -> Story[State]:\n",
        "choices: Mapping[int, Choice], draw: Draw) -> Story[State]:\n        {}\n",
    ),
    "apply": ("        return replace(state, bidding=True)", "        {}\n        return replace(state, bidding=True)"),
    "sentence": (
        "    def apply(self, state: State) -> State:\n        return replace(state, bidding=True)",
        "    def sentence(self):\n        {}\n\n    def apply(self, state: State) -> State:\n        return replace(state, bidding=True)",
    ),
    "board": ("-> Board:\n", "-> Board:\n        {}\n"),
    "standing": ("-> Standing:\n", "-> Standing:\n        {}\n"),
}


def lanterns(place: str, what: str) -> str:
    """The source of lanterns that do this in that place."""
    before, after = _PLACES[place]
    assert LANTERNS.count(before) == 1, place
    return LANTERNS.replace(before, after.format(what))
