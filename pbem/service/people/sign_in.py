"""Signing in by email: “Send me my games” asks for an email with a link to one's own page, and the link signs a browser in.

A request by address never reveals whether the address is known: the page only notes the request, and a worker looks. Anyone can
type an address, so requests are limited by network, and emails by address, with a smaller part for each network. Signing in by an
emailed link frees these, and people who have shown who they are have a limit of their own: nobody can use up another's last email.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from pbem.domain.errors import TooMany
from pbem.domain.states import EmailKind, EmailStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import reachability
from pbem.service.links import PersonLink
from pbem.service.people import addresses as persons, quota, sessions
from pbem.service.people.quota import Quota
from pbem.service.server import Server
from pbem.store import limits, link_requests, links as link_rows, outbox, people
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.store.sessions import Holder
from pbem.tokens import Purpose

EMAILS_A_DAY: Final = 5
"""Emails with links to one address in a day because it was typed, and as many because their reader asked, signed in or by a link."""

FROM_NETWORK: Final = 3
"""Those of them that one network can ask for by typing the address."""

_DAY: Final = timedelta(days=1)

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
    link_requests.add(tx, mailbox, _share(server, mailbox, network).name, server.now())


def send_requested(server: Server) -> int:
    """Email everyone who has asked for their links, and is known, in a transaction each. Returns how many asked."""
    asked = 0
    while server.run(_send_next):
        asked += 1
    return asked


def send_link(tx: Tx, server: Server, address: str, share: str = "") -> None:
    """Email the person with this address, if it is known and confirmed, unless such an email is on its way.

    `share` names the quota of the network that asked.
    """
    _address, mailbox = persons.normalised(address)
    person = people.by_mailbox(tx, mailbox)
    if person is None or person.confirmed_at is None:
        return
    people.lock(tx, person.id)
    if _is_on_its_way(tx, server, person.id):
        return
    of_network = [Quota(share, FROM_NETWORK, _DAY / FROM_NETWORK)] if share else []
    _send(tx, server, person.id, [*of_network, _typed(server, person.id)])


def send_link_to(tx: Tx, server: Server, person_id: int) -> None:
    """Email a person who has shown who they are, unless they have had their emails for today."""
    people.lock(tx, person_id)
    _send(tx, server, person_id, [quota.quota_of(server, "own links", f"{person_id}", EMAILS_A_DAY, _DAY)])


def send_by_link(tx: Tx, server: Server, token: str, purpose: Purpose) -> None:
    """Email the person of a link."""
    send_link_to(tx, server, links.follow_person(tx, server, token, purpose).person_id)


def name_of_link(tx: Tx, server: Server, token: str) -> str:
    """The name of the person of a sign-in link."""
    return people.read(tx, links.follow_person(tx, server, token, Purpose.SIGN_IN).person_id).name


def sign_in(tx: Tx, server: Server, token: str, device: str, *, network: str = "") -> str:
    """Sign a browser in by a link, which works once within a day. Returns the session's secret."""
    person = people.lock(tx, links.follow_person(tx, server, token, Purpose.SIGN_IN).person_id)
    # Read again under the lock: of two presses at once, one signs in.
    row = links.follow(tx, server, token, Purpose.SIGN_IN)
    link = PersonLink.of(row)
    link_rows.expire(tx, row.id, LONG_AGO)
    # Its owner has shown that they read this mailbox.
    quota.give_back(tx, server, [_typed(server, person.id), _share(server, person.mailbox, network)])
    reachability.note_contact(tx, server, link.person_id, link.created_at)
    return sessions.start(tx, server, Holder(person_id=link.person_id), device)


def _send_next(tx: Tx, server: Server) -> bool:
    request = link_requests.take(tx)
    if request is not None:
        send_link(tx, server, request.mailbox, request.quota)
    return request is not None


def _typed(server: Server, person_id: int) -> Quota:
    """The quota of emails to a person because someone typed their address."""
    return quota.quota_of(server, "typed links", f"{person_id}", EMAILS_A_DAY, _DAY)


def _share(server: Server, mailbox: str, network: str) -> Quota:
    """The part of it that one network can use."""
    return quota.quota_of(server, "links from", f"{mailbox} {network}", FROM_NETWORK, _DAY)


def _send(tx: Tx, server: Server, person_id: int, quotas: Sequence[Quota]) -> None:
    if quota.take(tx, server, quotas) is None:
        now = server.now()
        outbox.queue(tx, [outbox.NewEmail(person_id, EmailKind.LINKS)], now, now)


def _is_on_its_way(tx: Tx, server: Server, person_id: int) -> bool:
    """Whether a person is about to get an email with links, or has just got one that they have not signed in with."""
    now = server.now()
    if outbox.of_kind(tx, person_id, EmailKind.LINKS, EmailStatus.QUEUED, 1):
        return True
    recently = limits.last(persons.TOGETHER, now)
    sent = [
        row
        for row in outbox.of_kind(tx, person_id, EmailKind.LINKS, EmailStatus.SENT, 1)
        if recently.contains(row.queued_at)
    ]
    keys = [LinkKey(Purpose.SIGN_IN, person_id, outbox_id=row.id) for row in sent]
    return any(row.expires_at is not None and row.expires_at > now for row in link_rows.find_all(tx, keys).values())
