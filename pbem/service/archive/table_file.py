"""The file of a whole table, at any moment of its game: everything that the server needs to put it back.

It holds every secret of the table: hidden cards, sealed choices, the secret of the luck to come, addresses. It holds no
link and no key. The format is described in `pbem/handbook/table-file.md`; `read` refuses any other and trusts nothing that
it says: a game that is put back is verified.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_type_hints

from pbem.domain.errors import BadInput
from pbem.domain.hash_chain import Row as ChainRow
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export
from pbem.store import talk
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.store.saved_games import SavedGame, SavedPerson
from pbem.store.schema import FormerPlayerRow

R = TypeVar("R")

FORMAT: Final = "pbem-table"
VERSION: Final = 1
MOST: Final = 2**62
"""No number in a file is larger: the databases could not keep it."""

WARNING: Final = (
    "This file contains every secret of the table: hidden cards, sealed choices, the luck to come, addresses. "
    "Keep it from everyone who plays there."
)


def write(saved: SavedGame, made_at: datetime) -> str:
    """The file of a game."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "warning": WARNING,
        "made_at": made_at.isoformat(),
        "game": _fields(saved.game),
        "players": [_fields(each) for each in saved.players],
        "former_players": [_fields(each) for each in saved.former_players],
        "people": {str(person_id): asdict(person) for person_id, person in saved.people.items()},
        "insiders": [list(each) for each in saved.insiders],
        "deadlines": [_fields(each) for each in saved.deadlines],
        "log": [_row_fields(each) for each in saved.log],
        "talk": [_row_fields(each) | {"log_seq": saved.talk_log_rows[each.seq]} for each in saved.talk],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read(text: str) -> SavedGame:
    """The game in a file. Raises BadInput if the file has another format."""
    try:
        document = json.loads(text)
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise _no_table_file(_("Its format isn't version %(version)s of %(name)s.", version=VERSION, name=FORMAT))
        game = _row(GameRow, document["game"])
        begun = game.started_at is not None
        if game.seats > export.MOST_SEATS or (begun and len(document["players"]) != game.seats):
            raise ValueError("other seats")
        if any(row["body"] is None or row["nonce"] is None for row in document["log"]):
            raise ValueError("a row without a text")
        names = {"log": game.key, "talk": talk.chain_name(game.key)}
        return SavedGame(
            game=game,
            players=tuple(_row(PlayerRow, each) for each in document["players"]),
            former_players=tuple(_row(FormerPlayerRow, each) for each in document["former_players"]),
            people={int(number): _row(SavedPerson, each) for number, each in document["people"].items()},
            insiders=tuple((int(person_id), str(how)) for person_id, how in document["insiders"]),
            deadlines=tuple(_row(DeadlineRow, each) for each in document["deadlines"]),
            log=tuple(_row(ChainRow, each | {"game": names["log"]}) for each in document["log"]),
            talk=tuple(
                _row(
                    ChainRow,
                    {name: value for name, value in each.items() if name != "log_seq"} | {"game": names["talk"]},
                )
                for each in document["talk"]
            ),
            talk_log_rows={int(each["seq"]): int(each["log_seq"]) for each in document["talk"]},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise _no_table_file(_("It can't be read.")) from error


def _fields(row: Any) -> dict[str, Any]:
    values = asdict(row) if is_dataclass(row) and not isinstance(row, type) else row._asdict()
    return {name: _written(value) for name, value in values.items()}


def _row_fields(row: ChainRow) -> dict[str, Any]:
    """A row of a chain; its text as text, so that it can be read."""
    fields = _fields(row) | {"body": None if row.body is None else row.body.decode()}
    del fields["game"]
    return fields


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else value


def _row(kind: type[R], fields: Mapping[str, Any]) -> R:
    """A row with these fields, each of the type that it has there."""
    hints = get_type_hints(kind)
    if hints.keys() != fields.keys():
        raise ValueError("other fields")
    text = {"body"} if kind is ChainRow else set()
    return kind(**{name: _value(hint, fields[name], text=name in text) for name, hint in hints.items()})


def _value(hint: Any, value: Any, *, text: bool) -> Any:
    kinds = get_args(hint) or (hint,)
    if value is None:
        if NoneType not in kinds:
            raise TypeError("nothing")
        return None
    kind = next(each for each in kinds if each is not NoneType)
    if kind is datetime:
        moment = datetime.fromisoformat(value)
        if moment.utcoffset() is None:
            raise ValueError("a moment without a zone")
        moment.astimezone(UTC)  # a moment before the first one that there is in UTC is none
        return moment
    if kind is bytes:
        return value.encode() if text else bytes.fromhex(value)
    if type(value) is not kind:
        raise TypeError(f"not {kind}")
    if kind is int and abs(value) > MOST:
        raise ValueError("a larger number than any")
    if kind is str and b"\0" in value.encode():
        raise ValueError("a letter that no database keeps")
    return value


def _no_table_file(why: str) -> BadInput:
    return BadInput(_("This isn't a table file."), why=why, remedy=_("Use the file as `pbem table export` wrote it."))
