"""Games that other packages bring, found by the entry points of the group `pbem.games`.

Finding them reads what the installer wrote down and imports nothing, so a package that cannot be imported is in nobody's
way. A game that cannot be played here is found too, with its trouble: what is wrong, and what to do about it.

The version of the engine that a game was made for is the one that its package requires: `pbem-engine>=1.0,<2`. Installers
heed it, and so do we, because a package may have been installed before the engine was.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any, Final

import engine
from engine import introduction, registry
from engine.decisions import Refused
from engine.game import Game
from engine.tell import say

GROUP: Final = "pbem.games"

ENGINE: Final = "pbem-engine"
"""The distribution that holds the engine, as other packages require it."""

LONGEST_NAME: Final = 40

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^]]*\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?")
_CLAUSE: Final = re.compile(r"(~=|==|!=|<=|>=|<|>)\s*(\d{1,9}(?:\.\d{1,9})*)(\.\*)?")
_UNNAMED: Final = "?"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a game cannot be played here, and what its operator can do about it."""

    says: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.says} {self.remedy}"


@dataclass(frozen=True, slots=True)
class Installed:
    """A game of another package: its name in commands, where it is defined, and what is in its way, if anything is."""

    name: str
    place: str
    """The module, or `module:Class` where the module holds more than one game."""
    distribution: str
    version: str
    trouble: Trouble | None = None

    @property
    def source(self) -> str:
        """The distribution with its version, as people name it."""
        return f"{self.distribution} {self.version}"


def installed() -> tuple[Installed, ...]:
    """The games that other packages bring, in the order of their names; those too that cannot be played.

    A package that was installed or removed in part has files that nobody can read, and is in no other's way.
    """
    points: list[EntryPoint] = []
    unreadable: list[Installed] = []
    seen: set[str] = set()
    for each in distributions():
        called = _named(each)
        plain = re.sub(r"[-_.]+", "-", called[0]).lower()
        # Python imports the first one on its path, and a folder may be there twice.
        if plain in seen and plain != _UNNAMED:
            continue
        seen.add(plain)
        try:
            points += each.entry_points.select(group=GROUP)
        except Exception:  # noqa: BLE001 - such a file may hold anything
            if _has_games(each):
                says = f"What {' '.join(called)} says of its games can't be read."
                unreadable.append(
                    Installed(called[0], "", *called, Trouble(says, f"Install or uninstall {called[0]} again."))
                )
    return tuple(sorted((*find(points), *unreadable), key=lambda found: found.name))


def find(points: Iterable[EntryPoint]) -> tuple[Installed, ...]:
    """The games that these entry points name."""
    points = sorted(points, key=lambda point: (point.name, _source(point)))
    times = Counter(point.name for point in points)
    sources = {name: [_source(point) for point in points if point.name == name] for name in times}
    return tuple(_found(point, sources[point.name]) for point in points)


def load(found: Installed) -> Game[Any]:
    """Import a game into this process. Raises Refused, with what is wrong and what to do, if that is not possible."""
    if found.trouble is not None:
        raise _refused(found.trouble)
    try:
        module, _, kind = found.place.partition(":")
        imported = importlib.import_module(module)
        loaded: Game[Any] = getattr(imported, kind)() if kind else registry.game_in(imported)
        slug, faults = loaded.slug, list(introduction.faults(loaded))
    except Refused as refused:
        raise _refused(broken(found, str(refused))) from refused
    except (Exception, SystemExit) as error:
        # Everything a package may do while it is imported.
        raise _refused(broken(found, f"{type(error).__name__}: {error}")) from error
    if slug != found.name:
        raise _refused(misnamed(found, slug))
    if faults:
        raise _refused(broken(found, "; ".join(faults)))
    return loaded


def load_version(name: str, rules: int) -> Game[Any]:
    """Return a game by the version of its rules. A game of another package is imported, so it must be one that's trusted."""
    if name not in registry.own_names():
        offer_all()
    return registry.load(name).by_version(rules)


def offer_all() -> None:
    """Add the games of other packages to those that `registry.names` and `registry.load` know, to be imported when asked for."""
    for found in installed():
        if found.name not in registry.own_names():
            registry.offer(found.name, cache(partial(load, found)))


def broken(found: Installed, why: str) -> Trouble:
    """The trouble with a game that cannot be imported."""
    return Trouble(
        f"The game “{found.name}” of {found.source} cannot be imported. {why}",
        f"Install a version of {found.distribution} that works with engine {engine.__version__}, or uninstall it.",
    )


