"""What a page needs to know of a seat besides its game, in as few statements as possible, because pages are opened
often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, and_, bindparam, exists, select

from pbem.domain.former_players import FormerPlayer
from pbem.store import deadlines, players, prefetch, talk
from pbem.store.deadlines import Key
from pbem.store.guests import IS_GUEST
from pbem.store.schema import DEADLINE, FORMER_PLAYER, PERSON, PLAYER, UNREACHABLE, VOTE

_MAIL_FAILS = exists().where(UNREACHABLE.c.person_id == PERSON.c.id, UNREACHABLE.c.end_at.is_(None))
_HERE = (PLAYER.c.seat, PLAYER.c.person_id, PLAYER.c.name, players.IN_A_ROW, VOTE.c.at.is_not(None), PLAYER.c.bot)
_BEFORE = (FORMER_PLAYER.c.seat, FORMER_PLAYER.c.seq, FORMER_PLAYER.c.turn, FORMER_PLAYER.c.name)
_AFTER_SEAT: Final = len(_HERE) + len(_BEFORE)
# A seat is repeated for each of its former players, who seldom are any: so one statement reads all of them.
_WITH_FORMER = (
    select(*_HERE, *_BEFORE)
    .outerjoin(VOTE, and_(VOTE.c.game_id == PLAYER.c.game_id, VOTE.c.seat == PLAYER.c.seat))
    .outerjoin(FORMER_PLAYER, and_(FORMER_PLAYER.c.game_id == PLAYER.c.game_id, FORMER_PLAYER.c.seat == PLAYER.c.seat))
)
_TAKEN = _WITH_FORMER.where(PLAYER.c.game_id == bindparam("of_game")).order_by(PLAYER.c.seat, FORMER_PLAYER.c.seq)
# The clock is repeated beside every seat, so that one statement reads both.
_TAKEN_WITH_CLOCK = (
    _TAKEN.add_columns(
        PERSON.c.zone,
        DEADLINE.c.due_at,
        DEADLINE.c.promised_at,
        DEADLINE.c.extensions,
        DEADLINE.c.week,
        _MAIL_FAILS,
        IS_GUEST,
        talk.NEW.scalar_subquery(),
    )
    .join(PERSON, PERSON.c.id == bindparam("of_person"))
    .outerjoin(
        DEADLINE,
        and_(
            DEADLINE.c.game_id == bindparam("of_game"),
            DEADLINE.c.turn == bindparam("of_turn"),
            DEADLINE.c.seat == bindparam("of_seat"),
        ),
    )
)
_READERS = select(PERSON.c.id, PERSON.c.zone, _MAIL_FAILS.label("mail_fails"), IS_GUEST.label("guest")).where(
    PERSON.c.id.in_(bindparam("these", expanding=True))
)
_ALL_TAKEN = (
    _WITH_FORMER.add_columns(PLAYER.c.game_id)
    .where(PLAYER.c.game_id.in_(bindparam("these", expanding=True)))
    .order_by(PLAYER.c.game_id, PLAYER.c.seat, FORMER_PLAYER.c.seq)
)


@dataclass(frozen=True, slots=True)
class Clock:
    """A seat's deadline, its player's time zone, and whether email to them fails.

    `guest` says that the player is a guest of the demo. `new_lines` counts what others have said since the player last
    decided or spoke; None for an email, which shows the lines themselves.
    """

    zone: str
    due_at: datetime | None
    promised_at: datetime | None
    extensions: str | None
    week: str | None
    mail_fails: bool
    guest: bool
    new_lines: int | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A seat, its player, how many turns in a row they have missed, and whether they agree to end the game.

    `bot` is the level of a bot that plays the seat, or None. `former` are the players that the seat had before, the earliest first.
    """

    seat: int
    person_id: int | None
    name: str
    missed: int
    agrees: bool
    bot: str | None
    former: tuple[FormerPlayer, ...] = ()


def taken_with_clock(
    tx: Connection, game_id: int, turn: int, seat: int, person_id: int, since: int
) -> tuple[list[Taken], Clock]:
    """The seats of a game in order, and one seat's clock in a turn, whose player last decided in row `since` of the
    log."""
    values = {"of_game": game_id, "of_turn": turn, "of_seat": seat, "of_person": person_id}
    clock: Clock | None = prefetch.get(tx, ("clock", *values.values()))
    if clock is not None:
        return taken(tx, game_id), clock
    rows = tx.execute(_TAKEN_WITH_CLOCK, values | {"since_seq": since}).all()
    return _seats(rows), Clock(*rows[0][_AFTER_SEAT:])


def taken(tx: Connection, game_id: int) -> list[Taken]:
    """The seats of a started game, in order."""
    return prefetch.get_or_read(tx, ("taken", game_id), lambda: _seats(tx.execute(_TAKEN, {"of_game": game_id}).all()))


def former(taken: Sequence[Taken]) -> tuple[FormerPlayer, ...]:
    """The former players of all these seats, those of each seat the earliest first."""
    return tuple(before for seat in taken for before in seat.former)


def read_ahead(tx: Connection, played: Mapping[Key, int]) -> None:
    """Read ahead the clocks of these seats and turns, given with their players, and the other seats of the games."""
    readers = {row.id: row for row in tx.execute(_READERS, {"these": sorted(set(played.values()))})}
    asked = deadlines.read_all(tx, played)
    for key, person_id in played.items():
        reader, row = readers[person_id], asked.get(key)
        due_at, promised_at, extensions, week = (
            (None, None, None, None) if row is None else (row.due_at, row.promised_at, row.extensions, row.week)
        )
        clock = Clock(
            reader.zone, due_at, promised_at, extensions, week, reader.mail_fails, reader.guest, new_lines=None
        )
        prefetch.put(tx, ("clock", *key, person_id), clock)
        prefetch.put(tx, ("deadline", *key), row)
    rows: dict[int, list[Row[Any]]] = {game_id: [] for game_id, _turn, _seat in played}
    for each in tx.execute(_ALL_TAKEN, {"these": list(rows)}):
        rows[each.game_id].append(each)
    for game_id, of_game in rows.items():
        prefetch.put(tx, ("taken", game_id), _seats(of_game))


def _seats(rows: Sequence[Row[Any]]) -> list[Taken]:
    """The seats in rows that repeat each of them for all its former players."""
    seats: list[Taken] = []
    for row in rows:
        seat, former = Taken(*row[: len(_HERE)]), row[len(_HERE) : _AFTER_SEAT]
        if former[0] is not None:
            same = seats and seats[-1].seat == seat.seat
            seat = replace(seat, former=((*seats.pop().former,) if same else ()) + (FormerPlayer(*former),))
        seats.append(seat)
    return seats
