"""The check that replies arrive: an address for the reply to a test email, and what came to it.

There is one such address. Each test replaces its token, so what arrives there is a reply to the last test. It changes nothing
and gets no answer. Only three things are stored of it: the sender's domain, what our mail server found out about the sender,
and whether a player who replied like this would be believed. This module must never store an address or a word of the reply.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.domain.states import ReceivedStatus
from pbem.service import links
from pbem.service.server import Server
from pbem.store import links as link_rows, received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose

COUNTED_AS: Final = "answer to a test"

_ADDRESS: Final = LinkKey(Purpose.REPLY)
_BELIEVED: Final = "believed"


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply to a test email: when it came, whether a player's would be believed, and what is known about its sender."""

    at: datetime
    believed: bool
    findings: str


def open_address(tx: Tx, server: Server) -> str:
    """The token of the address for replies to a new test email; the one before no longer works."""
    return links.token(server, link_rows.renew_of_nobody(tx, server.randomness, Purpose.REPLY, server.now()))


def last_reply(tx: Tx, since: datetime | None = None) -> CheckedReply | None:
    """The last reply to a test email, since a moment if one is given; None if none has been processed."""
    link = link_rows.find(tx, _ADDRESS)
    if link is None:
        return None
    for row in rows.of_link(tx, link.id, limit=20):
        if row.status == ReceivedStatus.DONE and (since is None or row.received_at >= since):
            word, _colon, findings = row.outcome.partition(": ")
            return CheckedReply(row.received_at, word == _BELIEVED, findings)
    return None


def outcome(*, believed: bool, findings: str) -> str:
    """What is stored of a reply to a test email."""
    return f"{_BELIEVED if believed else 'doubted'}: {findings}"
