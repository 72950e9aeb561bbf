"""Tournaments, their entrants and the tables of their rounds, as rows."""

from collections.abc import Collection, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    bindparam,
    delete,
    func,
    insert,
    literal,
    literal_column,
    select,
    tuple_,
    update,
)

from pbem.domain.deleted_people import NAME
from pbem.domain.interval import Interval, overlap
from pbem.domain.states import EntrantStatus, InvitationStatus, TableStatus, TournamentStatus
from pbem.i18n.speech import mark
from pbem.store import queries
from pbem.store.limits import Period, within
from pbem.store.schema import (
    ENTRANT,
    GAME,
    ROUND_TABLE,
    SIGN_UP,
    TOURNAMENT,
    EntrantRow,
    RoundTableRow,
    SignUpRow,
    TournamentRow,
)

_MISSING: Final = mark("There's no such tournament.")
# Written out, so that the partial index fits.
_CURRENT: Final = literal_column("tournament.status IN ('open', 'playing')", type_=Boolean)
_LATEST: Final = (datetime(9999, 12, 31, tzinfo=UTC), "")
"""After all tournaments. Without a bound, databases would not say that they only read a part of an index."""
_READ = select(TOURNAMENT).where(TOURNAMENT.c.id == bindparam("of_id"))
ROUND: Final = (
    select(TOURNAMENT.c.round).where(TOURNAMENT.c.id == ENTRANT.c.tournament_id).correlate(ENTRANT).scalar_subquery()
)
"""The round of an entrant's tournament: the last that one who leaves now can be in."""

_CURRENT_ONES: Final = select(TOURNAMENT).where(_CURRENT).order_by(TOURNAMENT.c.id)
_HAS_ENTERED: Final = TOURNAMENT.c.id.in_(
    select(ENTRANT.c.tournament_id).where(
        ENTRANT.c.person_id == bindparam("of_person"), ENTRANT.c.status.in_((EntrantStatus.IN, EntrantStatus.WAITING))
    )
)
_PRESENT: Final = (EntrantStatus.IN, EntrantStatus.WAITING)
_ENDED: Final = (TableStatus.OVER, TableStatus.VOID)


def add(tx: Connection, **values: Any) -> int:
    """Add a tournament; returns its id."""
    return queries.add(tx, TOURNAMENT, values)


def change(tx: Connection, tournament_id: int, **values: Any) -> None:
    """Change a tournament, which is locked."""
    tx.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id).values(values))


def read(tx: Connection, tournament_id: int) -> TournamentRow:
    """A tournament. Raises NotFound."""
    return queries.only(tx, TournamentRow, _READ, _MISSING, {"of_id": tournament_id})


def lock(tx: Connection, tournament_id: int) -> TournamentRow:
    """A tournament, locked until the transaction ends. Raises NotFound."""
    return queries.only(tx, TournamentRow, _READ.with_for_update(), _MISSING, {"of_id": tournament_id})


def by_key(tx: Connection, key: str) -> TournamentRow:
    """The tournament of this name. Raises NotFound."""
    return queries.only(tx, TournamentRow, select(TOURNAMENT).where(TOURNAMENT.c.key == key), _MISSING)


def listed(
    tx: Connection, status: TournamentStatus | None, below: TournamentRow | None, limit: int
) -> list[TournamentRow]:
    """Tournaments of a status or of all that everyone may see, the newest first: those that are older than another one, if that is
    given."""
    order = (TOURNAMENT.c.created_at, TOURNAMENT.c.key)
    bound = _LATEST if below is None else (below.created_at, below.key)
    query = select(TOURNAMENT).where(tuple_(*order) < tuple_(*map(literal, bound)), TOURNAMENT.c.group_id.is_(None))
    if status is not None:
        query = query.where(TOURNAMENT.c.status == status)
    return queries.many(tx, TournamentRow, query.order_by(*(each.desc() for each in order)).limit(limit))


