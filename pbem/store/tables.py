"""Rows of tables: games, players, invitations, join requests, offers of seats and volunteers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from pbem.domain.interval import Interval, overlap
from pbem.domain.missed_turns import FEWEST
from pbem.domain.states import EmailKind, InvitationStatus, OfferStatus, TableStatus, TurnStatus
from pbem.i18n.speech import mark
from pbem.store import queries, search
from pbem.store.games import GameRow
from pbem.store.limits import Period, within
from pbem.store.players import LAST_STATUS, PlayerRow
from pbem.store.schema import (
    DEADLINE,
    GAME,
    INVITATION,
    IS_OPEN,
    IS_WAITING,
    JOIN_REQUEST,
    LINK,
    OFFER,
    OUTBOX,
    PERSON,
    PLAYER,
    ROUND_TABLE,
    UNREACHABLE,
    VOLUNTEER,
    InvitationRow,
    JoinRequestRow,
    OfferRow,
)

_SEAT = (
    update(PLAYER)
    .where(PLAYER.c.game_id == bindparam("of_game"), PLAYER.c.number == bindparam("of_number"))
    .values(seat=bindparam("new_seat"))
)


def add_game(tx: Connection, **values: Any) -> int:
    game_id = queries.add(tx, GAME, values)
    search.of_table(tx, game_id)
    return game_id


def change_game(tx: Connection, game_id: int, **values: Any) -> None:
    tx.execute(update(GAME).where(GAME.c.id == game_id).values(**values))


def add_player(tx: Connection, row: PlayerRow) -> None:
    tx.execute(insert(PLAYER), asdict(row))
    search.of_table(tx, row.game_id)


def drop_player(tx: Connection, game_id: int, number: int) -> None:
    """Remove a player before the start."""
    tx.execute(delete(PLAYER).where(PLAYER.c.game_id == game_id, PLAYER.c.number == number))
    search.of_table(tx, game_id)


def change_player(tx: Connection, game_id: int, seat: int, **values: Any) -> None:
    tx.execute(update(PLAYER).where(PLAYER.c.game_id == game_id, PLAYER.c.seat == seat).values(**values))
    if "name" in values:
        search.of_table(tx, game_id)


def seat_all(tx: Connection, game_id: int, seats: Sequence[tuple[int, int]]) -> None:
    tx.execute(_SEAT, [{"of_game": game_id, "of_number": number, "new_seat": seat} for number, seat in seats])


def public_games(
    tx: Connection, status: TableStatus, *, kind: str = "", below: GameRow | None = None, limit: int
) -> list[GameRow]:
    """Public tables of a status, the newest first: of one kind of game or of all, and those older than `below`."""
    query = select(GAME).where(GAME.c.status == status, GAME.c.private.is_(False))
    if kind:
        query = query.where(GAME.c.kind == kind)
    if below is not None:
        query = query.where(tuple_(GAME.c.created_at, GAME.c.id) < tuple_(literal(below.created_at), literal(below.id)))
    return queries.many(tx, GameRow, query.order_by(GAME.c.created_at.desc(), GAME.c.id.desc()).limit(limit))


def expired(tx: Connection, now: datetime) -> list[int]:
    """Tables that have waited for players too long."""
    query = select(GAME.c.id).where(IS_WAITING, GAME.c.expires_at <= now)
    return list(tx.execute(query.order_by(GAME.c.expires_at)).scalars())


def due_to_start(tx: Connection, now: datetime) -> list[int]:
    """Open tables whose date has come."""
    query = select(GAME.c.id).where(IS_OPEN, GAME.c.starts_at <= now)
    return list(tx.execute(query.order_by(GAME.c.starts_at)).scalars())


def delay_waiting(tx: Connection, outage: Interval) -> int:
    """Let the tables that waited in an outage wait longer by it, with the links to join them; returns their number."""
    waiting = GAME.c.status.in_((TableStatus.PLANNED, TableStatus.OPEN))
    lasted = (waiting, GAME.c.created_at < outage.end, GAME.c.expires_at > outage.start)
    rows = tx.execute(select(GAME.c.id, GAME.c.created_at, GAME.c.expires_at).where(*lasted).with_for_update()).all()
    for game_id, created_at, expires_at in rows:
        later = expires_at + overlap(created_at, max(expires_at, outage.end or expires_at), [outage])
        tx.execute(update(GAME).where(GAME.c.id == game_id).values(expires_at=later))
        to_join = (LINK.c.game_id == game_id, LINK.c.expires_at == expires_at)
        tx.execute(update(LINK).where(*to_join).values(expires_at=later))
    return len(rows)


def by_key(tx: Connection, key: str) -> GameRow | None:
    return queries.one(tx, GameRow, select(GAME).where(GAME.c.key == key))


def count_current(tx: Connection, person_id: int) -> int:
    """The number of open or running tables a person plays at, hosts or has reserved a seat at.

    Of a tournament's tables, only those a person plays at: its host opens many at once.
    """
    joined = select(PLAYER.c.number).where(PLAYER.c.game_id == GAME.c.id, PLAYER.c.person_id == person_id)
    by_person = and_(OFFER.c.taken_by == person_id, OFFER.c.status == OfferStatus.OPEN)
    reserved = select(OFFER.c.id).where(OFFER.c.game_id == GAME.c.id, by_person)
    of_tournament = select(ROUND_TABLE.c.game_id).where(ROUND_TABLE.c.game_id == GAME.c.id)
    takes_part = or_(joined.exists(), reserved.exists(), and_(GAME.c.host_id == person_id, ~of_tournament.exists()))
    going_on = GAME.c.status.in_((TableStatus.OPEN, TableStatus.PLAYING))
    return queries.count(tx, GAME, takes_part, going_on)


def of_person(tx: Connection, person_id: int, statuses: Iterable[str]) -> list[GameRow]:
    query = select(GAME).where(*_own_tables(person_id, statuses))
    return queries.many(tx, GameRow, query.order_by(GAME.c.id))


def names_of(tx: Connection, person_id: int) -> set[str]:
    return set(tx.execute(select(PLAYER.c.name).where(PLAYER.c.person_id == person_id)).scalars())


def finished_games(tx: Connection, person_id: int, limit: int) -> list[GameRow]:
    """A person's finished games, latest first."""
    order = (GAME.c.ended_at.desc(), GAME.c.id.desc())
    # A game is a long row: only those that are listed are read whole.
    latest = select(GAME.c.id).where(*_own_tables(person_id, (TableStatus.OVER, TableStatus.VOID)))
    query = select(GAME).where(GAME.c.id.in_(latest.order_by(*order).limit(limit)))
    return queries.many(tx, GameRow, query.order_by(*order))


