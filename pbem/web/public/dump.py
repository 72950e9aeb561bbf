"""The nightly file of finished public games, with its checksum. It is stored in parts, and sent from any byte on."""

from io import BufferedReader, RawIOBase
from typing import Final

from flask import Blueprint, Response, request
from werkzeug.wsgi import FileWrapper

from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.service.archive import dump
from pbem.service.server import Server
from pbem.store.schema import DumpPartRow, DumpRow
from pbem.web import conditional
from pbem.web.site import server

pages = Blueprint("dump", __name__, url_prefix="/data")

_BUFFER: Final = 2**16


@pages.get(f"/{dump.NAME}")
def games() -> Response:
    """The file, whole or in part. Raises NotFound before the first night."""
    found = _current()
    file = BufferedReader(_File(server(), found), _BUFFER)
    # Not the wrapper of the web server, which may know only files of the machine.
    response = Response(FileWrapper(file, _BUFFER), mimetype="application/gzip")
    response.content_length = found.size
    response.last_modified = found.made_at
    response.set_etag(found.sha256)
    conditional.for_everyone(response)
    return response.make_conditional(request, accept_ranges=True, complete_length=found.size)  # type: ignore[return-value]


@pages.get(f"/{dump.NAME}.sha256")
def checksum() -> Response:
    """The SHA-256 of the file, as `sha256sum --check` reads it. Raises NotFound before the first night."""
    return conditional.answer(dump.checksum_line(_current().sha256, dump.NAME), "text/plain")


def _current() -> DumpRow:
    found = server().read(dump.current)
    if found is None:
        raise NotFound(_("There's no file of games yet."), remedy=_("It's made every night. Try again tomorrow."))
    return found


class _File(RawIOBase):
    """A stored file, read part by part, each in a transaction of its own."""

    def __init__(self, of_server: Server, row: DumpRow) -> None:
        self._server, self._row = of_server, row
        self._at = 0
        self._part: DumpPartRow | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a byte, counted from the beginning."""
        if whence:
            raise ValueError("only from the beginning")
        self._at = offset
        return offset

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]  # any buffer is read like this one
        """Read up to the end of a part. Raises OSError if the file has been dropped."""
        if self._at >= self._row.size:
            return 0
        part = self._part
        if part is None or not part.start <= self._at < part.start + len(part.body):
            part = self._part = self._server.read(dump.part_at, self._row.number, self._at)
        if part is None:
            # The length was promised, so the connection has to break: no reader may take this for the whole.
            raise OSError("this file has been replaced twice since")
        first = self._at - part.start
        piece = part.body[first : first + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
