"""Everything stored about one person, table by table: exporting it, and deleting it."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    FromClause,
    Select,
    Table,
    delete,
    exists,
    or_,
    select,
    union,
    update,
)

from pbem.domain.deleted_people import NAME, former_address, former_name
from pbem.domain.states import CallStatus, EmailKind, EmailStatus, OfferStatus, ReceivedStatus
from pbem.store import (
    channels,
    deletions,
    email_copies,
    groups,
    insiders,
    people,
    person_names,
    players as player_rows,
    search,
    tournaments,
)
from pbem.store.people import PersonRow
from pbem.store.schema import (
    ALARM,
    BAN,
    BLOCK,
    BOUNCE,
    CALL,
    CHANNEL,
    DEADLINE,
    ENTRANT,
    FINISHED_SEAT,
    FORMER_PLAYER,
    FRIEND,
    GAME,
    GROUP_MEMBERS,
    GROUPS,
    INSIDER,
    INVITATION,
    JOIN_REQUEST,
    LEDGER,
    LINK,
    LINK_REQUEST,
    NOTE,
    OFFER,
    ORGANISER,
    OUTBOX,
    PLAYER,
    PREFERENCE,
    PROFILE,
    RATING,
    RECEIVED,
    RESULT,
    REVIEW,
    SESSION,
    SIGN_UP,
    TALK,
    UNREACHABLE,
    VACATION,
    VOLUNTEER,
)

Rows = list[dict[str, Any]]

_ABOUT: Final = {
    "sessions": SESSION,
    "profile": PROFILE,
    "vacations": VACATION,
    "preferences": PREFERENCE,
    "notes": NOTE,
    "willing": VOLUNTEER,
    "blocks": BLOCK,
    "friends": FRIEND,
    "bans": BAN,
    "invitations": INVITATION,
    "wishes": JOIN_REQUEST,
    "tournaments": ENTRANT,
    "sign_ups": SIGN_UP,
    "calls": CALL,
    "insights": INSIDER,
    "former_seats": FORMER_PLAYER,
    "reviews": REVIEW,
    "channels": CHANNEL,
    "failures": UNREACHABLE,
    "bounces": BOUNCE,
}
"""Rows about a person alone, by their name in the export."""

_SECRETS: Final = frozenset({"secret_hash", "secret", "address"})
"""The columns left out of the export, besides numbers of rows: those would tell how many rows everyone has."""


def about(tx: Connection, person_id: int) -> dict[str, Rows]:
    return {name: _rows(tx, table, person_id) for name, table in _ABOUT.items()} | {"groups": _groups(tx, person_id)}


def _groups(tx: Connection, person_id: int) -> Rows:
    """The groups that a person is in, or invited to."""
    own = (GROUP_MEMBERS.c.role, GROUP_MEMBERS.c.name, GROUP_MEMBERS.c.since, GROUPS.c.name.label("group"))
    query = select(*own).join_from(GROUP_MEMBERS, GROUPS).where(GROUP_MEMBERS.c.person_id == person_id)
    return _mappings(tx, query.order_by(GROUPS.c.id))


def tables(tx: Connection, person_id: int) -> Rows:
    """A person's seats, then the tables they opened without taking a seat."""
    seated = (
        select(GAME.c.id, PLAYER.c.seat, PLAYER.c.name, PLAYER.c.word, PLAYER.c.joined_at)
        .join_from(PLAYER, GAME, GAME.c.id == PLAYER.c.game_id)
        .where(PLAYER.c.person_id == person_id)
        .order_by(GAME.c.id, PLAYER.c.number)
    )
    seats = _mappings(tx, seated)
    hosted = select(GAME.c.id).where(GAME.c.host_id == person_id).order_by(GAME.c.id)
    played = {row["id"] for row in seats}
    return seats + [{"id": game_id} for game_id in tx.execute(hosted).scalars() if game_id not in played]


def talk_of(tx: Connection, game_id: int, seat: int) -> list[tuple[datetime, str | None]]:
    """When the present player of a seat said something at a table, and what, if it was not redacted."""
    left = max((each.lines for each in player_rows.former_of_game(tx, game_id) if each.seat == seat), default=0)
    query = select(TALK.c.at, TALK.c.body).where(TALK.c.game_id == game_id, TALK.c.seat == seat, TALK.c.seq > left)
    rows = tx.execute(query.order_by(TALK.c.seq))
    return [(row.at, None if row.body is None else row.body.decode()) for row in rows]


def ratings(tx: Connection, key: str) -> tuple[Rows, Rows]:
    """A person's results of rated games, and what these changed, by the person's random key."""
    named = RESULT.outerjoin(GAME, GAME.c.id == RESULT.c.game_id)
    table, of_ending = GAME.c.key.label("table"), (RESULT.c.seq == RATING.c.seq) & (RESULT.c.number == 0)
    results = select(*(RESULT.c[name] for name in ("what", "kind", "seat", "rank", "at")), table).select_from(named)
    columns = [each for each in RATING.c if each.name not in ("seq", "player")]
    changes = select(*columns, table).select_from(RATING.join(named, of_ending)).where(RATING.c.player == key)
    return (
        _mappings(tx, results.where(RESULT.c.player == key).order_by(RESULT.c.seq, RESULT.c.number)),
        _mappings(tx, changes.order_by(RATING.c.seq, RATING.c.kind)),
    )