def _own_tables(person_id: int, statuses: Iterable[str]) -> tuple[ColumnElement[bool], ...]:
    own = select(PLAYER.c.game_id).where(PLAYER.c.person_id == person_id)
    return GAME.c.id.in_(own), queries.unindexed(GAME.c.status).in_(list(statuses))


def titles(tx: Connection, game_ids: Collection[int]) -> dict[int, str]:
    query = select(GAME.c.id, GAME.c.title).where(GAME.c.id.in_(game_ids))
    return {row.id: row.title for row in tx.execute(query)}


def hosted_by(tx: Connection, person_id: int, statuses: Iterable[str]) -> list[GameRow]:
    query = select(GAME).where(GAME.c.host_id == person_id, GAME.c.status.in_(list(statuses)))
    return queries.many(tx, GameRow, query.order_by(GAME.c.id))


def invite(tx: Connection, game_id: int, person_id: int, typed: str | None, now: datetime) -> None:
    """Add an invitation to an address as its host typed it, or to a person whose address the host does not know."""
    values = {"game_id": game_id, "person_id": person_id, "typed": typed, "status": InvitationStatus.OPEN}
    tx.execute(insert(INVITATION), values | {"created_at": now})


def forget_typed(tx: Connection, game_id: int) -> None:
    """Forget the addresses typed for a table, because its host did not type them."""
    tx.execute(update(INVITATION).where(INVITATION.c.game_id == game_id).values(typed=None))


def invitations(tx: Connection, game_id: int) -> list[InvitationRow]:
    """The invitations to a table, oldest first."""
    query = select(INVITATION).where(INVITATION.c.game_id == game_id)
    return queries.many(tx, InvitationRow, query.order_by(INVITATION.c.id))


def count_invitations_in(tx: Connection, person_id: int, period: Period) -> int:
    """The number of invitations a person got in a period."""
    return queries.count(tx, INVITATION, INVITATION.c.person_id == person_id, within(INVITATION.c.created_at, period))


def answer_invitation(tx: Connection, game_id: int, person_id: int, status: InvitationStatus, now: datetime) -> bool:
    """Answer an invitation; False if none is open."""
    invitation = update(INVITATION).where(INVITATION.c.game_id == game_id, INVITATION.c.person_id == person_id)
    answered = invitation.where(INVITATION.c.status == InvitationStatus.OPEN).values(status=status, answered_at=now)
    return tx.execute(answered).rowcount == 1


def save_join_request(tx: Connection, row: JoinRequestRow) -> None:
    """Add a join request, or replace the person's earlier one."""
    this = and_(JOIN_REQUEST.c.game_id == row.game_id, JOIN_REQUEST.c.person_id == row.person_id)
    values = {"name": row.name, "word": row.word, "created_at": row.created_at, "invited": row.invited}
    if tx.execute(update(JOIN_REQUEST).where(this).values(**values)).rowcount == 0:
        tx.execute(insert(JOIN_REQUEST), {"game_id": row.game_id, "person_id": row.person_id} | values)


