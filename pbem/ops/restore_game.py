"""Restoring one game from a backup, beside the others: verified before it counts, all of it or nothing.

The backup is read and never changed. It is a file of `pbem backup`, or of one table, of `pbem table export`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pbem.config.settings import Config
from pbem.domain.acts import Actor
from pbem.domain.errors import BadInput, Fault
from pbem.ops.backup import Begin, is_database, silent, working_copy
from pbem.ops.setup import open_server
from pbem.ops.verify import verify_game, verify_saved
from pbem.service.archive import table_file
from pbem.service.desk.put_back import PutBack, put_back
from pbem.service.server import Server
from pbem.store import known_keys, saved_games
from pbem.store.database import Store, Tx
from pbem.store.database_errors import blaming
from pbem.store.saved_games import SavedGame

OTHER_KEYS = (
    "The backup was made with other keys. Nothing in a game is encrypted with them: its players get links"
    " made with the keys here, and those of the backup stay dead."
)
"""What to tell of keys. Links are the only secrets that need the backup's keys, and they are never put back."""


def restore_game(
    config: Config,
    path: Path,
    which: str,
    actor: Actor,
    reason: str,
    *,
    replacing: bool = False,
    dry_run: bool = False,
    begin: Begin = silent,
) -> tuple[PutBack, str]:
    """Put back the game that the backup knows by this number or key; or only look what that would do.

    Returns what was done, and a sentence about keys if there is one. Raises a PbemError, and then nothing was changed.
    """
    with open_server(config) as server, _saved(server, config, path, which) as (saved, keys):
        progress = begin("Verifying", len(saved.log))

        def work(tx: Tx, server: Server) -> PutBack:
            done = put_back(tx, server, actor, saved, reason, replacing=replacing)
            report = verify_game(tx, done.game_id, progress=progress)
            if not report.sound:
                raise Fault(
                    f"The restored game fails verification: {report.problems[0].says}.",
                    remedy="Nothing was changed. Try an older backup.",
                )
            return done

        return (server.dry_run if dry_run else server.run)(work), keys


@contextmanager
def _saved(server: Server, config: Config, path: Path, which: str) -> Iterator[tuple[SavedGame, str]]:
    """The saved game, and what to tell of keys."""
    if not is_database(path):
        with blaming(path):
            saved = table_file.read(path.read_text(encoding="utf-8", errors="replace"))
            if which not in (saved.game.key, str(saved.game.id)):
                raise BadInput(f"It is the file of game {saved.game.id}.", remedy="Name that with --game.")
        _must_be_sound(saved, path)
        yield saved, ""
        return
    folder = (Store.file_of(config.database_url) or config.data_dir / "any").parent
    with working_copy(path, folder, "restore-game.part") as source, source.read() as tx:
        game_id = saved_games.named(tx, which)
        if game_id is None:
            raise BadInput("The backup doesn't contain this game.", remedy="Use its number there, or its key.")
        with blaming(path):
            saved = saved_games.read(tx, game_id)
        _must_be_sound(saved, path)
        yield saved, _about_keys(tx, server)


def _must_be_sound(saved: SavedGame, path: Path) -> None:
    """Read a saved game as a whole, before anything of it gets here. Raises BadInput."""
    report = verify_saved(saved)
    if not report.sound:
        raise BadInput(
            f"Game {saved.game.id} fails verification in the backup {path}: {report.problems[0].says}.",
            remedy="Nothing was changed. Try an older backup.",
        )


def _about_keys(backup: Tx, server: Server) -> str:
    keys = known_keys.all_of_them(backup)
    return OTHER_KEYS if keys and not keys & server.query(known_keys.all_of_them) else ""