def finished(tx: Connection, key: str) -> Rows:
    """What a person's finished public games add to their profile, by the person's random key."""
    named = FINISHED_SEAT.join(GAME, GAME.c.id == FINISHED_SEAT.c.game_id)
    columns = [each for each in FINISHED_SEAT.c if each.name not in ("game_id", "player")]
    query = select(*columns, GAME.c.key.label("table")).select_from(named).where(FINISHED_SEAT.c.player == key)
    return _mappings(tx, query.order_by(FINISHED_SEAT.c.ended_at, FINISHED_SEAT.c.game_id))


def received(tx: Connection, person_id: int) -> Rows:
    """The emails that arrived for a person's links: when, and what became of them."""
    query = select(RECEIVED.c.received_at, RECEIVED.c.status, RECEIVED.c.outcome, RECEIVED.c.acts)
    of_person = query.join(LINK, LINK.c.id == RECEIVED.c.link_id).where(LINK.c.person_id == person_id)
    return _mappings(tx, of_person.order_by(RECEIVED.c.id))


def turns(tx: Connection, person_id: int) -> Rows:
    """A person's turns with their clocks, and the week that counted in each; those at seats they have left as well."""
    clock = [DEADLINE.c[name] for name in ("asked_at", "accepted_at", "due_at", "closed_at", "status", "week")]
    query = select(GAME.c.key.label("table"), DEADLINE.c.seat, DEADLINE.c.turn, *clock).join_from(DEADLINE, GAME)
    return _mappings(tx, query.where(_turn_of(person_id)).order_by(GAME.c.id, DEADLINE.c.turn, DEADLINE.c.seat))


def reservations(tx: Connection, person_id: int) -> Rows:
    """The seats on offer that a person has reserved."""
    query = select(GAME.c.key.label("table"), OFFER.c.seat, OFFER.c.reserved_turn, OFFER.c.reserved_as)
    reserved = query.join_from(OFFER, GAME, GAME.c.id == OFFER.c.game_id).where(*_reserved_by(person_id))
    return _mappings(tx, reserved.order_by(OFFER.c.id))


def _reserved_by(person_id: int) -> tuple[ColumnElement[bool], ...]:
    return OFFER.c.taken_by == person_id, OFFER.c.status == OfferStatus.OPEN


def _rows(tx: Connection, table: Table, person_id: int) -> Rows:
    columns = [each for each in table.c if each.name not in _SECRETS | {"id"} and not each.name.endswith("_id")]
    query = select(*columns)
    if "game_id" in table.c:
        games = table.outerjoin(GAME, GAME.c.id == table.c.game_id)
        query = select(*columns, GAME.c.key.label("table")).select_from(games)
    return _mappings(tx, query.where(table.c.person_id == person_id).order_by(*table.primary_key))


def _mappings(tx: Connection, query: Select[Any]) -> Rows:
    return [dict(row) for row in tx.execute(query).mappings()]


_DROPPED: Final = (
    BOUNCE,
    INVITATION,
    NOTE,
    PREFERENCE,
    PROFILE,
    REVIEW,
    SESSION,
    SIGN_UP,
    UNREACHABLE,
    VACATION,
    VOLUNTEER,
    JOIN_REQUEST,
)
"""Tables with rows about a person alone."""

GONE: Final = "(deleted)"


def forget(tx: Connection, person: PersonRow, zone: str) -> None:
    """Delete a person's data, the person being locked; what stays is a row of a deleted person."""
    deletions.begin(tx)
    for table in _DROPPED:
        tx.execute(delete(table).where(table.c.person_id == person.id))
    tx.execute(delete(BLOCK).where((BLOCK.c.person_id == person.id) | (BLOCK.c.blocked_id == person.id)))
    tx.execute(delete(FRIEND).where((FRIEND.c.person_id == person.id) | (FRIEND.c.friend_id == person.id)))
    groups.part_all(tx, person.id)
    tx.execute(delete(LINK_REQUEST).where(LINK_REQUEST.c.mailbox == person.mailbox))
    _forget_emails(tx, person.id)
    for channel in channels.entered_by(tx, person.id):
        channels.remove(tx, channel.id)
    calls = update(CALL).where(CALL.c.person_id == person.id)
    tx.execute(calls.values(text=GONE, answer=None, status=CallStatus.CLOSED))
    unreserved = update(OFFER).where(*_reserved_by(person.id))
    tx.execute(unreserved.values(taken_by=None, reserved_turn=None, reserved_as=None))
    _forget_alarms(tx, person.id)
    person_names.forget(tx, person.id)
    email_copies.unwrite_naming(tx, _games_of(person.id))
    for game_id in tx.execute(select(PLAYER.c.game_id).where(PLAYER.c.person_id == person.id).distinct()).scalars():
        _rename(tx, game_id, person.id)
    tx.execute(update(FORMER_PLAYER).where(FORMER_PLAYER.c.person_id == person.id).values(name=NAME))
    _forget_weeks(tx, person.id)
    tournaments.forget_person(tx, person.id)
    insiders.part(tx, person.id)
    nowhere = former_address(person.key)
    people.change(
        tx,
        person.id,
        name=NAME,
        address=nowhere,
        mailbox=nowhere,
        zone=zone,
        zone_chosen=False,
        quiet=None,
        week=None,
        delivery="nothing",
        topics="",
        sealed=False,
        reviews=False,
        show_ratings=False,
        confirmed_at=None,
    )


