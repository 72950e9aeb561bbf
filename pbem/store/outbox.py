"""Outgoing emails.

An email is queued, as facts, in the transaction of the move that causes it. `service.outgoing` writes and sends it.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Text,
    Update,
    and_,
    bindparam,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.store import prefetch
from pbem.store.ledger import lines
from pbem.store.players import among
from pbem.store.schema import Deadline, Ledger, Outbox, Player, table_of
from pbem.store.types import Moment, Number

_DEADLINE, _LEDGER, _OUTBOX, _PLAYER = table_of(Deadline), table_of(Ledger), table_of(Outbox), table_of(Player)
# The id of a new email is not needed, so it is not fetched; constants are written into the statement.
_QUEUE = insert(_OUTBOX).inline().values(status=literal_column("'queued'"), attempts=literal_column("0"))
TELL: Final = (
    insert(_OUTBOX)
    .inline()
    .from_select(
        ("person_id", "game_id", "seat", "seq", "turn", "kind", "facts", "status", "queued_at", "due_at", "attempts"),
        select(
            _PLAYER.c.person_id,
            _PLAYER.c.game_id,
            _PLAYER.c.seat,
            bindparam("because_of", type_=Number),
            bindparam("about", type_=Number),
            bindparam("mail", type_=Text),
            literal_column("'{}'"),
            literal_column("'queued'"),
            bindparam("now", type_=Moment),
            bindparam("leaves_at", type_=Moment),
            literal_column("0"),
        ).where(_PLAYER.c.game_id == bindparam("of_game"), _PLAYER.c.person_id.is_not(None), among("told")),
    )
)
"""Queue an email of one kind to the people at some seats of a game."""
_FACTS = json.JSONEncoder(sort_keys=True)
_TURN_BEFORE = (
    select(_OUTBOX)
    .where(
        _OUTBOX.c.game_id == bindparam("of_game"),
        _OUTBOX.c.seat == bindparam("of_seat"),
        _OUTBOX.c.person_id == bindparam("of_person"),
        _OUTBOX.c.kind == EmailKind.TURN,
        _OUTBOX.c.status == EmailStatus.SENT,
        _OUTBOX.c.id < bindparam("before"),
        _OUTBOX.c.turn < func.coalesce(bindparam("before_turn", type_=Integer), _OUTBOX.c.turn + 1),
    )
    .order_by(_OUTBOX.c.id.desc())
    .limit(1)
)
# The same for many emails.
_TURN = _OUTBOX.alias("turn")
_TURNS_BEFORE = (
    select(_OUTBOX.c.id, func.max(_TURN.c.id).label("before"))
    .join(
        _TURN,
        and_(
            _TURN.c.game_id == _OUTBOX.c.game_id,
            _TURN.c.seat == _OUTBOX.c.seat,
            _TURN.c.person_id == _OUTBOX.c.person_id,
            _TURN.c.kind == EmailKind.TURN,
            _TURN.c.status == EmailStatus.SENT,
            _TURN.c.id < _OUTBOX.c.id,
            or_(_OUTBOX.c.kind != EmailKind.TURN, _OUTBOX.c.turn.is_(None), _TURN.c.turn < _OUTBOX.c.turn),
        ),
    )
    .where(_OUTBOX.c.id.in_(bindparam("these", expanding=True)))
    .group_by(_OUTBOX.c.id)
)
_READ = select(_OUTBOX).where(_OUTBOX.c.id == bindparam("of_id"))


@dataclass(frozen=True, slots=True)
class NewEmail:
    """An email to be queued: its reader, its kind and what it is about."""

    person_id: int
    kind: EmailKind
    game_id: int | None = None
    seq: int | None = None
    seat: int | None = None
    turn: int | None = None
    facts: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class EmailRow:
    """An email as stored."""

    id: int
    person_id: int
    game_id: int | None
    seq: int | None
    seat: int | None
    turn: int | None
    kind: str
    facts: str
    status: str
    queued_at: datetime
    due_at: datetime
    claimed_until: datetime | None
    attempts: int
    message_id: str | None
    rendered_at: datetime | None
    body: bytes | None
    accepted_at: datetime | None


def queue(tx: Connection, emails: Iterable[NewEmail], now: datetime, due_at: datetime) -> None:
    """Queue emails, to be sent when due."""
    rows = [_row(email, now, due_at) for email in emails]
    if rows:
        tx.execute(_QUEUE, rows)


def read(tx: Connection, outbox_id: int) -> EmailRow | None:
    """An email, if there is one."""
    row = tx.execute(_READ, {"of_id": outbox_id}).one_or_none()
    return None if row is None else EmailRow(**row._mapping)


def change(tx: Connection, outbox_id: int, **values: Any) -> None:
    """Change columns of an email."""
    tx.execute(
        _changing(tuple(values)), {"of_id": outbox_id} | {f"new_{name}": value for name, value in values.items()}
    )


def turn_before(tx: Connection, email: EmailRow) -> EmailRow | None:
    """The last sent turn email before this one, to the same person at the same seat.

    For a turn email it is that of an earlier turn, even if this turn was emailed twice.
    """
    return prefetch.get_or_read(tx, ("turn before", email.id), lambda: _turn_before(tx, email))


def read_ahead(tx: Connection, emails: Collection[EmailRow]) -> None:
    """Read ahead the turn email before each of these, and their ledgers."""
    ids = [email.id for email in emails]
    before = {row.id: row.before for row in tx.execute(_TURNS_BEFORE, {"these": ids})}
    turns = {row.id: row for row in with_ids(tx, set(before.values()))} if before else {}
    ledgers = lines(tx, ids)
    for outbox_id in ids:
        prefetch.put(tx, ("turn before", outbox_id), turns[before[outbox_id]] if outbox_id in before else None)
        prefetch.put(tx, ("lines", outbox_id), ledgers.get(outbox_id, []))


def turns_open(tx: Connection) -> list[EmailRow]:
    """Sent turn emails whose deadline is still open."""
    return _turns(tx, _OUTBOX.c.status == EmailStatus.SENT)


def turns_refused(tx: Connection, person_id: int) -> list[EmailRow]:
    """Undeliverable turn emails to a person, whose deadline is still open."""
    return _turns(tx, and_(_OUTBOX.c.status == EmailStatus.UNDELIVERABLE, _OUTBOX.c.person_id == person_id))


def queue_length(tx: Connection, status: str) -> tuple[int, datetime | None]:
    """The number of emails with this status, and when the oldest was due."""
    query = select(func.count(), func.min(_OUTBOX.c.due_at)).where(_OUTBOX.c.status == status)
    number, oldest = tx.execute(query).one()
    return number, oldest


def about(tx: Connection, game_id: int, limit: int, seat: int | None = None) -> list[EmailRow]:
    """The emails about a game, or one seat of it, newest first."""
    on_seat = true() if seat is None else _OUTBOX.c.seat == seat
    return _newest(tx, and_(_OUTBOX.c.game_id == game_id, on_seat), limit=limit)


def of_person(tx: Connection, person_id: int, limit: int, below: int | None = None) -> list[EmailRow]:
    """The emails to a person, with ids below `below` if given, newest first."""
    older = true() if below is None else _OUTBOX.c.id < below
    return _newest(tx, and_(_OUTBOX.c.person_id == person_id, older), limit=limit)


def resent_since(tx: Connection, person_id: int, since: datetime) -> int:
    """How many times emails to a person were resent by hand since this moment."""
    mine = select(_OUTBOX.c.id).where(_OUTBOX.c.person_id == person_id)
    again = (_LEDGER.c.outbox_id.in_(mine), _LEDGER.c.what == "resent", _LEDGER.c.at > since)
    return tx.execute(select(func.count()).select_from(_LEDGER).where(*again)).scalar_one()


def with_ids(tx: Connection, outbox_ids: Collection[int]) -> list[EmailRow]:
    """These emails, oldest first."""
    query = select(_OUTBOX).where(_OUTBOX.c.id.in_(outbox_ids)).order_by(_OUTBOX.c.id)
    return [EmailRow(**row._mapping) for row in tx.execute(query)]


def for_digest(tx: Connection, person_id: int) -> list[EmailRow]:
    """The emails that wait for a person's digest, oldest first."""
    mine = (_OUTBOX.c.person_id == person_id, _OUTBOX.c.status == EmailStatus.DIGEST)
    return [EmailRow(**row._mapping) for row in tx.execute(select(_OUTBOX).where(*mine).order_by(_OUTBOX.c.id))]


