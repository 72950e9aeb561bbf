"""The ledger: what became of every mail, for its reader and for the organiser, and sending one again by hand.

The bytes of a mail are shown to its reader's mailbox and to nobody else: a ledger tells kinds, moments and what the relay
said.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.errors import Gone, NotFound
from pbem.service import news
from pbem.service.house import House
from pbem.store import games, outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import LedgerRow, OutboxRow

MOST_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Listed:
    """One mail and what happened to it, the first thing first."""

    outbox_id: int
    kind: str
    person_id: int
    game_id: int | None
    seat: int | None
    window: int | None
    status: str
    attempts: int
    queued_at: datetime
    due_at: datetime
    accepted_at: datetime | None
    message_id: str | None
    lines: tuple[LedgerRow, ...]


def of_person(house: House, person_id: int, limit: int = MOST_SHOWN) -> list[Listed]:
    """The mails to a person, the newest first."""
    with house.store.read() as tx:
        people.read(tx, person_id)
        return _listed(tx, outbox.of_person(tx, person_id, limit))


def of_game(house: House, game_id: int, seat: int | None = None, limit: int = MOST_SHOWN) -> list[Listed]:
    """The mails about a game, or those to one seat of it, the newest first."""
    with house.store.read() as tx:
        games.read(tx, game_id)
        return _listed(tx, outbox.about(tx, game_id, limit, seat))


def in_trouble(house: House, limit: int = MOST_SHOWN) -> list[Listed]:
    """The mails that were given up, the newest first: somebody has to look at them."""
    with house.store.read() as tx:
        found = [row for status in ("parked", "undeliverable") for row in outbox.with_status(tx, status, limit)]
        return _listed(tx, sorted(found, key=lambda row: row.id, reverse=True)[:limit])


def resend(house: House, outbox_id: int) -> None:
    """Queue a mail again, by hand: the same bytes, with the links that its reader has now."""
    house.write(lambda tx: _resend(tx, house, outbox_id))


def _resend(tx: Tx, house: House, outbox_id: int) -> None:
    row = outbox.read(tx, outbox_id)
    if row is None:
        raise NotFound("There is no such mail.")
    if row.game_id is not None:
        games.lock(tx, row.game_id)
    why = news.why_outdated(tx, row)
    if why is not None:
        raise Gone("This mail is not worth sending any more.", why=f"In the meantime {why}.")
    now = house.now()
    # Whoever is sending it just now finds its lease gone: from here on the mail is the next claimer's.
    outbox.change(tx, row.id, status="queued", due_at=now, claimed_until=None, attempts=0)
    outbox.note(tx, row.id, now, "resent", "by hand")


def _listed(tx: Tx, rows: Iterable[OutboxRow]) -> list[Listed]:
    found = list(rows)
    lines = outbox.lines(tx, [row.id for row in found])
    return [
        Listed(
            outbox_id=row.id,
            kind=row.kind,
            person_id=row.person_id,
            game_id=row.game_id,
            seat=row.seat,
            window=row.window,
            status=row.status,
            attempts=row.attempts,
            queued_at=row.queued_at,
            due_at=row.due_at,
            accepted_at=row.accepted_at,
            message_id=row.message_id,
            lines=(LedgerRow(row.queued_at, "queued", ""), *lines.get(row.id, [])),
        )
        for row in found
    ]
