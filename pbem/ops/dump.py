"""The dump of finished public games as a file, made by hand: what a worker makes every night for the pages."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from pbem.service.archive import dump
from pbem.service.server import Server


def write(server: Server, path: Path) -> tuple[int, str]:
    """Write the dump of all games that have ended, and its checksum beside it. Returns the number of games, and the checksum.

    The file is written under another name first, so the file that was there before stays whole until all is done.
    """
    digest, games = hashlib.sha256(), 0
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            for part, number in dump.parts(server, server.now()):
                file.write(part)
                digest.update(part)
                games += number
            file.flush()
            os.fsync(file.fileno())
            # Without a checksum for a moment rather than with that of another file.
            checksum = path.with_name(f"{path.name}.sha256")
            checksum.unlink(missing_ok=True)
            Path(file.name).replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(file.name).unlink()
            raise
    checksum.write_text(dump.checksum_line(digest.hexdigest(), path.name), encoding="utf-8")
    return games, digest.hexdigest()
