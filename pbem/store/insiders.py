"""Insiders: who sits or sat at a table, who looked at its hidden side as an organiser, and which people are the same one.

People are the same if they were merged, or had the address of one organiser; what one of them knows, all of them know.
"""

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, Select, and_, delete, insert, select, union
from sqlalchemy.sql.selectable import CompoundSelect

from pbem.domain.states import Insight, TableStatus
from pbem.store import queries
from pbem.store.schema import ALIAS, CALL, GAME, INSIDER, ORGANISER, PERSON, PLAYER

_GOING_ON: Final = (TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN)
_SAT: Final = INSIDER.c.how == Insight.SAT
_LOOKED: Final = INSIDER.c.how == Insight.LOOKED

Ids = CompoundSelect[int]


def note(tx: Connection, game_id: int, person_id: int, how: Insight) -> None:
    """Note, once, how a person knows the hidden side of a table."""
    queries.add_once(tx, INSIDER, {"game_id": game_id, "person_id": person_id, "how": how})


def everyone(tx: Connection, person_id: int) -> list[int]:
    """The ids of everyone who is this person, with their own."""
    return sorted(tx.execute(_same(person_id)).scalars())


def mailboxes(tx: Connection, person_id: int) -> list[str]:
    """The mailboxes of everyone who is this person."""
    return list(tx.execute(select(PERSON.c.mailbox).where(PERSON.c.id.in_(_same(person_id)))).scalars())


def is_organiser(tx: Connection, person_id: int) -> bool:
    """Whether a person is an organiser, under any identity."""
    return queries.count(tx, ORGANISER, ORGANISER.c.person_id.in_(_same(person_id))) > 0


def join(tx: Connection, one: int, other: int) -> None:
    """Note that two people are the same."""
    _set_same(tx, {*everyone(tx, one), *everyone(tx, other)})


def part(tx: Connection, person_id: int) -> None:
    """Forget that others are this person, unless one of them is an organiser: no organiser gets around what they know."""
    if not is_organiser(tx, person_id):
        same = everyone(tx, person_id)
        tx.execute(delete(ALIAS).where(ALIAS.c.person_id.in_(same)))
        _set_same(tx, {*same} - {person_id})


def tables_of(person_id: int) -> Ids:
    """The ids of the tables where a person sits or sat."""
    sits = select(PLAYER.c.game_id).where(PLAYER.c.person_id.in_(_same(person_id)))
    return union(sits, select(INSIDER.c.game_id).where(INSIDER.c.person_id.in_(_same(person_id)), _SAT))


def among(tx: Connection, person_id: int, game_ids: Collection[int]) -> frozenset[int]:
    """Those of these tables where a person sits or sat."""
    query = select(GAME.c.id).where(GAME.c.id.in_(game_ids), GAME.c.id.in_(tables_of(person_id)))
    return frozenset(tx.execute(query).scalars())


def has_sat(tx: Connection, person_id: int, game_id: int) -> bool:
    """Whether a person sits or sat at a table."""
    return queries.count(tx, GAME, GAME.c.id == game_id, GAME.c.id.in_(tables_of(person_id))) > 0


def has_looked(tx: Connection, person_id: int, game_id: int) -> bool:
    """Whether a person looked at the hidden side of a table as an organiser.

    Organisers were shown what players called from there, which may be a hand, unless they sat there themselves.
    """
    same = _same(person_id)
    if queries.count(tx, INSIDER, INSIDER.c.game_id == game_id, INSIDER.c.person_id.in_(same), _LOOKED):
        return True
    called = queries.count(tx, CALL, CALL.c.game_id == game_id, CALL.c.person_id.not_in(same)) > 0
    return called and is_organiser(tx, person_id) and not has_sat(tx, person_id, game_id)


def plays_and_looked(tx: Connection, person_id: int) -> int | None:
    """A current table where a person sits that they looked at as an organiser, if there is one."""
    same = _same(person_id)
    looked = select(INSIDER.c.game_id).where(INSIDER.c.person_id.in_(same), _LOOKED)
    query = select(GAME.c.id).join(PLAYER, and_(PLAYER.c.game_id == GAME.c.id, PLAYER.c.person_id.in_(same)))
    return tx.execute(query.where(GAME.c.id.in_(looked), GAME.c.status.in_(_GOING_ON)).limit(1)).scalar()


def companions(tx: Connection, person_id: int) -> frozenset[int]:
    """The people who sit or sat at an open or running table where this person sits or sat."""
    shared = select(GAME.c.id).where(GAME.c.id.in_(tables_of(person_id)), GAME.c.status.in_(_GOING_ON))
    sit = select(PLAYER.c.person_id).where(PLAYER.c.game_id.in_(shared), PLAYER.c.person_id.is_not(None))
    sat = select(INSIDER.c.person_id).where(INSIDER.c.game_id.in_(shared), _SAT)
    return frozenset(tx.execute(union(sit, sat)).scalars()).difference(everyone(tx, person_id))


def _same(person_id: int) -> Ids:
    identity: Select[int] = select(ALIAS.c.identity).where(ALIAS.c.person_id == person_id)
    others = select(ALIAS.c.person_id).where(ALIAS.c.identity.in_(identity))
    return union(others, select(PERSON.c.id).where(PERSON.c.id == person_id))


def _set_same(tx: Connection, person_ids: set[int]) -> None:
    if len(person_ids) > 1:
        tx.execute(delete(ALIAS).where(ALIAS.c.person_id.in_(person_ids)))
        identity = min(person_ids)
        tx.execute(insert(ALIAS), [{"person_id": each, "identity": identity} for each in sorted(person_ids)])
