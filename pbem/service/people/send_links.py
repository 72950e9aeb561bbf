"""“Send me my games”: an email with a link to each of a person's tables.

A request by address never reveals whether the address is known, and is limited per day because anyone can type one.
"""

from datetime import timedelta
from typing import Final

from pbem.domain.states import EmailKind
from pbem.service import links
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.tokens import Purpose

EMAILS_A_DAY: Final = 5
"""Emails with links to one address in a day."""


def send(tx: Tx, server: Server, address: str) -> None:
    """Email the person with this address, if it is known and confirmed."""
    _, mailbox = persons.normalised(address)
    person = people.by_mailbox(tx, mailbox)
    if person is not None and person.confirmed_at is not None:
        send_to(tx, server, person.id)


def send_to(tx: Tx, server: Server, person_id: int) -> None:
    """Email a person, unless they have had their emails for today."""
    now = server.now()
    people.lock(tx, person_id)
    if people.count_emails_since(tx, person_id, "links", now - timedelta(days=1)) < EMAILS_A_DAY:
        outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.LINKS)], now, now)


def send_by_link(tx: Tx, server: Server, token: str, purpose: Purpose) -> None:
    """Email the person of a link."""
    send_to(tx, server, links.follow_person(tx, server, token, purpose).person_id)
