"""Outgoing emails: queued as facts in the transaction that causes them; `service.outgoing` writes and sends them."""

import json
from collections.abc import Collection, Mapping
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
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from pbem.domain.deleted_people import PersonName
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.store import person_names, prefetch, queries
from pbem.store.ledger import lines
from pbem.store.limits import Period, within
from pbem.store.schema import CHANNEL, DEADLINE, LEDGER, OUTBOX, PERSON, EmailRow
from pbem.store.schema.mail import BY_CHANNEL, LEFT
from pbem.store.types import Moment, Number


class _position(FunctionElement[int]):  # noqa: N801 - a function of SQL
    """Where a text has another; the databases have two names for it."""

    type = Integer()
    inherit_cache = True


@compiles(_position)
def _on_postgresql(element: _position, compiler: SQLCompiler, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)})"


@compiles(_position, "sqlite")
def _on_sqlite(element: _position, compiler: SQLCompiler, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)})"


# The id of a new email is not needed, so it is not fetched; constants are written into the statement.
DOMAIN = func.substr(PERSON.c.mailbox, _position(PERSON.c.mailbox, literal_column("'@'")) + literal_column("1"))
_QUEUE = (
    insert(OUTBOX)
    .inline()
    .values(
        domain=select(DOMAIN).where(PERSON.c.id == bindparam("reader")).scalar_subquery(),
        status=literal_column("'queued'"),
        attempts=literal_column("0"),
        channel_id=literal_column("0"),
    )
)
_IS_EMAIL: Final = OUTBOX.c.channel_id == literal_column("0")
_ABOUT_TURN = ("person_id", "game_id", "seat", "seq", "turn", "kind")
FIELDS: Final = (*_ABOUT_TURN, "rank", "domain", "facts", "status", "queued_at", "due_at", "attempts", "channel_id")
"""The columns of a row that is queued."""
IS_ACTIVE: Final = CHANNEL.c.status == literal_column("'active'")
_THROUGH_CHANNELS = (
    insert(OUTBOX)
    .inline()
    .from_select(
        FIELDS,
        select(
            CHANNEL.c.person_id,
            bindparam("of_game_id", type_=Number),
            bindparam("of_seat", type_=Number),
            bindparam("of_seq", type_=Number),
            bindparam("of_turn", type_=Number),
            bindparam("of_kind", type_=Text),
            literal_column(f"{BY_CHANNEL}"),
            CHANNEL.c.host,
            bindparam("of_facts", type_=Text),
            literal_column("'queued'"),
            bindparam("of_queued_at", type_=Moment),
            bindparam("of_due_at", type_=Moment),
            literal_column("0"),
            CHANNEL.c.id,
        ).where(CHANNEL.c.person_id == bindparam("of_person_id"), CHANNEL.c.game_id.is_(None), IS_ACTIVE),
    )
)
AWAITED: Final = frozenset({EmailKind.TURN, EmailKind.REMINDER})
"""Kinds of email that a game waits for. They leave before all others."""
ON_CHANNELS: Final = AWAITED | {EmailKind.RESULT, EmailKind.VOIDED}
"""Kinds that have messages through channels too."""
_IS_SENT: Final[ColumnElement[str]] = literal_column("'sent'")
_FACTS = json.JSONEncoder(sort_keys=True)
_ABOUT = ("person_id", "kind", "game_id", "seq", "seat", "turn")
_ABOUT_MESSAGE = (*_ABOUT, "facts", "queued_at", "due_at")
_TURN_BEFORE = (
    select(OUTBOX)
    .where(
        OUTBOX.c.game_id == bindparam("of_game"),
        OUTBOX.c.seat == bindparam("of_seat"),
        OUTBOX.c.person_id == bindparam("of_person"),
        OUTBOX.c.kind == EmailKind.TURN,
        OUTBOX.c.status == _IS_SENT,
        _IS_EMAIL,
        OUTBOX.c.id < bindparam("before"),
        OUTBOX.c.turn < func.coalesce(bindparam("before_turn", type_=Integer), OUTBOX.c.turn + 1),
    )
    .order_by(OUTBOX.c.id.desc())
    .limit(1)
)
# The same for many emails.
_TURN = OUTBOX.alias("turn")
_TURNS_BEFORE = (
    select(OUTBOX.c.id, func.max(_TURN.c.id).label("before"))
    .join_from(
        OUTBOX,
        _TURN,
        and_(
            _TURN.c.game_id == OUTBOX.c.game_id,
            _TURN.c.seat == OUTBOX.c.seat,
            _TURN.c.person_id == OUTBOX.c.person_id,
            _TURN.c.kind == EmailKind.TURN,
            _TURN.c.status == _IS_SENT,
            _TURN.c.channel_id == literal_column("0"),
            _TURN.c.id < OUTBOX.c.id,
            or_(OUTBOX.c.kind != EmailKind.TURN, OUTBOX.c.turn.is_(None), _TURN.c.turn < OUTBOX.c.turn),
        ),
    )
    .where(OUTBOX.c.id.in_(bindparam("these", expanding=True)))
    .group_by(OUTBOX.c.id)
)
_EMAIL = OUTBOX.alias("email")
_DROPPED: Final = (EmailStatus.SUPERSEDED, EmailStatus.WITHHELD)
_READ = select(OUTBOX).where(OUTBOX.c.id == bindparam("of_id"))