def join_request(tx: Connection, game_id: int, person_id: int) -> JoinRequestRow | None:
    this = and_(JOIN_REQUEST.c.game_id == game_id, JOIN_REQUEST.c.person_id == person_id)
    return queries.one(tx, JoinRequestRow, select(JOIN_REQUEST).where(this))


def drop_join_requests(tx: Connection, game_id: int) -> None:
    tx.execute(delete(JOIN_REQUEST).where(JOIN_REQUEST.c.game_id == game_id))


def drop_join_request(tx: Connection, game_id: int, person_id: int) -> None:
    tx.execute(delete(JOIN_REQUEST).where(JOIN_REQUEST.c.game_id == game_id, JOIN_REQUEST.c.person_id == person_id))


def withdraw_acceptance(tx: Connection, game_id: int, person_id: int, now: datetime) -> None:
    """Mark an invitation as declined, when its player leaves again."""
    invitation = update(INVITATION).where(INVITATION.c.game_id == game_id, INVITATION.c.person_id == person_id)
    tx.execute(invitation.values(status=InvitationStatus.DECLINED, answered_at=now))


def add_offer(tx: Connection, game_id: int, seat: int, person_id: int, why: str, successor: str, now: datetime) -> int:
    """Offer a seat and return the id of the offer. The game must be locked."""
    values = {
        "game_id": game_id,
        "seat": seat,
        "person_id": person_id,
        "why": why,
        "successor": successor,
        "status": OfferStatus.OPEN,
        "offered_at": now,
    }
    return queries.add(tx, OFFER, values)


def offer(tx: Connection, offer_id: int) -> OfferRow:
    """An offer. Raises NotFound."""
    query = select(OFFER).where(OFFER.c.id == offer_id)
    return queries.only(tx, OfferRow, query, mark("There is no such seat on offer here."))


def offer_of_seat(tx: Connection, game_id: int, seat: int) -> OfferRow | None:
    this = (OFFER.c.game_id == game_id, OFFER.c.seat == seat, OFFER.c.status == OfferStatus.OPEN)
    return queries.one(tx, OfferRow, select(OFFER).where(*this))


def offers_made(tx: Connection, game_id: int) -> list[OfferRow]:
    """All offers of a table's seats there ever were, the earliest first."""
    return queries.many(tx, OfferRow, select(OFFER).where(OFFER.c.game_id == game_id).order_by(OFFER.c.id))


class SeatOffer(NamedTuple):
    """An open offer with the seat's name, whether its player still has it, and how often they have resigned from the table."""

    offer: OfferRow
    name: str
    remains: bool
    resigned: int


_AGAIN = OFFER.alias("again")
_RESIGNED: Final = (
    select(func.count())
    .select_from(_AGAIN)
    .where(_AGAIN.c.game_id == OFFER.c.game_id, _AGAIN.c.person_id == OFFER.c.person_id, _AGAIN.c.why == "resigned")
    .correlate(OFFER)
    .scalar_subquery()
)


def offers_of_game(tx: Connection, game_id: int) -> list[SeatOffer]:
    """The open offers at a table."""
    here = and_(PLAYER.c.game_id == OFFER.c.game_id, PLAYER.c.seat == OFFER.c.seat)
    player = (PLAYER.c.name, PLAYER.c.person_id == OFFER.c.person_id, _RESIGNED)
    these = (
        select(OFFER, *player).join(PLAYER, here).where(OFFER.c.game_id == game_id, OFFER.c.status == OfferStatus.OPEN)
    )
    rows = tx.execute(these.order_by(OFFER.c.seat))
    return [SeatOffer(OfferRow(*offer), name, bool(remains), times) for *offer, name, remains, times in rows]


_UNRESERVED: Final = {"reserved_turn": None, "reserved_as": None}


def end_offer(tx: Connection, offer_id: int, status: OfferStatus, now: datetime, taken_by: int | None = None) -> None:
    ended = update(OFFER).where(OFFER.c.id == offer_id)
    tx.execute(ended.values(status=status, ended_at=now, taken_by=taken_by, **_UNRESERVED))


def reserve(tx: Connection, offer_id: int, person_id: int, name: str, turn: int) -> None:
    """Note who gets a seat on offer when this turn is over. The game must be locked."""
    reserved = update(OFFER).where(OFFER.c.id == offer_id)
    tx.execute(reserved.values(taken_by=person_id, reserved_turn=turn, reserved_as=name))


def drop_reservation(tx: Connection, offer_id: int) -> None:
    tx.execute(update(OFFER).where(OFFER.c.id == offer_id).values(taken_by=None, **_UNRESERVED))


