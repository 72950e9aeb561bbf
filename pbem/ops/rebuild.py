"""Rebuilding snapshots from the log, when a stored one is lost, damaged or of an older form.

The log is the truth and is never changed. A game whose log does not verify is left as it is, for an organiser to look
at.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from engine import codec
from pbem.domain import hash_chain
from pbem.domain.errors import Fault
from pbem.domain.states import TableStatus
from pbem.ops.verify import one_by_one
from pbem.service.archive.check_log import LogReader
from pbem.service.archive.check_snapshot import snapshot
from pbem.service.archive.verify import Progress
from pbem.service.play import views
from pbem.service.play.rules import rules_of
from pbem.store import games, log, views as kept_views
from pbem.store.database import Store, Tx


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was wrong with a game's snapshot, or why it could not be rebuilt."""

    game_id: int
    corrected: tuple[str, ...]
    refused: str = ""


def rebuild_games(store: Store, game_ids: Collection[int], progress: Progress = lambda _: None) -> Iterator[Rebuilt]:
    """Rebuild the snapshots of these games, each in its own transaction."""
    for game_id in game_ids:
        try:
            yield store.write(partial(_rebuild, game_id=game_id, progress=progress))
        except Fault as fault:
            yield Rebuilt(game_id, (), refused=fault.what)


def _rebuild(tx: Tx, game_id: int, progress: Progress) -> Rebuilt:
    row = games.lock(tx, game_id)
    reading = LogReader(rules_of(row), row.secret)
    found = hash_chain.verify(
        one_by_one(log.chain(tx, row.id, row.key), progress, reading.read), game=row.key, head=row.head
    )
    problems = [flaw.says for flaw in found.flaws] + [wrong.says for wrong in reading.problems]
    if problems:
        raise Fault(f"its log fails verification: {problems[0]}")
    if not reading.dealt:
        return Rebuilt(game_id, ())
    corrected = list(snapshot(reading, row._asdict()))
    if row.seq != found.rows:
        corrected.append(f"the game is stored with {row.seq} rows, but there are {found.rows}")
    new = {
        "seq": found.rows,
        "entry_head": reading.entry_head,
        "turn": reading.position.turn,
        "state": codec.dumps(reading.position.state),
        "box": codec.dumps(tuple(sorted(reading.box.items()))),
        "seals": reading.seals.dumps(),
        # A frozen game stays frozen until an organiser lets it go on.
        "status": row.status if row.status == TableStatus.FROZEN else reading.status,
    }
    if reading.orders_known:
        new["orders"] = codec.dumps(tuple(sorted(reading.orders.items())))
    games.advance(tx, row, new)
    # Rebuilt at once, because workers store no views of games that ended long ago.
    kept_views.forget(tx, game_id)
    views.save_views(tx, games.read(tx, game_id))
    return Rebuilt(game_id, tuple(corrected))