@dataclass(frozen=True, slots=True)
class NewEmail:
    """An email to be queued: its reader, its kind and what it is about; `alone` if no channel tells of it too.

    The names of people in `facts` are each a `PersonName`.
    """

    person_id: int
    kind: EmailKind
    game_id: int | None = None
    seq: int | None = None
    seat: int | None = None
    turn: int | None = None
    facts: Mapping[str, Any] | None = None
    alone: bool = False


def queue(tx: Connection, emails: Collection[NewEmail], now: datetime, due_at: datetime | None = None) -> None:
    """Queue emails, due at once unless a later moment is given, and messages through their readers' channels."""
    rows = _rows(tx, emails, now, due_at or now)
    if rows:
        tx.execute(_QUEUE, rows)
    through = [row for email, row in zip(emails, rows, strict=True) if email.kind in ON_CHANNELS and not email.alone]
    _queue_messages(tx, through)


def queue_messages(tx: Connection, emails: Collection[NewEmail], now: datetime) -> None:
    """Queue messages through the readers' own channels alone, which say what these emails would."""
    _queue_messages(tx, _rows(tx, emails, now, now))


def _queue_messages(tx: Connection, rows: Collection[Mapping[str, Any]]) -> None:
    if rows:
        tx.execute(_THROUGH_CHANNELS, [{f"of_{name}": row[name] for name in _ABOUT_MESSAGE} for row in rows])


def _rows(tx: Connection, emails: Collection[NewEmail], now: datetime, due_at: datetime) -> list[dict[str, Any]]:
    names = person_names.store_all(tx, [email.facts for email in emails if email.facts])
    return [_row(email, names, now, due_at) for email in emails]


def _row(email: NewEmail, names: Mapping[PersonName, Any], now: datetime, due_at: datetime) -> dict[str, Any]:
    facts = {
        key: names[value] if isinstance(value, PersonName) else value for key, value in (email.facts or {}).items()
    }
    return {name: getattr(email, name) for name in _ABOUT} | {
        "reader": email.person_id,
        "rank": int(email.kind not in AWAITED),
        "facts": _FACTS.encode(facts),
        "queued_at": now,
        "due_at": due_at,
    }


def read(tx: Connection, outbox_id: int) -> EmailRow | None:
    return queries.one(tx, EmailRow, _READ, {"of_id": outbox_id})


def change(tx: Connection, outbox_id: int, **values: Any) -> None:
    tx.execute(
        _changing(tuple(values)), {"of_id": outbox_id} | {f"new_{name}": value for name, value in values.items()}
    )


def came_back(tx: Connection, outbox_id: int) -> None:
    """Mark an email as undeliverable, even if its worker has not recorded yet that it was sent."""
    begun = or_(OUTBOX.c.lease_id.is_not(None), OUTBOX.c.rank == LEFT)
    just_sent = and_(OUTBOX.c.status == EmailStatus.QUEUED, begun)
    bounced = update(OUTBOX).where(OUTBOX.c.id == outbox_id, or_(OUTBOX.c.status == EmailStatus.SENT, just_sent))
    tx.execute(bounced.values(status=EmailStatus.UNDELIVERABLE))