def misnamed(found: Installed, slug: str) -> Trouble:
    """The trouble with a game that is published under a name that is not its own."""
    return Trouble(
        f"{found.source} publishes the game “{slug}” as “{found.name}”.",
        f"Ask its author to name the entry point “{slug}”, or the module “{found.name.replace('-', '_')}”.",
    )


def _found(point: EntryPoint, sources: list[str]) -> Installed:
    name, version = _called(point)
    return Installed(point.name, point.value.strip(), name, version, _trouble(point, sources))


def _trouble(point: EntryPoint, sources: list[str]) -> Trouble | None:
    source = _source(point)
    if not _NAME.fullmatch(point.name) or len(point.name) > LONGEST_NAME:
        return Trouble(
            f"{source} publishes a game named “{point.name[:LONGEST_NAME]}”.",
            "Ask its author for a name of lower-case words joined by hyphens, like “nine-cards”.",
        )
    if point.dist is not None and _called(point)[0] == _UNNAMED:
        return Trouble(
            f"The package that publishes the game “{point.name}” is only partly installed.",
            "Install or uninstall it again.",
        )
    if point.name in registry.own_names():
        return Trouble(
            f"{source} publishes a game named “{point.name}”, which pbem brings itself. Ours is played.",
            f"Uninstall {_called(point)[0]}, or ask its author for another name.",
        )
    if len(sources) > 1:
        return Trouble(
            f"Two games are named “{point.name}”: those of {' and '.join(sources)}. Neither is played.",
            "Uninstall one of the two.",
        )
    return _misfit(point, source)


def _misfit(point: EntryPoint, source: str) -> Trouble | None:
    """The trouble with a package that does not say which engine it is for, or that is for another one."""
    clauses = _engines(point)
    if clauses is None:
        return Trouble(
            f"{source} does not say which version of the engine its game “{point.name}” is for.",
            f"Ask its author to require {ENGINE} with the versions it works with, like “{ENGINE}>=1.0,<2”.",
        )
    if not all(_fits(engine.__version__, clause.strip()) for clause in clauses.split(",") if clause.strip()):
        return Trouble(
            f"The game “{point.name}” of {source} is for engine {clauses}, and this is {engine.__version__}.",
            f"Install a version of {_called(point)[0]} that is for this one.",
        )
    return None


def _engines(point: EntryPoint) -> str | None:
    """The versions of the engine that a package requires; None if it does not require the engine."""
    for line in (None if point.dist is None else point.dist.requires) or ():
        match = _REQUIREMENT.fullmatch(line.strip())
        if match is None or re.sub(r"[-_.]+", "-", match[1]).lower() != ENGINE or "extra" in (match[3] or ""):
            continue
        return match[2].strip()
    return None


def _fits(version: str, clause: str) -> bool:
    """Whether a version is one of those that a clause like `>=1.0` allows. What cannot be read allows none."""
    match = _CLAUSE.fullmatch(clause)
    if match is None:
        return False
    how, named, any_further = match[1], _numbers(match[2]), bool(match[3])
    have = _numbers(version)
    width = max(len(have), len(named))
    present, bound = (numbers + (0,) * (width - len(numbers)) for numbers in (have, named))
    match how:
        case ">=":
            return present >= bound
        case "<=":
            return present <= bound
        case ">":
            return present > bound
        case "<":
            return present < bound
        case "~=":
            return present >= bound and present[: len(named) - 1] == named[:-1]
    same = present[: len(named)] == named if any_further else present == bound
    return same if how == "==" else not same


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _called(point: EntryPoint) -> tuple[str, str]:
    return (_UNNAMED, "") if point.dist is None else _named(point.dist)


def _named(distribution: Distribution) -> tuple[str, str]:
    """The name and the version of a distribution; no name if it's incomplete."""
    try:
        name, version = distribution.name, distribution.version
    except (OSError, TypeError, KeyError, ValueError):
        name = version = ""
    return (name, version) if name and version else (_UNNAMED, "")


def _has_games(distribution: Distribution) -> bool:
    """Whether a distribution whose entry points can't be read has games among them."""
    try:
        return GROUP in (distribution.read_text("entry_points.txt") or "")
    except (OSError, ValueError):
        return False


def _source(point: EntryPoint) -> str:
    return " ".join(_called(point))


def _refused(trouble: Trouble) -> Refused:
    return Refused(say("{says} {remedy}", says=trouble.says, remedy=trouble.remedy))
