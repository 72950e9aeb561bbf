"""Pauses and extensions of a table.

Each is a row of the log and an email to the players, and the deadlines are settled in the same transaction.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pbem.domain.duration import short_duration
from pbem.domain.errors import Gone
from pbem.domain.extension import ExtendedTo, Extension, parse_extension, with_extension
from pbem.domain.localtime import stored_zone
from pbem.domain.states import TableStatus, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.clocks.deadlines import people_by_seat
from pbem.service.play.log import Kind, add_row
from pbem.service.server import Server
from pbem.store import deadlines, games, pauses, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow


def pause(tx: Tx, server: Server, game_id: int, reason: str, by: str) -> None:
    """Pause a table: stop its clocks and tell its players."""
    game = playing(tx, game_id)
    if game.paused:
        raise Gone(_("This table is already paused."), remedy=_("Nothing changed."))
    game = add_row(tx, server, game, Kind.PAUSED, None, by, {"reason": reason})
    pauses.begin(tx, game_id, server.now())
    tables.change_game(tx, game_id, paused=True)
    clocks_deadlines.settle_game(tx, server, game, tell=False)
    clocks_deadlines.notify_people(tx, server, game, "paused", {"reason": reason, "by": by})


def resume(tx: Tx, server: Server, game_id: int, reason: str, by: str) -> None:
    """Resume a paused table, and tell its players their new deadlines."""
    game = playing(tx, game_id)
    if not game.paused:
        raise Gone(_("This table isn't paused."), remedy=_("Nothing changed."))
    game = add_row(tx, server, game, Kind.RESUMED, None, by, {"reason": reason})
    pauses.end(tx, game_id, server.now())
    tables.change_game(tx, game_id, paused=False)
    announce(tx, server, game, "resumed", {"reason": reason, "by": by})


def announce(tx: Tx, server: Server, game: GameRow, what: str, facts: Mapping[str, object]) -> None:
    """Settle all deadlines of a table, and tell everyone there what happened and their new deadlines."""
    settled = clocks_deadlines.settle_game(tx, server, game, tell=False)
    people, asked = people_by_seat(tx, game.id), deadlines.of_game(tx, game.id)
    for person_id in sorted({*people.values()}):
        own = [row for row in asked if people.get(row.seat) == person_id]
        # A clock that has not started gets its deadline with the turn email.
        running: list[DeadlineRow | None] = [row for row in own if row.seat in settled and settled[row.seat].at]
        for row in running or [None]:
            values = {**facts, "in_turn": bool(own), "due_at": None if row is None else settled[row.seat].at}
            clocks_deadlines.queue_notice(tx, server, person_id, game, row, what, values)


def extend(tx: Tx, server: Server, game_id: int, more: str, reason: str, seat: int | None, by: str) -> None:
    """Extend the deadlines of the open turn, of all seats or of one, by `1d` or until `2026-12-01 20:00`.

    It works alike for a seat that has answered already: a refusal would tell who has.
    """
    game = playing(tx, game_id)
    extension = parse_extension(more, server.now(), stored_zone(server.zone))
    people = people_by_seat(tx, game_id)
    asked = [row for row in deadlines.of_turn(tx, game) if seat in (None, row.seat) and row.seat in people]
    if not asked:
        raise Gone(_("It's nobody's turn right now."), why=_("Only an open turn can get more time."))
    # One row for all: a row for each seat would reveal who has not decided yet.
    game = add_row(tx, server, game, Kind.EXTENDED, seat, by, {"more": more, "reason": reason})
    why: dict[str, object] = {"reason": reason, "by": by}
    for row in asked:
        # A player who has answered may take that back as long as the turn is open, and has more time then too.
        due_at = None if row.status == TurnStatus.MISSED else extend_seat(tx, server, game, row, extension)
        if row.status == TurnStatus.OPEN:
            facts = why | {"more": more, "due_at": due_at}
            clocks_deadlines.queue_notice(tx, server, people[row.seat], game, row, "extended", facts)
    # The others are told no more than the row says: not who has not decided yet.
    who = "" if seat is None else next(each.called for each in player_rows.of_game(tx, game_id) if each.seat == seat)
    if isinstance(extension, ExtendedTo):
        facts = why | {"who": who, "until": extension.moment}
    else:
        facts = why | {"who": who, "length": short_duration(extension.amount)}
    clocks_deadlines.notify_people(tx, server, game, "others_extended", facts, but={people[row.seat] for row in asked})
    for row in asked:
        if row.status != TurnStatus.OPEN:
            others = facts | {"who": ""}
            clocks_deadlines.queue_notice(tx, server, people[row.seat], game, None, "others_extended", others)


def extend_seat(tx: Tx, server: Server, game: GameRow, row: DeadlineRow, extension: Extension) -> datetime | None:
    """Extend the deadline of one seat, which may have answered already; returns the new one."""
    row = replace(row, extensions=with_extension(row.extensions, extension))
    deadlines.change(tx, row, extensions=row.extensions)
    return clocks_deadlines.settle(tx, server, game, row, tell=False).at


def playing(tx: Tx, game_id: int) -> GameRow:
    """A game in progress, locked. Raises Gone if it isn't."""
    game = games.lock(tx, game_id)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("This game isn't in progress."), why=_("Clocks only run during a game."))
    return game
