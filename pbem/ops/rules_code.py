"""The name of the code that plays a kind of game: a digest of its sources and the engine's.

A release that changes pages and leaves the rules alone has the same names as the one before, so nothing has to be replayed.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import engine
from engine import game
from pbem.config.settings import Config
from pbem.ops.setup import offer_games
from pbem.plugins.offers import Offer

_ENGINE: Final = Path(engine.__file__).parent
_DIGITS: Final = 20


def codes(config: Config) -> Mapping[str, str]:
    """The name of the code at hand by kind of game, for all that can be played here."""
    own = {kind: own_code(kind) for kind in game.own_names()}
    return own | {offer.found.name: _code_of(offer) for offer in offer_games(config) if offer.trouble is None}


@cache
def own_code(kind: str) -> str:
    """The name of the code of one of our own games."""
    home = _ENGINE / "games" / kind.replace("-", "_")
    sources = sorted(home.rglob("*.py")) if home.is_dir() else [home.with_suffix(".py")]
    return _digest(*engine_sources(), *(path.read_bytes() for path in sources))


def _code_of(offer: Offer) -> str:
    """The code of a game of another package, which is found and not imported."""
    package = find_spec(offer.found.place.partition(":")[0].partition(".")[0])
    folders = [] if package is None else package.submodule_search_locations or []
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    if not folders and package is not None and package.origin is not None:
        paths = [Path(package.origin)]
    return _digest(*engine_sources(), offer.found.source.encode(), *(path.read_bytes() for path in paths))


@cache
def engine_sources() -> tuple[bytes, ...]:
    """The sources that all games share; the conformance kit and the terminal play no game of a server."""
    shared = sorted([*_ENGINE.glob("[!_]*.py"), *(_ENGINE / "decks").rglob("*.py")])
    return tuple(path.read_bytes() for path in shared)


def _digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(hashlib.sha256(part).digest())
    return found.hexdigest()[:_DIGITS]
