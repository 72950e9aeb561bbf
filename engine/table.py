"""A table: the state of a game, the box of sealed choices, and what a choice does.

A `Position` holds what is needed to play on: the state, the turn's number, and the box. The seats of a turn are asked at
the same time; each may change its choice until the last one is in. Then all choices together become one entry of the log.
A `Table` is a position with its log and a view for each seat.

`submit` checks every choice against the decision, and a refused choice changes nothing.

This module must never draw a number of its own and never look into a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from engine.chance import Drawn, Stream
from engine.decisions import Choice, Decision, Refused
from engine.facts import SPECTATOR, Fact, fact, fold, seen
from engine.game import Game, Story
from engine.options import OptionValue
from engine.records import replace
from engine.tell import say

Box = Mapping[int, Choice]


@fact
class Entry:
    """An entry of the log: the choices (why), the facts (what), and the numbers drawn.

    For the seats in `alone` the table made the only possible choice. The first entry is the deal, without choices.

    """

    choices: Box
    facts: tuple[Fact[Any], ...]
    drawn: tuple[Drawn, ...] = ()
    alone: frozenset[int] = frozenset()


@fact
class Position:
    """The state of a game after `turn` entries."""

    game: Game[Any]
    seats: int
    seed: bytes
    state: Any
    turn: int = 0
    box: Box = field(default_factory=dict)
    _asks: Mapping[int, Decision] | None = field(default=None, init=False, repr=False, compare=False)

    def asks(self) -> Mapping[int, Decision]:
        """Return what each seat is asked this turn."""
        if self._asks is None:
            asked = ((seat, self.game.asks(self.state, seat)) for seat in range(self.seats))
            # Cached, because a move asks several times and the state never changes.
            object.__setattr__(self, "_asks", {seat: decision for seat, decision in asked if decision is not None})
        assert self._asks is not None
        return self._asks

    def open(self) -> dict[int, Decision]:
        """Return the decisions that the table doesn't make itself."""
        return {seat: decision for seat, decision in self.asks().items() if not answers_itself(decision)}

    def check(self, seat: object, choice: object) -> Choice:
        """Return the choice if this seat may make it now. Raises Refused otherwise."""
        return self._check(self.asks(), seat, choice)

    def submit(self, seat: int, choice: object) -> tuple[Position, tuple[Entry, ...]]:
        """Put a choice into the box; if that closes the turn, return also the new entries.

        There are no entries while other seats still have to choose, and several if the next turns leave nobody a
        choice. Raises Refused if this seat may not make this choice.
        """
        asks = self._open_or_refused(seat)
        made = self._check(asks, seat, choice)
        if made.verb in asks[seat].closes:
            return self._settle({seat: made}, frozenset())
        box = {**self.box, seat: made}
        alone = frozenset(s for s, decision in asks.items() if s not in box and answers_itself(decision))
        if len(box) + len(alone) < len(asks):
            return replace(self, box=box), ()
        return self._settle(box | {s: asks[s].default for s in alone}, alone)

    def withdraw(self, seat: int) -> Position:
        """Take a sealed choice out of the box while the turn is open. Raises Refused if there is none."""
        if type(seat) is not int or seat not in self.box:
            raise Refused(say("You have no sealed choice to take back."))
        return replace(self, box={s: choice for s, choice in self.box.items() if s != seat})

    def _open_or_refused(self, seat: object) -> Mapping[int, Decision]:
        asks = self.asks()
        if type(seat) is not int or seat not in asks or answers_itself(asks[seat]):
            raise Refused(say("You have nothing to decide now."))
        return asks

    def _check(self, asks: Mapping[int, Decision], seat: object, choice: object) -> Choice:
        if type(seat) is not int or seat not in asks:
            raise Refused(say("You have nothing to decide now."))
        if type(choice) is not Choice or choice not in asks[seat]:
            raise Refused(say("That isn't one of your choices now."))
        if (objection := self.game.objects(self.state, seat, choice)) is not None:
            raise Refused(objection)
        return choice

    def _settle(self, box: Box, alone: frozenset[int]) -> tuple[Position, tuple[Entry, ...]]:
        entries = []
        position = self
        while True:
            draw = Stream(position.seed, position.turn)
            position, entry = position.enter(self.game.resolve(position.state, box, draw), draw, box, alone)
            entries.append(entry)
            asks = position.asks()
            if not asks or not all(answers_itself(decision) for decision in asks.values()):
                return position, tuple(entries)
            box, alone = ({seat: decision.default for seat, decision in asks.items()}, frozenset(asks))

    def enter(
        self, story: Story[Any], draw: Stream, choices: Box, alone: frozenset[int] = frozenset()
    ) -> tuple[Position, Entry]:
        """Run a story to its end."""
        state, happened = self.state, []
        try:
            each = next(story)
            while True:
                happened.append(each)
                state = each.apply(state)
                each = story.send(state)
        except StopIteration:
            entry = Entry(choices, tuple(happened), tuple(draw.drawn), alone)
            return Position(self.game, self.seats, self.seed, state, self.turn + 1), entry


