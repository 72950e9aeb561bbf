"""What a page needs to know of a seat besides its game, in as few statements as possible, because pages are opened
often."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, exists, select

from pbem.store import deadlines, prefetch, talk
from pbem.store.deadlines import Key
from pbem.store.guests import IS_GUEST
from pbem.store.schema import Deadline, Person, Player, Unreachable, Vote, table_of

_DEADLINE, _PERSON, _PLAYER, _UNREACHABLE = (
    table_of(Deadline),
    table_of(Person),
    table_of(Player),
    table_of(Unreachable),
)
_VOTE = table_of(Vote)

_MAIL_FAILS = exists().where(_UNREACHABLE.c.person_id == _PERSON.c.id, _UNREACHABLE.c.end_at.is_(None))
_HERE = (_PLAYER.c.seat, _PLAYER.c.person_id, _PLAYER.c.name, _PLAYER.c.missed, _VOTE.c.at.is_not(None))
_TAKEN = (
    select(*_HERE)
    .outerjoin(_VOTE, and_(_VOTE.c.game_id == _PLAYER.c.game_id, _VOTE.c.seat == _PLAYER.c.seat))
    .where(_PLAYER.c.game_id == bindparam("of_game"))
    .order_by(_PLAYER.c.seat)
)
# The clock is repeated beside every seat, so that one statement reads both.
_TAKEN_WITH_CLOCK = (
    _TAKEN.add_columns(
        _PERSON.c.zone, _DEADLINE.c.due_at, _DEADLINE.c.promised_at, _MAIL_FAILS, IS_GUEST, talk.NEW.scalar_subquery()
    )
    .join(_PERSON, _PERSON.c.id == bindparam("of_person"))
    .outerjoin(
        _DEADLINE,
        and_(
            _DEADLINE.c.game_id == bindparam("of_game"),
            _DEADLINE.c.turn == bindparam("of_turn"),
            _DEADLINE.c.seat == bindparam("of_seat"),
        ),
    )
)
_READERS = select(_PERSON.c.id, _PERSON.c.zone, _MAIL_FAILS.label("mail_fails"), IS_GUEST.label("guest")).where(
    _PERSON.c.id.in_(bindparam("these", expanding=True))
)
_ALL_TAKEN = (
    select(_PLAYER.c.game_id, *_HERE)
    .outerjoin(_VOTE, and_(_VOTE.c.game_id == _PLAYER.c.game_id, _VOTE.c.seat == _PLAYER.c.seat))
    .where(_PLAYER.c.game_id.in_(bindparam("these", expanding=True)))
    .order_by(_PLAYER.c.game_id, _PLAYER.c.seat)
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
    mail_fails: bool
    guest: bool
    new_lines: int | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A seat, its player, how many turns in a row they have missed, and whether they agree to end the game."""

    seat: int
    person_id: int | None
    name: str
    missed: int
    agrees: bool


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
    return [Taken(*row[: len(_HERE)]) for row in rows], Clock(*rows[0][len(_HERE) :])


def taken(tx: Connection, game_id: int) -> list[Taken]:
    """The seats of a started game, in order."""
    return prefetch.get_or_read(
        tx, ("taken", game_id), lambda: [Taken(*row) for row in tx.execute(_TAKEN, {"of_game": game_id})]
    )


def read_ahead(tx: Connection, played: Mapping[Key, int]) -> None:
    """Read ahead the clocks of these seats and turns, given with their players, and the other seats of the games."""
    readers = {row.id: row for row in tx.execute(_READERS, {"these": sorted(set(played.values()))})}
    asked = deadlines.read_all(tx, played)
    for key, person_id in played.items():
        reader, row = readers[person_id], asked.get(key)
        due_at, promised_at = (None, None) if row is None else (row.due_at, row.promised_at)
        clock = Clock(reader.zone, due_at, promised_at, reader.mail_fails, reader.guest, new_lines=None)
        prefetch.put(tx, ("clock", *key, person_id), clock)
        prefetch.put(tx, ("deadline", *key), row)
    taken: dict[int, list[Taken]] = {game_id: [] for game_id, _turn, _seat in played}
    for game_id, *seat in tx.execute(_ALL_TAKEN, {"these": list(taken)}):
        taken[game_id].append(Taken(*seat))
    for game_id, seats in taken.items():
        prefetch.put(tx, ("taken", game_id), seats)