def of_kind(tx: Connection, person_id: int, kind: str, status: str, limit: int = 100) -> list[EmailRow]:
    """The emails of one kind and status to a person, newest first."""
    same = and_(_OUTBOX.c.person_id == person_id, _OUTBOX.c.kind == kind, _OUTBOX.c.status == status)
    return _newest(tx, same, limit=limit)


def last_turn_told(tx: Connection, person_id: int, game_id: int) -> int:
    """The last turn a person was sent a full account of; 0 if there was none."""
    mine = (_OUTBOX.c.person_id == person_id, _OUTBOX.c.game_id == game_id, _OUTBOX.c.status == EmailStatus.SENT)
    tells = _OUTBOX.c.kind.in_(("welcome", "turn"))
    query = select(func.max(_OUTBOX.c.turn)).where(*mine, tells)
    return int(tx.execute(query).scalar_one() or 0)


def with_status(tx: Connection, status: str, limit: int) -> list[EmailRow]:
    """The emails with this status, newest first."""
    return _newest(tx, _OUTBOX.c.status == status, limit=limit)


def given_up_of_no_table(tx: Connection, limit: int) -> list[EmailRow]:
    """Parked emails about no table, last due first."""
    query = select(_OUTBOX).where(_OUTBOX.c.status == EmailStatus.PARKED, _OUTBOX.c.game_id.is_(None))
    latest = query.order_by(_OUTBOX.c.due_at.desc(), _OUTBOX.c.id.desc()).limit(limit)
    return [EmailRow(**row._mapping) for row in tx.execute(latest)]


