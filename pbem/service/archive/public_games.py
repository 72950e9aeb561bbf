"""Finished games at public tables as everyone may know them, for programs: their places, scores, settings and length.

It tells what the pages of these tables tell. A private table is in nothing here, and a person without a profile that everyone may
see is no more than a name at a table.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pbem.domain.errors import Unplayable
from pbem.service.play.endings import ranking_at_end
from pbem.service.server import Server
from pbem.store import players as player_rows, profiles, public_games
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.schema import ProfileRow


@dataclass(frozen=True, slots=True)
class PublicSeat:
    """A seat at the end: the name there, the level of a bot, or the profile of a person if everyone may see it.

    `rank` and `score` are None if the game's rules aren't installed any more.
    """

    name: str
    bot: str | None
    profile: ProfileRow | None
    rank: int | None
    score: int | None


@dataclass(frozen=True, slots=True)
class PublicGame:
    """A finished game at a public table. `tournament` has the key of its tournament, the round and the table."""

    key: str
    kind: str
    rules: int
    title: str
    rated: bool
    options: dict[str, str | int]
    turns: int
    days: int
    ended_on: date
    seats: tuple[PublicSeat, ...]
    tournament: tuple[str, int, int] | None


@dataclass(frozen=True, slots=True)
class PublicGames:
    """Games, the latest first. `last` is the key of the last one if there are earlier ones, else empty."""

    games: tuple[PublicGame, ...]
    last: str


def listed(tx: Tx, server: Server, kind: str, after: str, limit: int) -> PublicGames:
    """The games of a kind, or of all kinds, that ended before the one with the key `after`. Raises NotFound without such a game."""
    below = public_games.position(tx, after) if after else public_games.END
    rows = public_games.newest(tx, kind, below, limit + 1)
    return PublicGames(of_rows(tx, rows[:limit]), rows[limit - 1].key if len(rows) > limit else "")


def of_rows(tx: Tx, rows: Sequence[GameRow]) -> tuple[PublicGame, ...]:
    """These games, in their order and in a fixed number of statements."""
    ids = [row.id for row in rows]
    players, tournaments = player_rows.of_games(tx, ids), public_games.in_tournaments(tx, ids)
    seated = {each.person_id for of_game in players.values() for each in of_game if each.person_id is not None}
    shown = profiles.shown_to_everyone(tx, seated)
    return tuple(_game(tx, row, players[row.id], shown, tournaments.get(row.id)) for row in rows)


def _game(
    tx: Tx,
    row: GameRow,
    players: list[PlayerRow],
    shown: dict[int, ProfileRow],
    tournament: tuple[str, int, int] | None,
) -> PublicGame:
    assert row.started_at is not None, "the game has begun"
    assert row.ended_at is not None, "the game is over"
    try:
        found = {seat: (each.number, each.score) for each in ranking_at_end(tx, row) for seat in each.seats}
    except Unplayable:
        found = {}
    by_seat = {each.seat: each for each in players}
    return PublicGame(
        key=row.key,
        kind=row.kind,
        rules=row.rules,
        title=row.title,
        rated=row.rated,
        options=json.loads(row.options),
        turns=row.turn,
        days=(row.ended_at - row.started_at).days,
        ended_on=row.ended_at.date(),
        seats=tuple(
            PublicSeat(
                (player := by_seat[seat]).name,
                player.bot,
                shown.get(player.person_id or 0),
                *found.get(seat, (None, None)),
            )
            for seat in range(row.seats)
        ),
        tournament=tournament,
    )
