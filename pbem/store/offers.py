"""Seats whose players are gone, and the people who would take one over."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, delete, insert, select, update

from pbem.domain.errors import NotFound
from pbem.domain.speech import gettext as _
from pbem.store.schema import Game, Offer, Person, Place, Unreachable, Willing, table_of

_OFFER, _WILLING = table_of(Offer), table_of(Willing)
_GAME, _PERSON, _PLACE, _UNREACHABLE = table_of(Game), table_of(Person), table_of(Place), table_of(Unreachable)


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A seat whose player is gone: who that was, why, whom the table wants there, and what came of it."""

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


def add(tx: Connection, game_id: int, seat: int, person_id: int, why: str, successor: str, now: datetime) -> int:
    """A seat can change hands; the number of the offer. The game is locked."""
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


def read(tx: Connection, offer_id: int) -> OfferRow:
    """One offer; not found if there is none."""
    row = tx.execute(select(_OFFER).where(_OFFER.c.id == offer_id)).one_or_none()
    if row is None:
        raise NotFound(_("There is no such seat on offer here."))
    return OfferRow(**row._mapping)


def of_seat(tx: Connection, game_id: int, seat: int) -> OfferRow | None:
    """The open offer of a seat."""
    this = (_OFFER.c.game_id == game_id, _OFFER.c.seat == seat, _OFFER.c.status == "open")
    row = tx.execute(select(_OFFER).where(*this)).one_or_none()
    return None if row is None else OfferRow(**row._mapping)


def of_game(tx: Connection, game_id: int) -> list[tuple[OfferRow, str, bool]]:
    """The open offers of seats at a table, each with the name of whoever plays the seat, and whether its player does still."""
    here = and_(_PLACE.c.game_id == _OFFER.c.game_id, _PLACE.c.seat == _OFFER.c.seat)
    theirs = (_PLACE.c.name.label("name"), (_PLACE.c.person_id == _OFFER.c.person_id).label("kept"))
    these = select(_OFFER, *theirs).join(_PLACE, here).where(_OFFER.c.game_id == game_id, _OFFER.c.status == "open")
    rows = [dict(row._mapping) for row in tx.execute(these.order_by(_OFFER.c.seat))]
    about = [(str(row.pop("name")), bool(row.pop("kept"))) for row in rows]
    return [(OfferRow(**row), name, kept) for row, (name, kept) in zip(rows, about, strict=True)]


def end(tx: Connection, offer_id: int, status: str, now: datetime, taken_by: int | None = None) -> None:
    """An offer is over, and how."""
    ended = update(_OFFER).where(_OFFER.c.id == offer_id)
    tx.execute(ended.values(status=status, ended_at=now, taken_by=taken_by))


def open_to_all(tx: Connection, limit: int) -> list[OfferRow]:
    """Seats at running tables that a substitute may take, the newest first."""
    going_on = and_(_GAME.c.id == _OFFER.c.game_id, _GAME.c.status == "playing")
    wanted = select(_OFFER).join(_GAME, going_on)
    still = (_OFFER.c.status == "open", _OFFER.c.successor == "substitute")
    newest = wanted.where(*still).order_by(_OFFER.c.offered_at.desc(), _OFFER.c.id.desc()).limit(limit)
    return [OfferRow(**row._mapping) for row in tx.execute(newest)]


def open_ids(tx: Connection) -> list[int]:
    """All offers that are open."""
    return list(tx.execute(select(_OFFER.c.id).where(_OFFER.c.status == "open").order_by(_OFFER.c.id)).scalars())


def set_willing(tx: Connection, person_id: int, willing: bool, now: datetime) -> None:
    """Note that a person would, or would not, take over seats. The person is locked."""
    if not willing:
        tx.execute(delete(_WILLING).where(_WILLING.c.person_id == person_id))
    elif not is_willing(tx, person_id):
        tx.execute(insert(_WILLING), {"person_id": person_id, "since": now})


def is_willing(tx: Connection, person_id: int) -> bool:
    """Whether a person would take over seats."""
    return tx.execute(select(_WILLING.c.since).where(_WILLING.c.person_id == person_id)).first() is not None


def willing(tx: Connection, game_id: int, without: Iterable[int]) -> list[int]:
    """People who would take a seat over, have none at this table, and can be reached."""
    at_table = select(_PLACE.c.place).where(_PLACE.c.game_id == game_id, _PLACE.c.person_id == _WILLING.c.person_id)
    failing = select(_UNREACHABLE.c.id).where(
        _UNREACHABLE.c.person_id == _WILLING.c.person_id, _UNREACHABLE.c.end_at.is_(None)
    )
    wanted = (
        select(_WILLING.c.person_id)
        .join(_PERSON, _PERSON.c.id == _WILLING.c.person_id)
        .where(
            _PERSON.c.confirmed_at.is_not(None),
            ~at_table.exists(),
            ~failing.exists(),
            _WILLING.c.person_id.not_in(list(without)),
        )
        .order_by(_WILLING.c.person_id)
    )
    return list(tx.execute(wanted).scalars())
