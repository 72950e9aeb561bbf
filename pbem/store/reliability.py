"""Counting what players did with their turns, from rows that are there anyway; no log is read for it."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, case, distinct, func, select

from pbem.domain.reliability import Counts
from pbem.store.schema import Deadline, Game, Offer, Place, table_of

_DEADLINE, _GAME, _OFFER, _PLACE = table_of(Deadline), table_of(Game), table_of(Offer), table_of(Place)

# A seat that was taken over counts for its new player from then on, and not what somebody else did there.
_TAKEN = (
    select(func.max(_OFFER.c.ended_at))
    .where(
        _OFFER.c.game_id == _PLACE.c.game_id,
        _OFFER.c.seat == _PLACE.c.seat,
        _OFFER.c.taken_by == _PLACE.c.person_id,
    )
    .correlate(_PLACE)
    .scalar_subquery()
)
_CAME = func.coalesce(_TAKEN, _PLACE.c.joined_at)
_PLAYED = _PLACE.join(_GAME, _GAME.c.id == _PLACE.c.game_id)


def counts(tx: Connection, person_ids: Collection[int], since: datetime) -> dict[int, Counts]:
    """What each of these people did at the tables that began since then."""
    recent = (_PLACE.c.person_id.in_(person_ids), _GAME.c.started_at >= since)
    per_person = _PLACE.c.person_id
    asked = and_(_DEADLINE.c.game_id == _PLACE.c.game_id, _DEADLINE.c.seat == _PLACE.c.seat)
    # Which of them are over is counted and not asked for, which would lead SQLite through all that ever were. What was
    # rewound is no part of the game any more, and neither is what the clock decided there.
    over = and_(_DEADLINE.c.status.in_(("closed", "silent")), _DEADLINE.c.asked_at >= _CAME)
    silent = and_(_DEADLINE.c.status == "silent", _DEADLINE.c.asked_at >= _CAME)
    turns, silences = (
        select(per_person, func.count(case((which, 1)))).select_from(_PLAYED.join(_DEADLINE, asked))
        for which in (over, silent)
    )
    finished = select(per_person, func.count(distinct(_GAME.c.id))).select_from(_PLAYED)
    left = select(_OFFER.c.person_id, func.count()).where(
        _OFFER.c.person_id.in_(person_ids), _OFFER.c.status != "back", _OFFER.c.offered_at >= since
    )
    found = [
        _each(tx, turns.where(*recent), per_person),
        _each(tx, silences.where(*recent), per_person),
        _each(tx, finished.where(*recent, _GAME.c.status == "over"), per_person),
        _each(tx, left, _OFFER.c.person_id),
    ]
    return {person: Counts(*(each.get(person, 0) for each in found)) for person in person_ids}


def _each(tx: Connection, wanted: Select[Any], person: Any) -> dict[int, int]:
    return dict(_pairs(tx, wanted.group_by(person)))


def _pairs(tx: Connection, wanted: Select[Any]) -> Iterator[tuple[int, int]]:
    for person, many in tx.execute(wanted):
        yield int(person), int(many)
