"""Snapshots made anew from the log, where a stored one is lost, damaged or of an older form.

The log is the truth and is never touched. A game whose log does not verify is left as it is: there is nothing to make
its snapshot of, and somebody has to look.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

from pbem.domain import hash_chain
from pbem.domain.errors import Fault
from pbem.service.archive.check_log import Replay, snapshot, written
from pbem.service.play import views
from pbem.service.play.rules import rules_of
from pbem.store import games, log
from pbem.store import views as kept_views
from pbem.store.database import Store, Tx

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What became of one game: what its snapshot had wrong, or why it could not be made anew."""

    game_id: int
    corrected: tuple[str, ...]
    refused: str = ""


def rebuild_games(store: Store, game_ids: Collection[int], progress: Progress = lambda _: None) -> Iterator[Rebuilt]:
    """Make the snapshots of these games anew, each in a transaction of its own."""
    for game_id in game_ids:
        try:
            yield store.write(partial(_rebuild, game_id=game_id, progress=progress))
        except Fault as fault:
            yield Rebuilt(game_id, (), refused=fault.what)


def _rebuild(tx: Tx, game_id: int, progress: Progress) -> Rebuilt:
    row = games.lock(tx, game_id)
    reading = Replay(rules_of(row), row.secret)

    def read() -> Iterator[hash_chain.Row]:
        for each in log.chain(tx, row.id, row.key):
            reading.read(each)
            progress(1)
            yield each

    found = hash_chain.verify(read(), game=row.key, head=row.head)
    wrongs = [flaw.says for flaw in found.flaws] + [wrong.says for wrong in reading.wrongs]
    if wrongs:
        raise Fault(f"its log does not verify: {wrongs[0]}")
    if not reading.dealt:
        return Rebuilt(game_id, ())
    corrected = list(snapshot(reading, row._asdict()))
    if row.seq != found.rows:
        corrected.append(f"the game was stored as having {row.seq} rows, but there are {found.rows}")
    new = {
        "seq": found.rows,
        "entry_head": reading.entry_head,
        "turn": reading.at.turn,
        "state": written(reading.at.state),
        "box": written(tuple(sorted(reading.box.items()))),
        # Whoever stopped it says when it goes on.
        "status": row.status if row.status == "frozen" else reading.status,
    }
    if reading.orders_known:
        new["orders"] = written(tuple(sorted(reading.orders.items())))
    games.advance(tx, row, new)
    # Made anew at once: of a game that ended long ago no worker keeps any more.
    kept_views.forget(tx, game_id)
    views.save_views(tx, games.read(tx, game_id))
    return Rebuilt(game_id, tuple(corrected))
