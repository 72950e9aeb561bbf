"""A person as the desk shows them, without anything that they hold or decide at a table."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.acts import Actor
from pbem.domain.reliability import PERIOD, Reliability, reliability
from pbem.domain.week import read_week, week_text
from pbem.service.desk import overview
from pbem.service.desk.overview import Page, TableFilter
from pbem.service.outgoing import ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.people import sessions
from pbem.service.people.sessions import Session
from pbem.service.server import Server
from pbem.store import blocks, people, reachability, reliability as counting, search, vacations as vacation_rows
from pbem.store.blocks import BanRow
from pbem.store.database import Tx
from pbem.store.people import PersonRow
from pbem.store.reachability import UnreachableRow
from pbem.store.sessions import Holder
from pbem.store.vacations import VacationRow

EMAILS: Final = 30
"""The most emails shown."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything about a person that helps to help them. `failing` is the current failure of email to them."""

    person: PersonRow
    now: datetime
    tables: Page
    emails: tuple[EmailHistory, ...]
    devices: tuple[Session, ...]
    punctuality: Reliability
    bans: tuple[BanRow, ...]
    banned: BanRow | None
    week: str
    vacations: tuple[VacationRow, ...]
    failing: UnreachableRow | None


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """People matching a search, and where the next page begins."""

    people: tuple[PersonRow, ...]
    after: str = ""


def profile(tx: Tx, server: Server, actor: Actor, person_id: int) -> Profile:
    now = server.now()
    person = people.read(tx, person_id)
    counts = counting.counts(tx, [person_id], now - PERIOD)
    return Profile(
        person,
        now,
        overview.page_of(tx, TableFilter(person_id=person_id), now, reader=overview.reader_of(actor)),
        tuple(ledger.of_person(tx, person_id, EMAILS)),
        tuple(sessions.open_sessions(tx, server, Holder(person_id=person_id))),
        reliability(counts[person_id]),
        tuple(blocks.bans_of(tx, person_id)),
        blocks.current_ban(tx, person_id, now),
        "" if person.zoned_week is None else week_text(read_week(person.zoned_week)),
        tuple(row for row in vacation_rows.of_person(tx, person_id) if row.end_at > now),
        reachability.failure(tx, person_id),
    )


def search_people(tx: Tx, server: Server, text: str, after: str = "") -> PeoplePage:
    """People whose names match these words, newest first."""
    numbers = search.search(tx, "person", text, overview.number_of(after), overview.PAGE + 1)
    by_id = people.read_all(tx, numbers[: overview.PAGE])
    shown = tuple(by_id[number] for number in numbers[: overview.PAGE])
    return PeoplePage(shown, str(shown[-1].id) if len(numbers) > overview.PAGE else "")
