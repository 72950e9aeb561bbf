"""Hints: what the Expert bot would choose for a player, worked out in a child process with limits, one at a time.

A hint is made from what its player sees and from nothing else: the child could not look into the other hands if it wanted to.
The same question has the same answer, so it costs nothing to ask again.
"""

from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Any, Final, NamedTuple

import structlog

from engine import coach, codec
from engine.coach import Verdict
from engine.decisions import Decision
from engine.game import Game
from engine.installed import load_version
from pbem import child_process
from pbem.domain.errors import TooMany
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.plugins.foreign import Foreign

NICENESS: Final = 10
MOST_SECONDS: Final = 30
"""Seconds of CPU for one hint; an ordinary one takes a few."""
MOST_WAIT: Final = 60
MOST_MEMORY: Final = 2**30
MOST_HINTS: Final = 500


_log = structlog.get_logger(__name__)


class NoHint(TooMany):
    """The Expert has worked on a hint and kept others waiting, and has none."""


class HintTask(NamedTuple):
    """A decision that a player wants a hint for: what they see, and what they're asked."""

    game: Game[Any]
    view: Any
    decision: Decision


Advise = Callable[[HintTask], Verdict]
"""Makes a hint."""


class Adviser:
    """Makes hints in a child process of lower priority."""

    def __init__(self) -> None:
        self._child = child_process.Child("pbem.hints", MOST_WAIT)
        self._busy = Lock()
        self._hints: LRU[Verdict] = LRU(MOST_HINTS)

    def __call__(self, task: HintTask) -> Verdict:
        """The hint. Raises TooMany while it's making another one, and NoHint if this one takes too long."""
        question = _question(task)
        key = tuple(question.values())
        if (known := self._hints.get(key)) is not None:
            return known
        if not self._busy.acquire(blocking=False):
            raise TooMany(_("The Expert is busy with someone else's hint."), remedy=_("Try again in a few seconds."))
        try:
            found: Verdict = _DECODER.decode(self._child.ask(question))
        except child_process.Interrupted as interrupted:
            _log.exception("hint_interrupted", game=task.game.slug)
            raise NoHint(
                _("The server has no time for hints right now."),
                remedy=_("Try again in a few minutes, or choose without one."),
            ) from interrupted
        except child_process.Failed as failed:
            _log.exception("hint_failed", game=task.game.slug)
            raise NoHint(_("The Expert has no hint for this move."), remedy=_("Choose without one.")) from failed
        finally:
            self._busy.release()
        return self._hints.put(key, found)

    def close(self) -> None:
        """End the child."""
        self._child.close()


def is_possible(game: Game[Any]) -> bool:
    """Whether there can be hints in a game: not in one that runs in a process of its own."""
    return not isinstance(game, Foreign)


def hint_here(task: HintTask) -> Verdict:
    """The hint, made in this process. Its luck comes from what the player sees, so that nothing else can be told by it."""
    seed = sha256(codec.dumps(task.view).encode()).digest()
    return coach.hint_for(task.game, task.view, task.decision, seed)


_DECODER: Final = codec.decoder(coach.KINDS)


def _question(task: HintTask) -> dict[str, Any]:
    game = task.game
    return {"game": game.slug, "rules": game.version, "seat": task.decision.seat, "view": codec.dumps(task.view)}


def main() -> None:
    """Answer a web process's questions."""
    child_process.give_way(NICENESS)
    child_process.limit(child_process.MEMORY, MOST_MEMORY)
    child_process.answer_lines(_answer, MOST_SECONDS)


def _answer(question: dict[str, Any]) -> str:
    # A game of another package is one that the operator trusts: no other game has hints.
    game = load_version(question["game"], question["rules"])
    view = codec.loads(game, question["view"])
    decision = game.asks(view, question["seat"])
    assert decision is not None, "only a seat that is asked gets a hint"
    return codec.dumps(hint_here(HintTask(game, view, decision)))


if __name__ == "__main__":
    main()
