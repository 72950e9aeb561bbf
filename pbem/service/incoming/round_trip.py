"""The check that replies arrive: an address for the reply to a test email, and what came to it.

There is one such address. Each test replaces its token, so what arrives there is a reply to the last test. It changes nothing
and gets no answer. Only three things are stored of it: the sender's domain, what our mail server found out about the sender,
and whether a player who replied like this would be believed. This module must never store an address or a word of the reply.

Each email to that address also shows where our mail server writes its results; from then on, results in any other place count
for nobody. And the doctor sends one there with forged results, in the name of our mail server: they should be removed, and if
they would be believed, anyone can move for any player.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from pbem.config.settings import ResultsPlace
from pbem.domain.states import ReceivedStatus
from pbem.mail.read import sender_check
from pbem.mail.read.inbound import InboundEmail
from pbem.service import links
from pbem.service.server import Server
from pbem.store import links as link_rows, mail_server, received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.store.received import ReceivedRow
from pbem.tokens import Purpose

COUNTED_AS: Final = "answer to a test"

_ADDRESS: Final = LinkKey(Purpose.REPLY)
_BELIEVED: Final = "believed"
_DOUBTED: Final = "doubted"

FORGED_HEADER: Final = "X-Pbem-Forged"
"""The header by which the doctor's email with forged results is known."""

_VICTIM: Final = "forged.invalid"
"""The domain whose mail server never sent that email, whatever it says."""

_RECEIVED_ABOVE: Final = {ResultsPlace.ABOVE: 0, ResultsPlace.BELOW: 1, ResultsPlace.ANYWHERE: None}
_NEWEST: Final = 20


class Forgery(StrEnum):
    """What became of forged results on their way in: removed, kept but not believed, or believed."""

    REMOVED = "forged results removed"
    LET_IN = "forged results let in"
    BELIEVED = "forged results believed"


@dataclass(frozen=True, slots=True)
class CheckedForgery:
    """An email with forged results: when it came, and what became of them."""

    at: datetime
    forgery: Forgery


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply to a test email: when it came, whether a player's would be believed, and what is known about its sender."""

    at: datetime
    believed: bool
    findings: str


def open_address(tx: Tx, server: Server) -> str:
    """The token of the address for replies to a new test email; the one before no longer works."""
    return links.token(server, link_rows.renew_of_nobody(tx, server.randomness, Purpose.REPLY, server.now()))


def address(tx: Tx, server: Server) -> str:
    """The token of the address as it is, so that a test under way goes on."""
    link = link_rows.find(tx, _ADDRESS)
    return open_address(tx, server) if link is None else links.token(server, link)


def last_reply(tx: Tx, since: datetime | None = None) -> CheckedReply | None:
    """The last reply to a test email, since a moment if one is given; None if none has been processed."""
    for row in _processed(tx, since):
        word, _colon, findings = row.outcome.partition(": ")
        if word in (_BELIEVED, _DOUBTED):
            return CheckedReply(row.received_at, word == _BELIEVED, findings)
    return None


def last_forgery(tx: Tx, since: datetime | None = None) -> CheckedForgery | None:
    """What became of the last forged results, since a moment if one is given; None if none have come."""
    found = (row for row in _processed(tx, since) if row.outcome in tuple(Forgery))
    return next((CheckedForgery(row.received_at, Forgery(row.outcome)) for row in found), None)


def outcome(*, believed: bool, findings: str) -> str:
    """What is stored of a reply to a test email."""
    return f"{_BELIEVED if believed else _DOUBTED}: {findings}"


def forged_results(authserv_id: str) -> tuple[str, ...]:
    """Results that our mail server never wrote, in each form in which it could have."""
    return tuple(
        f"{name}; dmarc=pass (p=reject dis=none) header.from={_VICTIM}" for name in (authserv_id, f"{authserv_id} 1")
    )


def is_forged(email: InboundEmail) -> bool:
    """Whether an email is the one that the doctor forges."""
    return email[FORGED_HEADER] is not None


def check_forged(email: InboundEmail, authserv_id: str, above: int | None) -> Forgery:
    """What became of forged results; believed means that they would be if our mail server wrote none of its own."""
    bare = sender_check.without_results(email, but=_VICTIM)
    if "Authentication-Results" not in bare:
        return Forgery.REMOVED
    believed = sender_check.is_authenticated(bare, f"anyone@{_VICTIM}", authserv_id, above)
    return Forgery.BELIEVED if believed else Forgery.LET_IN


def measure(tx: Tx, server: Server, authserv_id: str, email: InboundEmail) -> None:
    """Note where our mail server writes its results, if this email has any."""
    above = sender_check.place_of_results(email, authserv_id, besides=_VICTIM)
    if above is not None:
        mail_server.keep(tx, authserv_id, above, server.now())


def received_above(tx: Tx, setting: ResultsPlace, authserv_id: str) -> int | None:
    """How many `Received` headers may stand above results that are believed; None if that is not known."""
    return mail_server.received_above(tx, authserv_id) if setting is ResultsPlace.MEASURED else _RECEIVED_ABOVE[setting]


def _processed(tx: Tx, since: datetime | None) -> Iterator[ReceivedRow]:
    """The newest emails to that address that were processed, the last first."""
    link = link_rows.find(tx, _ADDRESS)
    for row in [] if link is None else rows.of_link(tx, link.id, _NEWEST):
        if row.status == ReceivedStatus.DONE and (since is None or row.received_at >= since):
            yield row
