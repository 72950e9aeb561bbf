"""What a seat knows, and knew at any time: the fold of what it was told, from the last kept view on.

Everything that speaks to a person is made from what this module returns. It must never look into a game's state.

Every so many rows of a log, what all its readers knew is kept, so that looking costs the same early and late in a game,
at its present as at any moment of its past. Whoever looks keeps nothing: a worker does.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog

from engine import codec
from engine.facts import SPECTATOR, fold, seen
from engine.game import Game
from engine.table import watch
from pbem.plugins.away import loads
from pbem.plugins.foreign import at_table
from pbem.service.play.log import TAKES_BACK, Kind, StandingEntry, entries_back, standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import games, log
from pbem.store import views as kept_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.views import ViewRow

_log = structlog.get_logger(__name__)

SAVE_EVERY: Final = 20
"""Views are kept anew after so many rows: to fold fewer is quick, and more often would make a game twice as large."""

BATCH: Final = 50
"""Games whose views are kept in one go."""

_LATELY: Final = timedelta(days=1)
"""Of a game that has ended so long ago all that is to be kept was kept."""


@dataclass(frozen=True, slots=True)
class ViewRead:
    """A view, and how many rows were read to get at it."""

    view: Any
    rows: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a game: an entry that stands, what some readers knew after it, and the entries beside it."""

    standing: StandingEntry
    views: Mapping[int, Any]
    earlier: int | None
    later: int | None


def view(tx: Tx, row: GameRow, seat: int) -> ViewRead:
    """What the seat, or the SPECTATOR, knows now. Changes nothing."""
    rules = rules_of(row)
    kept = kept_views.last_of(tx, row.id, seat)
    rows = list(log.chain(tx, row.id, row.key, 0 if kept is None else kept.seq))
    return ViewRead(_folded(rules, row, kept, standing_entries(rules, rows), seat), len(rows))


def view_and_entries(
    tx: Tx, row: GameRow, seat: int, back_to: Callable[[StandingEntry], bool], most: int
) -> tuple[Any, tuple[StandingEntry, ...]]:
    """What the seat knows now, and the last entries back to one that is looked for, at most so many. Changes nothing.

    The log is read once for both, and no further back than the one and the other need.
    """
    rules = rules_of(row)
    kept = kept_views.last_of(tx, row.id, seat)
    entries: list[StandingEntry] = []
    wanted = None
    for standing in entries_back(rules, log.chain_back(tx, row.id, row.key, (Kind.ENTRY, *TAKES_BACK))):
        known = kept is not None and standing.seq <= kept.seq
        if wanted is not None and known:
            break
        entries.append(standing)
        if wanted is None and (back_to(standing) or len(entries) == most):
            wanted = len(entries)
            if known:
                break
    entries.reverse()
    new = [each for each in entries if kept is None or each.seq > kept.seq]
    return _folded(rules, row, kept, new, seat), tuple(entries[-wanted:] if wanted else entries)


def view_before(tx: Tx, row: GameRow, seat: int, turn: int) -> Any:
    """What the seat knew when it was asked in a turn, as far as that still stands. Changes nothing."""
    if turn == row.turn:
        return view(tx, row, seat).view
    rules = rules_of(row)
    kept = kept_views.before(tx, row.id, [seat], turn).get(seat)
    entries = [each for each in _around(tx, row, rules, kept, turn) if each.turn < turn]
    return _folded(rules, row, kept, entries, seat)


def moment_at(tx: Tx, row: GameRow, readers: Collection[int], turn: int) -> Moment | None:
    """The game after an entry, or after the last one before it that stands; None if there is none. Changes nothing."""
    rules = rules_of(row)
    kept = kept_views.before(tx, row.id, readers, turn)
    mark = next(iter(kept.values()), None)
    entries = _around(tx, row, rules, mark, turn)
    upto = [each for each in entries if each.turn <= turn]
    if not upto:
        return None if mark is None else moment_at(tx, row, readers, mark.turn)
    before = upto[-2].turn if len(upto) > 1 else None if mark is None else mark.turn
    return Moment(
        standing=upto[-1],
        views={reader: _folded(rules, row, kept.get(reader), upto, reader) for reader in readers},
        earlier=before,
        later=next((each.turn for each in entries if each.turn > turn), None),
    )


def save_overdue(server: Server) -> int:
    """Keep views of the games that have gone on by many rows since; how many games that were."""
    with server.store.read() as tx:
        found = kept_views.behind(tx, SAVE_EVERY, server.now() - _LATELY, BATCH)
    return sum(_kept(server, game_id) for game_id in found)


def save_views(tx: Tx, row: GameRow) -> int:
    """Keep what everybody knew at every so many rows since it was kept last; how often that was. The game must be locked."""
    rules, readers, times = rules_of(row), (*range(row.seats), SPECTATOR), 0
    kept = kept_views.last(tx, row.id, readers)
    known = tuple(_known(rules, row, kept.get(reader)) for reader in readers)
    seq = max((each.seq for each in kept.values()), default=0)
    turn = max((each.turn for each in kept.values()), default=None)

    def keep(upto: int) -> None:
        bodies = {reader: codec.dumps(view) for reader, view in zip(readers, known, strict=True)}
        assert turn is not None
        kept_views.keep(tx, row.id, turn, upto, bodies)

    for standing in standing_entries(rules, log.chain(tx, row.id, row.key, seq)):
        known, turn = watch(known, standing.entry.facts), standing.turn
        if standing.seq >= seq + SAVE_EVERY:
            seq, times = standing.seq, times + 1
            keep(seq)
    if row.seq >= seq + SAVE_EVERY and turn is not None:
        # Rows can be many without an entry: choices that are changed again and again, orders, pauses.
        times += 1
        keep(row.seq)
    return times


def _kept(server: Server, game_id: int) -> bool:
    def keep(tx: Tx) -> bool:
        row = games.lock_if_free(tx, game_id)
        return row is not None and save_views(tx, row) > 0

    try:
        # Only here are views worked out of which nothing is asked: whatever fails, fails at this table.
        with at_table(game_id):
            return server.store.write(keep)
    except Exception:  # noqa: BLE001 - whatever is wrong with one game, the others' views are kept
        _log.exception("views_not_kept", game=game_id)
        return False


def _around(tx: Tx, row: GameRow, rules: Game[Any], kept: ViewRow | None, turn: int) -> list[StandingEntry]:
    """The entries that stand between the views kept before an entry and those kept after it, or the end of the log.

    That views were kept after it, and not forgotten since, says that nothing up to them was taken back later.
    """
    until = kept_views.next_seq(tx, row.id, turn)
    return standing_entries(rules, log.chain(tx, row.id, row.key, 0 if kept is None else kept.seq, until))


def _known(rules: Game[Any], row: GameRow, kept: ViewRow | None) -> Any:
    return rules.start(row.seats, json.loads(row.options)) if kept is None else loads(rules, kept.body)


def _folded(rules: Game[Any], row: GameRow, kept: ViewRow | None, entries: Iterable[StandingEntry], reader: int) -> Any:
    """A kept view, or the empty table, with what its reader was told in these entries."""
    told = (seen(each, reader) for standing in entries for each in standing.entry.facts)
    return fold(_known(rules, row, kept), told)
