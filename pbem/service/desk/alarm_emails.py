"""Emailing alarms to organisers: collected for some minutes, then one email to each, a few an hour at most.

Of each kind the first few are shown, the others counted.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.states import EmailKind
from pbem.service.alarms import AlarmKind
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import alarms, games, heartbeats, organisers, outages, outbox, players as player_rows
from pbem.store.alarms import AlarmRow
from pbem.store.database import Tx

GATHERED: Final = timedelta(minutes=5)
"""How long the first alarm waits for others."""

APART: Final = timedelta(minutes=15)
"""At most one email in each period of this length."""

MOST_SHOWN: Final = 10
"""The most alarms of one kind shown in an email."""


def send(server: Server) -> int:
    """Email the organisers the alarms that have waited long enough; returns how many there were."""
    with server.store.read() as tx:
        if not alarms.any_unsent_before(tx, server.now() - GATHERED) or outages.email_pause(tx) is not None:
            return 0
    return server.run(_send)


def _send(tx: Tx, server: Server) -> int:
    now = server.now()
    if not heartbeats.take_task(tx, "alarms", _span(now)):
        return 0
    rows = alarms.take(tx, now)
    emails = []
    for organiser in organisers.all_of_them(tx):
        # An organiser is a person with an address, who may also play.
        person = addresses.find_or_add(tx, server, organiser.address)
        facts = {"who": organiser.name, "alarms": _grouped(tx, rows, person.id)}
        emails.append(outbox.NewEmail(person.id, EmailKind.ALERT, facts=facts))
    if rows:
        outbox.queue(tx, emails, now)
    return len(rows)


def _span(now: datetime) -> str:
    """The name of the present period, beginning with its date."""
    quarter = now.minute // (APART // timedelta(minutes=1))
    return f"{now:%Y-%m-%dT%H}.{quarter}"


def _grouped(tx: Tx, rows: list[AlarmRow], reader: int) -> list[dict[str, object]]:
    numbers = Counter(row.what for row in rows)
    return [
        {
            "what": what,
            "number": numbers[what],
            "told": [_line(tx, row, reader) for row in rows if row.what == what][:MOST_SHOWN],
        }
        for what in AlarmKind
        if numbers[what]
    ]


def _line(tx: Tx, row: AlarmRow, reader: int) -> dict[str, str]:
    title = "" if row.game_id is None else games.read(tx, row.game_id).title
    return {"at": row.at.isoformat(), "says": "" if _is_withheld(tx, row, reader) else row.says, "table": title}


def _is_withheld(tx: Tx, row: AlarmRow, reader: int) -> bool:
    """Whether an alarm is hidden from a reader: a call may reveal a hand at a table where the reader plays."""
    if row.what != AlarmKind.CALL or row.game_id is None:
        return False
    return any(player.person_id == reader for player in player_rows.of_game(tx, row.game_id))
