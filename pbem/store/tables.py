"""Rows of tables: games, players, invitations, join requests, offers of seats, volunteers and votes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, update

from pbem.domain.errors import NotFound
from pbem.domain.states import InvitationStatus, OfferStatus, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.store import search
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.schema import (
    Game,
    Invitation,
    JoinRequest,
    Offer,
    Person,
    Player,
    Unreachable,
    Volunteer,
    Vote,
    table_of,
)

_GAME, _INVITATION, _OFFER, _PERSON = table_of(Game), table_of(Invitation), table_of(Offer), table_of(Person)
_PLAYER, _UNREACHABLE, _VOTE, _VOLUNTEER = table_of(Player), table_of(Unreachable), table_of(Vote), table_of(Volunteer)
_JOIN_REQUEST = table_of(JoinRequest)
_SEAT = (
    update(_PLAYER)
    .where(_PLAYER.c.game_id == bindparam("of_game"), _PLAYER.c.number == bindparam("of_number"))
    .values(seat=bindparam("new_seat"))
)


@dataclass(frozen=True, slots=True)
class JoinRequestRow:
    """A request to join, waiting for its address to be confirmed."""

    game_id: int
    person_id: int
    name: str
    word: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation to a table, and its answer."""

    id: int
    game_id: int
    person_id: int
    status: str
    created_at: datetime
    answered_at: datetime | None


def add_game(tx: Connection, **values: Any) -> int:
    """Add a table and return its id."""
    game_id = int(tx.execute(insert(_GAME).returning(_GAME.c.id), values).scalar_one())
    search.of_table(tx, game_id)
    return game_id


def change_game(tx: Connection, game_id: int, **values: Any) -> None:
    """Change columns of a table."""
    tx.execute(update(_GAME).where(_GAME.c.id == game_id).values(**values))


def add_player(tx: Connection, row: PlayerRow) -> None:
    """Add a player."""
    values = {name: getattr(row, name) for name in PlayerRow.__dataclass_fields__}
    tx.execute(insert(_PLAYER), values)
    search.of_table(tx, row.game_id)


def drop_player(tx: Connection, game_id: int, number: int) -> None:
    """Remove a player before the start."""
    tx.execute(delete(_PLAYER).where(_PLAYER.c.game_id == game_id, _PLAYER.c.number == number))
    search.of_table(tx, game_id)


def change_player(tx: Connection, game_id: int, seat: int, **values: Any) -> None:
    """Change columns of a seat's player."""
    tx.execute(update(_PLAYER).where(_PLAYER.c.game_id == game_id, _PLAYER.c.seat == seat).values(**values))
    if "name" in values:
        search.of_table(tx, game_id)


def seat_all(tx: Connection, game_id: int, seats: Sequence[tuple[int, int]]) -> None:
    """Give each player a seat."""
    tx.execute(_SEAT, [{"of_game": game_id, "of_number": number, "new_seat": seat} for number, seat in seats])


def open_games(tx: Connection, *, private: bool = False, limit: int = 100) -> list[GameRow]:
    """Tables that wait for players, newest first."""
    wanted = select(_GAME).where(_GAME.c.status == TableStatus.OPEN, _GAME.c.private == private)
    newest_first = wanted.order_by(_GAME.c.created_at.desc(), _GAME.c.id.desc()).limit(limit)
    return [GameRow(**row._mapping) for row in tx.execute(newest_first)]


def expired(tx: Connection, now: datetime, limit: int) -> list[int]:
    """Tables that have waited for players too long."""
    waiting = _GAME.c.status.in_((TableStatus.PLANNED, TableStatus.OPEN))
    query = select(_GAME.c.id).where(waiting, _GAME.c.expires_at <= now)
    return list(tx.execute(query.order_by(_GAME.c.expires_at).limit(limit)).scalars())


def by_key(tx: Connection, key: str) -> GameRow | None:
    """The table with this key, if there is one."""
    row = tx.execute(select(_GAME).where(_GAME.c.key == key)).one_or_none()
    return None if row is None else GameRow(**row._mapping)