def is_under_way(tx: Connection, person_id: int, kind: EmailKind, game_id: int | None, recent: Period) -> bool:
    """Whether an email of this kind about this table has just gone to a person, in this period, or is about to."""
    same = (OUTBOX.c.person_id == person_id, OUTBOX.c.kind == kind, OUTBOX.c.game_id.is_not_distinct_from(game_id))
    sent = and_(OUTBOX.c.status == EmailStatus.SENT, within(OUTBOX.c.queued_at, recent))
    query = select(OUTBOX.c.id).where(*same, _IS_EMAIL, or_(OUTBOX.c.status == EmailStatus.QUEUED, sent))
    return tx.execute(query.limit(1)).first() is not None


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
    return _turns(tx, OUTBOX.c.status == EmailStatus.SENT)


def turns_refused(tx: Connection, person_id: int) -> list[EmailRow]:
    """Undeliverable turn emails to a person, whose deadline is still open."""
    return _turns(tx, and_(OUTBOX.c.status == EmailStatus.UNDELIVERABLE, OUTBOX.c.person_id == person_id))


def queue_length(tx: Connection, status: str) -> tuple[int, datetime | None]:
    """The number of emails with this status, and when the oldest was due."""
    query = select(func.count(), func.min(OUTBOX.c.due_at)).where(OUTBOX.c.status == status)
    number, oldest = tx.execute(query).one()
    return number, oldest


def about(tx: Connection, game_id: int, limit: int, seat: int | None = None) -> list[EmailRow]:
    """The emails about a game, or one seat of it, newest first."""
    on_seat = true() if seat is None else OUTBOX.c.seat == seat
    return _newest(tx, and_(OUTBOX.c.game_id == game_id, on_seat), limit=limit)


def of_person(tx: Connection, person_id: int, limit: int, below: int | None = None) -> list[EmailRow]:
    """The emails to a person, with ids below `below` if given, newest first."""
    older = true() if below is None else OUTBOX.c.id < below
    return _newest(tx, and_(OUTBOX.c.person_id == person_id, older), limit=limit)


def count_resent_in(tx: Connection, person_id: int, period: Period) -> int:
    """How many times emails to a person were resent by hand in a period."""
    emails = select(OUTBOX.c.id).where(OUTBOX.c.person_id == person_id)
    again = (LEDGER.c.outbox_id.in_(emails), LEDGER.c.what == "resent", within(LEDGER.c.at, period))
    return queries.count(tx, LEDGER, *again)


def beyond(
    tx: Connection, outbox_ids: Collection[int], most: int, period: Period, *, of_any_table: bool = False
) -> set[int]:
    """Those of these emails before which at least `most` of their kind, about their table or any, went to their reader in a period."""
    same = and_(OUTBOX.c.person_id == _EMAIL.c.person_id, OUTBOX.c.kind == _EMAIL.c.kind)
    if not of_any_table:
        same = and_(same, OUTBOX.c.game_id == _EMAIL.c.game_id)
    earlier = and_(same, OUTBOX.c.id < _EMAIL.c.id, OUTBOX.c.status.not_in(_DROPPED))
    query = select(_EMAIL.c.id).join_from(_EMAIL, OUTBOX, earlier).group_by(_EMAIL.c.id).having(func.count() >= most)
    return {*tx.execute(query.where(_EMAIL.c.id.in_(outbox_ids), within(OUTBOX.c.queued_at, period))).scalars()}


def with_ids(tx: Connection, outbox_ids: Collection[int]) -> list[EmailRow]:
    """These emails, oldest first."""
    query = select(OUTBOX).where(OUTBOX.c.id.in_(outbox_ids)).order_by(OUTBOX.c.id)
    return queries.many(tx, EmailRow, query)


def for_digest(tx: Connection, person_id: int) -> list[EmailRow]:
    """The emails that wait for a person's digest, oldest first."""
    query = select(OUTBOX).where(OUTBOX.c.person_id == person_id, OUTBOX.c.status == EmailStatus.DIGEST)
    return queries.many(tx, EmailRow, query.order_by(OUTBOX.c.id))


def of_kind(tx: Connection, person_id: int, kind: str, status: EmailStatus, limit: int = 100) -> list[EmailRow]:
    """The emails of one kind and status to a person, newest first."""
    same = and_(OUTBOX.c.person_id == person_id, OUTBOX.c.kind == kind, OUTBOX.c.status == status)
    return _newest(tx, and_(same, _IS_EMAIL), limit=limit)


def later_of_kind(tx: Connection, person_id: int, kind: str, outbox_id: int) -> list[EmailRow]:
    """The emails of one kind to a person that were queued after this one, newest first."""
    return _newest(tx, and_(OUTBOX.c.person_id == person_id, OUTBOX.c.kind == kind, OUTBOX.c.id > outbox_id), limit=100)


