"""Where a release has to replay the games before it may play on: before it migrates the database, and before a process begins.

`pbem migrate` refuses to go on where a running game differs. A process that begins all the same stops the tables that do, and
lets go on those that were stopped for it and differ no more.
"""

from collections.abc import Callable
from typing import Final

import structlog

from pbem.config.settings import Config
from pbem.ops import replay
from pbem.ops.replay import Replayed
from pbem.ops.rules_code import codes
from pbem.ops.setup import open_store
from pbem.service.clocks import stopped_tables
from pbem.service.clocks.stopped_tables import Cause
from pbem.service.server import Server
from pbem.store import migrations, recordings
from pbem.store.database import Store

Begin = Callable[[str, int], Callable[[int], None]]
"""Called with a label and the number of rows; returns the function that reports progress."""

Tell = Callable[[Replayed], None]
"""Called with each game that was replayed."""

_SILENT: Final[Begin] = lambda _label, _rows: lambda _done: None  # noqa: E731 - as short as what it is

_log = structlog.get_logger(__name__)


def replay_all(config: Config, begin: Begin, tell: Tell, most: int, game_id: int | None = None) -> None:
    """Replay all games that have begun, or one. The database may be of an earlier release."""
    with open_store(config, current=False) as store:
        _must_be_known(store)
        with store.read() as tx:
            sizes = recordings.begun(tx) if game_id is None else {game_id: recordings.game(tx, game_id).seq}
        _replay(config, store, sizes, begin, tell, most)


def before_migrating(config: Config, begin: Begin, tell: Tell) -> None:
    """Replay the running games as far as the code at hand has not done so. An empty or newer database has none for us."""
    with open_store(config, current=False) as store:
        if migrations.current(store) == migrations.EMPTY or migrations.is_newer(store):
            return
        by_kind = codes(config)
        with store.read() as tx:
            sizes = recordings.not_replayed(tx, by_kind, whole=True)
        _replay(config, store, sizes, begin, tell, replay.processes())


def before_start(server: Server, config: Config) -> None:
    """Replay the running games that the code at hand has never replayed, and stop the tables that differ."""
    sizes = server.query(recordings.not_replayed, codes(config), whole=False)

    def tell(replayed: Replayed) -> None:
        game = replayed.game
        if replayed.check_failed:
            # Its players have done nothing wrong, and neither have its rules as far as we know.
            _log.error("replay_check_failed", game=game.id, why=replayed.left_out)
        elif replayed.left_out:
            _log.warning("table_not_replayed", game=game.id, why=replayed.left_out)
        elif replayed.differences:
            server.run(stopped_tables.stop_changed, game.id, replayed.differences[0].where)
        elif game.halted == Cause.CHANGED:
            server.run(stopped_tables.resume_unchanged, game.id)

    _replay(config, server.store, sizes, _SILENT, tell, replay.processes(), plays_on=True)
    if sizes:
        _log.info("games_replayed", games=len(sizes))


def _replay(
    config: Config, store: Store, sizes: dict[int, int], begin: Begin, tell: Tell, most: int, *, plays_on: bool = False
) -> None:
    # Until it plays on, the release before may come back, which knows nothing of newer rulings.
    if sizes:
        progress = begin("Replaying", sum(sizes.values()))
        for replayed in replay.replay_games(config, sizes, most, progress):
            replay.keep(store, replayed, ruled=plays_on)
            for each in replayed:
                tell(each)


def _must_be_known(store: Store) -> None:
    if migrations.current(store) == migrations.EMPTY or migrations.is_newer(store):
        migrations.must_be_current(store)