def of_game(tx: Connection, game_id: int, after_seq: int = 0) -> list[EmailRow]:
    """The emails about a game that rows of its log after `after_seq` caused."""
    query = select(_OUTBOX).where(_OUTBOX.c.game_id == game_id, _OUTBOX.c.seq > after_seq)
    return [EmailRow(**row._mapping) for row in tx.execute(query.order_by(_OUTBOX.c.id))]


def _row(email: NewEmail, now: datetime, due_at: datetime) -> dict[str, Any]:
    return {
        "person_id": email.person_id,
        "game_id": email.game_id,
        "seq": email.seq,
        "seat": email.seat,
        "turn": email.turn,
        "kind": email.kind,
        "facts": _FACTS.encode(email.facts or {}),
        "queued_at": now,
        "due_at": due_at,
    }


def _turn_before(tx: Connection, email: EmailRow) -> EmailRow | None:
    same = {"of_game": email.game_id, "of_seat": email.seat, "of_person": email.person_id, "before": email.id}
    turn = email.turn if email.kind == EmailKind.TURN else None
    row = tx.execute(_TURN_BEFORE, same | {"before_turn": turn}).one_or_none()
    return None if row is None else EmailRow(**row._mapping)


@cache
def _changing(names: tuple[str, ...]) -> Update:
    # Each email is changed a few times, and building a statement takes longer than running it.
    changed = {name: bindparam(f"new_{name}", type_=_OUTBOX.c[name].type) for name in names}
    return update(_OUTBOX).where(_OUTBOX.c.id == bindparam("of_id")).values(changed)


def _turns(tx: Connection, which: ColumnElement[bool]) -> list[EmailRow]:
    asked = and_(
        _DEADLINE.c.game_id == _OUTBOX.c.game_id,
        _DEADLINE.c.turn == _OUTBOX.c.turn,
        _DEADLINE.c.seat == _OUTBOX.c.seat,
        _DEADLINE.c.status == TurnStatus.OPEN,
    )
    query = select(_OUTBOX).join(_DEADLINE, asked).where(_OUTBOX.c.kind == EmailKind.TURN, which)
    return [EmailRow(**row._mapping) for row in tx.execute(query.order_by(_OUTBOX.c.id))]


def _newest(tx: Connection, which: ColumnElement[bool], limit: int) -> list[EmailRow]:
    newest = select(_OUTBOX).where(which).order_by(_OUTBOX.c.id.desc()).limit(limit)
    return [EmailRow(**row._mapping) for row in tx.execute(newest)]


def _claim(free: ColumnElement[bool], first: ColumnElement[datetime]) -> ReturningUpdate[tuple[object, ...]]:
    due = (_OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.due_at <= bindparam("now", type_=Moment))
    found = select(_OUTBOX.c.id).where(*due, free).order_by(first, _OUTBOX.c.id)
    leased = found.limit(bindparam("most", type_=Integer)).with_for_update(skip_locked=True).cte("free")
    claimed = update(_OUTBOX).where(_OUTBOX.c.id.in_(select(leased.c.id)))
    return claimed.values(claimed_until=bindparam("until"), attempts=_OUTBOX.c.attempts + 1).returning(_OUTBOX)


