"""Channels, as rows, and the messages through them in the outbox. Statements that a move runs are in `outbox`."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from pbem.domain.channels import CODE, ChannelStatus, same_addresses
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.store import queries
from pbem.store.deadlines import ANY_SEAT
from pbem.store.leases import MESSAGES_OF_ONE, place_of_person
from pbem.store.limits import Period, within
from pbem.store.outbox import IS_ACTIVE
from pbem.store.schema import CHANNEL, DEADLINE, GAME, OUTBOX, ChannelRow, EmailRow
from pbem.store.schema.mail import BY_CHANNEL
from pbem.store.types import Moment

_NOT_REMOVED: Final = CHANNEL.c.status != ChannelStatus.REMOVED
_NOT_SENT: Final = frozenset({EmailStatus.SUPERSEDED, EmailStatus.UNDELIVERABLE})
# Two numbers are a lock of another kind than one: those of `revocations` are never the same.
_ONE_AT_A_TIME = select(
    func.pg_advisory_xact_lock(func.hashtext(literal_column("'channel'")), func.hashtext(bindparam("address")))
)
_LATER = OUTBOX.alias("later")
_SAME_TURN = and_(
    OUTBOX.c.game_id == DEADLINE.c.game_id,
    OUTBOX.c.turn == DEADLINE.c.turn,
    or_(OUTBOX.c.seat.is_(None), OUTBOX.c.seat == DEADLINE.c.seat),
    ANY_SEAT,
    DEADLINE.c.status == TurnStatus.OPEN,
)
_DONE_OF_EACH = (
    select(OUTBOX.c.id.label("message"), place_of_person())
    .where(
        OUTBOX.c.remote_id.is_not(None),
        OUTBOX.c.due_at <= bindparam("now", type_=Moment),
        ~exists(select(DEADLINE.c.seat).where(_SAME_TURN)),
    )
    .subquery()
)
_DONE = (
    select(OUTBOX)
    .join(_DONE_OF_EACH, _DONE_OF_EACH.c.message == OUTBOX.c.id)
    .where(_DONE_OF_EACH.c.place <= MESSAGES_OF_ONE)
    .order_by(_DONE_OF_EACH.c.place, OUTBOX.c.due_at)
    .limit(bindparam("most"))
)


def add(tx: Connection, **values: Any) -> int:
    """Add a channel and return its id."""
    return queries.add(tx, CHANNEL, {"status": ChannelStatus.PENDING, "tries": 0, "why": "", "device": ""} | values)


def read(tx: Connection, channel_id: int) -> ChannelRow | None:
    return queries.one(tx, ChannelRow, select(CHANNEL).where(CHANNEL.c.id == channel_id))


def read_all(tx: Connection, channel_ids: Collection[int]) -> dict[int, ChannelRow]:
    return queries.by_id(tx, ChannelRow, CHANNEL, channel_ids)


def lock(tx: Connection, channel_id: int) -> ChannelRow | None:
    """Lock a channel, so that two codes are not tried at once."""
    query = select(CHANNEL).where(CHANNEL.c.id == channel_id).with_for_update(key_share=True)
    return queries.one(tx, ChannelRow, query)


def change(tx: Connection, channel_id: int, **values: Any) -> None:
    tx.execute(update(CHANNEL).where(CHANNEL.c.id == channel_id).values(**values))


def of_person(tx: Connection, person_id: int) -> list[ChannelRow]:
    """A person's own channels, those that were removed left out."""
    return _many(tx, CHANNEL.c.person_id == person_id, CHANNEL.c.game_id.is_(None), _NOT_REMOVED)


def of_tables(tx: Connection, game_ids: Collection[int]) -> list[ChannelRow]:
    """The channels of these tables, those that were removed left out."""
    return _many(tx, CHANNEL.c.game_id.in_(game_ids), _NOT_REMOVED) if game_ids else []


def entered_by(tx: Connection, person_id: int) -> list[ChannelRow]:
    """All that a person has entered, for themselves and for tables, those that were removed left out."""
    return _many(tx, CHANNEL.c.person_id == person_id, _NOT_REMOVED)


def expired(tx: Connection, before: datetime) -> list[ChannelRow]:
    """Channels that are not needed since this moment: their game ended by then, or they were never proved."""
    ended = CHANNEL.c.game_id.in_(select(GAME.c.id).where(GAME.c.ended_at < before))
    unproved = and_(CHANNEL.c.status == ChannelStatus.PENDING, CHANNEL.c.made_at < before)
    return _many(tx, or_(ended, unproved), _NOT_REMOVED)


def with_address(tx: Connection, address: str) -> list[ChannelRow]:
    """The channels in use, of any service, with the same address as this. No other transaction asks for them until this one ends."""
    same = sorted(same_addresses(address))
    if tx.dialect.name == "postgresql":
        tx.execute(_ONE_AT_A_TIME, {"address": same[0]})
    return _many(tx, func.rtrim(CHANNEL.c.address, "/").in_(same), IS_ACTIVE)


