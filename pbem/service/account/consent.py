"""What a mail asks a yes for, because it cannot be taken back: another address, or leaving for good.

The link in that mail shows what is asked, and its button says yes. Its reader reads the mail of that address, and that is
what makes the yes theirs.
"""

import json
from dataclasses import dataclass

from pbem.service import links
from pbem.service.account import change_address, delete
from pbem.service.links import EmailLink
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class Asked:
    """What a yes is asked for: the kind of the mail that asks, and who is meant by it."""

    kind: str
    name: str


def at(tx: Tx, server: Server, token: str) -> Asked:
    """What the page of a link says, before anybody has pressed its button."""
    link, email = _open(tx, server, token)
    asking = json.loads(email.facts).get("person", link.person_id)
    return Asked(email.kind, people.read(tx, asking).name)


def say_yes(tx: Tx, server: Server, token: str) -> str:
    """Do what was asked; the kind of the mail that asked for it."""
    link, email = _open(tx, server, token)
    if email.kind == "farewell":
        delete.delete_person(tx, server, link.person_id)
        return email.kind
    facts = json.loads(email.facts)
    # The link was mailed to the new address, which is this person's once they have pressed its button.
    if people.read(tx, facts["person"]).address != facts["address"]:
        change_address.change_address(tx, server, facts["person"], facts["address"])
    return email.kind


def _open(tx: Tx, server: Server, token: str) -> tuple[EmailLink, EmailRow]:
    link = links.follow_email(tx, server, token, Purpose.YES)
    email = outbox.read(tx, link.email_id)
    assert email is not None, "its link is made with it"
    return link, email