# Workers run these every few seconds, so they are built once.
_CLAIM = _claim(_OUTBOX.c.claimed_until.is_(None), _OUTBOX.c.due_at)
_CLAIM_LEFT = _claim(_OUTBOX.c.claimed_until <= bindparam("now", type_=Moment), _OUTBOX.c.claimed_until)
_KEEP = (
    update(_OUTBOX)
    .where(_OUTBOX.c.id == bindparam("of_id"))
    .values(
        {name: bindparam(f"new_{name}", type_=_OUTBOX.c[name].type) for name in ("body", "message_id", "rendered_at")}
    )
)
_SEND = (
    update(_OUTBOX)
    .where(_OUTBOX.c.id == bindparam("of_id"))
    .values(
        status=EmailStatus.SENT,
        claimed_until=None,
        accepted_at=func.coalesce(_OUTBOX.c.accepted_at, bindparam("new_accepted_at", type_=Moment)),
    )
)


def claim(tx: Connection, now: datetime, until: datetime, limit: int) -> list[EmailRow]:
    """Lease due emails that no worker has begun to send; each claim counts as an attempt.

    If there are none, lease one email whose lease ran out, the longest ago. It may have crashed its worker, and alone
    it takes no other email with it.
    """
    return _leased(tx, _CLAIM, now, until, limit) or _leased(tx, _CLAIM_LEFT, now, until, 1)


def release(tx: Connection, email: EmailRow, due_at: datetime) -> None:
    """Release a claimed email without counting the attempt, if the lease is still ours.

    One that was tried before goes back among the expired leases, where it is sent alone.
    """
    leased = (
        _OUTBOX.c.id == email.id,
        _OUTBOX.c.status == EmailStatus.QUEUED,
        _OUTBOX.c.claimed_until == email.claimed_until,
    )
    expired = due_at if email.attempts > 1 else None
    released = update(_OUTBOX).where(*leased)
    tx.execute(released.values(claimed_until=expired, due_at=due_at, attempts=_OUTBOX.c.attempts - 1))


def keep(tx: Connection, written: Iterable[EmailRow]) -> None:
    """Store the bytes of written emails."""
    rows = [
        {
            "of_id": email.id,
            "new_body": email.body,
            "new_message_id": email.message_id,
            "new_rendered_at": email.rendered_at,
        }
        for email in written
    ]
    if rows:
        tx.execute(_KEEP, rows)


def send(tx: Connection, accepted: Mapping[int, datetime]) -> None:
    """Mark emails as sent, with the moment they were first accepted."""
    rows = [{"of_id": outbox_id, "new_accepted_at": at} for outbox_id, at in accepted.items()]
    if rows:
        tx.execute(_SEND, rows)


def lock_leased(tx: Connection, emails: Collection[EmailRow]) -> set[int]:
    """Lock these claimed emails; returns the ids of those whose lease is still ours."""
    leases = {email.id: email.claimed_until for email in emails}
    query = select(_OUTBOX.c.id, _OUTBOX.c.claimed_until).where(
        _OUTBOX.c.id.in_(leases), _OUTBOX.c.status == EmailStatus.QUEUED
    )
    found = tx.execute(query.order_by(_OUTBOX.c.id).with_for_update())
    return {row.id for row in found if row.claimed_until == leases[row.id]}


def came_back(tx: Connection, outbox_id: int) -> None:
    """Mark an email as undeliverable, even if its worker has not recorded yet that it was sent."""
    just_sent = and_(_OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.claimed_until.is_not(None))
    bounced = update(_OUTBOX).where(_OUTBOX.c.id == outbox_id, or_(_OUTBOX.c.status == EmailStatus.SENT, just_sent))
    tx.execute(bounced.values(status="undeliverable"))


def unwrite_queued(tx: Connection) -> list[int]:
    """Drop the bytes of all queued emails, so that they are written again; returns their ids."""
    waiting = (_OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.body.is_not(None))
    forgotten = update(_OUTBOX).where(*waiting).values(body=None, message_id=None, rendered_at=None)
    return list(tx.execute(forgotten.returning(_OUTBOX.c.id)).scalars())


def unwrite_to(tx: Connection, person_id: int) -> None:
    """Drop the bytes of a person's queued emails, so that they are written again."""
    waiting = (_OUTBOX.c.person_id == person_id, _OUTBOX.c.status == EmailStatus.QUEUED, _OUTBOX.c.body.is_not(None))
    tx.execute(update(_OUTBOX).where(*waiting).values(body=None, message_id=None, rendered_at=None))


def _leased(
    tx: Connection, claim: ReturningUpdate[tuple[object, ...]], now: datetime, until: datetime, most: int
) -> list[EmailRow]:
    found = tx.execute(claim, {"now": now, "until": until, "most": most})
    return sorted((EmailRow(**row._mapping) for row in found), key=lambda row: (row.due_at, row.id))