def reaches(tx: Connection, person_id: int) -> bool:
    """Whether a person has a channel of their own in use."""
    return bool(_many(tx, CHANNEL.c.person_id == person_id, CHANNEL.c.game_id.is_(None), IS_ACTIVE))


def any_in_use(tx: Connection, person_id: int) -> bool:
    """Whether a channel is in use that a person has entered, for themselves or for a table that they host."""
    return bool(_many(tx, *_in_use_by(person_id)))


def count_codes_in(tx: Connection, period: Period, person_id: int | None = None, game_id: int | None = None) -> int:
    """How many codes were sent through channels in a period, for a person or for a table."""
    of = OUTBOX.c.game_id == game_id if person_id is None else OUTBOX.c.person_id == person_id
    return queries.count(tx, OUTBOX, of, OUTBOX.c.kind == CODE, within(OUTBOX.c.queued_at, period))


def switch_off(tx: Connection, person_id: int, why: str, now: datetime) -> bool:
    """Switch off what a person has entered for themselves and for tables that they host; returns whether any was on."""
    off = update(CHANNEL).where(*_in_use_by(person_id)).values(status=ChannelStatus.FAILED, why=why, ended_at=now)
    return tx.execute(off).rowcount > 0


def remove(tx: Connection, channel_id: int) -> None:
    """Remove a channel: its row stays, its address and its secret do not."""
    change(tx, channel_id, status=ChannelStatus.REMOVED, address="", secret="", host="", device="", why="")
    about = update(OUTBOX).where(OUTBOX.c.channel_id == channel_id, OUTBOX.c.remote_id.is_not(None))
    tx.execute(about.values(remote_id=None))


def queue_code(tx: Connection, channel: ChannelRow, person_id: int, now: datetime) -> None:
    """Queue the message with the code that proves a channel, which a person has asked for."""
    row = {"kind": CODE, "facts": "{}", "status": EmailStatus.QUEUED, "queued_at": now, "due_at": now, "attempts": 0}
    of = {"person_id": person_id, "game_id": channel.game_id, "channel_id": channel.id}
    tx.execute(insert(OUTBOX), row | of | {"rank": BY_CHANNEL, "domain": channel.host})


def tell_table(tx: Connection, game_id: int, kind: EmailKind, turn: int | None, seq: int, now: datetime) -> None:
    """Queue a message through each channel of a table, where no move does so."""
    active = _many(tx, CHANNEL.c.game_id == game_id, IS_ACTIVE)
    about = {"game_id": game_id, "seq": seq, "turn": turn, "kind": kind, "rank": BY_CHANNEL, "facts": "{}"}
    new = {"status": EmailStatus.QUEUED, "queued_at": now, "due_at": now, "attempts": 0}
    of_channels = [{"person_id": row.person_id, "domain": row.host, "channel_id": row.id} for row in active]
    if of_channels:
        tx.execute(insert(OUTBOX), [about | new | of for of in of_channels])


def is_said_again(tx: Connection, message: EmailRow) -> bool:
    """Whether a newer message through the same channel is about the same turn."""
    query = select(_LATER.c.id).where(
        _LATER.c.channel_id == message.channel_id,
        _LATER.c.game_id == message.game_id,
        _LATER.c.turn == message.turn,
        _LATER.c.seat.is_not_distinct_from(message.seat),
        _LATER.c.kind == message.kind,
        _LATER.c.id > message.id,
    )
    return tx.execute(query.limit(1)).first() is not None


def about_open_turns(tx: Connection, person_id: int) -> dict[tuple[int | None, int | None, int | None], EmailRow]:
    """The newest message to a person through their own channels about each of their open turns, by turn."""
    query = (
        select(OUTBOX)
        .join(DEADLINE, _SAME_TURN)
        .where(OUTBOX.c.person_id == person_id, OUTBOX.c.channel_id != 0, OUTBOX.c.seat.is_not(None))
        .where(OUTBOX.c.kind == EmailKind.TURN)
    )
    rows = queries.many(tx, EmailRow, query.order_by(OUTBOX.c.id))
    return {(row.game_id, row.turn, row.seat): row for row in rows if row.status not in _NOT_SENT}


def to_edit(tx: Connection, now: datetime, limit: int) -> list[EmailRow]:
    """Messages about turns that are over, which are to be marked as done: a few of each person."""
    return queries.many(tx, EmailRow, _DONE, {"now": now, "most": limit})


def _in_use_by(person_id: int) -> tuple[ColumnElement[bool], ...]:
    hosted = CHANNEL.c.game_id.in_(select(GAME.c.id).where(GAME.c.host_id == person_id))
    return CHANNEL.c.person_id == person_id, or_(CHANNEL.c.game_id.is_(None), hosted), IS_ACTIVE


def _many(tx: Connection, *conditions: ColumnElement[bool]) -> list[ChannelRow]:
    return queries.many(tx, ChannelRow, select(CHANNEL).where(*conditions).order_by(CHANNEL.c.id))
