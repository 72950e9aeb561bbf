"""What happens when time passes: reminders, and what a clock that has run out decides.

A worker claims what is ripe, which counts as an attempt, and then acts game by game, each in a transaction of its own that
locks the game, looks again, and goes through the same door as any move. So any number of workers decide each turn once,
and one that fails again and again ends parked and visible instead of in the way of the others.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from pbem.domain.missed_turns import warning
from pbem.service.absence import substitutes
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks import outages
from pbem.service.clocks.outages import Worker
from pbem.service.play.move import By, agreement_of, play_locked, position_of
from pbem.service.server import Server
from pbem.store import deadlines, games, outbox
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow

LEASE: Final = timedelta(minutes=1)
"""So long others leave a claimed deadline alone: far longer than a move takes."""

PUSHED: Final = timedelta(hours=1)
"""So much later a deadline is tried again that could not be acted on."""

BATCH: Final = 50

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Passed:
    """What the passing of time did: turns decided, deadlines that turned out to be later, failures; or why nothing."""

    decided: int = 0
    moved: int = 0
    failed: int = 0
    held_back: str | None = None


def time_out(server: Server, worker: Worker, limit: int = BATCH) -> Passed:
    """Decide the turns of people whose clock has run out, by what their silence means."""
    now = server.now()
    if (reason := server.read(outages.reason_not_to_fire, worker, now)) is not None:
        return Passed(held_back=reason)
    claimed = server.store.write(lambda tx: deadlines.claim(tx, now, now + LEASE, limit, bots=False))
    outcomes = [_tried(server, row, now) for row in claimed]
    return Passed(outcomes.count("decided"), outcomes.count("moved"), outcomes.count("failed"))


def remind(server: Server, worker: Worker, limit: int = BATCH) -> Passed:
    """Queue a reminder for everybody whose own cadence says so and who has not answered."""
    now = server.now()
    if (reason := server.read(outages.reason_not_to_fire, worker, now)) is not None:
        return Passed(held_back=reason)
    with server.store.read() as tx:
        ripe = deadlines.to_remind(tx, now, limit)
    outcomes = [_reminded(server, row, now) for row in ripe]
    return Passed(decided=outcomes.count("reminded"), failed=outcomes.count("failed"))


def failed(server: Server, row: DeadlineRow) -> None:
    """Push a deadline that could not be acted on, and say so; after too many times it is parked."""
    _log.exception(
        "deadline_failed",
        game=row.game_id,
        turn=row.turn,
        seat=row.seat,
        attempts=row.attempts,
        parked=row.attempts >= deadlines.MOST_ATTEMPTS,
    )
    server.store.write(lambda tx: deadlines.release(tx, row, server.now() + PUSHED, row.attempts))


def _tried(server: Server, row: DeadlineRow, now: datetime) -> str:
    try:
        return server.run(_time_out, row, now)
    except Exception:  # noqa: BLE001 - whatever is wrong with one game, the others go on
        failed(server, row)
        return "failed"


def _reminded(server: Server, row: DeadlineRow, now: datetime) -> str:
    try:
        return server.run(_remind, row, now)
    except Exception:  # noqa: BLE001 - as above
        _log.exception("reminder_failed", game=row.game_id, turn=row.turn, seat=row.seat)
        server.store.write(lambda tx: deadlines.change(tx, row, remind_at=server.now() + PUSHED))
        return "failed"


def _time_out(tx: Tx, server: Server, claimed: DeadlineRow, now: datetime) -> str:
    """One turn. Somebody may have moved, or the deadline may have, since it was claimed: look again under the lock."""
    game = games.lock_if_free(tx, claimed.game_id)
    if game is None:
        deadlines.release(tx, claimed, attempts=claimed.attempts - 1)
        return "busy"
    row = deadlines.read(tx, game.id, claimed.turn, claimed.seat)
    if row is None or row.status != "open":
        return "answered"
    if game.status != "playing" or game.paused:
        deadlines.release(tx, row)
        return "answered"
    found = clocks_deadlines.settle(tx, server, game, row)
    if found.at is None or found.at > now:
        deadlines.release(tx, row)
        return "moved"
    decision = position_of(game).open().get(row.seat) if game.turn == row.turn else None
    if decision is None:
        deadlines.close(tx, game.id, row.turn, row.seat)
        return "answered"
    receipt = play_locked(tx, server, game, row.turn, row.seat, decision.default, By.CLOCK)
    _tell_of_missed_turn(tx, server, game, row, receipt.written)
    return "decided"


def _tell_of_missed_turn(tx: Tx, server: Server, before: GameRow, row: DeadlineRow, written: str) -> None:
    """Tell the player what was decided without them, and give the seat up if that was once too often."""
    game = games.read(tx, before.id)
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == row.seat)
    facts = {"choice": written, "due_at": row.due_at and row.due_at.isoformat(), "missed": player.missed}
    if game.status == "playing":
        facts["warning"] = warning(player.missed, agreement_of(game))
    now = server.now()
    assert player.person_id is not None, "a bot is never timed out"
    email = outbox.NewEmail(player.person_id, "auto_passed", game.id, game.seq, row.seat, row.turn, facts)
    outbox.queue(tx, [email], now, now)
    if game.status == "playing":
        substitutes.after_missed_turns(tx, server, game, player)


def _remind(tx: Tx, server: Server, ripe: DeadlineRow, now: datetime) -> str:
    """One reminder, unless it is not wanted any more."""
    game = games.lock_if_free(tx, ripe.game_id)
    row = None if game is None else deadlines.read(tx, game.id, ripe.turn, ripe.seat)
    if game is None or row is None or row.status != "open" or row.remind_at is None or row.remind_at > now:
        return "dropped"
    clock = clocks_deadlines.clock_of(tx, game, row.turn, row.seat)
    found = clocks_deadlines.settle(tx, server, game, row)
    if clock is None or found.at is None or found.at <= now or game.paused:
        deadlines.change(tx, row, remind_at=None)
        return "dropped"
    moments = clocks_deadlines.reminder_moments(clock, found)
    reached = sum(moment <= now for moment in moments)
    if reached <= row.reminded:
        # The deadline has moved since this moment was planned; `settle` has written the new one down.
        return "dropped"
    # Where several moments have gone by, because nobody worked, one reminder says it all.
    following = next(iter(moments[reached:]), None)
    promised = max(found.at, row.promised_at or found.at)
    deadlines.change(tx, row, reminded=reached, remind_at=following, promised_at=promised)
    facts = {"due_at": found.at.isoformat(), "last": following is None}
    email = outbox.NewEmail(clock.person.id, "reminder", game.id, None, row.seat, row.turn, facts)
    outbox.queue(tx, [email], now, now)
    return "reminded"
