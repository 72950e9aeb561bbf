"""Consent by email to what cannot be undone: changing the address, or deleting the account.

The link shows the request and its button gives consent. Reading email at that address is the proof of who consents.
"""

import json
from typing import NamedTuple

from pbem.domain.states import EmailKind
from pbem.service import links
from pbem.service.account import change_address, delete
from pbem.service.links import EmailLink
from pbem.service.outgoing import new_links
from pbem.service.server import Server
from pbem.store import outbox, people
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow
from pbem.tokens import Purpose


class ConsentRequest(NamedTuple):
    """A request for consent: the kind of the email, and the name of the person it is about."""

    kind: str
    name: str


def consent_request(tx: Tx, server: Server, token: str) -> ConsentRequest:
    """The request behind a link, with the button that gives consent."""
    link, email = _open(tx, server, token)
    person_id = json.loads(email.facts).get("person", link.person_id)
    return ConsentRequest(email.kind, people.read(tx, person_id).name)


def give_consent(tx: Tx, server: Server, token: str) -> str:
    """Do what was requested. Returns the kind of the email."""
    link, email = _open(tx, server, token)
    if email.kind == EmailKind.DELETION:
        delete.delete_by_consent(tx, server, link.person_id)
        return email.kind
    facts = json.loads(email.facts)
    # Pressing the button twice changes the address once; the request is forgotten with it.
    if "person" not in facts:
        return email.kind
    # After any revocation under way, so that the request is as good as it looks.
    new_links.lock_games(tx, facts["person"])
    if people.read(tx, facts["person"]).address != facts["address"]:
        change_address.must_be_granted(tx, facts["person"], facts["granted"])
        change_address.change_address(tx, server, facts["person"], facts["address"])
    return email.kind


def _open(tx: Tx, server: Server, token: str) -> tuple[EmailLink, EmailRow]:
    link = links.follow_email(tx, server, token, Purpose.YES)
    email = outbox.read(tx, link.email_id)
    assert email is not None, "its link is made with it"
    return link, email
