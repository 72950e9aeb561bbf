"""The site's own style sheet, scripts and pictures: read and compressed once, and kept by browsers for good.

Each is under an address that changes with its content, so a new version is fetched at once. Nothing else is ever compressed:
the size of a compressed page with a token in it could tell what the token is (BREACH).
"""

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import Flask, Response, abort, current_app, request, url_for

_FILES: Final = "pbem static files"

FOR_GOOD: Final = "public, max-age=31536000, immutable"
"""For an address with the version of the file."""

FOR_A_DAY: Final = "public, max-age=86400"
"""For an address without one, or with that of another version."""

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent. `compressed` is None for a picture, which is compressed already."""

    kind: str
    plain: bytes
    compressed: bytes | None
    version: str


def set_up(app: Flask) -> None:
    """Serve the files beside this module under /static."""
    folder = Path(__file__).parent / "static"
    app.extensions[_FILES] = {file.name: _read(file) for file in folder.iterdir() if file.is_file()}
    app.add_url_rule("/static/<filename>", "static", send)
    app.jinja_env.globals["static_url"] = address


def address(name: str) -> str:
    """Return the address of a file, with its version."""
    return url_for("static", filename=name, v=_files()[name].version)


def send(filename: str) -> Response:
    """Send a file, compressed for who can read that."""
    file = _files().get(filename)
    if file is None:
        abort(404)
    compressed = file.compressed if request.accept_encodings["gzip"] else None
    response = Response(compressed or file.plain, content_type=file.kind)
    if compressed:
        response.content_encoding = "gzip"
    if file.compressed:
        response.vary.add("Accept-Encoding")
    response.headers["Cache-Control"] = FOR_GOOD if request.args.get("v") == file.version else FOR_A_DAY
    response.set_etag(f"{file.version}-gzip" if compressed else file.version)
    response.make_conditional(request)
    return response


def _files() -> dict[str, StaticFile]:
    files: dict[str, StaticFile] = current_app.extensions[_FILES]
    return files


def _read(file: Path) -> StaticFile:
    content, kind = file.read_bytes(), _KINDS[file.suffix]
    if file.suffix == ".css":
        # They are a fifth of what is sent, and for us alone.
        content = re.sub(rb"\s*/\*.*?\*/", b"", content, flags=re.DOTALL)
    compressed = gzip.compress(content, mtime=0) if "charset" in kind else None
    return StaticFile(kind, content, compressed, hashlib.sha256(content).hexdigest()[:8])