def last_turn_emailed(tx: Connection, person_id: int, game_id: int) -> int:
    """The last turn a person was sent a full account of; 0 if there was none."""
    sent = (OUTBOX.c.person_id == person_id, OUTBOX.c.game_id == game_id, OUTBOX.c.status == EmailStatus.SENT)
    query = select(func.max(OUTBOX.c.turn)).where(
        *sent, _IS_EMAIL, OUTBOX.c.kind.in_((EmailKind.WELCOME, EmailKind.TURN))
    )
    return int(tx.execute(query).scalar_one() or 0)


def last_line_emailed(tx: Connection, person_id: int, game_id: int) -> int:
    """The last line of talk that an email about a turn has told a person of; 0 if there was none."""
    sent = (OUTBOX.c.person_id == person_id, OUTBOX.c.game_id == game_id, OUTBOX.c.status == EmailStatus.SENT)
    query = select(func.max(OUTBOX.c.lines)).where(*sent, _IS_EMAIL, OUTBOX.c.kind == EmailKind.TURN)
    return int(tx.execute(query).scalar_one() or 0)


def with_status(tx: Connection, status: str, limit: int) -> list[EmailRow]:
    """The emails with this status, newest first."""
    return _newest(tx, OUTBOX.c.status == status, limit=limit)


def given_up_of_no_table(tx: Connection, limit: int) -> list[EmailRow]:
    """Parked emails about no table, last due first."""
    query = select(OUTBOX).where(OUTBOX.c.status == EmailStatus.PARKED, OUTBOX.c.game_id.is_(None))
    latest = query.order_by(OUTBOX.c.due_at.desc(), OUTBOX.c.id.desc()).limit(limit)
    return queries.many(tx, EmailRow, latest)


def of_game(tx: Connection, game_id: int, after_seq: int = 0) -> list[EmailRow]:
    """The emails about a game, and messages through channels, that rows of its log after `after_seq` caused."""
    query = select(OUTBOX).where(OUTBOX.c.game_id == game_id, OUTBOX.c.seq > after_seq)
    return queries.many(tx, EmailRow, query.order_by(OUTBOX.c.id))


def asked_for_again(tx: Connection, game_id: int, after_turn: int) -> list[EmailRow]:
    """The emails that ask for a decision in a later turn of a game, and that no row of its log caused."""
    asks = OUTBOX.c.kind.in_((EmailKind.TURN, EmailKind.REMINDER))
    query = select(OUTBOX).where(OUTBOX.c.game_id == game_id, OUTBOX.c.turn > after_turn, asks, OUTBOX.c.seq.is_(None))
    return queries.many(tx, EmailRow, query.order_by(OUTBOX.c.id))


def _turn_before(tx: Connection, email: EmailRow) -> EmailRow | None:
    same = {"of_game": email.game_id, "of_seat": email.seat, "of_person": email.person_id, "before": email.id}
    turn = email.turn if email.kind == EmailKind.TURN else None
    return queries.one(tx, EmailRow, _TURN_BEFORE, same | {"before_turn": turn})


@cache
def _changing(names: tuple[str, ...]) -> Update:
    # Each email is changed a few times, and building a statement takes longer than running it.
    changed = {name: bindparam(f"new_{name}", type_=OUTBOX.c[name].type) for name in names}
    return update(OUTBOX).where(OUTBOX.c.id == bindparam("of_id")).values(changed)


def _turns(tx: Connection, which: ColumnElement[bool]) -> list[EmailRow]:
    asked = and_(
        DEADLINE.c.game_id == OUTBOX.c.game_id,
        DEADLINE.c.turn == OUTBOX.c.turn,
        DEADLINE.c.seat == OUTBOX.c.seat,
        DEADLINE.c.status == TurnStatus.OPEN,
    )
    query = select(OUTBOX).join(DEADLINE, asked).where(OUTBOX.c.kind == EmailKind.TURN, _IS_EMAIL, which)
    return queries.many(tx, EmailRow, query.order_by(OUTBOX.c.id))


def _newest(tx: Connection, which: ColumnElement[bool], limit: int) -> list[EmailRow]:
    newest = select(OUTBOX).where(which).order_by(OUTBOX.c.id.desc()).limit(limit)
    return queries.many(tx, EmailRow, newest)