def count_current(tx: Connection, person_id: int) -> int:
    """The number of open or running tables a person plays at or hosts."""
    joined = select(_PLAYER.c.number).where(_PLAYER.c.game_id == _GAME.c.id, _PLAYER.c.person_id == person_id)
    mine = or_(joined.exists(), _GAME.c.host_id == person_id)
    going_on = _GAME.c.status.in_((TableStatus.OPEN, TableStatus.PLAYING))
    return tx.execute(select(func.count()).select_from(_GAME).where(mine, going_on)).scalar_one()


def of_person(tx: Connection, person_id: int, statuses: Iterable[str]) -> list[GameRow]:
    """The tables a person plays at, with one of these statuses."""
    joined = and_(_PLAYER.c.game_id == _GAME.c.id, _PLAYER.c.person_id == person_id)
    query = select(_GAME).where(select(_PLAYER.c.number).where(joined).exists(), _GAME.c.status.in_(list(statuses)))
    return [GameRow(**row._mapping) for row in tx.execute(query.order_by(_GAME.c.id))]


def names_of(tx: Connection, person_id: int) -> set[str]:
    """A person's names at all their tables."""
    return set(tx.execute(select(_PLAYER.c.name).where(_PLAYER.c.person_id == person_id)).scalars())


def finished_games(tx: Connection, person_id: int, limit: int) -> list[GameRow]:
    """A person's finished games, latest first."""
    joined = and_(_PLAYER.c.game_id == _GAME.c.id, _PLAYER.c.person_id == person_id)
    over = (select(_PLAYER.c.number).where(joined).exists(), _GAME.c.status.in_((TableStatus.OVER, TableStatus.VOID)))
    query = select(_GAME).where(*over).order_by(_GAME.c.ended_at.desc(), _GAME.c.id.desc()).limit(limit)
    return [GameRow(**row._mapping) for row in tx.execute(query)]


def titles(tx: Connection, game_ids: Collection[int]) -> dict[int, str]:
    """The titles of these tables."""
    wanted = select(_GAME.c.id, _GAME.c.title).where(_GAME.c.id.in_(game_ids))
    return {row.id: row.title for row in tx.execute(wanted)}


def hosted_by(tx: Connection, person_id: int, statuses: Iterable[str]) -> list[GameRow]:
    """The tables a person hosts, with one of these statuses."""
    wanted = select(_GAME).where(_GAME.c.host_id == person_id, _GAME.c.status.in_(list(statuses)))
    return [GameRow(**row._mapping) for row in tx.execute(wanted.order_by(_GAME.c.id))]


def invite(tx: Connection, game_id: int, person_id: int, now: datetime) -> None:
    """Add an invitation."""
    values = {"game_id": game_id, "person_id": person_id, "status": "open", "created_at": now}
    tx.execute(insert(_INVITATION), values)


def invitations(tx: Connection, game_id: int) -> list[InvitationRow]:
    """The invitations to a table, oldest first."""
    wanted = select(_INVITATION).where(_INVITATION.c.game_id == game_id)
    return [InvitationRow(**row._mapping) for row in tx.execute(wanted.order_by(_INVITATION.c.id))]


def invited_since(tx: Connection, person_id: int, since: datetime) -> int:
    """The number of invitations a person has got since this moment."""
    mine = (_INVITATION.c.person_id == person_id, _INVITATION.c.created_at > since)
    return tx.execute(select(func.count()).select_from(_INVITATION).where(*mine)).scalar_one()


def answer_invitation(tx: Connection, game_id: int, person_id: int, status: str, now: datetime) -> bool:
    """Answer an invitation; False if none is open."""
    mine = and_(
        _INVITATION.c.game_id == game_id,
        _INVITATION.c.person_id == person_id,
        _INVITATION.c.status == InvitationStatus.OPEN,
    )
    done = tx.execute(update(_INVITATION).where(mine).values(status=status, answered_at=now))
    return done.rowcount == 1


