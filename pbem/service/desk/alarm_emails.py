"""Emailing alarms to organisers: collected for some minutes, then one email to each, a few an hour at most.

Of each kind the first few are shown, the others counted.
"""

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from pbem.domain.deleted_people import is_former
from pbem.domain.states import EmailKind
from pbem.service.alarms import AlarmKind
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import alarms, games, heartbeats, insiders, organisers, outages, outbox, people
from pbem.store.alarms import AlarmRow
from pbem.store.database import Tx
from pbem.store.outbox import EmailRow

GATHERED: Final = timedelta(minutes=5)
"""How long the first alarm waits for others."""

APART: Final = timedelta(minutes=15)
"""At most one email in each period of this length."""

MOST_SHOWN: Final = 10
"""The most alarms of one kind shown in an email."""


_OF_EMAILS: Final = frozenset({AlarmKind.PARKED, AlarmKind.REFUSED})
"""Kinds that tell of an email about a table. It may have been a receipt, so that there was one tells who has answered."""


def send(server: Server) -> int:
    """Email the organisers the alarms that have waited long enough; returns how many there were."""
    now = server.now()
    with server.store.read() as tx:
        if not alarms.any_unsent_before(tx, now - GATHERED, now) or outages.email_pause(tx) is not None:
            return 0
    return server.run(_send)


def _send(tx: Tx, server: Server) -> int:
    now = server.now()
    if not heartbeats.take_task(tx, "alarms", _span(now)):
        return 0
    rows = alarms.take(tx, now)
    emails = []
    for organiser in organisers.all_of_them(tx):
        # An organiser is a person, who may also play, or may have left for good.
        person = people.read(tx, organiser.person_id)
        if is_former(person.address):
            person = addresses.find_or_add(tx, server, organiser.address)
        facts = {"who": organiser.name, "alarms": _grouped(tx, rows, person.id)}
        emails.append(outbox.NewEmail(person.id, EmailKind.ALERT, facts=facts))
    if rows:
        outbox.queue(tx, emails, now)
    return len(rows)


def called_from(email: EmailRow) -> set[int]:
    """The ids of the tables whose alarms an email tells, which may say what is hidden there."""
    groups = json.loads(email.facts).get("alarms", [])
    return {line["called_from"] for group in groups for line in group["told"] if "called_from" in line}


def _span(now: datetime) -> str:
    """The name of the present period, beginning with its date."""
    quarter = now.minute // (APART // timedelta(minutes=1))
    return f"{now:%Y-%m-%dT%H}.{quarter}"


def _grouped(tx: Tx, rows: list[AlarmRow], reader: int) -> list[dict[str, object]]:
    numbers = Counter(row.what for row in rows)
    heard = [row for row in rows if _may_hear(tx, row, reader)]
    return [
        {
            "what": what,
            "number": numbers[what],
            "told": [_line(tx, row, reader) for row in heard if row.what == what][:MOST_SHOWN],
        }
        for what in AlarmKind
        if numbers[what]
    ]


def _may_hear(tx: Tx, row: AlarmRow, reader: int) -> bool:
    """Whether the reader may know more of an alarm than that it counts."""
    return row.what not in _OF_EMAILS or row.game_id is None or not insiders.has_sat(tx, reader, row.game_id)


def _line(tx: Tx, row: AlarmRow, reader: int) -> dict[str, str | int]:
    title = "" if row.game_id is None else games.read(tx, row.game_id).title
    line: dict[str, str | int] = {"at": row.at.isoformat(), "alarm": row.id, "table": title}
    if row.game_id is None:
        return line
    # A player's words, an error of the rules, a row's number or an email's may reveal a hand, or who has answered.
    if insiders.has_sat(tx, reader, row.game_id):
        return line | {"alarm": 0}
    return line | {"called_from": row.game_id}
