"""Profiles: who shows one, and who may see it. This is the only place that decides the second."""

from collections.abc import Collection
from dataclasses import asdict

from sqlalchemy import ColumnElement, Connection, and_, delete, false, or_, select, update

from pbem.domain.states import Audience, TableStatus
from pbem.store import queries
from pbem.store.schema import GAME, PLAYER, PROFILE, ProfileRow


def of_person(tx: Connection, person_id: int) -> ProfileRow | None:
    """The profile that a person shows; None if they show none."""
    return queries.one(tx, ProfileRow, select(PROFILE).where(PROFILE.c.person_id == person_id))


def put(tx: Connection, row: ProfileRow) -> None:
    """Show this profile of a person, who is locked, in place of any before."""
    drop(tx, row.person_id)
    tx.execute(PROFILE.insert(), asdict(row))


def drop(tx: Connection, person_id: int) -> None:
    """Show no profile of a person any more."""
    tx.execute(delete(PROFILE).where(PROFILE.c.person_id == person_id))


def seen_by(tx: Connection, reader: int | None, key: str) -> ProfileRow | None:
    """The profile at this address if the reader, or anyone for None, may see it.

    A profile that they may not see is found by the same statement as none, and so takes the same time.
    """
    return queries.one(tx, ProfileRow, select(PROFILE).where(PROFILE.c.key == key, may_see(reader)))


def keys_seen_by(tx: Connection, reader: int | None, person_ids: Collection[int]) -> dict[int, str]:
    """The ends of the addresses of these people's profiles, by person, as far as the reader may see them."""
    seen = select(PROFILE.c.person_id, PROFILE.c.key).where(PROFILE.c.person_id.in_(list(person_ids)))
    return {row.person_id: row.key for row in tx.execute(seen.where(may_see(reader)))} if person_ids else {}


def shown_to_everyone(tx: Connection, person_ids: Collection[int]) -> dict[int, ProfileRow]:
    """The profiles of these people that everyone may see, by person."""
    query = select(PROFILE).where(PROFILE.c.person_id.in_(list(person_ids)), may_see(None))
    return {row.person_id: row for row in queries.many(tx, ProfileRow, query)} if person_ids else {}


def may_see(reader: int | None) -> ColumnElement[bool]:
    """Whether a reader may see a profile: everyone's, their own, and those of people they have finished a game with."""
    own: ColumnElement[bool] = false() if reader is None else PROFILE.c.person_id == reader
    met: ColumnElement[bool] = false() if reader is None else _have_finished_a_game(reader)
    return or_(PROFILE.c.audience == Audience.EVERYONE, own, and_(PROFILE.c.audience == Audience.MET, met))


def join(tx: Connection, old: int, new: int) -> None:
    """Give one person's profile to another who is the same, unless that one has a profile."""
    if of_person(tx, new) is None:
        tx.execute(update(PROFILE).where(PROFILE.c.person_id == old).values(person_id=new))
    else:
        drop(tx, old)


def _have_finished_a_game(reader: int) -> ColumnElement[bool]:
    seat_of_reader, seat = PLAYER.alias("seat_of_reader"), PLAYER.alias("seat")
    together = select(GAME.c.id).where(
        seat.c.person_id == PROFILE.c.person_id,
        seat_of_reader.c.game_id == seat.c.game_id,
        seat_of_reader.c.person_id == reader,
        GAME.c.id == seat.c.game_id,
        GAME.c.status == TableStatus.OVER,
    )
    return together.correlate(PROFILE).exists()
