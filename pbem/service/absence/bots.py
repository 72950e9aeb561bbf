"""Bots: a due deadline of a bot's seat means that the bot moves now.

A bot sees what its seat sees, and moves by the same use case as a person. It chooses outside of any transaction; if the
game has moved on meanwhile, its choice is stale and it is asked again. Its numbers follow from the game's seed, and the
log names its version: once that seed is public, anyone can have it choose again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from engine.bots import searches, signature
from engine.chance import bot_seed
from pbem.bots import BotTurn, Think, think_here
from pbem.child_process import Interrupted
from pbem.domain.errors import Refusal
from pbem.domain.states import TableStatus
from pbem.service.absence import timeouts
from pbem.service.play import views
from pbem.service.play.move import Actor, play
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, due_turns, games, players as player_rows
from pbem.store.deadlines import DeadlineRow

BATCH: Final = 4
"""Turns claimed at once: the lease of the last must hold while the others are chosen."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Rota:
    """What a worker remembers from one batch to the next: turns that a failed database left claimed, and the last host."""

    held: timeouts.Held = field(default_factory=list)
    last_host: int = 0


def play_bots(
    server: Server,
    limit: int = BATCH,
    rota: Rota | None = None,
    think: Think = think_here,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Play the due turns of bots, a turn of each host in a round. Returns how many were played.

    Once the worker is `stopping`, those that aren't played yet are left to the next one.
    """
    now, rota = server.now(), Rota() if rota is None else rota
    timeouts.release_held(server, rota.held)
    claim = partial(due_turns.claim_of_bots, now=now, until=now + timeouts.LEASE, limit=limit, after=rota.last_host)
    claimed, rota.last_host = server.store.write(claim)
    return sum(_try_turn(server, row, rota.held, think, stopping) for row in claimed)


def play_bots_of(server: Server, game_id: int) -> None:
    """Play the bots of one table until it is a person's turn or the game is over.

    Claims nothing: if a worker plays the same turn, the first choice counts. Stops when a bot fails; the worker retries.
    Bots that search are left to the worker, because a page waits for this.
    """
    before: set[tuple[int, int]] = set()
    while (rows := _open_bot_turns(server, game_id)) and (turns := {(row.turn, row.seat) for row in rows}) != before:
        before = turns
        for row in rows:
            _try_turn(server, row, [], think_here, lambda: False)


def _open_bot_turns(server: Server, game_id: int) -> list[DeadlineRow]:
    with server.store.read() as tx:
        players = player_rows.of_game(tx, game_id)
        seats = {player.seat for player in players if player.bot is not None and not searches(player.bot)}
        return [row for row in deadlines.of_game(tx, game_id) if row.seat in seats]


def _try_turn(
    server: Server, row: DeadlineRow, held: timeouts.Held, think: Think, stopping: Callable[[], bool]
) -> bool:
    if stopping():
        _leave(server, row)
        return False
    try:
        turn = _bot_turn(server, row)
        if turn is None:
            return False
        server.run(play, row.game_id, row.turn, row.seat, think(turn), Actor.BOT, signature(turn.bot))
    except Refusal as refused:
        # Someone moved meanwhile. If it is still the bot's turn, it is retried a few times without delay.
        _log.info("bot_refused", game=row.game_id, turn=row.turn, seat=row.seat, why=str(refused))
        server.store.write(lambda tx: due_turns.release(tx, row, attempts=row.attempts))
        return False
    except Exception as error:  # noqa: BLE001 - one broken game must not stop the others
        if stopping():
            _leave(server, row)
        elif isinstance(error, Interrupted) and row.attempts == 1:
            _log.warning("bot_failed", game=row.game_id, turn=row.turn, seat=row.seat, error=str(error))
            server.store.write(lambda tx: due_turns.release(tx, row, attempts=row.attempts))
        else:
            timeouts.note_failure(server, row, error, held)
        return False
    return True


def _leave(server: Server, row: DeadlineRow) -> None:
    """Let another worker claim a turn at once; no attempt is counted."""
    server.store.write(lambda tx: due_turns.release(tx, row, attempts=row.attempts - 1))


def _bot_turn(server: Server, row: DeadlineRow) -> BotTurn | None:
    """The turn of a seat's bot; None if it is over."""
    with server.store.read() as tx:
        game = games.read(tx, row.game_id)
        player = next((player for player in player_rows.of_game(tx, game.id) if player.seat == row.seat), None)
        if game.turn != row.turn or game.status != TableStatus.PLAYING or player is None or player.bot is None:
            return None
        view = views.view(tx, game, row.seat)
    assert game.seed is not None, "a game that is played has a seed"
    rules = rules_of(game)
    decision = rules.asks(view, row.seat)
    return (
        None
        if decision is None
        else BotTurn(player.bot, rules, view, decision, bot_seed(game.seed, row.turn, row.seat))
    )
