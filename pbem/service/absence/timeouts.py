"""Timeouts: reminders, and the default choice when a deadline passes.

A worker claims due deadlines, which counts as an attempt. Each is then handled in a transaction of its own that locks the
game, checks again, and plays by the same use case as any move. So any number of workers decide each turn once, and a
deadline that keeps failing is parked where an organiser sees it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from pbem.domain.missed_turns import Successor, grace_text, successor_after, warning
from pbem.domain.states import EmailKind, TableStatus, TurnStatus
from pbem.service.absence import offers, second_chance
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks.outages import Worker
from pbem.service.play.move import Actor, agreement_of, play_locked
from pbem.service.play.positions import position_of
from pbem.service.server import Server
from pbem.store import deadlines, due_turns, games, outbox, players as player_rows, received
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow

LEASE: Final = timedelta(minutes=1)
"""How long other workers leave a claimed deadline alone; far longer than a move takes."""

RETRY_AFTER: Final = timedelta(hours=1)
"""When a failed deadline is tried again."""

BATCH: Final = 50

Held = list[DeadlineRow]
"""Deadlines that were claimed when the database failed."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TimeoutRun:
    """The result of a run: turns decided, deadlines found to be later, failures."""

    decided: int = 0
    moved: int = 0
    failed: int = 0


def time_out(server: Server, worker: Worker, limit: int = BATCH) -> TimeoutRun:
    """Play the default choice of every turn whose deadline has passed."""
    now = server.now()
    release_held(server, worker.held)
    claims = server.store.write(lambda tx: due_turns.claim(tx, now, now + LEASE, limit))
    outcomes = [_try_time_out(server, row, now, worker.held) for row in claims]
    return TimeoutRun(outcomes.count("decided"), outcomes.count("moved"), outcomes.count("failed"))


def remind(server: Server, limit: int = BATCH) -> TimeoutRun:
    """Queue the reminders that are due for open turns, each at its player's cadence."""
    now = server.now()
    outcomes = [_try_remind(server, row, now) for row in server.query(due_turns.to_remind, now, limit)]
    return TimeoutRun(decided=outcomes.count("reminded"), failed=outcomes.count("failed"))


def release_held(server: Server, held: Held) -> None:
    """Release the deadlines that a failure of the database left claimed; none of them counts an attempt."""
    while held:
        row = held[-1]
        server.store.write(partial(due_turns.release, row=row, attempts=row.attempts - 1))
        held.remove(row)


def note_failure(server: Server, row: DeadlineRow, error: Exception, held: Held) -> None:
    """Log a failed deadline and postpone it; after too many attempts it is parked.

    A failure of the database is no fault of the game's: the deadline is tried again as soon as the database is back.
    """
    if is_outage(error):
        _log.warning("deadline_waits", game=row.game_id, turn=row.turn, seat=row.seat, error=type(error).__name__)
        held.append(row)
        return
    _log.exception(
        "deadline_failed",
        game=row.game_id,
        turn=row.turn,
        seat=row.seat,
        attempts=row.attempts,
        parked=row.attempts >= due_turns.MOST_ATTEMPTS,
    )
    server.store.write(lambda tx: due_turns.release(tx, row, server.now() + RETRY_AFTER, row.attempts))


def _try_time_out(server: Server, row: DeadlineRow, now: datetime, held: Held) -> str:
    try:
        return server.run(_time_out, row, now)
    except Exception as error:  # noqa: BLE001 - one broken game must not stop the others
        note_failure(server, row, error, held)
        return "failed"


def _try_remind(server: Server, row: DeadlineRow, now: datetime) -> str:
    try:
        return server.run(_remind, row, now)
    except Exception as error:  # noqa: BLE001 - as above
        if is_outage(error):
            # It stays due.
            _log.warning("reminder_waits", game=row.game_id, error=type(error).__name__)
            return "waits"
        _log.exception("reminder_failed", game=row.game_id, turn=row.turn, seat=row.seat)
        server.store.write(lambda tx: deadlines.change(tx, row, remind_at=server.now() + RETRY_AFTER))
        return "failed"


