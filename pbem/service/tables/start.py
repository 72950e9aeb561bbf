"""Starting the game of a full table: the seed, the order of seats, the deal and the first turns.

The seed is made from the server's secret, committed to beforehand, and the players' words; it also draws the seats, except at
the tables of a tournament, which gives them. The table's settings become the first row of its log. From here on `play.move`
moves the game.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from engine import codec
from engine.chance import Stream, seed_from
from engine.table import Position, deal
from pbem.domain.states import EmailKind, TableStatus
from pbem.service.play.log import Kind, LogWriter
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, games, log, outbox, players as player_rows, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

SEATING: Final = 2**63
"""The random stream that draws the seats; no log is long enough for an entry to use the same one."""

RETRY_AFTER: Final = timedelta(hours=1)
"""When a game that couldn't start, for instance because its rules are not here, is tried again."""


def start_due(server: Server) -> list[int]:
    """Start the games whose date has come, each in its own transaction. Returns their ids."""
    started = {
        game_id: server.attempt(_start_due, game_id) for game_id in server.query(tables.due_to_start, server.now())
    }
    for game_id in (game_id for game_id, has_started in started.items() if has_started is None):
        server.attempt(_put_off, game_id)
    return [game_id for game_id, has_started in started.items() if has_started]


def _start_due(tx: Tx, server: Server, game_id: int) -> bool:
    row = games.lock_if_free(tx, game_id)
    now = server.now()
    # It may have been closed since it was read.
    if row is None or row.status != TableStatus.OPEN or row.starts_at is None or row.starts_at > now:
        return False
    # With too few players, it begins as soon as there are enough.
    tables.change_game(tx, row.id, starts_at=None)
    return start_if_ready(tx, server, row._replace(starts_at=None), player_rows.of_game(tx, row.id))


def _put_off(tx: Tx, server: Server, game_id: int) -> None:
    row = games.lock(tx, game_id)
    if row.status == TableStatus.OPEN and row.starts_at is not None:
        tables.change_game(tx, game_id, starts_at=server.now() + RETRY_AFTER)


def start_if_ready(tx: Tx, server: Server, row: GameRow, players: list[PlayerRow]) -> bool:
    """Start the game if enough players are there, its host among them, and its date has come. The game is locked."""
    enough = len(players) >= row.fewest and any(player.person_id == row.host_id for player in players)
    if not enough or (row.starts_at is not None and row.starts_at > server.now()):
        return False
    start(tx, server, row, players)
    return True


def start(
    tx: Tx, server: Server, row: GameRow, players: list[PlayerRow], tournament: Mapping[str, str | int] | None = None
) -> None:
    """Draw seats, deal, and open the first turns. The game is locked.

    At a table of a `tournament`, whose name and round are in its log, players sit in the order in which they are listed.
    """
    now = server.now()
    rules = rules_of(row)
    # A table that waited through a change of the rules begins with the newest.
    row = row._replace(rules=rules.version, seats=len(players))
    seed = seed_from(row.secret, [player.word for player in players])
    seating = Stream(seed, SEATING).shuffle(range(row.seats)) if tournament is None else list(range(row.seats))
    seated = {seat: player for player, seat in zip(players, seating, strict=True)}
    tables.seat_all(tx, row.id, [(player.number, seat) for seat, player in seated.items()])
    position, entries = deal(rules, row.seats, seed, json.loads(row.options))
    record = LogWriter(row, now, server.randomness)
    given = {} if tournament is None else {"tournament": dict(tournament)}
    record.add(Kind.BEGAN, None, "table", _settings_of(row, seated, players, seating) | given)
    record.entries(0, entries, None, "table")
    log.append(tx, row.id, record.rows)
    tables.change_game(
        tx,
        row.id,
        rules=row.rules,
        seats=row.seats,
        status=TableStatus.PLAYING,
        started_at=now,
        seed=seed,
        turn=position.turn,
        state=codec.dumps(position.state),
        box="[]",
        orders="[]",
        **record.snapshot(),
    )
    tables.drop_join_requests(tx, row.id)
    _open_turns(tx, row, seated, position, record.seq, now)


def _settings_of(
    row: GameRow, seated: dict[int, PlayerRow], players: list[PlayerRow], seating: list[int]
) -> dict[str, Any]:
    """The first row of the log. Words and seating are in the order of joining."""
    return {
        "kind": row.kind,
        "seats": row.seats,
        "options": json.loads(row.options),
        "commitment": row.commitment,
        "words": [player.word for player in players],
        "seating": seating,
        "bots": sorted([seat, player.bot] for seat, player in seated.items() if player.bot is not None),
        "pace": row.pace,
        **({"time_off": row.time_off} if row.time_off else {}),
        "missed_limit": row.missed_limit,
        **({"grace": row.grace} if row.grace else {}),
        **({"second_chance": row.second_chance} if row.second_chance else {}),
        **({"going_back": True} if row.going_back else {}),
        "successor": row.successor,
        "stand_in": row.stand_in,
        "hints": row.hints,
        "rated": row.rated,
        # A log that says so has a fingerprint of every sealed choice; older logs have none.
        "fingerprints": True,
    }


def _open_turns(
    tx: Tx, row: GameRow, seated: dict[int, PlayerRow], position: Position, seq: int, now: datetime
) -> None:
    """Open the first turns, and queue the emails about the start."""
    asked = sorted(position.open())
    deadlines.ask(tx, row.id, position.turn, asked, now)
    emails = [
        outbox.NewEmail(player.person_id, kind, row.id, seq, seat, position.turn)
        for seat, player in sorted(seated.items())
        if player.person_id is not None
        for kind in ((EmailKind.WELCOME, EmailKind.TURN) if seat in asked else (EmailKind.WELCOME,))
    ]
    outbox.queue(tx, emails, now)