def save_join_request(tx: Connection, row: JoinRequestRow) -> None:
    """Add a join request, or replace the person's earlier one."""
    this = and_(_JOIN_REQUEST.c.game_id == row.game_id, _JOIN_REQUEST.c.person_id == row.person_id)
    values = {"name": row.name, "word": row.word, "created_at": row.created_at}
    if tx.execute(update(_JOIN_REQUEST).where(this).values(**values)).rowcount == 0:
        tx.execute(insert(_JOIN_REQUEST), {"game_id": row.game_id, "person_id": row.person_id} | values)


def join_request(tx: Connection, game_id: int, person_id: int) -> JoinRequestRow | None:
    """A person's join request at a table."""
    this = and_(_JOIN_REQUEST.c.game_id == game_id, _JOIN_REQUEST.c.person_id == person_id)
    row = tx.execute(select(_JOIN_REQUEST).where(this)).one_or_none()
    return None if row is None else JoinRequestRow(**row._mapping)


def join_requests(tx: Connection, game_id: int) -> list[JoinRequestRow]:
    """Join requests at a table, oldest first."""
    query = (
        select(_JOIN_REQUEST)
        .where(_JOIN_REQUEST.c.game_id == game_id)
        .order_by(_JOIN_REQUEST.c.created_at, _JOIN_REQUEST.c.person_id)
    )
    return [JoinRequestRow(**row._mapping) for row in tx.execute(query)]


def drop_join_requests(tx: Connection, game_id: int) -> None:
    """Delete all join requests of a table."""
    tx.execute(delete(_JOIN_REQUEST).where(_JOIN_REQUEST.c.game_id == game_id))


def drop_join_request(tx: Connection, game_id: int, person_id: int) -> None:
    """Delete a person's join request."""
    tx.execute(delete(_JOIN_REQUEST).where(_JOIN_REQUEST.c.game_id == game_id, _JOIN_REQUEST.c.person_id == person_id))


def withdraw_acceptance(tx: Connection, game_id: int, person_id: int, now: datetime) -> None:
    """Mark an invitation as declined, when its player leaves again."""
    mine = (_INVITATION.c.game_id == game_id, _INVITATION.c.person_id == person_id)
    tx.execute(update(_INVITATION).where(*mine).values(status=InvitationStatus.DECLINED, answered_at=now))


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A seat whose player is gone: the player, the reason, the kind of successor, and the outcome."""

    id: int
    game_id: int
    seat: int
    person_id: int
    why: str
    successor: str
    status: str
    offered_at: datetime
    ended_at: datetime | None
    taken_by: int | None


def add_offer(tx: Connection, game_id: int, seat: int, person_id: int, why: str, successor: str, now: datetime) -> int:
    """Offer a seat and return the id of the offer. The game must be locked."""
    values = {
        "game_id": game_id,
        "seat": seat,
        "person_id": person_id,
        "why": why,
        "successor": successor,
        "status": "open",
        "offered_at": now,
    }
    return int(tx.execute(insert(_OFFER).returning(_OFFER.c.id), values).scalar_one())


def offer(tx: Connection, offer_id: int) -> OfferRow:
    """An offer. Raises NotFound."""
    row = tx.execute(select(_OFFER).where(_OFFER.c.id == offer_id)).one_or_none()
    if row is None:
        raise NotFound(_("There is no such seat on offer here."))
    return OfferRow(**row._mapping)


def offer_of_seat(tx: Connection, game_id: int, seat: int) -> OfferRow | None:
    """The open offer of a seat, if there is one."""
    this = (_OFFER.c.game_id == game_id, _OFFER.c.seat == seat, _OFFER.c.status == OfferStatus.OPEN)
    row = tx.execute(select(_OFFER).where(*this)).one_or_none()
    return None if row is None else OfferRow(**row._mapping)


def offers_of_game(tx: Connection, game_id: int) -> list[tuple[OfferRow, str, bool]]:
    """The open offers at a table, each with the seat's name and whether its player still has it."""
    here = and_(_PLAYER.c.game_id == _OFFER.c.game_id, _PLAYER.c.seat == _OFFER.c.seat)
    player = (_PLAYER.c.name.label("name"), (_PLAYER.c.person_id == _OFFER.c.person_id).label("remains"))
    these = (
        select(_OFFER, *player)
        .join(_PLAYER, here)
        .where(_OFFER.c.game_id == game_id, _OFFER.c.status == OfferStatus.OPEN)
    )
    rows = [dict(row._mapping) for row in tx.execute(these.order_by(_OFFER.c.seat))]
    about = [(str(row.pop("name")), bool(row.pop("remains"))) for row in rows]
    return [(OfferRow(**row), name, remains) for row, (name, remains) in zip(rows, about, strict=True)]


