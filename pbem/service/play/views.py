"""The view of a seat now and at any earlier turn: the fold of the facts it saw, from the last saved view on.

Everything shown to people is made from views. This module must never look into a game's state.

A worker saves the views of all readers every few rows of the log, so that any turn costs the same to show, early or late.
Reading never saves.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

import structlog

from engine import codec
from engine.facts import SPECTATOR, fold, seen
from engine.game import Game
from engine.table import watch
from pbem.lru import LRU
from pbem.plugins.away import loads_snapshot
from pbem.plugins.foreign import at_table
from pbem.service.play.log import TAKES_BACK, Kind, StandingEntry, entries_back, standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import games, log, views as saved_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.views import ViewRow

_log = structlog.get_logger(__name__)

SAVE_EVERY: Final = 20
"""Rows between saved views: folding fewer is quick, and saving more often would double the size of a game."""

BATCH: Final = 50
"""Games per run."""

_GROWN_WITHIN: Final = timedelta(hours=1)
"""Games that have not grown for longer have all their views saved, or will have when they grow again."""

_ENDED_WITHIN: Final = timedelta(days=1)
"""Games that ended longer ago have all their views saved."""


MOST_READ: Final = 500
"""Saved views in memory: some megabytes."""

READ: Final[LRU[Any]] = LRU(MOST_READ)
"""Saved views by their text. From one move to the next, a seat's view mostly begins with the same one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a game: an entry, the views of some readers after it, and the turns of its neighbours."""

    standing: StandingEntry
    views: Mapping[int, Any]
    earlier: int | None
    later: int | None


ReadSaved = Callable[[Tx, int, int], ViewRow | None]
"""Reads the last saved view of a seat of a game, unless the caller has read it already."""


class Reading(Protocol):
    """Someone who takes entries, newest first, and says whether the one before is needed, too."""

    def wants(self, standing: StandingEntry) -> bool: ...


def view(tx: Tx, row: GameRow, seat: int) -> Any:
    """The current view of a seat, or of the SPECTATOR."""
    rules = rules_of(row)
    saved = _readable(rules, saved_views.last_of(tx, row.id, seat))
    rows = log.chain(tx, row.id, row.key, 0 if saved is None else saved.seq)
    return _fold(rules, row, saved, standing_entries(rules, rows), seat)


def view_and_entries(
    tx: Tx,
    row: GameRow,
    seat: int,
    is_first: Callable[[StandingEntry], bool],
    most: int,
    more: Reading | None = None,
    read_saved: ReadSaved = saved_views.last_of,
) -> tuple[Any, tuple[StandingEntry, ...]]:
    """The current view of a seat, and its last entries from the first match on, at most `most`, in one reading.

    The reading goes on as long as `more` wants it, which is given every entry until then.
    """
    rules = rules_of(row)
    saved = _readable(rules, read_saved(tx, row.id, seat))
    entries: list[StandingEntry] = []
    count, goes_on = None, more is not None
    for standing in entries_back(rules, log.chain_back(tx, row.id, row.key, (Kind.ENTRY, Kind.SEALED, *TAKES_BACK))):
        is_saved = saved is not None and standing.seq <= saved.seq
        if count is not None and is_saved and not goes_on:
            break
        entries.append(standing)
        if goes_on and more is not None:
            goes_on = more.wants(standing)
        if count is None and (is_first(standing) or len(entries) == most):
            count = len(entries)
            if is_saved and not goes_on:
                break
    entries.reverse()
    new = [each for each in entries if saved is None or each.seq > saved.seq]
    return _fold(rules, row, saved, new, seat), tuple(entries[-count:] if count else entries)


def view_before(tx: Tx, row: GameRow, seat: int, turn: int) -> Any:
    if turn == row.turn:
        return view(tx, row, seat)
    rules = rules_of(row)
    saved = _readable(rules, saved_views.before(tx, row.id, [seat], turn).get(seat))
    entries = [each for each in _around(tx, row, rules, saved, turn) if each.turn < turn]
    return _fold(rules, row, saved, entries, seat)


