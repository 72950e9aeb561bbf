"""Backup, restore and moving to another database, each verified before it counts.

A backup is one SQLite file, whatever the database; its keys, if included, are in a file beside it. Both are private:
they hold addresses, hidden cards, and with the keys everyone's links.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pbem.config import save_keys
from pbem.config.settings import Config
from pbem.config.sources import read_private_text
from pbem.domain.errors import BadInput, Fault, Forbidden
from pbem.ops.process_lock import alone
from pbem.ops.setup import open_store
from pbem.ops.verify import verify_game
from pbem.service.desk import audit
from pbem.store import database_copy, games, migrations
from pbem.store.database import Store, Tx
from pbem.tokens import Keyring

Progress = Callable[[int], None]
Begin = Callable[[str, int], Progress]
"""Called when a phase begins, with its label and length; returns the function that reports progress."""

_FIRST_BYTES: Final = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Saved:
    """What was backed up or moved."""

    games: int
    rows: int
    with_keys: bool = False


def silent(_what: str, _length: int) -> Progress:
    """Shows no progress."""
    return lambda _: None


def keys_beside(backup: Path) -> Path:
    """The file for the keys of a backup."""
    return backup.with_name(f"{backup.name}.keys")


def backup(config: Config, path: Path, *, with_keys: bool, begin: Begin = silent) -> Saved:
    """Back up the server while it runs; the file gets its name only after it was verified. Raises BadInput, Fault."""
    for each in (path, keys_beside(path)):
        if each.exists():
            raise BadInput(f"{each} is there already.", remedy="Nothing was overwritten; choose another name.")
    written = path.with_name(f"{path.name}.part")
    try:
        with open_store(config) as source:
            # Created private, before it has any content.
            os.close(os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            if source.on_sqlite:
                database_copy.write_file(source, written)
            else:
                with closing(Store(f"sqlite:///{written}")) as target:
                    _copy(source, target, begin)
        saved = _verify_file(written, begin)
        if with_keys:
            _write_privately(keys_beside(path), config.keyring().text())
        _flush(written)
        written.rename(path)
    except FileExistsError as error:
        raise BadInput(
            f"{written} is there already.", why="Another backup runs, or was cut short.", remedy="Remove it."
        ) from error
    except BaseException:
        for part in _parts(written):
            part.unlink(missing_ok=True)
        raise
    return Saved(saved.games, saved.rows, with_keys)


def restore(config: Config, path: Path, begin: Begin = silent) -> Saved:
    """Restore a backup into an empty database: all of it, verified, or nothing. Raises BadInput, Forbidden, Fault."""
    with path.open("rb") as file:
        if file.read(len(_FIRST_BYTES)) != _FIRST_BYTES:
            raise BadInput(f"{path} is no backup.", remedy="Name a file that `pbem backup` wrote.")
    keys = _keys_to_restore(config, keys_beside(path))
    with (
        _working_copy(path) as copy,
        alone(config.database_url),
        closing(Store(f"sqlite:///{copy}")) as source,
        closing(Store(config.database_url)) as target,
    ):
        if migrations.current(source) == migrations.EMPTY:
            raise BadInput(f"{path} is no backup of a server.", remedy="Name a file that `pbem backup` wrote.")
        # A backup of an older release is migrated in the copy, so the file stays as it is.
        migrations.upgrade(source)
        saved = _copy(source, target, begin)
    if keys is not None:
        save_keys(config.data_dir, keys)
    return Saved(saved.games, saved.rows, keys is not None)


def copy(source_url: str, target_url: str, begin: Begin = silent) -> Saved:
    """Move a server to another database: all of it, verified, or nothing. The source stays as it is."""
    file = Store.file_of(source_url)
    if file is not None and not file.exists():
        raise BadInput(f"There is no database at {file}.", remedy="Correct --from.")
    with closing(Store(source_url)) as source, closing(Store(target_url)) as target:
        if source.url == target.url:
            raise BadInput("Source and target are the same database.", remedy="Name another one with --to.")
        # A move made while the server is copied would be lost.
        with alone(source_url), alone(target_url):
            migrations.must_be_current(source)
            return _copy(source, target, begin)


def _copy(source: Store, target: Store, begin: Begin) -> Saved:
    fresh = migrations.current(target) == migrations.EMPTY
    if not fresh:
        with target.read() as tx:
            database_copy.must_be_empty(tx)
    migrations.upgrade(target)
    with source.read() as reading:
        there = database_copy.counts(reading)

        def work(writing: Tx) -> Saved:
            database_copy.must_be_empty(writing)
            database_copy.copy_all(reading, writing, begin("Copying", sum(there.values())))
            if database_copy.counts(writing) != there:
                raise Fault("Not every row has arrived, so nothing was kept.")
            return Saved(_verify(writing, begin), sum(there.values()))

        try:
            return target.write(work)
        except BaseException:
            if fresh:
                migrations.downgrade(target, migrations.EMPTY)
            raise


def _verify_file(path: Path, begin: Begin) -> Saved:
    with closing(Store(f"sqlite:///{path}")) as store:
        if (broken := database_copy.damage(store)) is not None:
            raise Fault("The backup is damaged, so it was thrown away.", why=f"SQLite says: {broken}.")
        with store.read() as tx:
            return Saved(_verify(tx, begin), sum(database_copy.counts(tx).values()))


def _verify(tx: Tx, begin: Begin) -> int:
    """The number of games. Raises Fault if a game or the audit does not verify."""
    if flaws := audit.verify(tx).flaws:
        raise Fault(
            f"The audit does not verify: {flaws[0].says}.",
            remedy="`pbem audit verify` tells everything. Nothing was kept.",
        )
    ids = games.ids(tx)
    progress = begin("Verifying", games.rows(tx))
    for game_id in ids:
        report = verify_game(tx, game_id, progress=progress)
        if not report.sound:
            raise Fault(
                f"Game {game_id} does not verify: {report.problems[0].says}.",
                remedy=f"`pbem verify --game {game_id}` tells everything. Nothing was kept.",
            )
    return len(ids)


def _keys_to_restore(config: Config, path: Path) -> Keyring | None:
    if not path.exists():
        return None
    keys = Keyring.parse(read_private_text(path))
    if config.keys is not None and config.keys != keys:
        raise Forbidden(
            "This server has other keys than the backup.",
            why="With the one no link of the other works.",
            remedy=f"Move {config.data_dir / 'keys'} away to take those of the backup, or {path} to keep these.",
        )
    return keys if config.keys is None else None


@contextmanager
def _working_copy(path: Path) -> Iterator[Path]:
    """A temporary copy of a backup, which may be changed."""
    with tempfile.TemporaryDirectory(prefix="pbem-restore-") as folder:
        copied = Path(folder) / "backup.sqlite3"
        shutil.copyfile(path, copied)
        yield copied


def _write_privately(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _parts(path: Path) -> list[Path]:
    return [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal"))]
