"""“Send me my games”: a mail with a link to every table that a person has, to the address on file.

Whoever asks by an address learns nothing of whether it is known here: the mail goes to its owner or to nobody. It may be
asked for a few times a day, because whoever types an address need not be its owner.
"""

from datetime import timedelta
from typing import Final

from pbem.service import links
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.tokens import Purpose

MAILS_A_DAY: Final = 5
"""So many of these mails one address gets in a day."""


def send(tx: Tx, server: Server, address: str) -> None:
    """Mail the games of an address to it; nothing tells whether that was done."""
    _, mailbox = persons.normalised(address)
    _send_to_address(tx, server, mailbox)


def send_to(tx: Tx, server: Server, person_id: int) -> None:
    """Mail their games to somebody who has signed in."""
    now = server.now()
    people.lock(tx, person_id)
    if people.letters_since(tx, person_id, "links", now - timedelta(days=1)) < MAILS_A_DAY:
        outbox.queue(tx, [outbox.NewEmail(person_id, "links")], now, now)


def send_by_link(tx: Tx, server: Server, token: str, purpose: Purpose) -> None:
    """Mail their games to the person whose link this is."""
    send_to(tx, server, links.follow_person(tx, server, token, purpose).person_id)


def _send_to_address(tx: Tx, server: Server, mailbox: str) -> None:
    person = people.by_mailbox(tx, mailbox)
    if person is not None and person.confirmed_at is not None:
        send_to(tx, server, person.id)