def all_with_status(tx: Connection, status: TournamentStatus, limit: int) -> list[TournamentRow]:
    """Tournaments of a status, those of groups too, the newest first."""
    query = select(TOURNAMENT).where(TOURNAMENT.c.status == status).order_by(TOURNAMENT.c.created_at.desc())
    return queries.many(tx, TournamentRow, query.limit(limit))


def of_group(tx: Connection, group_id: int, limit: int) -> list[TournamentRow]:
    """The tournaments of a group, the newest first."""
    query = select(TOURNAMENT).where(TOURNAMENT.c.group_id == group_id).order_by(TOURNAMENT.c.created_at.desc())
    return queries.many(tx, TournamentRow, query.limit(limit))


def count_hosted(tx: Connection, person_id: int) -> int:
    """The number of current tournaments of a host."""
    return queries.count(tx, TOURNAMENT, TOURNAMENT.c.host_id == person_id, _CURRENT)


def due(tx: Connection, now: datetime) -> list[int]:
    """The ids of tournaments that have something to do: sign-up is over, a table has ended, or a round is late."""
    current = select(TOURNAMENT.c.id).where(_CURRENT, TOURNAMENT.c.paused_at.is_(None))
    ended = select(ROUND_TABLE.c.tournament_id).join(GAME, GAME.c.id == ROUND_TABLE.c.game_id)
    ended = ended.where(ROUND_TABLE.c.places.is_(None), queries.unindexed(GAME.c.status).in_(_ENDED))
    closes = (TOURNAMENT.c.status == TournamentStatus.OPEN) & (TOURNAMENT.c.closes_at <= now)
    late = (TOURNAMENT.c.status == TournamentStatus.PLAYING) & (TOURNAMENT.c.due_at <= now)
    return list(
        tx.execute(current.where(closes | late | TOURNAMENT.c.id.in_(ended)).order_by(TOURNAMENT.c.id)).scalars()
    )


def entrants(tx: Connection, tournament_id: int) -> list[EntrantRow]:
    """The entrants in the order of signing up, also those who wait or have left."""
    query = select(ENTRANT).where(ENTRANT.c.tournament_id == tournament_id).order_by(ENTRANT.c.number)
    return queries.many(tx, EntrantRow, query)


def entry_of(entrants: Iterable[EntrantRow], person_id: int) -> EntrantRow | None:
    """The entry of a person among these, the one that still plays if there are two; None if they never signed up."""
    own = [each for each in entrants if each.person_id == person_id]
    return min(own, key=_preferred, default=None)


def join_people(tx: Connection, old: int, new: int) -> list[int]:
    """Give one person's entries to another. Returns the tournaments in which both took part. Current ones are locked.

    Before the start the better entry stays: a place before a waiting one, the earlier of two. After the start both are theirs,
    and the other one leaves after this round, so that no result is lost.
    """
    of_both = select(ENTRANT).where(ENTRANT.c.person_id.in_((old, new))).order_by(ENTRANT.c.tournament_id)
    both = []
    for tournament_id, group in groupby(queries.many(tx, EntrantRow, of_both), key=lambda each: each.tournament_id):
        stays, *others = sorted(group, key=_preferred)
        if not {old, new} <= {each.person_id for each in (stays, *others)}:
            continue
        both.append(tournament_id)
        status = read(tx, tournament_id).status
        for each in others:
            if status == TournamentStatus.OPEN:
                tx.execute(delete(ENTRANT).where(*_one_entrant(tournament_id, each.number)))
            elif status == TournamentStatus.PLAYING and each.status in _PRESENT:
                change_entrant(tx, tournament_id, each.number, status=EntrantStatus.LEFT, until=ROUND)
    tx.execute(update(ENTRANT).where(ENTRANT.c.person_id == old).values(person_id=new))
    return both


def _preferred(entrant: EntrantRow) -> tuple[int, int]:
    """What sorts the entries of one person, the best first."""
    return _PRESENT.index(entrant.status) if entrant.status in _PRESENT else len(_PRESENT), entrant.number


