"""A person as the desk shows them: their address and how mail gets there, their tables, mails, devices, punctuality, bans.

It shows nothing of what they hold or decide at a table.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.reliability import PERIOD, Reliability, reliability
from pbem.service.desk import overview
from pbem.service.desk.overview import Page, Wanted
from pbem.service.outgoing import ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.people import sessions
from pbem.service.people.sessions import Session
from pbem.service.server import Server
from pbem.store import blocks, people, reachability, search
from pbem.store import reliability as counting
from pbem.store import vacations as vacation_rows
from pbem.store.blocks import BanRow
from pbem.store.database import Tx
from pbem.store.people import PersonRow
from pbem.store.reachability import UnreachableRow
from pbem.store.sessions import Holder
from pbem.store.vacations import VacationRow

MAILS: Final = 30
"""So many of the last mails are told."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything about one person that helps to help them. `failing` is since when and why no mail reaches them."""

    person: PersonRow
    now: datetime
    tables: Page
    emails: tuple[EmailHistory, ...]
    devices: tuple[Session, ...]
    punctuality: Reliability
    bans: tuple[BanRow, ...]
    banned: BanRow | None
    vacations: tuple[VacationRow, ...]
    failing: UnreachableRow | None


@dataclass(frozen=True, slots=True)
class Names:
    """People with a name that was looked for, and what to ask for the next page with."""

    people: tuple[PersonRow, ...]
    after: str = ""


def of(tx: Tx, server: Server, person_id: int) -> Profile:
    """One person."""
    now = server.now()
    person = people.read(tx, person_id)
    counts = counting.counts(tx, [person_id], now - PERIOD)
    return Profile(
        person,
        now,
        overview.page_of(tx, Wanted(person_id=person_id), now),
        tuple(ledger.of_person(tx, person_id, MAILS)),
        tuple(sessions.open_sessions(tx, server, Holder(person_id=person_id))),
        reliability(counts[person_id]),
        tuple(blocks.bans_of(tx, person_id)),
        blocks.ban_in_force(tx, person_id, now),
        tuple(row for row in vacation_rows.booked(tx, person_id) if row.end_at > now),
        reachability.failure(tx, person_id),
    )


def named(tx: Tx, server: Server, text: str, after: str = "", limit: int = overview.PAGE) -> Names:
    """People whose name has these words, those who came last first."""
    numbers = search.search(tx, "person", text, overview.number_of(after), limit + 1)
    found = people.read_all(tx, numbers[:limit])
    shown = tuple(found[number] for number in numbers[:limit])
    return Names(shown, str(shown[-1].id) if len(numbers) > limit else "")
