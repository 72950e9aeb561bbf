"""Backup, restore and moving to another database, each verified before it counts.

A backup is one SQLite file, whatever the database; its keys, if included, are in a file beside it. Both are private:
they hold addresses, hidden cards, and with the keys everyone's links.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pbem.clock import SystemClock, SystemRandomness
from pbem.config import save_keys
from pbem.config.settings import KEYS_FILE, Config
from pbem.config.sources import read_private_text
from pbem.domain.errors import BadInput, Fault, Forbidden
from pbem.ops.process_lock import alone
from pbem.ops.setup import keyring, must_be_ours, open_store
from pbem.ops.verify import verify_game
from pbem.service.desk import audit
from pbem.store import database_copy, database_health, games, links, migrations, schema_check, sessions
from pbem.store.database import Store, Tx, parse_url
from pbem.store.database_errors import blaming
from pbem.tokens import Keyring, Purpose

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


def is_database(path: Path) -> bool:
    """Whether a file begins as those of `pbem backup` do."""
    with path.open("rb") as file:
        return file.read(len(_FIRST_BYTES)) == _FIRST_BYTES


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
            raise BadInput(f"{each} already exists.", remedy="Nothing was overwritten. Choose another name.")
    written = path.with_name(f"{path.name}.part")
    with open_store(config) as source:
        keys = keyring(source, config).text() if with_keys else ""
        try:
            # Created private, before it has any content.
            os.close(os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError as error:
            raise BadInput(
                f"{written} already exists.", why="Another backup is running, or was interrupted.", remedy="Remove it."
            ) from error
        made = _parts(written)
        try:
            if source.on_sqlite:
                database_copy.write_file(source, written)
            else:
                with closing(Store(f"sqlite:///{written}")) as target:
                    _copy(source, target, begin)
            saved = _verify_file(written, begin)
            if with_keys:
                write_privately(keys_beside(path), keys)
                made.append(keys_beside(path))
            _flush(written)
            written.rename(path)
        except BaseException:
            _remove(made)
            raise
    return Saved(saved.games, saved.rows, with_keys)


def restore(config: Config, path: Path, begin: Begin = silent) -> Saved:
    """Restore a backup into an empty database: all of it, verified, or nothing. Raises BadInput, Forbidden, Fault."""
    with blaming(path):
        if not is_database(path):
            raise BadInput("It wasn't written by `pbem backup`.")
    # A copy from elsewhere may be open to others, which is no fault of the backup's.
    text = read_private_text(keys_beside(path)) if keys_beside(path).exists() else None
    with blaming(path):
        backup_keys = None if text is None else Keyring.parse(text)
    keys = _keys_to_restore(config, backup_keys, path)

    def finish(tx: Tx) -> None:
        # Since the backup a session, a sign-in link, a request or an organiser may have been ended for good reason.
        sessions.end_everybodys(tx, SystemClock().now())
        for purpose in (Purpose.SIGN_IN, Purpose.YES):
            links.revoke_purpose(tx, SystemRandomness(), purpose)
        must_be_ours(tx, config)
        if keys is not None:
            save_keys(config.data_dir, keys)

    folder = (Store.file_of(config.database_url) or config.data_dir / "any").parent
    try:
        with (
            _nothing_left(config.database_url, folder, config.data_dir),
            alone(config.database_url),
            working_copy(path, folder, "restore.part") as source,
            _target(config.database_url) as target,
        ):
            saved = _copy(source, target, begin, partial(blaming, path), finish)
    except BaseException:
        if keys is not None:
            (config.data_dir / KEYS_FILE).unlink(missing_ok=True)
        raise
    return Saved(saved.games, saved.rows, keys is not None)


def copy(source_url: str, target_url: str, begin: Begin = silent) -> Saved:
    """Move a server to another database: all of it, verified, or nothing. The source stays as it is."""
    file, target_file = Store.file_of(source_url), Store.file_of(target_url)
    if file is not None and not file.exists():
        raise BadInput(f"There is no database at {file}.", remedy="Correct --from.")
    if parse_url(source_url) == parse_url(target_url):
        raise BadInput("The source and the target are the same database.", remedy="Name another one with --to.")
    with (
        closing(Store(source_url)) as source,
        _nothing_left(target_url, *([target_file.parent] if target_file else [])),
        # A move made while the server is copied would be lost.
        alone(source_url),
        alone(target_url),
    ):
        migrations.must_be_current(source)
        with _target(target_url) as target:
            return _copy(source, target, begin)


def _copy(
    source: Store,
    target: Store,
    begin: Begin,
    blaming: Callable[[], AbstractContextManager[None]] = nullcontext,
    finish: Callable[[Tx], None] = lambda _tx: None,
) -> Saved:
    """Copy and verify. Faults of the rows are raised within `blaming`; `finish` is called just before the commit."""
    fresh = migrations.current(target) == migrations.EMPTY
    if not fresh:
        with target.read() as tx:
            database_copy.must_be_empty(tx)
    migrations.upgrade(target)
    with source.read() as reading:
        there = database_copy.counts(reading)

        def work(writing: Tx) -> Saved:
            database_copy.must_be_empty(writing)
            with blaming():
                database_copy.copy_all(reading, writing, begin("Copying", sum(there.values())))
                if database_copy.counts(writing) != there:
                    raise Fault("Some rows are missing, so nothing was kept.")
                saved = Saved(_verify(writing, begin), sum(there.values()))
            finish(writing)
            return saved

        try:
            return target.write(work)
        except BaseException:
            if fresh:
                migrations.remove_all(target)
            raise


@contextmanager
def _target(url: str) -> Iterator[Store]:
    """The database to fill; a new SQLite file gets its name only when all is well. Raises Forbidden."""
    file = Store.file_of(url)
    if file is None or file.exists():
        with closing(Store(url)) as store:
            if file is not None and not database_health.can_be_read(store):
                raise Forbidden(
                    f"{file} already exists but can't be read.",
                    why="It is damaged, or not a database.",
                    remedy=f"Move {file} away, and try again.",
                )
            yield store
        return
    for each in _parts(file):
        # SQLite would apply what is in there to the new file.
        if each.exists():
            raise Forbidden(f"{each} is left over from another database.", remedy=f"Move {each} away, and try again.")
    new = file.with_name(f"{file.name}.part")
    try:
        _remove(_parts(new))
        # Created private, before it has any content.
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(Store(f"sqlite:///{new}")) as store:
            yield store
        _flush(new)
        new.rename(file)
    finally:
        _remove(_parts(new))


@contextmanager
def _nothing_left(url: str, *folders: Path) -> Iterator[None]:
    """Remove the folders and the lock that were made in this context, if it fails."""
    file = Store.file_of(url)
    made = [each for folder in folders for each in (folder, *folder.parents) if not each.exists()]
    lock = None if file is None else Path(f"{file}.lock")
    locked_before = lock is None or lock.exists()
    try:
        yield
    except BaseException:
        if lock is not None and not locked_before:
            lock.unlink(missing_ok=True)
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def _verify_file(path: Path, begin: Begin) -> Saved:
    with closing(Store(f"sqlite:///{path}")) as store:
        if (broken := database_copy.damage(store)) is not None:
            raise Fault("The backup is damaged, so it was deleted.", why=f"SQLite says: {broken}.")
        with store.read() as tx:
            return Saved(_verify(tx, begin), sum(database_copy.counts(tx).values()))


def _verify(tx: Tx, begin: Begin) -> int:
    """The number of games. Raises Fault if a game or the audit does not verify."""
    if flaws := audit.verify(tx).flaws:
        raise Fault(
            f"The audit fails verification: {flaws[0].says}.",
            remedy="Nothing was kept. Run `pbem audit verify` for details.",
        )
    ids = games.ids(tx)
    progress = begin("Verifying", games.rows(tx))
    for game_id in ids:
        report = verify_game(tx, game_id, progress=progress)
        if not report.sound:
            raise Fault(
                f"Game {game_id} does not verify: {report.problems[0].says}.",
                remedy=f"`pbem verify --game {game_id}` lists everything. Nothing was kept.",
            )
    return len(ids)


def _keys_to_restore(config: Config, keys: Keyring | None, path: Path) -> Keyring | None:
    if keys is None or config.keys is None:
        return keys
    if config.keys != keys:
        raise Forbidden(
            "This server has different keys from the backup.",
            why="Links made with one don't work with the other.",
            remedy=f"Move {config.data_dir / KEYS_FILE} away to use those of the backup, or {keys_beside(path)} to keep these.",
        )
    return None


@contextmanager
def working_copy(path: Path, folder: Path, name: str) -> Iterator[Store]:
    """A temporary copy of a backup as a database of this release; the file stays as it is. Raises BadInput.

    It is in a folder of this name, whose content is lost.
    """
    _must_be_complete(path)
    temporary = folder / name
    # One that was cut short by force has left it.
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700, parents=True)
    try:
        shutil.copyfile(path, temporary / "backup.sqlite3")
        store = Store(f"sqlite:///{temporary}/backup.sqlite3")
        try:
            with blaming(path):
                _must_be_whole(store)
            if migrations.is_newer(store):
                raise BadInput(
                    f"The backup {path} is from a newer release.",
                    remedy="Nothing was kept. Install that release or a newer one, and restore with it.",
                )
            with blaming(path):
                _bring_up_to_date(store)
            yield store
        finally:
            store.close()
    finally:
        shutil.rmtree(temporary)


def _must_be_complete(path: Path) -> None:
    """Refuse the database of a running server, or of one that was killed, without the changes that are still beside it."""
    for each in (path.with_name(f"{path.name}{end}") for end in ("-wal", "-journal")):
        if each.exists() and each.stat().st_size > 0:
            raise BadInput(
                f"{path} isn't complete.",
                why=f"It isn't a backup but a server's database, and its latest changes are in {each}.",
                remedy="Nothing was restored. Make a backup of it with"
                f" `PBEM_DATABASE_URL=sqlite:///{path.resolve()} pbem backup PATH`, and restore that.",
            )


def _must_be_whole(store: Store) -> None:
    if (broken := database_copy.damage(store)) is not None:
        raise BadInput("It is damaged.", why=f"SQLite says: {broken}.")
    if migrations.current(store) == migrations.EMPTY:
        raise BadInput("It contains no server.")


def _bring_up_to_date(store: Store) -> None:
    migrations.upgrade(store)
    # An index is made again where the rows go; rows cannot be.
    if lost := [each.says for each in schema_check.differences(store) if each.remedy == schema_check.RESTORE]:
        raise BadInput(lost[0])


def write_privately(path: Path, text: str) -> None:
    """Write a new file that only its owner's account may read, whole or not at all."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _remove(paths: Iterable[Path]) -> None:
    for each in paths:
        each.unlink(missing_ok=True)


def _parts(path: Path) -> list[Path]:
    return [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal"))]
