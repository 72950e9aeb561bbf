"""What bots choose: in this process, or in a child of lower priority, which no page and no email waits for.

A bot is told what its seat sees and has a seed of its own for each decision, nothing else: the child could not look into the
other hands if it wanted to.
"""

from collections.abc import Callable
from threading import Event
from typing import Any, Final, NamedTuple

from engine import codec
from engine.bots import BOTS
from engine.chance import Stream
from engine.decisions import Choice, Decision
from engine.game import Game
from engine.registry import load, own_names
from pbem import child_process
from pbem.plugins.foreign import Foreign

NICENESS: Final = 15
MOST_SECONDS: Final = 60
"""Seconds of CPU for one choice; an ordinary one takes far less."""
MOST_MEMORY: Final = 2**30


class BotTurn(NamedTuple):
    """A turn of a bot: its name, what its seat sees and is asked, and its seed."""

    bot: str
    game: Game[Any]
    view: Any
    decision: Decision
    seed: bytes


Think = Callable[[BotTurn], Choice]
"""Returns a bot's choice."""


def think_here(turn: BotTurn) -> Choice:
    """The choice, made in this process. A game of another package has its bots think where its rules run."""
    luck = Stream(turn.seed, 0)
    if isinstance(turn.game, Foreign):
        return turn.game.bot(turn.bot, turn.view, turn.decision, luck)
    return BOTS[turn.bot](turn.game, turn.view, turn.decision, luck)


class Thinker:
    """Bots that think in a child process of lower priority, with limits. Once `stopping`, they give up what they're at."""

    def __init__(self, stopping: Event | None = None) -> None:
        self._child = child_process.Child("pbem.bots", 5 * MOST_SECONDS, stopping)

    def __call__(self, turn: BotTurn) -> Choice:
        """The same choice as `think_here`. Raises Failed if the child ends first; the turn can be tried again."""
        game = turn.game
        if game.slug not in own_names():
            return think_here(turn)
        question = {
            "bot": turn.bot,
            "game": game.slug,
            "rules": game.version,
            "seat": turn.decision.seat,
            "seed": turn.seed.hex(),
            "view": codec.dumps(turn.view),
        }
        choice: Choice = codec.loads(game, self._child.ask(question))
        return choice

    def close(self) -> None:
        """End the child."""
        self._child.close()


def main() -> None:
    """Answer a worker's questions."""
    child_process.give_way(NICENESS)
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    child_process.answer_lines(_answer, MOST_SECONDS)


def _answer(question: dict[str, Any]) -> str:
    game = load(question["game"]).by_version(question["rules"])
    view = codec.loads(game, question["view"])
    decision = game.asks(view, question["seat"])
    assert decision is not None, "only a seat that is asked has a turn"
    return codec.dumps(think_here(BotTurn(question["bot"], game, view, decision, bytes.fromhex(question["seed"]))))


if __name__ == "__main__":
    main()
