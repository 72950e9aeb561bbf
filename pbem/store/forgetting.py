"""Taking a person out of everything that is written down, but for their seats and moves, which are the games of others too.

Each place where something of a person stands is named here. Whether they may go, and what becomes of their tables, is
decided elsewhere.
"""

from typing import Final

from sqlalchemy import Connection, delete, select, update

from pbem.domain.former import NAME, former_address, former_name
from pbem.store import games, people, terms
from pbem.store.people import PersonRow
from pbem.store.schema import (
    Alarm,
    Block,
    Bounce,
    Call,
    Invitation,
    Ledger,
    Link,
    Outbox,
    Place,
    Preference,
    Received,
    Session,
    Unreachable,
    Vacation,
    Willing,
    Wish,
    table_of,
)

_ALARM, _CALL, _LEDGER, _LINK = table_of(Alarm), table_of(Call), table_of(Ledger), table_of(Link)
_OUTBOX, _PLACE, _RECEIVED, _BLOCK = table_of(Outbox), table_of(Place), table_of(Received), table_of(Block)

_DROPPED: Final = (Bounce, Invitation, Preference, Session, Unreachable, Vacation, Willing, Wish)
"""What is about a person alone."""

GONE: Final = "(deleted)"


def forget(tx: Connection, person: PersonRow, zone: str) -> None:
    """Take a person, who is locked, out of everything; what stays is a row that says that there was somebody."""
    for kind in _DROPPED:
        table = table_of(kind)
        tx.execute(delete(table).where(table.c.person_id == person.id))
    tx.execute(delete(_BLOCK).where((_BLOCK.c.person_id == person.id) | (_BLOCK.c.blocked_id == person.id)))
    _forget_mails(tx, person.id)
    calls = update(_CALL).where(_CALL.c.person_id == person.id)
    tx.execute(calls.values(text=GONE, answer=None, status="closed"))
    if person.name:
        # What an alarm says begins with the name of whom it is about. It has been told, so its text is needed no more.
        told = (_ALARM.c.told_at.is_not(None), _ALARM.c.says.startswith(person.name, autoescape=True))
        tx.execute(update(_ALARM).where(*told).values(says=GONE))
    for game_id in tx.execute(select(_PLACE.c.game_id).where(_PLACE.c.person_id == person.id).distinct()).scalars():
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


def _forget_mails(tx: Connection, person_id: int) -> None:
    """That mails were sent stays; what they said, and what a server said of them, does not."""
    mine = select(_OUTBOX.c.id).where(_OUTBOX.c.person_id == person_id)
    tx.execute(update(_LEDGER).where(_LEDGER.c.outbox_id.in_(mine)).values(detail=""))
    waiting = (_OUTBOX.c.person_id == person_id, _OUTBOX.c.status.in_(("queued", "digest", "parked")))
    tx.execute(update(_OUTBOX).where(*waiting).values(status="superseded", claimed_until=None))
    tx.execute(update(_OUTBOX).where(_OUTBOX.c.person_id == person_id).values(body=None, facts="{}"))
    through = select(_LINK.c.id).where(_LINK.c.person_id == person_id)
    waiting_in = (_RECEIVED.c.link_id.in_(through), _RECEIVED.c.status.in_(("waiting", "doubted", "parked")))
    tx.execute(update(_RECEIVED).where(*waiting_in).values(status="done", claimed_until=None))
    tx.execute(update(_RECEIVED).where(_RECEIVED.c.link_id.in_(through)).values(raw=None, acts="[]"))


def _rename(tx: Connection, game_id: int, person_id: int) -> None:
    places = games.places(tx, game_id)
    taken = {place.name for place in places if place.person_id != person_id}
    for place in places:
        if place.person_id == person_id:
            name = former_name(taken)
            taken.add(name)
            this = (_PLACE.c.game_id == game_id, _PLACE.c.place == place.place)
            tx.execute(update(_PLACE).where(*this).values(name=name))
    terms.of_table(tx, game_id)
