"""Alarms: what organisers are emailed about, such as calls, emails given up and trouble with the relay.

Raising one writes a row in the caller's transaction. A worker collects them for some minutes and sends them as one email to
every organiser, a few times an hour at most. Each kind lists its first few and counts the others. An alarm names tables,
players by their names there, and a server's reply: never an address, a token or a hidden fact.
"""

from enum import StrEnum
from typing import Final

from pbem.redaction import redact
from pbem.service.server import Server
from pbem.store import alarms
from pbem.store.database import Tx

LONGEST: Final = 500


class AlarmKind(StrEnum):
    """The kinds of alarms, in the order of the email."""

    CALL = "call"
    PARKED = "parked"
    REFUSED = "refused"
    RELAY = "relay"
    RECORD = "record"
    GAME = "game"
    UNREACHABLE = "unreachable"
    CLOCK = "clock"
    DOUBT = "doubt"


def raise_alarm(tx: Tx, server: Server, kind: AlarmKind, says: str, game_id: int | None = None) -> None:
    """Add an alarm to the next email to the organisers. What servers say may name an address, which is left out."""
    text = says if kind is AlarmKind.CALL else redact(says)
    alarms.add(tx, server.now(), kind, text[:LONGEST], game_id)
