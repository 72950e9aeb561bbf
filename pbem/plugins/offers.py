"""The games of other packages that are offered on this server, and what is in the way of the others.

A game that the operator trusts is imported into the server's own processes, like ours; every other one is run by a child.
Looking is done once in a process, when it begins: a game that was installed since is found after a restart.
"""

import atexit
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Final

import structlog

import engine
from engine import installed, registry
from engine.decisions import Refused
from engine.installed import Installed, Trouble
from pbem.plugins.foreign import foreign
from pbem.plugins.process import Failed, Limits, Process

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Offer:
    """A game of another package: whether it is trusted, and why it cannot be played, if it cannot."""

    found: Installed
    trusted: bool
    trouble: Trouble | None


class _Offers:
    """What this process offers: at most one look at what is installed stands."""

    def __init__(self) -> None:
        self.settings: object = None
        self.offers: tuple[Offer, ...] = ()
        self.processes: list[Process] = []
        self.thinkers: list[Process] = []


_OFFERS: Final = _Offers()


def offer(trusted: Collection[str], limits: Limits) -> tuple[Offer, ...]:
    """Offer the games of other packages that can be played; all that were found. Done once for the same settings."""
    settings = (frozenset(trusted), limits)
    if _OFFERS.settings != settings:
        close()
        _OFFERS.settings = settings
        _OFFERS.offers = tuple(_offer(found, trusted, limits) for found in installed.installed())
    return _OFFERS.offers


def offer_once() -> None:
    """Offer what can be played in a process that reads no settings and has not looked yet; nothing is trusted there."""
    if _OFFERS.settings is None:
        offer((), Limits())


def log_troubles() -> None:
    """Write into the log which games of other packages are not played here, why, and what to do."""
    for each in _OFFERS.offers:
        if each.trouble is not None:
            _log.warning("game_not_offered", game=each.found.name, says=each.trouble.says, remedy=each.trouble.remedy)


def unknown(trusted: Collection[str], offers: Collection[Offer]) -> list[str]:
    """Those who are trusted and are neither a package with a game nor a game of one."""
    known = {name for each in offers for name in (each.found.name, _plain(each.found.distribution))}
    return [name for name in trusted if _plain(name) not in known]


def give_up_thinking() -> None:
    """End what bots of games of other packages think about: this process is told to stop."""
    for thinker in _OFFERS.thinkers:
        thinker.give_up()


def close() -> None:
    """Offer no game of another package any more, and end the children."""
    for each in _OFFERS.offers:
        if each.found.name not in registry.own_names():
            registry.withdraw(each.found.name)
    give_up_thinking()
    for process in (*_OFFERS.processes, *_OFFERS.thinkers):
        process.end()
    _OFFERS.settings, _OFFERS.offers, _OFFERS.processes, _OFFERS.thinkers = None, (), [], []


atexit.register(close)


def _offer(found: Installed, trusted: Collection[str], limits: Limits) -> Offer:
    is_trusted = bool({found.name, _plain(found.distribution)} & set(map(_plain, trusted)))
    if found.trouble is not None:
        return Offer(found, is_trusted, found.trouble)
    if is_trusted:
        return Offer(found, trusted=True, trouble=_imported(found))
    return Offer(found, trusted=False, trouble=_described(found, limits))


def _imported(found: Installed) -> Trouble | None:
    try:
        loaded = installed.load(found)
    except Refused as refused:
        values = dict(refused.text.values)
        return Trouble(values["says"], values["remedy"])
    registry.offer(found.name, lambda: loaded)
    return None


def _described(found: Installed, limits: Limits) -> Trouble | None:
    if os.name != "posix":
        return Trouble(
            f"The game “{found.name}” of {found.source} needs a process with limits, which this system doesn't have.",
            f"If you trust it, add {found.distribution} to PBEM_GAMES_TRUSTED.",
        )
    process, thinker = Process(found.place, limits), Process(found.place, limits)
    try:
        described = foreign(found.name, process, thinker)
    except Failed as failed:
        process.end()
        return Trouble(
            f"The game “{found.name}” of {found.source} can't be played: {failed}.",
            f"Install a version of {found.distribution} that works with engine {engine.__version__}, or uninstall it.",
        )
    _OFFERS.processes.append(process)
    _OFFERS.thinkers.append(thinker)
    registry.offer(found.name, lambda: described)
    return None


@cache
def _plain(name: str) -> str:
    """A name as installers compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
