"""Seats that bots play: a due deadline of such a seat means that its bot decides now.

A bot sees what its seat sees and comes through the same door as everybody. It thinks outside of any transaction; when the
game has moved on meanwhile its choice is stale, and it is simply asked again.
"""

from dataclasses import dataclass
from typing import Any, Final

import structlog

from engine.bots import BOTS
from engine.chance import Stream
from engine.decisions import Choice, Decision
from engine.game import Game
from pbem.domain.errors import Refusal
from pbem.plugins.foreign import Foreign
from pbem.service.absence import timeouts
from pbem.service.play import views
from pbem.service.play.move import By, play
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, games
from pbem.store import players as player_rows
from pbem.store.deadlines import DeadlineRow

BATCH: Final = 10
"""So many at a time, because the lease of the last one has to hold while the others think."""

_SEED_BYTES: Final = 32

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _BotTurn:
    """What a bot is asked, and all it knows."""

    bot: str
    game: Game[Any]
    view: Any
    decision: Decision


def play_bots(server: Server, limit: int = BATCH) -> int:
    """Let the bots whose turn it is decide; how many have."""
    now = server.now()
    claimed = server.store.write(lambda tx: deadlines.claim(tx, now, now + timeouts.LEASE, limit, bots=True))
    return sum(_try_turn(server, row) for row in claimed)


def play_bots_of(server: Server, game_id: int) -> None:
    """Let the bots of one table decide at once, until a person is asked or the game is over.

    It claims nothing: where a worker lets the same bot think, the first choice counts and the other is stale. Where a bot
    fails it stops, and the worker goes on trying.
    """
    before: set[tuple[int, int]] = set()
    while (rows := _open_bot_turns(server, game_id)) and (asked := {(row.turn, row.seat) for row in rows}) != before:
        before = asked
        for row in rows:
            _try_turn(server, row)


def _open_bot_turns(server: Server, game_id: int) -> list[DeadlineRow]:
    with server.store.read() as tx:
        seats = {player.seat for player in player_rows.of_game(tx, game_id) if player.bot is not None}
        return [row for row in deadlines.of_game(tx, game_id) if row.seat in seats]


def _try_turn(server: Server, row: DeadlineRow) -> bool:
    try:
        asked = _bot_turn(server, row)
        if asked is None:
            return False
        server.run(play, row.game_id, row.turn, row.seat, _choose(server, asked), By.BOT)
    except Refusal as refused:
        # Somebody moved while the bot was thinking. If it is still asked it is asked again, a few times at once.
        _log.info("bot_refused", game=row.game_id, turn=row.turn, seat=row.seat, why=str(refused))
        server.store.write(lambda tx: deadlines.release(tx, row, attempts=row.attempts))
        return False
    except Exception:  # noqa: BLE001 - whatever is wrong with one game, the others go on
        timeouts.note_failure(server, row)
        return False
    return True


def _bot_turn(server: Server, row: DeadlineRow) -> _BotTurn | None:
    """What the seat's bot is asked, from the seat's own view; None if it is not asked any more."""
    with server.store.read() as tx:
        game = games.read(tx, row.game_id)
        player = next((player for player in player_rows.of_game(tx, game.id) if player.seat == row.seat), None)
        if game.turn != row.turn or game.status != "playing" or player is None or player.bot is None:
            return None
        view = views.view(tx, game, row.seat).view
    rules = rules_of(game)
    decision = rules.asks(view, row.seat)
    return None if decision is None else _BotTurn(player.bot, rules, view, decision)


def _choose(server: Server, asked: _BotTurn) -> Choice:
    """The bot's choice, with luck of its own: it never sees the seed of the game."""
    luck = Stream(server.randomness.bytes(_SEED_BYTES), 0)
    if isinstance(asked.game, Foreign):
        # It thinks where its rules are: asking them over there for each thought would take far longer.
        return asked.game.bot(asked.bot, asked.view, asked.decision, luck)
    return BOTS[asked.bot](asked.game, asked.view, asked.decision, luck)
