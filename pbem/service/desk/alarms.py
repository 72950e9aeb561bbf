"""Alarms as the organisers get them: gathered for some minutes, then sent as one email to each, a few an hour at most.

Each kind is told by its first few; the others are a number.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from pbem.service.alarms import What
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import alarms, games, organisers, outbox, slots
from pbem.store import players as player_rows
from pbem.store.alarms import AlarmRow
from pbem.store.database import Tx

GATHERED: Final = timedelta(minutes=5)
"""So long the first of some alarms waits for the others."""

APART: Final = timedelta(minutes=15)
"""In each span of so long at most one mail goes out."""

MOST_TOLD: Final = 10
"""Alarms of one kind that a mail tells; of more it says how many."""


def tell(server: Server) -> int:
    """Mail the organisers what they have to hear of, if it has been gathered for long enough; how many alarms that were."""
    with server.store.read() as tx:
        if not alarms.any_since_before(tx, server.now() - GATHERED):
            return 0
    return server.run(_tell)


def _tell(tx: Tx, server: Server) -> int:
    now = server.now()
    if not slots.take_slot(tx, "alarms", _span(now)):
        return 0
    found = alarms.take(tx, now)
    emails = []
    for organiser in organisers.all_of_them(tx):
        # An organiser is somebody with an address like everybody, and may play as well.
        person = addresses.find_or_add(tx, server, organiser.address)
        emails.append(
            outbox.NewEmail(person.id, "alert", facts={"who": organiser.name, "alarms": _grouped(tx, found, person.id)})
        )
    if found:
        outbox.queue(tx, emails, now, now)
    return len(found)


def _span(now: datetime) -> str:
    """The name of the present span of time, which begins with its day."""
    quarter = now.minute // (APART // timedelta(minutes=1))
    return f"{now:%Y-%m-%dT%H}.{quarter}"


def _grouped(tx: Tx, found: list[AlarmRow], reader: int) -> list[dict[str, object]]:
    counted = Counter(row.what for row in found)
    return [
        {
            "what": what,
            "number": counted[what],
            "told": [_line(tx, row, reader) for row in found if row.what == what][:MOST_TOLD],
        }
        for what in What
        if counted[what]
    ]


def _line(tx: Tx, row: AlarmRow, reader: int) -> dict[str, str]:
    title = "" if row.game_id is None else games.read(tx, row.game_id).title
    return {"at": row.at.isoformat(), "says": "" if _is_withheld(tx, row, reader) else row.says, "table": title}


def _is_withheld(tx: Tx, row: AlarmRow, reader: int) -> bool:
    """Whether a reader must not hear what was said: a player may have told the organiser of a hand at the reader's table."""
    if row.what != What.CALL or row.game_id is None:
        return False
    return any(player.person_id == reader for player in player_rows.of_game(tx, row.game_id))
