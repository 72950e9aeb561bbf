"""Alarms: what the organisers hear of by mail, without looking: calls, mails that were given up, trouble with the relay.

Whatever raises one writes a row in its own transaction. A worker gathers them for some minutes and sends all of them as
one mail to every organiser, and not more than a few mails in an hour, so that a storm is one mail. Each kind is told by
its first few; the others are a number. An alarm names tables, players as their tables know them, and what a server said:
never an address, a token or anything of a hand.
"""

from enum import StrEnum
from typing import Final

from pbem.service.server import Server
from pbem.store import alarms
from pbem.store.database import Tx

LONGEST: Final = 500


class What(StrEnum):
    """What alarms are about; in this order they are told."""

    CALL = "call"
    PARKED = "parked"
    REFUSED = "refused"
    RELAY = "relay"
    RECORD = "record"
    GAME = "game"
    UNREACHABLE = "unreachable"


def raise_alarm(tx: Tx, server: Server, what: What, says: str, game_id: int | None = None) -> None:
    """Let the organisers hear of something, with the next mail to them."""
    alarms.add(tx, server.now(), what, says[:LONGEST], game_id)
