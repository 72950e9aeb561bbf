"""Counts of what players did with their turns, from rows that exist anyway; no log is read."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, case, distinct, func, select

from pbem.domain.reliability import Counts
from pbem.domain.states import OfferStatus, TableStatus, TurnStatus
from pbem.store.schema import Deadline, Game, Offer, Player, table_of

_DEADLINE, _GAME, _OFFER, _PLAYER = table_of(Deadline), table_of(Game), table_of(Offer), table_of(Player)

# A seat that was taken over counts for its new player only from then on.
_TAKEN = (
    select(func.max(_OFFER.c.ended_at))
    .where(
        _OFFER.c.game_id == _PLAYER.c.game_id, _OFFER.c.seat == _PLAYER.c.seat, _OFFER.c.taken_by == _PLAYER.c.person_id
    )
    .correlate(_PLAYER)
    .scalar_subquery()
)
_CAME = func.coalesce(_TAKEN, _PLAYER.c.joined_at)
_PLAYED = _PLAYER.join(_GAME, _GAME.c.id == _PLAYER.c.game_id)


def counts(tx: Connection, person_ids: Collection[int], since: datetime) -> dict[int, Counts]:
    """What each of these people did at tables that began since this moment."""
    recent = (_PLAYER.c.person_id.in_(person_ids), _GAME.c.started_at >= since)
    per_person = _PLAYER.c.person_id
    asked = and_(_DEADLINE.c.game_id == _PLAYER.c.game_id, _DEADLINE.c.seat == _PLAYER.c.seat)
    # The status is tested in the count: as a condition it would lead SQLite through all deadlines there ever were.
    # Rewound turns are no part of the game any more, so they do not count.
    over = and_(_DEADLINE.c.status.in_((TurnStatus.CLOSED, TurnStatus.MISSED)), _DEADLINE.c.asked_at >= _CAME)
    missed = and_(_DEADLINE.c.status == TurnStatus.MISSED, _DEADLINE.c.asked_at >= _CAME)
    turns, missed_turns = (
        select(per_person, func.count(case((which, 1)))).select_from(_PLAYED.join(_DEADLINE, asked))
        for which in (over, missed)
    )
    finished = select(per_person, func.count(distinct(_GAME.c.id))).select_from(_PLAYED)
    left = select(_OFFER.c.person_id, func.count()).where(
        _OFFER.c.person_id.in_(person_ids), _OFFER.c.status != OfferStatus.BACK, _OFFER.c.offered_at >= since
    )
    results = [
        _by_person(tx, turns.where(*recent), per_person),
        _by_person(tx, missed_turns.where(*recent), per_person),
        _by_person(tx, finished.where(*recent, _GAME.c.status == TableStatus.OVER), per_person),
        _by_person(tx, left, _OFFER.c.person_id),
    ]
    return {person: Counts(*(result.get(person, 0) for result in results)) for person in person_ids}


def _by_person(tx: Connection, query: Select[Any], person: Any) -> dict[int, int]:
    return dict(_pairs(tx, query.group_by(person)))


def _pairs(tx: Connection, query: Select[Any]) -> Iterator[tuple[int, int]]:
    for person, count in tx.execute(query):
        yield int(person), int(count)