def open_to_all(tx: Connection, limit: int) -> list[OfferRow]:
    """Seats at running tables that any substitute may take, newest first."""
    going_on = and_(GAME.c.id == OFFER.c.game_id, GAME.c.status == TableStatus.PLAYING)
    query = select(OFFER).join(GAME, going_on)
    still = (OFFER.c.status == OfferStatus.OPEN, OFFER.c.successor == "substitute")
    newest = query.where(*still).order_by(OFFER.c.offered_at.desc(), OFFER.c.id.desc()).limit(limit)
    return queries.many(tx, OfferRow, newest)


def open_ids(tx: Connection) -> list[int]:
    return list(tx.execute(select(OFFER.c.id).where(OFFER.c.status == OfferStatus.OPEN).order_by(OFFER.c.id)).scalars())


def missed_too_often(tx: Connection) -> list[tuple[int, int]]:
    """Games and seats of people who missed as many turns in a row as their table allows, once the last of these is over.

    Seats on offer are left out.
    """
    # An index on the status would be taken for this, and the players of all running games looked up.
    playing = GAME.c.status.concat("") == TableStatus.PLAYING
    going_on = and_(GAME.c.id == PLAYER.c.game_id, playing, GAME.c.paused.is_(False))
    on_offer = select(OFFER.c.id).where(
        OFFER.c.game_id == PLAYER.c.game_id, OFFER.c.seat == PLAYER.c.seat, OFFER.c.status == OfferStatus.OPEN
    )
    still_open = select(DEADLINE.c.turn).where(
        DEADLINE.c.game_id == PLAYER.c.game_id,
        DEADLINE.c.turn == GAME.c.turn,
        DEADLINE.c.seat == PLAYER.c.seat,
        DEADLINE.c.status == TurnStatus.MISSED,
    )
    missed_last = LAST_STATUS == TurnStatus.MISSED
    query = select(PLAYER.c.game_id, PLAYER.c.seat).join(GAME, going_on)
    # Only with the number written out is the partial index used.
    seldom = PLAYER.c.missed >= literal_column(str(FEWEST))
    too_often = (seldom, PLAYER.c.person_id.is_not(None), PLAYER.c.missed >= GAME.c.missed_limit)
    query = query.where(*too_often, ~on_offer.exists(), ~still_open.exists(), missed_last)
    return [(row.game_id, row.seat) for row in tx.execute(query.order_by(PLAYER.c.game_id, PLAYER.c.seat))]


def set_volunteer(tx: Connection, person_id: int, volunteers: bool, now: datetime) -> None:
    """Add or remove a volunteer. The person is locked."""
    if not volunteers:
        tx.execute(delete(VOLUNTEER).where(VOLUNTEER.c.person_id == person_id))
    elif not is_volunteer(tx, person_id):
        tx.execute(insert(VOLUNTEER), {"person_id": person_id, "since": now})


def is_volunteer(tx: Connection, person_id: int) -> bool:
    return tx.execute(select(VOLUNTEER.c.since).where(VOLUNTEER.c.person_id == person_id)).first() is not None


def count_resigned(tx: Connection, game_id: int, person_id: int) -> int:
    """How often a person has resigned from a table, and their seat was given up for it."""
    return queries.count(
        tx, OFFER, OFFER.c.game_id == game_id, OFFER.c.person_id == person_id, OFFER.c.why == "resigned"
    )


def volunteers(tx: Connection, game_id: int, without: Iterable[int], period: Period, most: int) -> list[int]:
    """Volunteers who are not at this table and can be reached by email.

    Without those who in this period were offered a seat of this table, or as many seats as this.
    """
    offered = (
        OUTBOX.c.person_id == VOLUNTEER.c.person_id,
        OUTBOX.c.kind == EmailKind.SUBSTITUTE,
        within(OUTBOX.c.queued_at, period),
    )
    of_table = select(OUTBOX.c.id).where(*offered, OUTBOX.c.game_id == game_id)
    of_all = select(func.count()).select_from(OUTBOX).where(*offered).correlate(VOLUNTEER).scalar_subquery()
    at_table = select(PLAYER.c.number).where(PLAYER.c.game_id == game_id, PLAYER.c.person_id == VOLUNTEER.c.person_id)
    failing = select(UNREACHABLE.c.id).where(
        UNREACHABLE.c.person_id == VOLUNTEER.c.person_id, UNREACHABLE.c.end_at.is_(None)
    )
    query = (
        select(VOLUNTEER.c.person_id)
        .join(PERSON, PERSON.c.id == VOLUNTEER.c.person_id)
        .where(
            PERSON.c.confirmed_at.is_not(None),
            ~at_table.exists(),
            ~failing.exists(),
            ~of_table.exists(),
            of_all < most,
            VOLUNTEER.c.person_id.not_in(list(without)),
        )
        .order_by(VOLUNTEER.c.person_id)
    )
    return list(tx.execute(query).scalars())
