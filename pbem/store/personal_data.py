"""Everything stored about one person, table by table: exporting it, and deleting it."""

from typing import Any, Final

from sqlalchemy import Connection, Table, delete, select, update

from pbem.domain.deleted_people import NAME, former_address, former_name
from pbem.domain.states import EmailStatus, ReceivedStatus
from pbem.store import people, players as player_rows, search
from pbem.store.people import PersonRow
from pbem.store.schema import (
    Alarm,
    Ban,
    Block,
    Bounce,
    Call,
    Game,
    Invitation,
    JoinRequest,
    Ledger,
    Link,
    Outbox,
    Player,
    Preference,
    Received,
    Session,
    Talk,
    Unreachable,
    Vacation,
    Volunteer,
    table_of,
)

Rows = list[dict[str, Any]]

_ABOUT: Final = {
    "sessions": Session,
    "vacations": Vacation,
    "preferences": Preference,
    "willing": Volunteer,
    "blocks": Block,
    "bans": Ban,
    "invitations": Invitation,
    "wishes": JoinRequest,
    "calls": Call,
    "failures": Unreachable,
    "bounces": Bounce,
}
"""Rows about a person alone, by their name in the export."""

_SECRET: Final = frozenset({"secret_hash", "person_id", "organiser_id", "blocked_id"})
"""Columns left out of the export: useless to the reader, or not theirs to know."""

_ALARM, _BLOCK, _CALL, _GAME = table_of(Alarm), table_of(Block), table_of(Call), table_of(Game)
_LEDGER, _LINK, _OUTBOX, _PLAYER = table_of(Ledger), table_of(Link), table_of(Outbox), table_of(Player)
_RECEIVED, _TALK = table_of(Received), table_of(Talk)


def about(tx: Connection, person_id: int) -> dict[str, Rows]:
    """The rows about a person and no particular game."""
    return {name: _rows(tx, table_of(kind), person_id) for name, kind in _ABOUT.items()}


def tables(tx: Connection, person_id: int) -> Rows:
    """A person's seats, then the tables they opened without taking a seat."""
    seated = (
        select(_GAME.c.id, _PLAYER.c.seat, _PLAYER.c.name, _PLAYER.c.word, _PLAYER.c.joined_at)
        .join_from(_PLAYER, _GAME, _GAME.c.id == _PLAYER.c.game_id)
        .where(_PLAYER.c.person_id == person_id)
        .order_by(_GAME.c.id, _PLAYER.c.number)
    )
    found: Rows = [dict(row._mapping) for row in tx.execute(seated)]
    known = {row["id"] for row in found}
    hosted = select(_GAME.c.id).where(_GAME.c.host_id == person_id).order_by(_GAME.c.id)
    found += [{"id": number} for number in tx.execute(hosted).scalars() if number not in known]
    return found


def talk_of(tx: Connection, game_id: int, seat: int) -> list[tuple[str, str | None]]:
    """When a seat said something at a table, and what, if it was not redacted."""
    wanted = select(_TALK.c.at, _TALK.c.body).where(_TALK.c.game_id == game_id, _TALK.c.seat == seat)
    rows = tx.execute(wanted.order_by(_TALK.c.seq))
    return [(row.at.isoformat(), None if row.body is None else row.body.decode()) for row in rows]


def received(tx: Connection, person_id: int) -> Rows:
    """The emails that arrived for a person's links: when, and what became of them."""
    wanted = select(_RECEIVED.c.received_at, _RECEIVED.c.status, _RECEIVED.c.outcome, _RECEIVED.c.acts)
    mine = wanted.join(_LINK, _LINK.c.id == _RECEIVED.c.link_id).where(_LINK.c.person_id == person_id)
    return [dict(row._mapping) for row in tx.execute(mine.order_by(_RECEIVED.c.id))]


def _rows(tx: Connection, table: Table, person_id: int) -> Rows:
    named = [column for column in table.c if column.name not in _SECRET]
    wanted = select(*named).where(table.c.person_id == person_id).order_by(*table.primary_key)
    return [dict(row._mapping) for row in tx.execute(wanted)]


_DROPPED: Final = (Bounce, Invitation, Preference, Session, Unreachable, Vacation, Volunteer, JoinRequest)
"""Tables with rows about a person alone."""

GONE: Final = "(deleted)"


def forget(tx: Connection, person: PersonRow, zone: str) -> None:
    """Delete a person's data, the person being locked; what stays is a row of a deleted person."""
    for kind in _DROPPED:
        table = table_of(kind)
        tx.execute(delete(table).where(table.c.person_id == person.id))
    tx.execute(delete(_BLOCK).where((_BLOCK.c.person_id == person.id) | (_BLOCK.c.blocked_id == person.id)))
    _forget_emails(tx, person.id)
    calls = update(_CALL).where(_CALL.c.person_id == person.id)
    tx.execute(calls.values(text=GONE, answer=None, status="closed"))
    if person.name:
        # What an alarm says begins with the name of whom it is about. It has been told, so its text is needed no more.
        told = (_ALARM.c.emailed_at.is_not(None), _ALARM.c.says.startswith(person.name, autoescape=True))
        tx.execute(update(_ALARM).where(*told).values(says=GONE))
    for game_id in tx.execute(select(_PLAYER.c.game_id).where(_PLAYER.c.person_id == person.id).distinct()).scalars():
        _rename(tx, game_id, person.id)
    nowhere = former_address(person.key)
    people.change(
        tx,
        person.id,
        name=NAME,
        address=nowhere,
        mailbox=nowhere,
        zone=zone,
        quiet=None,
        delivery="nothing",
        sealed=False,
        confirmed_at=None,
    )


def _forget_emails(tx: Connection, person_id: int) -> None:
    """Keep that emails were sent; delete what they and the relays said."""
    mine = select(_OUTBOX.c.id).where(_OUTBOX.c.person_id == person_id)
    tx.execute(update(_LEDGER).where(_LEDGER.c.outbox_id.in_(mine)).values(detail=""))
    waiting = (
        _OUTBOX.c.person_id == person_id,
        _OUTBOX.c.status.in_((EmailStatus.QUEUED, EmailStatus.DIGEST, EmailStatus.PARKED)),
    )
    tx.execute(update(_OUTBOX).where(*waiting).values(status=EmailStatus.SUPERSEDED, claimed_until=None))
    tx.execute(update(_OUTBOX).where(_OUTBOX.c.person_id == person_id).values(body=None, facts="{}"))
    through = select(_LINK.c.id).where(_LINK.c.person_id == person_id)
    waiting_in = (
        _RECEIVED.c.link_id.in_(through),
        _RECEIVED.c.status.in_((ReceivedStatus.WAITING, ReceivedStatus.DOUBTED, ReceivedStatus.PARKED)),
    )
    tx.execute(update(_RECEIVED).where(*waiting_in).values(status=ReceivedStatus.DONE, claimed_until=None))
    tx.execute(update(_RECEIVED).where(_RECEIVED.c.link_id.in_(through)).values(raw=None, acts="[]"))


def _rename(tx: Connection, game_id: int, person_id: int) -> None:
    players = player_rows.of_game(tx, game_id)
    taken = {player.name for player in players if player.person_id != person_id}
    for player in players:
        if player.person_id == person_id:
            name = former_name(taken)
            taken.add(name)
            this = (_PLAYER.c.game_id == game_id, _PLAYER.c.number == player.number)
            tx.execute(update(_PLAYER).where(*this).values(name=name))
    search.of_table(tx, game_id)
