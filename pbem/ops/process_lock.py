"""A lock for one process on one SQLite file, which the operating system releases however the process ends.

Two servers on one file would both be correct, but slow, and each would think that it alone sends emails. PostgreSQL
needs no lock.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pbem.config.sources import give_to_owner_of_folder
from pbem.domain.errors import Forbidden
from pbem.store.database import Store

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def alone(database_url: str) -> Iterator[None]:
    """Hold the SQLite file of a URL for this process. Raises Forbidden while another process holds it."""
    database = Store.file_of(database_url)
    if database is None:
        yield
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    path = Path(f"{database}.lock")
    with path.open("a+", encoding="ascii") as file:
        give_to_owner_of_folder(path)
        try:
            _take(file)
        except OSError:
            file.seek(0)
            holder = file.read(20).strip()
            raise Forbidden(
                f"Another pbem is using {database}.",
                why=f"It is process {holder}." if holder else "Only one process at a time can.",
                remedy="Stop it first, or use PostgreSQL for several processes.",
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        try:
            yield
        finally:
            # It may have been made meanwhile.
            give_to_owner_of_folder(database)
            # The file stays: without it two processes could lock two files of the same name.
            file.truncate(0)
