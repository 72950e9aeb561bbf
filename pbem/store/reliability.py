"""Counts of what players did with their turns, from rows that exist anyway; no log is read."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, and_, case, distinct, exists, func, or_, select

from pbem.domain.reliability import Counts
from pbem.domain.states import OfferStatus, TableStatus, TurnStatus
from pbem.store.deadlines import IS_CHANCE
from pbem.store.schema import DEADLINE, GAME, OFFER, OUTAGE, PLAYER

# A seat that was taken over counts for its new player only from then on.
_TAKEN = (
    select(func.max(OFFER.c.ended_at))
    .where(OFFER.c.game_id == PLAYER.c.game_id, OFFER.c.seat == PLAYER.c.seat, OFFER.c.taken_by == PLAYER.c.person_id)
    .correlate(PLAYER)
    .scalar_subquery()
)
_CAME = func.coalesce(_TAKEN, PLAYER.c.joined_at)


# What is known in time stops the clock, so that no turn is missed: an announced vacation, failing email, an outage.
_FOUND_LATER = exists().where(
    OUTAGE.c.start_at <= DEADLINE.c.closed_at,
    or_(OUTAGE.c.end_at.is_(None), OUTAGE.c.end_at >= DEADLINE.c.asked_at),
    or_(OUTAGE.c.applied_at.is_(None), OUTAGE.c.applied_at > DEADLINE.c.closed_at),
)
_EXCUSED = or_(DEADLINE.c.undelivered, _FOUND_LATER.correlate(DEADLINE))
"""Whether a turn was missed because of something found out only afterwards: its email came back, or there was an outage."""


def counts(tx: Connection, person_ids: Collection[int], since: datetime) -> dict[int, Counts]:
    """What each of these people did at tables that began since this moment. An excused turn counts as neither in time nor missed."""
    if not person_ids:
        return {}
    seats = (
        select(PLAYER.c.person_id, PLAYER.c.seat, GAME.c.id, GAME.c.turn, GAME.c.status, _CAME.label("came"))
        .join_from(PLAYER, GAME, GAME.c.id == PLAYER.c.game_id)
        .where(PLAYER.c.person_id.in_(person_ids), GAME.c.started_at >= since)
        .cte("seats")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    # Statuses are tested in the counts: as conditions they would lead SQLite through all deadlines there ever were.
    # Rewound turns are no part of the game any more, so they do not count.
    # A turn counts once it is over for everyone: before, it would tell that this seat has answered.
    ended = or_(DEADLINE.c.turn < seats.c.turn, seats.c.status.in_((TableStatus.OVER, TableStatus.VOID)))
    # A second chance is one turn with the missed one before it.
    counting = and_(DEADLINE.c.asked_at >= seats.c.came, ended, ~IS_CHANCE)
    missed = and_(DEADLINE.c.status == TurnStatus.MISSED, counting, ~_EXCUSED)
    # Excused ones are no turns in time: some who never decide would have a hundred percent, by reports of failures.
    over = or_(and_(DEADLINE.c.status == TurnStatus.CLOSED, counting), missed)
    # Seat by seat: joined with them, PostgreSQL may read the turns of all games instead.
    of_seat = and_(DEADLINE.c.game_id == seats.c.id, DEADLINE.c.seat == seats.c.seat)
    all_turns, missed_turns = (
        select(func.count(case((which, 1)))).where(of_seat).correlate(seats).scalar_subquery()
        for which in (over, missed)
    )
    finished = func.count(distinct(case((seats.c.status == TableStatus.OVER, seats.c.id))))
    query = select(seats.c.person_id, func.sum(all_turns), func.sum(missed_turns), finished).group_by(seats.c.person_id)
    left = select(OFFER.c.person_id, func.count()).where(
        OFFER.c.person_id.in_(person_ids), OFFER.c.status != OfferStatus.BACK, OFFER.c.offered_at >= since
    )
    did = {
        person_id: (int(turns), int(late), int(ended_games))
        for person_id, turns, late, ended_games in tx.execute(query)
    }
    gone = {person_id: int(number) for person_id, number in tx.execute(left.group_by(OFFER.c.person_id))}
    return {person: Counts(*did.get(person, (0, 0, 0)), gone.get(person, 0)) for person in person_ids}


def missed_at(tx: Connection, game_id: int) -> dict[int, int]:
    """How many turns the seats of a game have missed without an excuse, by seat; only those that have missed any."""
    missed = (DEADLINE.c.game_id == game_id, DEADLINE.c.status == TurnStatus.MISSED, ~_EXCUSED)
    query = select(DEADLINE.c.seat, func.count()).where(*missed).group_by(DEADLINE.c.seat)
    return {int(seat): int(number) for seat, number in tx.execute(query)}
