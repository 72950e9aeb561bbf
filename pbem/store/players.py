"""Players of games, as rows, by seat, and the former players of seats."""

from collections.abc import Collection
from dataclasses import asdict, fields
from typing import Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    bindparam,
    case,
    cast,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from pbem.domain.former_players import FormerPlayer
from pbem.store import prefetch, queries
from pbem.store.schema import DEADLINE, FORMER_PLAYER, GAME, PERSON, PLAYER, FormerPlayerRow, PlayerRow

_ONE = literal_column("1", type_=Integer)
_SEAT_NUMBER = cast(PLAYER.c.seat, Integer)


def among(seats: str) -> ColumnElement[bool]:
    """Whether a player's seat is in the bit set given by this parameter.

    A list would make a new statement for each length, which a move cannot afford.
    """
    return bindparam(seats, type_=Integer).bitwise_rshift(_SEAT_NUMBER).bitwise_and(_ONE) == _ONE


def bits(seats: Collection[int]) -> int:
    """Seats as such a bit set."""
    return sum(1 << seat for seat in seats)


# Written out, or SQLite would compile these each time to see whether a partial index fits.
_MISSED: ColumnElement[str] = literal_column("'missed'")
_TURN = GAME.alias("of_player")
LAST_STATUS: Final = (
    select(DEADLINE.c.status)
    .join(_TURN, _TURN.c.id == DEADLINE.c.game_id)
    .where(
        DEADLINE.c.game_id == PLAYER.c.game_id,
        DEADLINE.c.seat == PLAYER.c.seat,
        or_(DEADLINE.c.turn < _TURN.c.turn, DEADLINE.c.status == _MISSED),
        DEADLINE.c.status != literal_column("'rewound'"),
    )
    .order_by(DEADLINE.c.turn.desc())
    .limit(1)
    .correlate(PLAYER)
    .scalar_subquery()
)
"""What became of the last turn of a player's seat that is over, or that the clock has decided.

A choice in an open turn makes no difference: what follows from missed turns would tell others of it.
"""

IN_A_ROW: Final = case((PLAYER.c.missed == 0, 0), (LAST_STATUS == _MISSED, PLAYER.c.missed), else_=0).label("missed")
"""How many turns in a row a player has missed, as far as the turns are over or the clock has decided."""

_OF_PLAYER_ROW = tuple(IN_A_ROW if field.name == "missed" else PLAYER.c[field.name] for field in fields(PlayerRow))

_MISSED_IN_A_ROW = select(IN_A_ROW).where(
    PLAYER.c.game_id == bindparam("of_game"), PLAYER.c.seat == bindparam("of_seat")
)
_SET_MISSED = (
    update(PLAYER)
    .where(PLAYER.c.game_id == bindparam("of_game"), PLAYER.c.seat == bindparam("of_seat"))
    .values(missed=bindparam("times"))
)


class SeatRow(NamedTuple):
    """A seat as a move needs it, with its player.

    `sealed` is whether the player gets an email when a sealed choice is in; None for a bot.
    """

    seat: int
    person_id: int | None
    bot: str | None
    sealed: bool | None


_PLAYERS = select(*_OF_PLAYER_ROW).where(PLAYER.c.game_id == bindparam("of_game")).order_by(PLAYER.c.number)
SEAT_FIELDS = (PLAYER.c.seat, PLAYER.c.person_id, PLAYER.c.bot, PERSON.c.sealed)
OF_PLAYER = PERSON.c.id == PLAYER.c.person_id
_SEAT = (
    select(*SEAT_FIELDS)
    .join_from(PLAYER, PERSON, OF_PLAYER, isouter=True)
    .where(PLAYER.c.game_id == bindparam("of_game"), PLAYER.c.seat == bindparam("of_seat"))
)


def of_game(tx: Connection, game_id: int) -> list[PlayerRow]:
    """The players of a game, in order of joining."""
    return prefetch.get_or_read(
        tx, ("players", game_id), lambda: queries.many(tx, PlayerRow, _PLAYERS, {"of_game": game_id})
    )


def at_seat(tx: Connection, game_id: int, seat: int) -> SeatRow | None:
    """The player of a seat, as a move needs it; None if there is none."""
    return queries.one(tx, SeatRow, _SEAT, {"of_game": game_id, "of_seat": seat})


def of_games(tx: Connection, game_ids: Collection[int]) -> dict[int, list[PlayerRow]]:
    """The players of these games, in order of joining."""
    query = select(*_OF_PLAYER_ROW).where(PLAYER.c.game_id.in_(game_ids)).order_by(PLAYER.c.game_id, PLAYER.c.number)
    players: dict[int, list[PlayerRow]] = {game_id: [] for game_id in game_ids}
    for row in tx.execute(query):
        players[row.game_id].append(PlayerRow(*row))
    return players


def in_a_row(tx: Connection, game_id: int, seat: int) -> int:
    """How many turns in a row the player of a seat has missed."""
    return int(tx.execute(_MISSED_IN_A_ROW, {"of_game": game_id, "of_seat": seat}).scalar_one())


def set_missed(tx: Connection, game_id: int, seat: int, times: int) -> None:
    """Set how many turns in a row a seat has missed; it counts until a turn that the seat has answered is over."""
    tx.execute(_SET_MISSED, {"of_game": game_id, "of_seat": seat, "times": times})


def former_of_game(tx: Connection, game_id: int) -> list[FormerPlayerRow]:
    """The former players of a game's seats, the earliest first."""
    of_game = select(FORMER_PLAYER).where(FORMER_PLAYER.c.game_id == game_id)
    return queries.many(tx, FormerPlayerRow, of_game.order_by(FORMER_PLAYER.c.seq))


def former_names(tx: Connection, game_id: int) -> tuple[FormerPlayer, ...]:
    """The same with what others see of them."""
    return tuple(FormerPlayer(row.seat, row.seq, row.turn, row.name) for row in former_of_game(tx, game_id))


def rename_former(tx: Connection, game_id: int, before: str, now: str) -> None:
    """Change the name of a former player, of whichever seats they had under it."""
    of_game = update(FORMER_PLAYER).where(FORMER_PLAYER.c.game_id == game_id)
    tx.execute(of_game.where(FORMER_PLAYER.c.name == before).values(name=now))


def add_former(tx: Connection, row: FormerPlayerRow) -> None:
    """Note who had a seat until now. The game must be locked."""
    tx.execute(insert(FORMER_PLAYER), asdict(row))
