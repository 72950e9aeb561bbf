"""Marks: what a form of the desk is about, in words that are never given out again.

Forms name rows by number, and after a restore from a backup a number may be another row's. So a form also carries a mark,
made of each row's own random key, or of what it holds and since when. A table's mark is the hash of a row at the end of its
log, and fits as long as that row is there: then turns and seats that the form names are still the same. It is a row that
everyone at the table may know of, and neither its number nor the head of the chain, which would tell how many others there are.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from pbem.domain.errors import Gone
from pbem.i18n.speech import gettext as _
from pbem.service.play.log import KNOWN_TO_ALL
from pbem.service.server import Server
from pbem.store import calls, games, jobs, log, outbox, people, received, talk
from pbem.store.calls import CallRow
from pbem.store.database import Tx
from pbem.store.people import PersonRow

_IS_HASH: Final = re.compile("[0-9a-f]{64}")

About = Mapping[str, object]
"""What a form is about: numbers of rows, by the names of `_MARKS`. Other names, and None, count for nothing."""


def of_person(row: PersonRow) -> str:
    """The mark of a form about a person."""
    return _digest(row.key)


def of_call(row: CallRow) -> str:
    """The mark of a form about a call."""
    return _digest(row.at, row.person_id, row.text)


def mark(tx: Tx, server: Server, about: About) -> str:
    """The mark of a form about all these rows. Raises NotFound."""
    table = [_of_table(tx, _number(about["game_id"]))] if about.get("game_id") is not None else []
    return ".".join([*table, *_others(tx, about)])


def must_fit(tx: Tx, server: Server, given: str, about: About) -> None:
    """Refuse a form without a mark, or with one that was made for other rows. Raises Gone or NotFound."""
    table, _dot, others = given.partition(".") if about.get("game_id") is not None else ("", "", given)
    fits = about.get("game_id") is None or _fits_table(tx, _number(about["game_id"]), table)
    if not fits or others != ".".join(_others(tx, about)):
        raise Gone(
            _("This form is about something that no longer exists."),
            why=_("The server was restored from a backup, or part of the form is missing."),
            remedy=_("Open the page again and check what it shows now."),
        )


def _of_table(tx: Tx, game_id: int) -> str:
    row = games.read(tx, game_id)
    last = next(log.chain_back(tx, row.id, row.key, KNOWN_TO_ALL), None)
    return _digest(row.key) if last is None else last.body_hash.hex()


def _fits_table(tx: Tx, game_id: int, given: str) -> bool:
    """Whether this was a table's mark at some time, and the log still has the row."""
    if given == _digest(games.read(tx, game_id).key):
        return True
    return _IS_HASH.fullmatch(given) is not None and log.has(tx, game_id, KNOWN_TO_ALL, bytes.fromhex(given))


def _others(tx: Tx, about: About) -> list[str]:
    return [make(tx, about, _number(about[name])) for name, make in _MARKS.items() if about.get(name) is not None]


def _email(tx: Tx, about: About, outbox_id: int) -> str:
    row = outbox.read(tx, outbox_id)
    return _digest() if row is None else _digest(row.queued_at, row.person_id, row.kind, row.facts)


def _received(tx: Tx, about: About, received_id: int) -> str:
    row = received.read(tx, received_id)
    return _digest() if row is None else _digest(row.received_at, row.fingerprint)


def _line(tx: Tx, about: About, seq: int) -> str:
    return _digest(talk.hash_of(tx, _number(about["game_id"]), seq))


_MARKS: Final[Mapping[str, Callable[[Tx, About, int], str]]] = {
    "person_id": lambda tx, about, number: of_person(people.read(tx, number)),
    "other_id": lambda tx, about, number: of_person(people.read(tx, number)),
    "call_id": lambda tx, about, number: of_call(calls.details(tx, number).row),
    "job_id": lambda tx, about, number: _digest(jobs.read(tx, number).key),
    "outbox_id": _email,
    "received_id": _received,
    "line": _line,
}
"""How each row is named, besides a table; the names are those of the fields of acts."""


def _number(value: object) -> int:
    assert isinstance(value, int), "rows are named by number"
    return value


def _digest(*held: object) -> str:
    return sha256(repr(held).encode()).hexdigest()[:32]
