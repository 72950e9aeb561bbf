"""The dump: all finished public games and their results, as one compressed file of JSON lines.

It names people by the key of a profile that everyone may see, and others not at all. The same games give the same bytes. A worker
makes it once a night, a few games at a time, so that nobody waits for it; the format is described in `pbem/handbook/open-data.md`.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time
from typing import Any, Final

from pbem.service.archive import public_games
from pbem.service.archive.public_games import PublicGame, PublicSeat
from pbem.service.server import Server
from pbem.store import dumps, heartbeats, public_games as rows
from pbem.store.database import Tx
from pbem.store.public_games import Position
from pbem.store.schema import DumpPartRow, DumpRow

NAME: Final = "games.jsonl.gz"

FORMAT: Final = "pbem-dump"
VERSION: Final = 1

AT_ONCE: Final = 100
"""Games read in one transaction, which are one part of the file."""

_MADE: Final = "dump"
_BEGUN: Final = "dump begun"
_LEVEL: Final = 9


def make_nightly(server: Server, may_go_on: Callable[[], bool]) -> bool:
    """Make the dump of the games that had ended by midnight (UTC), once a day by one of all workers. Returns whether it's a new one.

    `may_go_on` is asked after each part; where it says no, a worker begins again later, and the former dump stays. After a worker
    that died, another begins in the next hour.
    """
    midnight = datetime.combine(server.now(), time(), UTC)
    hour = f"{server.now():%Y-%m-%dT%H}"
    if not server.run(_take, midnight, hour):
        return False
    is_done = False
    try:
        made = _make(server, midnight, may_go_on)
        is_new = made is not None and server.run(_publish, made)
        is_done = made is not None and server.run(_note_made, midnight)
    finally:
        if not is_done:
            server.run(_give_back, hour)
    return is_new


def current(tx: Tx, server: Server) -> DumpRow | None:
    """The dump that is served; None before the first night."""
    return dumps.current(tx)


def part_at(tx: Tx, server: Server, number: int, at: int) -> DumpPartRow | None:
    """The part of a dump that has this byte; None if the dump is gone."""
    return dumps.part_at(tx, number, at)


def checksum_line(digest: str, name: str) -> str:
    """A checksum as `sha256sum --check` reads it."""
    return f"{digest}  {name}\n"


def parts(server: Server, until: datetime) -> Iterator[tuple[bytes, int]]:
    """The dump of the games that had ended at a moment, in parts that each can be read alone, with their numbers of games."""
    yield _compressed([{"format": FORMAT, "version": VERSION}]), 0
    position = rows.START
    while True:
        games, position = server.read(_some, position, until)
        if not games:
            return
        yield _compressed([_line(game) for game in games]), len(games)


def _make(server: Server, until: datetime, may_go_on: Callable[[], bool]) -> DumpRow | None:
    """Store all parts of a dump that nobody sees yet; None if it may not go on."""
    digest, size, number = hashlib.sha256(), 0, 0
    for part, _games in parts(server, until):
        number = server.run(_add, number, size, part)
        digest.update(part)
        size += len(part)
        if not may_go_on():
            return None
    return DumpRow(number, server.now(), size, digest.hexdigest())


def _take(tx: Tx, server: Server, day: datetime, hour: str) -> bool:
    return not heartbeats.is_taken(tx, _MADE, day.date().isoformat()) and heartbeats.take_task(tx, _BEGUN, hour)


def _note_made(tx: Tx, server: Server, day: datetime) -> bool:
    heartbeats.take_task(tx, _MADE, day.date().isoformat())
    return True


def _give_back(tx: Tx, server: Server, hour: str) -> None:
    heartbeats.give_back_task(tx, _BEGUN, hour)


def _add(tx: Tx, server: Server, number: int, start: int, part: bytes) -> int:
    """Add a part to a dump, or begin one with it. Returns the dump's number."""
    if not number:
        return dumps.begin(tx, part)
    dumps.add(tx, DumpPartRow(number, start, part))
    return number


def _publish(tx: Tx, server: Server, row: DumpRow) -> bool:
    """Serve a dump, unless it is the same as the one before, which keeps its date then."""
    former = dumps.current(tx)
    if former is not None and former.sha256 == row.sha256:
        dumps.drop(tx, row.number)
        return False
    return dumps.publish(tx, row)


def _some(tx: Tx, server: Server, above: Position, until: datetime) -> tuple[tuple[PublicGame, ...], Position]:
    """The next games, and the position of the last of them."""
    found = rows.earliest(tx, above, until, AT_ONCE)
    for row in found[-1:]:
        assert row.ended_at is not None, "the game is over"
        above = (row.ended_at, row.key)
    return public_games.of_rows(tx, found), above


def _compressed(lines: list[dict[str, Any]]) -> bytes:
    text = "".join(json.dumps(each, ensure_ascii=False, sort_keys=True) + "\n" for each in lines)
    return gzip.compress(text.encode(), _LEVEL, mtime=0)


def _line(game: PublicGame) -> dict[str, Any]:
    """A game in the dump. Titles are left out: people write them."""
    key, number, table = game.tournament or (None, None, None)
    return {
        "game": game.key,
        "kind": game.kind,
        "rules": game.rules,
        "rated": game.rated,
        "options": game.options,
        "turns": game.turns,
        "days": game.days,
        "ended_on": game.ended_on.isoformat(),
        "seats": [_seat(each) for each in game.seats],
        "tournament": key,
        "round": number,
        "table": table,
    }


def _seat(seat: PublicSeat) -> dict[str, Any]:
    profile = seat.profile
    return {
        "place": seat.rank,
        "score": seat.score,
        "bot": seat.bot,
        "player": None if profile is None else profile.key,
        "name": None if profile is None else profile.name,
    }
