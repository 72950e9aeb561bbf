"""Signing in by email: “Send me my games” asks for an email with a link to one's own page, and the link signs a browser in.

A request by address never reveals whether the address is known: the page only notes the request, and a worker looks. Requests
are limited by network, and emails per day, because anyone can type an address.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from pbem.domain.errors import TooMany
from pbem.domain.states import EmailKind
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.links import PersonLink
from pbem.service.people import addresses as persons, quota, sessions
from pbem.service.server import Server
from pbem.store import limits, link_requests, links as link_rows, outbox, people
from pbem.store.database import Tx
from pbem.store.sessions import Holder
from pbem.tokens import Purpose

EMAILS_A_DAY: Final = 5
"""Emails with links to one address in a day."""


LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""When a used link expired: no clock that is set back comes before it."""

ASKED_AN_HOUR: Final = 20
"""Requests for links by address from one network in an hour."""


def ask_for_link(tx: Tx, server: Server, address: str, *, network: str = "") -> None:
    """Note that the person with this address, if there is one, wants their links. Raises BadInput, TooMany."""
    _address, mailbox = persons.normalised(address)
    of_network = quota.quota_of(server, "links", network, ASKED_AN_HOUR, timedelta(hours=1))
    if quota.take(tx, server, [of_network]) is not None:
        raise TooMany(
            _("Many links were requested in the last hour, so this one wasn't sent."),
            remedy=_("Use a link from an earlier email, or try again in an hour."),
        )
    link_requests.add(tx, mailbox, server.now())


def send_requested(server: Server) -> int:
    """Email everyone who has asked for their links, and is known, in a transaction each. Returns how many asked."""
    asked = 0
    while server.run(_send_next):
        asked += 1
    return asked


def send_link(tx: Tx, server: Server, address: str) -> None:
    """Email the person with this address, if it is known and confirmed."""
    _address, mailbox = persons.normalised(address)
    person = people.by_mailbox(tx, mailbox)
    if person is not None and person.confirmed_at is not None:
        send_link_to(tx, server, person.id)


def send_link_to(tx: Tx, server: Server, person_id: int) -> None:
    """Email a person, unless they have had their emails for today."""
    now = server.now()
    people.lock(tx, person_id)
    if people.count_emails_in(tx, person_id, "links", limits.last(timedelta(days=1), now)) < EMAILS_A_DAY:
        outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.LINKS)], now, now)


def send_by_link(tx: Tx, server: Server, token: str, purpose: Purpose) -> None:
    """Email the person of a link."""
    send_link_to(tx, server, links.follow_person(tx, server, token, purpose).person_id)


def name_of_link(tx: Tx, server: Server, token: str) -> str:
    """The name of the person of a sign-in link."""
    return people.read(tx, links.follow_person(tx, server, token, Purpose.SIGN_IN).person_id).name


def sign_in(tx: Tx, server: Server, token: str, device: str) -> str:
    """Sign a browser in by a link, which works once within a day. Returns the session's secret."""
    people.lock(tx, links.follow_person(tx, server, token, Purpose.SIGN_IN).person_id)
    # Read again under the lock: of two presses at once, one signs in.
    row = links.follow(tx, server, token, Purpose.SIGN_IN)
    link = PersonLink.of(row)
    link_rows.expire(tx, row.id, LONG_AGO)
    reachability.note_contact(tx, server, link.person_id, link.created_at)
    return sessions.start(tx, server, Holder(person_id=link.person_id), device)


def _send_next(tx: Tx, server: Server) -> bool:
    request = link_requests.take(tx)
    if request is not None:
        send_link(tx, server, request.mailbox)
    return request is not None
