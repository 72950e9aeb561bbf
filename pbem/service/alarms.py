"""Alarms: what organisers are emailed about, such as calls, emails given up and trouble with the relay.

Raising one writes a row in the caller's transaction. A worker collects them for some minutes and sends them as one email to
every organiser, a few times an hour at most. Each kind lists its first few and counts the others. An alarm names tables,
players by their names there, and a server's reply: never an address, a token or a hidden fact.
"""

from enum import StrEnum
from typing import Any, Final

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
    WEB = "web"


def raise_alarm(
    tx: Tx, server: Server, kind: AlarmKind, says: str, game_id: int | None = None, person_id: int | None = None
) -> int:
    """Add an alarm to the next email to the organisers. Returns its id. One that names a person goes with that person.

    What servers say may name an address, which is left out.
    """
    text = says if kind is AlarmKind.CALL else redact(says)
    return alarms.add(tx, server.now(), kind, text[:LONGEST], game_id, person_id)


def with_texts(tx: Tx, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups of alarms in an email's facts, with the text of each that is still stored.

    Number 0 has no text: its reader plays at that table.
    """
    says = alarms.texts(tx, [alarm["alarm"] for group in groups for alarm in group["told"]]) | {0: ""}
    return [
        group | {"told": [alarm | {"says": says[alarm["alarm"]]} for alarm in group["told"] if alarm["alarm"] in says]}
        for group in groups
    ]
