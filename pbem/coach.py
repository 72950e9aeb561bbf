"""Reviews by the coach: made in this process, or in a child of lower priority, which no page and no email waits for.

A review is made only once its game is over: then every card is public, and so is the seed of the imagined games.
"""

from collections.abc import Callable
from threading import Event
from typing import Any, Final, NamedTuple

from engine import coach, codec
from engine.coach import Review
from engine.game import Game
from engine.installed import load_version
from engine.options import Options
from engine.table import Entry
from pbem import child_process

NICENESS: Final = 15
MOST_SECONDS: Final = 900
"""Seconds of CPU for one review; an ordinary one takes a minute or two."""
MOST_MEMORY: Final = 2**30


class ReviewTask(NamedTuple):
    """A finished game to be reviewed for a seat. `own` are the turns in which its player chose for themselves."""

    game: Game[Any]
    seats: int
    options: Options
    turns: tuple[tuple[int, Entry], ...]
    seat: int
    own: tuple[int, ...]
    seed: bytes


MakeReview = Callable[[ReviewTask], Review]
"""Makes a review."""


def review_here(task: ReviewTask) -> Review:
    """The review, made in this process."""
    return coach.review_of(task.game, task.seats, task.options, task.turns, task.seat, frozenset(task.own), task.seed)


def write(review: Review) -> str:
    """A review as canonical JSON."""
    return codec.dumps(review)


def read(text: str) -> Review:
    """The review that `write` wrote."""
    review: Review = _DECODER.decode(text)
    return review


_DECODER: Final = codec.decoder(coach.KINDS)


class Coach:
    """The coach in a child process of lower priority, with limits. Once `stopping`, it gives up what it's at."""

    def __init__(self, stopping: Event | None = None) -> None:
        self._child = child_process.Child("pbem.coach", 3 * MOST_SECONDS, stopping)

    def __call__(self, task: ReviewTask) -> Review:
        """The same review as `review_here`. Raises Failed if the child ends first."""
        question = {
            "game": task.game.slug,
            "rules": task.game.version,
            "seats": task.seats,
            "options": dict(task.options),
            "turns": [(turn, codec.dumps(entry)) for turn, entry in task.turns],
            "seat": task.seat,
            "own": task.own,
            "seed": task.seed.hex(),
        }
        return read(self._child.ask(question))

    def close(self) -> None:
        """End the child."""
        self._child.close()


def main() -> None:
    """Answer a worker's questions."""
    child_process.give_way(NICENESS)
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    child_process.answer_lines(_answer, MOST_SECONDS)


def _answer(question: dict[str, Any]) -> str:
    # A game of another package is one that the operator trusts: no other game is reviewed.
    game = load_version(question["game"], question["rules"])
    turns = tuple((turn, codec.loads(game, entry)) for turn, entry in question["turns"])
    seed = bytes.fromhex(question["seed"])
    own = tuple(question["own"])
    task = ReviewTask(game, question["seats"], question["options"], turns, question["seat"], own, seed)
    return write(review_here(task))


if __name__ == "__main__":
    main()