def _one_entrant(tournament_id: int, number: int) -> tuple[ColumnElement[bool], ...]:
    return ENTRANT.c.tournament_id == tournament_id, ENTRANT.c.number == number


def count_entrants(tx: Connection, tournament_ids: Collection[int]) -> dict[int, int]:
    """How many take part, by tournament; 0 for one that nobody has signed up for."""
    query = select(ENTRANT.c.tournament_id, func.count()).where(
        ENTRANT.c.tournament_id.in_(list(tournament_ids)), ENTRANT.c.status == EntrantStatus.IN
    )
    found = {each: int(number) for each, number in tx.execute(query.group_by(ENTRANT.c.tournament_id))}
    return {each: found.get(each, 0) for each in tournament_ids}


def names(tx: Connection, numbers: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """The names of some entrants, by their tournament and number."""
    query = select(ENTRANT.c.tournament_id, ENTRANT.c.number, ENTRANT.c.name)
    these = query.where(tuple_(ENTRANT.c.tournament_id, ENTRANT.c.number).in_(list(numbers)))
    return {(of_id, number): name for of_id, number, name in tx.execute(these)} if numbers else {}


def add_entrant(tx: Connection, row: EntrantRow) -> None:
    """Add an entrant to a tournament, which is locked."""
    tx.execute(insert(ENTRANT), asdict(row))


def change_entrant(tx: Connection, tournament_id: int, number: int, **values: Any) -> None:
    """Change an entrant of a tournament, which is locked."""
    tx.execute(update(ENTRANT).where(*_one_entrant(tournament_id, number)).values(values))


def of_person(tx: Connection, person_id: int) -> list[TournamentRow]:
    """The current tournaments that a person takes part in, or waits for, in the order of their ids."""
    return queries.many(tx, TournamentRow, _CURRENT_ONES.where(_HAS_ENTERED), {"of_person": person_id})


def own(tx: Connection, person_id: int) -> list[TournamentRow]:
    """The current tournaments that a person takes part in, waits for or hosts, in the order of their ids."""
    hosts = TOURNAMENT.c.host_id == bindparam("of_person")
    return queries.many(tx, TournamentRow, _CURRENT_ONES.where(_HAS_ENTERED | hosts), {"of_person": person_id})


def tables(tx: Connection, tournament_id: int) -> list[RoundTableRow]:
    """The tables of all rounds, in their order."""
    query = select(ROUND_TABLE).where(ROUND_TABLE.c.tournament_id == tournament_id)
    return queries.many(tx, RoundTableRow, query.order_by(ROUND_TABLE.c.round, ROUND_TABLE.c.number))


def round_times(
    tx: Connection, tournament_ids: Collection[int]
) -> dict[int, list[tuple[int, datetime, datetime | None]]]:
    """The rounds that have begun, by tournament: the number of each, when it began, and when its last game ended, if all have."""
    query = (
        select(
            ROUND_TABLE.c.tournament_id,
            ROUND_TABLE.c.round,
            func.min(GAME.c.started_at),
            func.max(GAME.c.ended_at),
            func.count() == func.count(GAME.c.ended_at),
        )
        .join(GAME, GAME.c.id == ROUND_TABLE.c.game_id)
        .where(ROUND_TABLE.c.tournament_id.in_(list(tournament_ids)))
        .group_by(ROUND_TABLE.c.tournament_id, ROUND_TABLE.c.round)
        .order_by(ROUND_TABLE.c.tournament_id, ROUND_TABLE.c.round)
    )
    found: dict[int, list[tuple[int, datetime, datetime | None]]] = {each: [] for each in tournament_ids}
    for tournament_id, number, start, end, is_over in tx.execute(query):
        found[tournament_id].append((number, start, end if is_over else None))
    return found


def add_table(tx: Connection, row: RoundTableRow) -> None:
    """Add a table to a round of a tournament, which is locked."""
    tx.execute(insert(ROUND_TABLE), asdict(row))


def change_table(tx: Connection, row: RoundTableRow, **values: Any) -> None:
    """Change a table of a tournament, which is locked."""
    one = (
        ROUND_TABLE.c.tournament_id == row.tournament_id,
        ROUND_TABLE.c.round == row.round,
        ROUND_TABLE.c.number == row.number,
    )
    tx.execute(update(ROUND_TABLE).where(*one).values(values))


def of_game(tx: Connection, game_id: int) -> tuple[TournamentRow, RoundTableRow] | None:
    """The tournament of a game, and its table there; None for any other game."""
    query = select(ROUND_TABLE).where(ROUND_TABLE.c.game_id == game_id)
    table = queries.one(tx, RoundTableRow, query)
    return None if table is None else (read(tx, table.tournament_id), table)


def sign_ups(tx: Connection, tournament_id: int) -> list[SignUpRow]:
    """The invitations to a tournament."""
    query = select(SIGN_UP).where(SIGN_UP.c.tournament_id == tournament_id)
    return queries.many(tx, SignUpRow, query.order_by(SIGN_UP.c.created_at, SIGN_UP.c.person_id))


def add_sign_up(
    tx: Connection, tournament_id: int, person_id: int, typed: str | None, now: datetime, round_number: int = 0
) -> bool:
    """Invite a person; False if they were invited before, in this round or a later one."""
    key = {"tournament_id": tournament_id, "person_id": person_id}
    values = {"typed": typed, "status": InvitationStatus.OPEN, "created_at": now, "round": round_number}
    if queries.add_once(tx, SIGN_UP, key | values):
        return True
    earlier = (
        SIGN_UP.c.tournament_id == tournament_id,
        SIGN_UP.c.person_id == person_id,
        SIGN_UP.c.round < round_number,
    )
    return tx.execute(update(SIGN_UP).where(*earlier).values(values)).rowcount == 1


def answer_sign_up(tx: Connection, tournament_id: int, person_id: int, status: InvitationStatus) -> None:
    """Note the answer to an invitation, if there is one."""
    one = (SIGN_UP.c.tournament_id == tournament_id, SIGN_UP.c.person_id == person_id)
    tx.execute(update(SIGN_UP).where(*one).values(status=status))


def count_sign_ups_in(tx: Connection, person_id: int, period: Period) -> int:
    """The number of invitations to a person, by hosts who typed their address, in a period."""
    invited = (SIGN_UP.c.person_id == person_id, SIGN_UP.c.typed.is_not(None))
    return queries.count(tx, SIGN_UP, *invited, within(SIGN_UP.c.created_at, period))


def forget_person(tx: Connection, person_id: int) -> None:
    """Take a person's name out of all tournaments: they have left those that go on.

    A word that the lots were drawn with stays, as in the log of a game: anyone can check them.
    """
    own = update(ENTRANT).where(ENTRANT.c.person_id == person_id)
    tx.execute(own.where(ENTRANT.c.rank == 0).values(word=""))
    tx.execute(own.values(person_id=None, name=NAME))


def delay(tx: Connection, outage: Interval) -> None:
    """Let sign-ups and rounds that lasted in an outage last longer by it."""
    lasted = select(TOURNAMENT.c.id, TOURNAMENT.c.created_at, TOURNAMENT.c.closes_at, TOURNAMENT.c.due_at)
    rows = tx.execute(
        lasted.where(_CURRENT, TOURNAMENT.c.created_at < outage.end).order_by(TOURNAMENT.c.id).with_for_update()
    ).all()
    for tournament_id, created_at, *moments in rows:
        later = {
            name: moment + overlap(created_at, max(moment, outage.end or moment), [outage])
            for name, moment in zip(("closes_at", "due_at"), moments, strict=True)
            if moment is not None and moment > outage.start
        }
        if later:
            change(tx, tournament_id, **later)