def answers_itself(decision: Decision) -> bool:
    """Whether the table makes this decision itself: it has one choice, and is public."""
    return decision.public and decision.only() is not None


def deal(
    game: Game[Any], seats: int, seed: bytes, chosen: Mapping[str, OptionValue] | None = None
) -> tuple[Position, tuple[Entry, ...]]:
    """Return the first position of a game and the entries that led to it."""
    options = game.settle(seats, chosen or {})
    empty = Position(game, seats, seed, game.start(seats, options))
    draw = Stream(seed, 0)
    position, entry = empty.enter(game.setup(empty.state, draw), draw, {})
    asks = position.asks()
    if asks and all(answers_itself(decision) for decision in asks.values()):
        box = {seat: decision.default for seat, decision in asks.items()}
        position, more = position._settle(box, frozenset(asks))
        return position, (entry, *more)
    return position, (entry,)


@fact
class Table:
    """A position with its log and the views of every seat and of the spectator."""

    position: Position
    options: Mapping[str, OptionValue]
    log: tuple[Entry, ...]
    views: tuple[Any, ...]
    """One for each seat; the last is the spectator's."""

    def submit(self, seat: int, choice: object) -> Table:
        """Return the table after this choice. Raises Refused if it may not be made."""
        return self._after(*self.position.submit(seat, choice))

    def view(self, seat: int) -> Any:
        """Return what this seat, or the SPECTATOR, knows."""
        return self.views[seat]

    def asks(self) -> dict[int, Decision]:
        """Return what people are asked now, each from that seat's own view.

        Seats that have chosen already are included, because a sealed choice may still be replaced.
        """
        game, open_seats = self.position.game, self.position.open()
        asked = ((seat, game.asks(self.views[seat], seat)) for seat in open_seats)
        return {seat: decision for seat, decision in asked if decision is not None}

    def told(self, seat: int, since: int = 0) -> tuple[Fact[Any], ...]:
        """Return the facts from entry `since` on, as this seat has seen them."""
        return tuple(seen(happened, seat) for entry in self.log[since:] for happened in entry.facts)

    def _after(self, position: Position, entries: tuple[Entry, ...]) -> Table:
        views = self.views
        for entry in entries:
            views = watch(views, entry.facts)
        return replace(self, position=position, log=self.log + entries, views=views)


def begin(game: Game[Any], seats: int, seed: bytes, chosen: Mapping[str, OptionValue] | None = None) -> Table:
    """Return a new table after the deal. Raises Refused for unknown seats or options."""
    options = game.settle(seats, chosen or {})
    position, entries = deal(game, seats, seed, options)
    start = game.start(seats, options)
    return Table(position, options, (), (start,) * (seats + 1))._after(position, entries)


def watch(views: tuple[Any, ...], happened: Iterable[Fact[Any]]) -> tuple[Any, ...]:
    """Return the views after these facts. Readers who know the same share one view."""
    readers = (*range(len(views) - 1), SPECTATOR)
    for each in happened:
        after: dict[tuple[int, int], tuple[Fact[Any], Any]] = {}
        folded = []
        for reader, view in zip(readers, views, strict=True):
            visible = seen(each, reader)
            key = (id(view), id(visible))
            if key not in after:
                after[key] = (visible, visible.apply(view))
            folded.append(after[key][1])
        views = tuple(folded)
    return views


def replay(
    game: Game[Any], seats: int, options: Mapping[str, OptionValue], log: Iterable[Entry], reader: int | None = None
) -> Any:
    """Return the state after the log, or the view of `reader`."""
    facts = (happened for entry in log for happened in entry.facts)
    visible = facts if reader is None else (seen(happened, reader) for happened in facts)
    return fold(game.start(seats, options), visible)
