"""Making all ratings again from the results.

What differs is written in small transactions, so that play goes on. Until all is written the progress of the task says so,
and no ending is added: after one that was stopped, the next finds what is left to do.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pbem.domain.ratings import Key, Rating, changes
from pbem.service.play.results import counting
from pbem.service.server import Server
from pbem.store import ratings, results
from pbem.store.database import Tx
from pbem.store.schema import RatingRow, ResultRow

AT_ONCE: Final = 200
"""Endings whose ratings are compared and written in one transaction."""

_UNFINISHED: Final = -1
"""The progress of the task while there are ratings to replace."""

Progress = Callable[[int], None]
"""Called with the number of endings, corrections and merges just dealt with."""


@dataclass(slots=True)
class Rebuilt:
    """What a rebuild did: the number of endings, and how many of these had other ratings than they should."""

    endings: int = 0
    changed: int = 0


def rebuild(server: Server, progress: Progress = lambda _: None) -> Rebuilt:
    """Make all ratings again from the results, and write those that differ. Endings that could not be added are tried again.

    It may be stopped at any time, and several may run: what is missing is done by the next.
    """
    server.store.write(results.try_again)
    while (rebuilt := _rebuild(server, progress)) is None:
        pass
    return rebuilt


def _rebuild(server: Server, progress: Progress) -> Rebuilt | None:
    """Go through all results once; None if they were corrected meanwhile."""
    with server.store.read() as tx:
        known = results.last_change(tx)
        changed = _Changes.read(tx)
        last = results.last(tx)
    current, rebuilt, first = dict[Key, Rating](), Rebuilt(), 1
    while True:
        while first <= last:
            upto = min(first + AT_ONCE - 1, last)
            with server.store.read() as tx:
                made = _make(tx, changed, current, first, upto)
                stored = _by_seq(ratings.between(tx, first, upto))
            differing = {
                seq: rows for seq in range(first, upto + 1) if (rows := made.get(seq, [])) != stored.get(seq, [])
            }
            if differing and not server.run(_replace, known, differing):
                return None
            rebuilt.endings += len(made.keys())
            rebuilt.changed += len(differing)
            progress(upto - first + 1)
            first = upto + 1
        newest = server.run(_finish, known, last)
        if newest is None or newest == last:
            return None if newest is None else rebuilt
        last = newest


def _replace(tx: Tx, server: Server, known: int, differing: Mapping[int, Collection[RatingRow]]) -> bool:
    """Write the ratings of some endings. Returns False if results were corrected since."""
    results.lock(tx)
    if results.last_change(tx) != known:
        return False
    results.set_progress(tx, _UNFINISHED)
    ratings.replace(tx, differing)
    return True


def _finish(tx: Tx, server: Server, known: int, last: int) -> int | None:
    """End a rebuild. Returns the number of the last ending, which may be a new one; None if results were corrected since."""
    results.lock(tx)
    if results.last_change(tx) != known:
        return None
    if (newest := results.last(tx)) == last and results.progress(tx) != known:
        results.set_progress(tx, known)
    return newest


@dataclass(frozen=True, slots=True)
class _Changes:
    """Corrections by game, and the key that each merged player has now."""

    corrected: Mapping[int, Sequence[ResultRow]]
    keys: Mapping[str, str]

    @classmethod
    def read(cls, tx: Tx) -> "_Changes":
        rows = results.all_changes(tx)
        corrected = {
            game_id: list(group)
            for (_seq, game_id), group in groupby(rows, key=lambda row: (row.seq, row.game_id))
            if game_id is not None
        }
        return cls(corrected, results.merged_by(rows))

    def ranks(self, ending: Sequence[ResultRow]) -> list[tuple[str, int]]:
        """The players that an ending counts for now, with their ranks."""
        game_id = ending[0].game_id
        assert game_id is not None, "an ending is a game's"
        counted = counting(self.corrected.get(game_id, ending))
        return [(self.keys.get(player, player), rank) for player, rank in counted]


def _make(tx: Tx, changed: _Changes, current: dict[Key, Rating], first: int, last: int) -> dict[int, list[RatingRow]]:
    """What the endings with these numbers change, by number; the current ratings follow."""
    made: dict[int, list[RatingRow]] = {}
    for seq, rows in groupby(results.endings(tx, first, last), key=lambda row: row.seq):
        ending = list(rows)
        found = changes(ending[0].kind or "", changed.ranks(ending), current)
        current.update({(change.player, change.kind): change.after for change in found})
        made[seq] = sorted(ratings.row_of(seq, change) for change in found)
    return made


def _by_seq(rows: Iterable[RatingRow]) -> dict[int, list[RatingRow]]:
    return {seq: list(group) for seq, group in groupby(sorted(rows), key=lambda row: row.seq)}