def _time_out(tx: Tx, server: Server, claimed: DeadlineRow, now: datetime) -> str:
    """Time out one turn, if it is still open and due under the lock. Returns what happened."""
    game = games.lock_if_free(tx, claimed.game_id)
    if game is None:
        due_turns.release(tx, claimed, attempts=claimed.attempts - 1)
        return "busy"
    row = deadlines.read(tx, game.id, claimed.turn, claimed.seat)
    if row is None or row.status != TurnStatus.OPEN:
        return "answered"
    if game.status != TableStatus.PLAYING or game.paused:
        due_turns.release(tx, row)
        return "answered"
    deadline = clocks_deadlines.settle(tx, server, game, row)
    if deadline.at is None or deadline.at > now:
        due_turns.release(tx, row)
        return "moved"
    unread = received.unread_since(tx, game.id, row.turn, row.seat)
    if unread is not None and unread <= deadline.at:
        # A reply that came in time counts, however long it waits to be read.
        due_turns.release(tx, row, attempts=claimed.attempts - 1)
        return "unread"
    decision = position_of(tx, game).open().get(row.seat) if game.turn == row.turn else None
    if decision is None:
        deadlines.set_status(tx, game.id, row.turn, row.seat, TurnStatus.CLOSED, server.now())
        return "answered"
    receipt = play_locked(tx, server, game, row.turn, row.seat, decision.default, Actor.CLOCK)
    _email_missed_turn(tx, server, game, row, receipt.written)
    return "decided"


def _email_missed_turn(tx: Tx, server: Server, before: GameRow, row: DeadlineRow, written: str) -> None:
    """Email the player the choice made for them, and give up the seat after too many missed turns."""
    game = games.read(tx, before.id)
    player = next(player for player in player_rows.of_game(tx, game.id) if player.seat == row.seat)
    facts = {"choice": written, "due_at": row.due_at and row.due_at.isoformat(), "missed": player.missed}
    if game.status == TableStatus.PLAYING:
        graced = game.grace > 0 and deadlines.count_missed(tx, game.id, row.seat) <= game.grace
        facts["warning"] = grace_text(game.grace) if graced else warning(player.missed, agreement_of(game))
        if successor_after(player.missed, agreement_of(game)) is not Successor.BOT:
            until = second_chance.until(tx, server, game, row.turn, row.seat)
            facts |= {} if until is None else {"until": until.isoformat()}
    now = server.now()
    assert player.person_id is not None, "a bot is never timed out"
    email = outbox.NewEmail(player.person_id, EmailKind.AUTO_PASSED, game.id, game.seq, row.seat, row.turn, facts)
    outbox.queue(tx, [email], now)
    if game.status == TableStatus.PLAYING:
        offers.after_missed_turns(tx, server, game, player)


def _remind(tx: Tx, server: Server, due: DeadlineRow, now: datetime) -> str:
    """Queue one reminder, if it is still due under the lock. Returns what happened."""
    game = games.lock_if_free(tx, due.game_id)
    row = None if game is None else deadlines.read(tx, game.id, due.turn, due.seat)
    if game is None or row is None or row.status != TurnStatus.OPEN or row.remind_at is None or row.remind_at > now:
        return "dropped"
    clock = clocks_deadlines.clock_of(tx, game, row.turn, row.seat)
    deadline = clocks_deadlines.settle(tx, server, game, row)
    if clock is None or deadline.at is None or deadline.at <= now or game.paused:
        deadlines.change(tx, row, remind_at=None)
        return "dropped"
    moments = clocks_deadlines.reminder_moments(clock, deadline)
    reached = sum(moment <= now for moment in moments)
    if reached <= row.reminded:
        # The deadline has moved since; `settle` has stored the new time of the reminder.
        return "dropped"
    # If several reminders are overdue because no worker ran, one is enough.
    following = next(iter(moments[reached:]), None)
    promised = max(deadline.at, row.promised_at or deadline.at)
    deadlines.change(tx, row, reminded=reached, remind_at=following, promised_at=promised)
    facts = {"due_at": deadline.at.isoformat(), "last": following is None}
    email = outbox.NewEmail(clock.person.id, EmailKind.REMINDER, game.id, None, row.seat, row.turn, facts)
    outbox.queue(tx, [email], now)
    return "reminded"
