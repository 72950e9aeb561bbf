"""Games in which everything happens that a log can say of sealed choices: replaced, taken back, dropped, undone, rewound."""

from engine.bots import random_bot
from engine.chance import Stream
from pbem.domain.errors import Refusal
from pbem.service.desk.acts.clocks import Pause, Resume
from pbem.service.desk.acts.correct import Redact
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.play import undo
from pbem.service.play.rules import rules_of
from pbem.service.tables import talk
from tests.service.actors import moderate
from tests.service.running_game import RunningGame


def play_eventfully(game: RunningGame) -> None:
    """Play a game to its end, with choices taken back, a rewind, a pause, and a line of talk redacted."""
    for line in ("Good luck!", "You are all fools.", "Well played."):
        game.server.run(talk.say, game.id, 0, game.person_at(0), line)
    moderate(game.server, Redact(game.id, 2))
    for step in range(10_000):
        asked = game.asked()
        if not asked:
            return
        seat = next(iter(asked))
        if step < 12:
            _think_again(game, seat)
        if step == 12:
            moderate(game.server, Pause(game.id))
            moderate(game.server, Resume(game.id))
            moderate(game.server, Rewind(game.id, 2))
        elif seat in (asked := game.asked()):
            game.play(seat, asked[seat].default)
    raise AssertionError("the game has no end")


def _think_again(game: RunningGame, seat: int) -> None:
    """Make a choice at random, another one, and take that back, as far as the game lets it be."""
    luck = Stream(bytes(32), game.row().seq)
    for _ in range(2):
        turn, decision = game.row().turn, game.open().get(seat)
        if decision is None:
            return
        sealed = game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck)).sealed
        if not sealed:
            _take_back(game, turn, seat)
            return
    if game.row().seq % 2:
        _take_back(game, game.row().turn, seat)


def _take_back(game: RunningGame, turn: int, seat: int) -> None:
    try:
        game.server.run(undo.take_back, game.id, turn, seat)
    except Refusal:
        return