def moment_at(tx: Tx, row: GameRow, readers: Collection[int], turn: int) -> Moment | None:
    """The game after the entry of a turn, or after the last entry before it; None if there is none."""
    rules = rules_of(row)
    saved = _all_readable(rules, saved_views.before(tx, row.id, readers, turn))
    mark = next(iter(saved.values()), None)
    entries = _around(tx, row, rules, mark, turn)
    upto = [each for each in entries if each.turn <= turn]
    if not upto:
        return None if mark is None else moment_at(tx, row, readers, mark.turn)
    turns = [*([] if mark is None else [mark.turn]), *(each.turn for each in upto)]
    return Moment(
        standing=upto[-1],
        views={reader: _fold(rules, row, saved.get(reader), upto, reader) for reader in readers},
        earlier=turns[-2] if len(turns) > 1 else None,
        later=next((each.turn for each in entries if each.turn > turn), None),
    )


def save_overdue(server: Server) -> int:
    """Save the views of games that have grown by many rows; returns the number of games."""
    now = server.now()
    game_ids = server.query(saved_views.behind, SAVE_EVERY, now - _GROWN_WITHIN, now - _ENDED_WITHIN, BATCH)
    return sum(_try_save(server, game_id) for game_id in game_ids)


def save_views(tx: Tx, row: GameRow) -> int:
    """Save the views of all readers at every few rows since the last time; returns how often. The game must be locked."""
    rules, readers, times = rules_of(row), (*range(row.seats), SPECTATOR), 0
    saved = _all_readable(rules, saved_views.last(tx, row.id, readers))
    views = tuple(_start_of(rules, row, saved.get(reader)) for reader in readers)
    seq = max((each.seq for each in saved.values()), default=0)
    turn = max((each.turn for each in saved.values()), default=None)

    def save(upto: int) -> None:
        bodies = {reader: codec.dumps(view) for reader, view in zip(readers, views, strict=True)}
        assert turn is not None
        saved_views.keep(tx, row.id, turn, upto, bodies)

    for standing in standing_entries(rules, log.chain(tx, row.id, row.key, seq)):
        views, turn = watch(views, standing.entry.facts), standing.turn
        if standing.seq >= seq + SAVE_EVERY:
            seq, times = standing.seq, times + 1
            save(seq)
    if row.seq >= seq + SAVE_EVERY and turn is not None:
        # Many rows can be no entries: changed choices, orders, pauses.
        times += 1
        save(row.seq)
    return times


def _try_save(server: Server, game_id: int) -> bool:
    def save(tx: Tx) -> bool:
        row = games.lock_if_free(tx, game_id)
        return row is not None and save_views(tx, row) > 0

    try:
        # Nobody asked for these views, so a failure of the rules is put down to this table here.
        with at_table(game_id):
            return server.store.write(save)
    except Exception:  # noqa: BLE001 - a fault in one game must not stop the others
        _log.exception("views_not_kept", game=game_id)
        return False


def _around(tx: Tx, row: GameRow, rules: Game[Any], saved: ViewRow | None, turn: int) -> list[StandingEntry]:
    """The standing entries between the saved views around a turn, or to the end. Undo deletes later saved views."""
    until = saved_views.next_seq(tx, row.id, turn)
    return standing_entries(rules, log.chain(tx, row.id, row.key, 0 if saved is None else saved.seq, until))


def _start_of(rules: Game[Any], row: GameRow, saved: ViewRow | None) -> Any:
    if saved is None:
        return rules.start(row.seats, json.loads(row.options))
    return _read(rules, saved)


def _readable(rules: Game[Any], saved: ViewRow | None) -> ViewRow | None:
    """A saved view; None if another release saved it in another shape, so that the log must be read instead."""
    return saved if saved is not None and _read(rules, saved) is not None else None


def _all_readable(rules: Game[Any], saved: dict[int, ViewRow]) -> dict[int, ViewRow]:
    """Views saved together, or none of them."""
    return saved if all(_readable(rules, each) for each in saved.values()) else {}


def _read(rules: Game[Any], saved: ViewRow) -> Any:
    key = rules, saved.body
    return READ.get(key) or READ.put(key, loads_snapshot(rules, saved.body))


def _fold(rules: Game[Any], row: GameRow, saved: ViewRow | None, entries: Iterable[StandingEntry], reader: int) -> Any:
    """A saved view, or the start of the game, folded with the facts that its reader saw in these entries."""
    facts = (seen(each, reader) for standing in entries for each in standing.entry.facts)
    return fold(_start_of(rules, row, saved), facts)
