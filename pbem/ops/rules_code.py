"""The name of the code that plays a kind of game: a digest of all files of the game and of the engine.

Not of sources alone: a game may read cards or words from a file beside them, which are rules as well.
A release that changes pages and leaves the rules alone has the same names as the one before, so nothing has to be replayed.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import engine
from engine import registry
from pbem.config.settings import Config
from pbem.ops.setup import offer_games
from pbem.plugins.offers import Offer

_ENGINE: Final = Path(engine.__file__).parent
_DIGITS: Final = 20
_PLAYS_NOTHING: Final = frozenset(
    # Games are named one by one; the conformance kit, the terminal and papers play no game of a server.
    {"games", "testing", "__init__.py", "__main__.py", "__pycache__", "README.md", "pyproject.toml", "py.typed"}
)


def codes(config: Config) -> Mapping[str, str]:
    """The name of the code at hand by kind of game, for all that can be played here."""
    own = {kind: own_code(kind) for kind in registry.own_names()}
    return own | {offer.found.name: _code_of(offer) for offer in offer_games(config) if offer.trouble is None}


@cache
def own_code(kind: str) -> str:
    """The name of the code of one of our own games."""
    home = _ENGINE / "games" / kind.replace("-", "_")
    return _digest(*engine_files(), *(_files(home) if home.is_dir() else [home.with_suffix(".py").read_bytes()]))


def _code_of(offer: Offer) -> str:
    """The code of a game of another package, which is found and not imported."""
    package = find_spec(offer.found.place.partition(":")[0].partition(".")[0])
    folders = [] if package is None else package.submodule_search_locations or []
    parts = [part for folder in folders for part in _files(Path(folder), _read_or_name)]
    if not folders and package is not None and package.origin is not None:
        parts = [_read_or_name(Path(package.origin))]
    return _digest(*engine_files(), offer.found.source.encode(), *parts)


@cache
def engine_files() -> tuple[bytes, ...]:
    """The files that all games share, each after its name."""
    shared = (path for path in sorted(_ENGINE.iterdir()) if path.name not in _PLAYS_NOTHING)
    return tuple(part for path in shared for part in _files(path))


def _read_or_name(path: Path) -> bytes:
    """The contents of a package's file. One that can't be read plays nothing here, and is known by its name alone."""
    try:
        return path.read_bytes()
    except OSError:
        return str(path).encode()


def _files(path: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> Iterator[bytes]:
    """The names and contents of all files of a folder, or of a file alone; without what Python makes of them."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and file.suffix != ".pyc":
            yield str(file.relative_to(path.parent)).encode()
            yield read(file)


def _digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()[:_DIGITS]
