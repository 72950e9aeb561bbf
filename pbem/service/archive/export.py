"""A finished game as one file, with all that is needed to check it without this server.

It names seats and never people. Its format is described in `pbem/handbook/game-file.md`; `read` refuses any other, and checks
nothing else. A game can be exported only when it is over, because the file shows every card.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from pbem.domain import hash_chain
from pbem.domain.errors import BadInput, Forbidden
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat
from pbem.service.play.log import json_body_of
from pbem.service.server import Server
from pbem.store import games, log as log_rows, talk
from pbem.store.database import Tx
from pbem.tokens import Purpose

T = TypeVar("T", str, int)

FORMAT: Final = "pbem-game"
VERSION: Final = 2
_READABLE: Final = (1, VERSION)
"""In version 1 the bodies of rows called a turn `window` or `number`."""
MOST_BYTES: Final = 2**26
"""No game comes near this; a larger file is something else."""

MOST_SEATS: Final = 99
"""No table has as many; a page makes a list of the seats that a file says."""

NONSENSE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""Exceptions that JSON of another form causes where it is read."""

_ENDED: Final = (TableStatus.OVER, TableStatus.VOID)


@dataclass(frozen=True, slots=True)
class Export:
    """A finished game. `seating` is the seat drawn for each player, in order of joining."""

    key: str
    kind: str
    rules: int
    seats: int
    options: Mapping[str, str | int]
    status: str
    commitment: str
    secret: bytes
    words: tuple[str, ...]
    seating: tuple[int, ...]
    head: bytes
    log: tuple[hash_chain.Row, ...]
    talk: tuple[hash_chain.Row, ...]


def by_link(tx: Tx, server: Server, token: str, purpose: Purpose) -> Export:
    """The game of a seat's link, once it is over. Raises Forbidden before."""
    return of_game(tx, server, follow_seat(tx, server, token, purpose).game_id)


def of_game(tx: Tx, server: Server, game_id: int) -> Export:
    """A game, once it is over. Raises Forbidden before."""
    row = games.read(tx, game_id)
    if row.status not in _ENDED:
        raise Forbidden(
            _("This game isn't over."),
            why=_("Its file would reveal every secret."),
            remedy=_("Download it when the game is over."),
        )
    log = tuple(log_rows.chain(tx, game_id, row.key))
    began = json_body_of(log[0])
    return Export(
        key=row.key,
        kind=row.kind,
        rules=row.rules,
        seats=row.seats,
        options=json.loads(row.options),
        status=row.status,
        commitment=row.commitment,
        secret=row.secret,
        words=tuple(began["words"]),
        seating=tuple(began["seating"]),
        head=row.head,
        log=log,
        talk=tuple(talk.chain(tx, game_id, row.key)),
    )


def write(export: Export) -> str:
    """The file. Bodies are the exact texts that were hashed."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "game": {
            "key": export.key,
            "kind": export.kind,
            "rules": export.rules,
            "seats": export.seats,
            "options": dict(export.options),
            "status": export.status,
        },
        "chance": {
            "commitment": export.commitment,
            "secret": export.secret.hex(),
            "words": list(export.words),
            "seating": list(export.seating),
        },
        "head": export.head.hex(),
        "log": [_row_fields(row) for row in export.log],
        "talk": [_row_fields(row) for row in export.talk],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read(text: str, most_rows: int | None = None) -> Export:
    """The game in a file. Raises BadInput if the file has another format or more rows."""
    if len(text) > MOST_BYTES:
        raise _no_game_file(_("It is too large."))
    try:
        document = json.loads(text, object_pairs_hook=_named_once)
        if document["format"] != FORMAT or _checked(int, document["version"]) not in _READABLE:
            raise _no_game_file(
                _("Its format isn't version %(version)s of %(format)s.", version=VERSION, format=FORMAT)
            )
        game, chance = document["game"], document["chance"]
        if game["status"] not in _ENDED:
            raise _no_game_file(_("It says that the game isn't over."))
        if most_rows is not None and len(document["log"]) + len(document["talk"]) > most_rows:
            raise BadInput(
                _("This file is too long."),
                why=_("This page checks up to %(value)s rows.", value=most_rows),
                remedy=_("You can check it on your own computer: pbem verify FILE."),
            )
        return Export(
            key=_checked(str, game["key"]),
            kind=_checked(str, game["kind"]),
            rules=_checked(int, game["rules"]),
            seats=_seats(game["seats"]),
            options={_checked(str, name): _option(value) for name, value in game["options"].items()},
            status=_checked(str, game["status"]),
            commitment=_checked(str, chance["commitment"]),
            secret=bytes.fromhex(chance["secret"]),
            words=tuple(_checked(str, word) for word in chance["words"]),
            seating=tuple(_checked(int, seat) for seat in chance["seating"]),
            head=bytes.fromhex(document["head"]),
            log=tuple(read_row(game["key"], row) for row in document["log"]),
            talk=tuple(read_row(talk.chain_name(game["key"]), row) for row in document["talk"]),
        )
    except NONSENSE as error:
        raise _no_game_file(_("It can't be read.")) from error


def read_row(name: str, row: Mapping[str, Any]) -> hash_chain.Row:
    """A row of a file. Raises one of NONSENSE if it is none."""
    at = datetime.fromisoformat(row["at"])
    if at.utcoffset() is None:
        raise ValueError("a moment without a zone")
    return hash_chain.Row(
        game=name,
        seq=_checked(int, row["seq"]),
        kind=_checked(str, row["kind"]),
        seat=None if row["seat"] is None else _checked(int, row["seat"]),
        by=_checked(str, row["by"]),
        # Some moments with a zone are before or after all time in UTC.
        at=at.astimezone(UTC),
        rules=_checked(int, row["rules"]),
        body=None if row["body"] is None else _checked(str, row["body"]).encode(),
        nonce=None if row["nonce"] is None else bytes.fromhex(row["nonce"]),
        body_hash=bytes.fromhex(row["body_hash"]),
        hash=bytes.fromhex(row["hash"]),
    )


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError if a name is in it twice: programs differ in which one they read."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _row_fields(row: hash_chain.Row) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "kind": row.kind,
        "seat": row.seat,
        "by": row.by,
        "at": row.at.isoformat(),
        "rules": row.rules,
        "body": None if row.body is None else row.body.decode(),
        "nonce": None if row.nonce is None else row.nonce.hex(),
        "body_hash": row.body_hash.hex(),
        "hash": row.hash.hex(),
    }


def _seats(value: object) -> int:
    # A page makes a list of them, before any rules have been asked.
    seats = _checked(int, value)
    if not 1 <= seats <= MOST_SEATS:
        raise ValueError("not a number of players")
    return seats


def _option(value: object) -> str | int:
    return _checked(str, value) if isinstance(value, str) else _checked(int, value)


def _checked(kind: type[T], value: object) -> T:
    if type(value) is not kind:
        raise TypeError(f"not {kind.__name__}")
    if isinstance(value, str):
        # A lone surrogate cannot be shown on a page.
        value.encode()
    return value


def _no_game_file(why: str) -> BadInput:
    return BadInput(
        _("This isn't a game file."), why=why, remedy=_("Use the file you downloaded from a finished game's page.")
    )