def _forget_emails(tx: Connection, person_id: int) -> None:
    """Keep that emails were sent; delete what they and the relays said."""
    emails = select(OUTBOX.c.id).where(OUTBOX.c.person_id == person_id)
    tx.execute(update(LEDGER).where(LEDGER.c.outbox_id.in_(emails)).values(detail=""))
    sent = update(OUTBOX).where(OUTBOX.c.person_id == person_id)
    unsent = OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST, EmailStatus.PARKED))
    tx.execute(sent.where(unsent).values(status=EmailStatus.SUPERSEDED, lease_id=None))
    tx.execute(sent.values(body=None, facts="{}", domain=""))
    links = select(LINK.c.id).where(LINK.c.person_id == person_id)
    received = update(RECEIVED).where(RECEIVED.c.link_id.in_(links))
    unread = RECEIVED.c.status.in_((ReceivedStatus.WAITING, ReceivedStatus.DOUBTED, ReceivedStatus.PARKED))
    tx.execute(received.where(unread).values(status=ReceivedStatus.DONE, claimed_until=None))
    tx.execute(received.values(raw=None, acts="[]"))


def _games_of(person_id: int) -> Select[tuple[int]]:
    """The games that a person plays, has played or hosts."""
    return select(GAME.c.id).where(or_(GAME.c.id.in_(_played_by(person_id)), GAME.c.host_id == person_id))


def _forget_alarms(tx: Connection, person_id: int) -> None:
    """Delete what organisers were told about a person, and our copies of the emails that may have it."""
    organisers = select(ORGANISER.c.person_id)
    alerts = update(OUTBOX).where(OUTBOX.c.person_id.in_(organisers), OUTBOX.c.kind == EmailKind.ALERT)
    tx.execute(alerts.where(select(ALARM.c.id).where(ALARM.c.person_id == person_id).exists()).values(body=None))
    tx.execute(delete(ALARM).where(ALARM.c.person_id == person_id))


def _forget_weeks(tx: Connection, person_id: int) -> None:
    """Forget the weeks kept with a person's turns."""
    tx.execute(update(DEADLINE).where(DEADLINE.c.week.is_not(None), _turn_of(person_id)).values(week=None))


def _turn_of(person_id: int) -> ColumnElement[bool]:
    """Whether a deadline is a person's: it is of the first player who left the seat later, or else of the present one."""
    former, earlier = FORMER_PLAYER, FORMER_PLAYER.alias()
    seated = exists().where(*_same_seat(PLAYER), PLAYER.c.person_id == person_id)
    someone_left = exists().where(*_left_later(former))
    someone_left_before = exists().where(*_left_later(earlier), earlier.c.seq < former.c.seq)
    someone_left_before = someone_left_before.correlate(DEADLINE, former)
    left = exists().where(*_left_later(former), former.c.person_id == person_id, ~someone_left_before)
    return DEADLINE.c.game_id.in_(_played_by(person_id)) & or_(seated & ~someone_left, left)


def _same_seat(of: FromClause) -> tuple[ColumnElement[bool], ...]:
    return of.c.game_id == DEADLINE.c.game_id, of.c.seat == DEADLINE.c.seat


def _left_later(former: FromClause) -> tuple[ColumnElement[bool], ...]:
    return *_same_seat(former), former.c.turn > DEADLINE.c.turn


def _played_by(person_id: int) -> CompoundSelect[tuple[int]]:
    """The games that a person plays or has played."""
    of_person = (select(each.c.game_id).where(each.c.person_id == person_id) for each in (PLAYER, FORMER_PLAYER))
    return union(*of_person)


def _rename(tx: Connection, game_id: int, person_id: int) -> None:
    players = player_rows.of_game(tx, game_id)
    taken = {player.name for player in players if player.person_id != person_id}
    for player in players:
        if player.person_id == person_id:
            name = former_name(taken)
            taken.add(name)
            this = (PLAYER.c.game_id == game_id, PLAYER.c.number == player.number)
            tx.execute(update(PLAYER).where(*this).values(name=name))
    search.of_table(tx, game_id)