def end_offer(tx: Connection, offer_id: int, status: str, now: datetime, taken_by: int | None = None) -> None:
    """End an offer with this status."""
    ended = update(_OFFER).where(_OFFER.c.id == offer_id)
    tx.execute(ended.values(status=status, ended_at=now, taken_by=taken_by))


def open_to_all(tx: Connection, limit: int) -> list[OfferRow]:
    """Seats at running tables that any substitute may take, newest first."""
    going_on = and_(_GAME.c.id == _OFFER.c.game_id, _GAME.c.status == TableStatus.PLAYING)
    query = select(_OFFER).join(_GAME, going_on)
    still = (_OFFER.c.status == OfferStatus.OPEN, _OFFER.c.successor == "substitute")
    newest = query.where(*still).order_by(_OFFER.c.offered_at.desc(), _OFFER.c.id.desc()).limit(limit)
    return [OfferRow(**row._mapping) for row in tx.execute(newest)]


def open_ids(tx: Connection) -> list[int]:
    """The ids of all open offers."""
    return list(
        tx.execute(select(_OFFER.c.id).where(_OFFER.c.status == OfferStatus.OPEN).order_by(_OFFER.c.id)).scalars()
    )


def set_volunteer(tx: Connection, person_id: int, volunteers: bool, now: datetime) -> None:
    """Add or remove a volunteer. The person is locked."""
    if not volunteers:
        tx.execute(delete(_VOLUNTEER).where(_VOLUNTEER.c.person_id == person_id))
    elif not is_volunteer(tx, person_id):
        tx.execute(insert(_VOLUNTEER), {"person_id": person_id, "since": now})


def is_volunteer(tx: Connection, person_id: int) -> bool:
    """Whether a person is a volunteer."""
    return tx.execute(select(_VOLUNTEER.c.since).where(_VOLUNTEER.c.person_id == person_id)).first() is not None


def volunteers(tx: Connection, game_id: int, without: Iterable[int]) -> list[int]:
    """Volunteers who are not at this table and can be reached by email."""
    at_table = select(_PLAYER.c.number).where(
        _PLAYER.c.game_id == game_id, _PLAYER.c.person_id == _VOLUNTEER.c.person_id
    )
    failing = select(_UNREACHABLE.c.id).where(
        _UNREACHABLE.c.person_id == _VOLUNTEER.c.person_id, _UNREACHABLE.c.end_at.is_(None)
    )
    query = (
        select(_VOLUNTEER.c.person_id)
        .join(_PERSON, _PERSON.c.id == _VOLUNTEER.c.person_id)
        .where(
            _PERSON.c.confirmed_at.is_not(None),
            ~at_table.exists(),
            ~failing.exists(),
            _VOLUNTEER.c.person_id.not_in(list(without)),
        )
        .order_by(_VOLUNTEER.c.person_id)
    )
    return list(tx.execute(query).scalars())


def add_vote(tx: Connection, game_id: int, seat: int, at: datetime) -> None:
    """Add the vote of a seat. The game must be locked, and the seat must not have voted."""
    tx.execute(insert(_VOTE), {"game_id": game_id, "seat": seat, "at": at})


def drop_vote(tx: Connection, game_id: int, seat: int) -> bool:
    """Take back the vote of a seat; False if there is none."""
    return tx.execute(delete(_VOTE).where(_VOTE.c.game_id == game_id, _VOTE.c.seat == seat)).rowcount == 1


def votes(tx: Connection, game_id: int) -> set[int]:
    """The seats that have voted."""
    return set(tx.execute(select(_VOTE.c.seat).where(_VOTE.c.game_id == game_id)).scalars())
