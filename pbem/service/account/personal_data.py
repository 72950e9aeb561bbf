"""The export of all data about a person, as one JSON file described in `pbem/handbook/your-data.md`.

It holds the person's own talk, choices and emails, and nothing they may not know: of a running game only their own choices,
never a hand. Links in emails are replaced by stars. The file is streamed, each piece read in a transaction of its own, so a
slow download holds up nothing.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Final

from pbem.redaction import hide_links
from pbem.service.play.log import Kind, json_body_of
from pbem.service.server import Server
from pbem.store import games, ledger, log, outbox, people, personal_data
from pbem.store.database import Tx

FORMAT: Final = "pbem-person"
VERSION: Final = 2

_BATCH: Final = 50
_EMAILS: Final = ("cadence", "delivery", "topics", "digest_at", "sealed", "reviews")
_SETTINGS: Final = ("zone", "zone_chosen", "quiet", "week", *_EMAILS, "show_ratings")
_PERSON: Final = ("key", "name", "address", *_SETTINGS, "created_at", "confirmed_at")
_OWN_KINDS: Final = frozenset({Kind.SEALED, Kind.WITHDRAWN, Kind.ORDER, Kind.RESIGNED})
"""Rows of a log that record an act of one seat, besides entries."""

_NOBODY: Final = "table"
"""Whose the only possible choice is, which nobody made."""


def export_person(server: Server, person_id: int) -> Iterator[str]:
    """The file in pieces. The first is read at once, to raise NotFound before the download starts."""
    with server.store.read() as tx:
        person = people.read(tx, person_id)
        about = personal_data.about(tx, person_id)
        tables = personal_data.tables(tx, person_id)
        turns = personal_data.turns(tx, person_id)
        reservations = personal_data.reservations(tx, person_id)
        received = personal_data.received(tx, person_id)
        results, ratings = personal_data.ratings(tx, person.key)
        finished = personal_data.finished(tx, person.key)
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_at": server.now(),
        "person": {name: getattr(person, name) for name in _PERSON},
        **about,
        "turns": turns,
        "reservations": reservations,
        "received": received,
        "results": results,
        "ratings": ratings,
        "finished": finished,
    }
    return _pieces(server, person_id, head, tables)


def _pieces(server: Server, person_id: int, head: dict[str, Any], tables: personal_data.Rows) -> Iterator[str]:
    yield _json(head).removesuffix("\n}")
    yield from _list("tables", (_table(server, person_id, row) for row in tables))
    yield from _list("mails", _emails(server, person_id))
    yield "\n}\n"


def _list(name: str, items: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f',\n "{name}": ['
    for number, item in enumerate(items):
        yield (",\n" if number else "\n") + _json(item)
    yield "]"


def _table(server: Server, person_id: int, player: dict[str, Any]) -> dict[str, Any]:
    """One table of the person, with the acts and the talk of their seat."""
    with server.store.read() as tx:
        row = games.read(tx, player["id"])
        table = {
            "key": row.key,
            "title": row.title,
            "game": row.kind,
            "status": row.status,
            "host": row.host_id == person_id,
            "created_at": row.created_at,
            "started_at": row.started_at,
            "ended_at": row.ended_at,
        }
        seat = player.get("seat")
        table |= {name: player[name] for name in ("seat", "name", "word", "joined_at") if name in player}
        if seat is not None:
            table["acts"] = _acts(tx, row.id, row.key, seat)
            table["said"] = [{"at": at, "text": text} for at, text in personal_data.talk_of(tx, row.id, seat)]
    return table


def _acts(tx: Tx, game_id: int, key: str, seat: int) -> list[dict[str, Any]]:
    """The acts of the seat's present player from the log: of an entry only their own choice."""
    acts, sealed_by = list[dict[str, Any]](), _NOBODY
    for row in log.chain(tx, game_id, key):
        if row.kind == Kind.SEALED and row.seat == seat:
            sealed_by = row.by
        if row.kind == Kind.SEATED and row.seat == seat:
            # Earlier acts are those of another player, or from before a return.
            acts = []
        elif row.kind == Kind.ENTRY:
            # Read without the rules, which may not be installed: choices are pairs of a seat and its choice.
            choices = dict(json_body_of(row)["entry"]["choices"])
            if seat in choices:
                # The row says how the choice came that closed the turn: that of another seat is its player's secret.
                acts.append({"at": row.at, "by": row.by if row.seat == seat else sealed_by, "choice": choices[seat]})
            sealed_by = _NOBODY
        elif row.seat == seat and row.kind in _OWN_KINDS:
            assert row.body is not None
            acts.append({"at": row.at, "by": row.by, row.kind.lower(): json.loads(row.body)})
    return acts


def _emails(server: Server, person_id: int) -> Iterator[dict[str, Any]]:
    """The emails to a person, newest first, with the text as sent and the ledger."""
    below: int | None = None
    while True:
        with server.store.read() as tx:
            rows = outbox.of_person(tx, person_id, _BATCH, below)
            lines = ledger.lines(tx, [row.id for row in rows])
        for row in rows:
            yield {
                "kind": row.kind,
                "status": row.status,
                "queued_at": row.queued_at,
                "accepted_at": row.accepted_at,
                "ledger": [asdict(line) for line in lines.get(row.id, [])],
                "mail": None if row.body is None else hide_links(row.body).decode(errors="replace"),
            }
        if len(rows) < _BATCH:
            return
        below = rows[-1].id


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in this file")
