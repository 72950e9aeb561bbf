"""Consent by email: to a change of address, to deleting the account, to joining a group.

The link shows the request and its button gives consent. Reading email at that address is the proof of who consents.
"""

import json
from typing import Any, NamedTuple

from pbem.domain.states import EmailKind
from pbem.service import links
from pbem.service.account import change_address, delete
from pbem.service.links import EmailLink
from pbem.service.people import addresses as persons
from pbem.service.server import Server
from pbem.service.tables import groups
from pbem.store import outbox, people, revocations
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow
from pbem.store.sessions import Holder
from pbem.tokens import Purpose


class ConsentRequest(NamedTuple):
    """A request for consent: the kind of the email, the name of the person it is about, and the group to join, if any."""

    kind: str
    name: str
    group: str


def consent_request(tx: Tx, server: Server, token: str) -> ConsentRequest:
    """The request behind a link, with the button that gives consent. Raises Gone if it was revoked since."""
    link, email = _open(tx, server, token)
    facts = json.loads(email.facts)
    if _is_open(tx, facts):
        change_address.must_be_granted(tx, facts["person"], facts["granted"])
    group = facts["name"] if email.kind == EmailKind.GROUP_INVITATION else ""
    return ConsentRequest(email.kind, people.read(tx, facts.get("person", link.person_id)).name, group)


def give_consent(tx: Tx, server: Server, token: str, name: str = "") -> str:
    """Do what was requested, under this name in a group. Returns the kind of the email."""
    link, email = _open(tx, server, token)
    if email.kind == EmailKind.DELETION:
        delete.delete_by_consent(tx, server, link.person_id)
        return email.kind
    facts = json.loads(email.facts)
    if email.kind == EmailKind.GROUP_INVITATION:
        groups.accept(tx, server, facts["group"], link.person_id, name)
        return email.kind
    # Pressing the button twice changes the address once; the request is forgotten with it.
    if "person" not in facts:
        return email.kind
    # After any revocation under way, so that the request is as good as it looks.
    revocations.begin(tx, Holder(person_id=facts["person"]))
    if _is_open(tx, facts):
        change_address.must_be_granted(tx, facts["person"], facts["granted"])
        change_address.change_address(tx, server, facts["person"], facts["address"])
    return email.kind


def _is_open(tx: Tx, facts: dict[str, Any]) -> bool:
    """Whether these are the facts of a change of address that hasn't been made yet."""
    return "person" in facts and people.read(tx, facts["person"]).address != facts["address"]


def _open(tx: Tx, server: Server, token: str) -> tuple[EmailLink, EmailRow]:
    link = links.follow_email(tx, server, token, Purpose.YES)
    email = outbox.read(tx, link.email_id)
    assert email is not None, "its link is made with it"
    if email.kind == EmailKind.GROUP_INVITATION:
        persons.must_be_here(people.read(tx, link.person_id))
    return link, email
