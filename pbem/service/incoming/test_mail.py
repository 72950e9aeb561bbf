"""The answer to a test mail: an address for it that is nobody's and no seat's, and what came to it.

There is one such address, and each test replaces the token in it, so what arrives there answers the last test. It makes
nothing happen and is not answered. What is kept of it is the domain that it names, what our mail server found out about
that, and whether a player who wrote like this would be believed: never an address, and nothing of what it says.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pbem.service import links
from pbem.service.server import Server
from pbem.store import links as link_rows
from pbem.store import received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose

COUNTED_AS: Final = "answer to a test"

_MEANT: Final = LinkKey(Purpose.REPLY)
_BELIEVED: Final = "believed"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a test mail: when it came, whether a player's would be believed, and what is known of its sender."""

    at: datetime
    believed: bool
    says: str


def open_address(tx: Tx, server: Server) -> str:
    """The token of the address that a new test mail asks its reader to answer to; the one before is worthless now."""
    return links.token(server, link_rows.renew_of_nobody(tx, Purpose.REPLY, server.now()))


def answered(tx: Tx, server: Server, since: datetime | None = None) -> Answer | None:
    """The last answer to a test mail, or the last since then; None if there is none that was read."""
    return last_answer(tx, since)


def last_answer(tx: Tx, since: datetime | None = None) -> Answer | None:
    """The same within a transaction that is under way."""
    link = link_rows.find(tx, _MEANT)
    if link is None:
        return None
    for row in rows.of_link(tx, link.id, limit=20):
        if row.status == "done" and (since is None or row.received_at >= since):
            word, _colon, says = row.outcome.partition(": ")
            return Answer(row.received_at, word == _BELIEVED, says)
    return None


def note(tx: Tx, server: Server, received_id: int, *, believed: bool, says: str) -> None:
    """Note what came to the address, and let go of its text."""
    outcome = f"{_BELIEVED if believed else 'doubted'}: {says}"
    rows.change(tx, received_id, status="done", outcome=outcome, raw=None, claimed_until=None)
    rows.count(tx, server.now().date(), COUNTED_AS)
