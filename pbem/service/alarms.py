"""Alarms: what the organisers hear of by mail, without looking: calls, mails that were given up, trouble with the relay.

Whatever raises one writes a row in its own transaction. A worker gathers them for some minutes and sends all of them as
one mail to every organiser, and not more than a few mails in an hour, so that a storm is one mail. Each kind is told by
its first few; the others are a number. An alarm names tables, players as their tables know them, and what a server said:
never an address, a token or anything of a hand.
"""

from collections import Counter
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pbem.service import people
from pbem.service.house import House
from pbem.store import alarms, games, organisers, outages, outbox
from pbem.store.alarms import AlarmRow
from pbem.store.database import Tx

GATHERED: Final = timedelta(minutes=5)
"""So long the first of some alarms waits for the others."""

APART: Final = timedelta(minutes=15)
"""In each span of so long at most one mail goes out."""

MOST_TOLD: Final = 10
"""Alarms of one kind that a mail tells; of more it says how many."""

LONGEST: Final = 500


class What(StrEnum):
    """What alarms are about; in this order they are told."""

    CALL = "call"
    PARKED = "parked"
    REFUSED = "refused"
    RELAY = "relay"
    RECORD = "record"
    UNREACHABLE = "unreachable"


def raise_in(tx: Tx, house: House, what: What, says: str, game_id: int | None = None) -> None:
    """Let the organisers hear of something, with the next mail to them."""
    alarms.add(tx, house.now(), what, says[:LONGEST], game_id)


def tell(house: House) -> int:
    """Mail the organisers what they have to hear of, if it has been gathered for long enough; how many alarms that were."""
    with house.store.read() as tx:
        if not alarms.any_since_before(tx, house.now() - GATHERED):
            return 0
    return house.write(lambda tx: _tell(tx, house))


def _tell(tx: Tx, house: House) -> int:
    now = house.now()
    if not outages.take_slot(tx, "alarms", _span(now)):
        return 0
    found = alarms.take(tx, now)
    letters = []
    for organiser in organisers.all_of_them(tx):
        # An organiser is somebody with an address like everybody, and may play as well.
        person = people.known_in(tx, house, organiser.address)
        letters.append(
            outbox.Letter(person.id, "alert", facts={"who": organiser.name, "alarms": _grouped(tx, found, person.id)})
        )
    if found:
        outbox.queue(tx, letters, now, now)
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
    return any(place.person_id == reader for place in games.places(tx, row.game_id))
