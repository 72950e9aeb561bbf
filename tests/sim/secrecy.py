"""What each person may see in a simulation: their own view, their own address, and links that open their own seats.

It reads every email, every page and every line of the log. Each seat's view is worked out here a second time, from the log
and the marks of secret fields, and by none of the code that shows it.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import Any, Final

import structlog

from engine.facts import HIDDEN, SPECTATOR, Fact
from pbem import program_log
from pbem.domain.errors import Gone, NotFound
from pbem.service import links
from pbem.service.play import seat_view, views
from pbem.service.play.log import StandingEntry, standing_entries
from pbem.service.play.rules import rules_of
from pbem.store import games, links as link_rows, log as log_rows, people
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkRow
from pbem.tokens import Purpose
from tests.sim.far_end import Arrived, BrokenError
from tests.sim.world import World

_ADDRESS: Final = re.compile(r"player\d+(?:@|%40|&#64;)example\.org", re.IGNORECASE)
_TOKEN: Final = re.compile(r"(?<![a-z\d])[a-z2-7]{33}(?![a-z\d])")
"""A word of its own: the hash of a sealed choice may have as many such characters in a row."""
_OF_SEAT: Final = frozenset({Purpose.MOVE, Purpose.SEAT, Purpose.REPLY})
_COMPARED: Final = 0.25
"""The share of shown seats whose view is worked out a second time."""


@dataclass(frozen=True, slots=True)
class Opens:
    """What a link was sent for: its purpose, its reader, and the seat of a game by its public key."""

    purpose: Purpose
    address: str
    game: str | None
    seat: int | None


@dataclass(slots=True)
class Secrecy:
    """Every token that was ever sent, and what was logged."""

    world: World
    luck: Random
    sent: dict[str, Opens] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    def email(self, email: Arrived) -> None:
        """Check an email, and note its links."""
        _must_show_only(email.to, email.source, f"the email “{email.subject}”")
        tokens = {*_TOKEN.findall(email.source), *_TOKEN.findall(email.sender)} - self.sent.keys()
        named = {token: self.world.server.keys.row_of(token) for token in sorted(tokens)}
        with self.world.store.read() as tx:
            rows = link_rows.read_all(tx, named.values())
            for token, row in named.items():
                self.sent[token] = opens = _opens(tx, rows[row])
                if opens.address != email.to:
                    raise BrokenError(f"“{email.subject}” to {email.to} has a link of {opens.address}")

    def page(self, address: str, path: str, source: str) -> None:
        """Check a page that was shown to a person."""
        _must_show_only(address, source, "a page")
        if path.startswith("/s/") and path.count("/") == 2 and self.luck.random() < _COMPARED:
            self.seat(path.rpartition("/")[2])

    def seat(self, token: str) -> None:
        """Check that a seat is shown what the log tells it, and nothing else."""
        try:
            shown = self.world.server.read(seat_view.view_seat, token)
        except (NotFound, Gone):
            return
        with self.world.store.read() as tx:
            row = games.read(tx, shown.game_id)
            entries = _entries(tx, row)
        recent = {each.turn: tuple(_masked(each.entry.facts, shown.seat)) for each in entries}
        if shown.view != _view(row, entries, shown.seat) or any(
            each.facts != recent[each.turn] for each in shown.recent_facts
        ):
            raise BrokenError(f"seat {shown.seat} of game {row.id} is shown what it may not know")

    def table(self, tx: Tx, row: GameRow) -> None:
        """Check the views of all seats of a table, and of those who only watch."""
        entries = _entries(tx, row)
        for reader in (*range(row.seats), SPECTATOR):
            if views.view(tx, row, reader) != _view(row, entries, reader):
                raise BrokenError(f"reader {reader} of game {row.id} is shown what it may not know")

    def like(self, token: str) -> set[str]:
        """Every token sent so far to the same person that opens the same seat or acts for it."""
        mine = self.sent[token]
        return {
            other
            for other, opens in self.sent.items()
            if opens.purpose in _OF_SEAT
            and (opens.address, opens.game, opens.seat) == (mine.address, mine.game, mine.seat)
        }

    def links(self, replaced: set[str]) -> None:
        """Check what every token opens now that was ever sent: its own seat, or nothing if it was replaced."""
        with self.world.store.read() as tx:
            for token, first in self.sent.items():
                try:
                    opens = _opens(tx, links.follow(tx, self.world.server, token, first.purpose))
                except (NotFound, Gone):
                    continue
                if opens != first:
                    raise BrokenError(f"a link of {first.address} opens the seat of {opens.address}")
                if token in replaced:
                    raise BrokenError(f"a link of {first.address} opens a seat, although it was replaced")

    def log(self) -> None:
        """Check the lines that the server has logged since the last time."""
        new, self._lines = self._lines, []
        for line in new:
            if _ADDRESS.search(line):
                raise BrokenError(f"there is an address in the log: {line[:200]}")
            if any(token in self.sent for token in _TOKEN.findall(line)):
                raise BrokenError(f"there is a token in the log: {line[:200]}")

    @contextmanager
    def reading_the_log(self) -> Iterator[None]:
        """Take what this process logs, as a server does, for the length of a run."""
        root, before = logging.getLogger(), structlog.get_config()
        handlers, level = root.handlers, root.level
        root.handlers = []
        program_log.configure(self, structured=True)  # type: ignore[arg-type]  # it writes to nothing else of a stream
        try:
            yield
        finally:
            structlog.configure(**before)
            root.handlers = handlers
            root.setLevel(level)

    def write(self, text: str) -> int:
        """Take a line of the log."""
        self._lines.append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""


def _must_show_only(address: str, text: str, what: str) -> None:
    for found in _ADDRESS.findall(text):
        if found.lower().replace("%40", "@").replace("&#64;", "@") != address:
            raise BrokenError(f"in {what}, {address} sees the address of {found}")


def _opens(tx: Tx, row: LinkRow) -> Opens:
    assert row.person_id is not None, "nobody passes links on here"
    game = None if row.game_id is None else games.read(tx, row.game_id).key
    return Opens(Purpose(row.purpose), people.read(tx, row.person_id).address, game, row.seat)


def _entries(tx: Tx, row: GameRow) -> list[StandingEntry]:
    return standing_entries(rules_of(row), log_rows.chain(tx, row.id, row.key))


def _view(row: GameRow, entries: list[StandingEntry], seat: int) -> Any:
    view = rules_of(row).start(row.seats, json.loads(row.options))
    for each in entries:
        for fact in _masked(each.entry.facts, seat):
            view = fact.apply(view)
    return view


def _masked(facts: Iterable[Fact[Any]], seat: int) -> Iterator[Fact[Any]]:
    """The facts as a seat may know them."""
    for each in facts:
        hidden = {
            name: _blank(getattr(each, name))
            for name, readers in _marked(type(each))
            if not _reads(each, readers, seat)
        }
        yield replace(each, **hidden) if hidden else each  # type: ignore[type-var]  # every fact is a dataclass


def _marked(kind: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((each.name, each.metadata["readers"]) for each in fields(kind) if "readers" in each.metadata)


def _reads(each: Fact[Any], readers: tuple[str, ...], seat: int) -> bool:
    named = [getattr(each, reader) for reader in readers]
    return seat in [one for names in named for one in (names if isinstance(names, tuple) else (names,))]


def _blank(value: object) -> object:
    return tuple(HIDDEN for _ in value) if isinstance(value, tuple) else HIDDEN
