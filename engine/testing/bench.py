"""The bench: a game's playouts, the server that they run on, and the troubles found.

A bench plays a game once in many ways, and every law looks at the same playouts. A `Server` takes choices, masks facts
and shows pages, so that a faulty one can replace the engine's own. This module must never use chance other than the
engine's, so that a game has the same playouts on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from engine import bots, codec, grammar, orders
from engine.board import plain
from engine.chance import Draw, Stream
from engine.decisions import Amount, Choice, Decision, Refused
from engine.facts import SPECTATOR, F, Fact, fact, seen
from engine.game import Game
from engine.table import Table, begin
from engine.testing.plans import INSISTS, Plan, plans
from engine.testing.source import line_of, raised_at
from engine.testing.steps import TooManySteps, bounded

T = TypeVar("T")
P = ParamSpec("P")

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")

BROKEN: Final = (Exception, TooManySteps)
"""What a broken game may raise."""

MOST_TROUBLES: Final = 50
"""The most troubles that a law looks for."""

MOST_TRIES: Final = 100
"""How often a sample is drawn again if its values do not fit together."""

_MOST_STOPPED: Final = 2
_SAMPLES: Final = 4
_MOST_TABLES: Final = 200


@fact
class Trouble:
    """A broken law: which one, how, in which playout, and the line of the game's code to look at first."""

    law: str
    what: str
    where: str = ""
    code: str = ""

    def __str__(self) -> str:
        line = f"{self.law}: {self.what}" + (f" ({self.where})" if self.where else "")
        return f"{self.code}: {line}" if self.code else line


class Server:
    """How a game meets the world: choices, facts and pages. A mutant, or a server under test, overrides it."""

    def seen(self, happened: F, reader: int) -> F:
        """Return the fact as this reader sees it."""
        return seen(happened, reader)

    def submit(self, table: Table, seat: Any, choice: Any) -> Table:
        """Return the table after a choice. Raises Refused if it may not be made."""
        return table.submit(seat, choice)

    def page(self, table: Table, reader: int, since: int = 0) -> dict[str, str]:
        """Return everything that a reader gets, by name: view, facts, sentences, board, decision."""
        position, game = table.position, table.position.game
        view = table.view(reader)
        teller = game.teller(None if reader == SPECTATOR else reader, NAMES[: position.seats])
        facts = [self.seen(happened, reader) for entry in table.log[since:] for happened in entry.facts]
        board = game.board(view, reader)
        page = {
            "view": codec.dumps(view),
            "what was told": codec.dumps(facts),
            "sentences": "\n".join(filter(None, map(teller.tell, facts))),
            "board": codec.dumps(board),
            "board in words": plain(board, teller),
            "who is asked": str(sorted(position.open())),
        }
        if reader == SPECTATOR:
            return page
        decision = position.asks().get(reader)
        page["question"] = codec.dumps(decision)
        page["question from the view"] = codec.dumps(game.asks(view, reader))
        page["refusals"] = "\n".join(_refusals(self, table, reader, decision))
        if decision is not None:
            page["prompt"] = teller(decision.prompt)
            page["usages"] = "\n".join((*grammar.usages(decision), *orders.offered(decision)))
            page["orders"] = "\n".join(_answers(game, view, decision))
            page["what cannot be done"] = "\n".join(
                f"{verb}: {teller(why)}" for verb, why in game.barred(view, reader).items()
            )
        return page


@fact
class Playout:
    """A game from the deal to its end, or to the point where it broke.

    The first table is the one after the deal; every other follows one choice.
    """

    plan: Plan
    tables: tuple[Table, ...]
    moves: tuple[tuple[int, Choice], ...]
    fault: str = ""
    cut: bool = False
    code: str = ""
    """The line of the game's code where it broke."""
    stopped: bool = False
    """Whether a call went on for too many steps."""

    def whole(self) -> bool:
        """Whether the game was played to its end."""
        return not self.fault and not self.cut

    def sample(self, most: int) -> range:
        """Return places in the playout, up to a number and evenly spread."""
        return range(0, len(self.tables), -(-len(self.tables) // most) or 1)

    def where(self, at: int) -> str:
        """Describe the place of a table in this playout, so that it can be found again."""
        return f"{self.plan}, after {at} of {len(self.moves)} choices"


class Bench:
    """A game, a server, and the playouts that the laws look at.

    The steps of all that a law does are counted. Without `counting` a check takes half the time, and hangs in a game that
    does.
    """

    def __init__(
        self, game: Game[Any], *, thorough: bool = False, counting: bool = True, server: Server | None = None
    ) -> None:
        self.game = game
        self.thorough = thorough
        self.counting = counting
        self.server = server or Server()
        self._played: list[Playout] = []
        self._found: dict[Law, list[Trouble]] = {}
        self._kinds: dict[int, dict[object, list[int]]] = {}
        self.place = ""
        """The plan that a law looks at, for errors that break it off."""
        self._rest = self._play_all()

    def playouts(self) -> Iterator[Playout]:
        """Yield all playouts, each played when it is first needed."""
        at = 0
        while True:
            if at == len(self._played):
                following = next(self._rest, None)
                if following is None:
                    return
                self._played.append(following)
            self.place = str(self._played[at].plan)
            yield self._played[at]
            at += 1

    def _play_all(self) -> Iterator[Playout]:
        """Play as planned. After some games that had to be stopped no more are played, because each takes long."""
        stopped = 0
        for plan in plans(self.game, self.thorough):
            playout = self.run(play, plan)
            yield playout
            stopped += playout.stopped
            if stopped == _MOST_STOPPED:
                return

    def tables(self) -> Iterator[Table]:
        """Yield every table of all playouts."""
        return (table for playout in self.playouts() for table in playout.tables)

    def run(self, playing: Callable[Concatenate[Game[Any], P], T], *how: P.args, **more: P.kwargs) -> T:
        """Return what a way of playing makes of the game, with its steps counted. A game that was stopped ends there."""
        with bounded(self.game) if self.counting else nullcontext():
            return playing(self.game, *how, **more)

    def positions(
        self, each: int, seats: Collection[int] = (), apart: Callable[[Table], object] = lambda table: None
    ) -> Iterator[tuple[Playout, int]]:
        """Yield places in the playouts: a number of each kind of position, each from another playout.

        With `seats`, only for these numbers of players, and as many for each. Positions with different results of
        `apart` are of different kinds.
        """
        found: Counter[object] = Counter()
        for number, playout in enumerate(self.playouts()):
            many = playout.plan.seats
            if seats and many not in seats:
                continue
            for kind, places in self._kinds_in(number).items():
                # Not always the first of its kind, because more has happened before later ones.
                place = places[number * 7919 % len(places)]
                key = kind, many if seats else 0, apart(playout.tables[place])
                if found[key] < each:
                    found[key] += 1
                    self.place = playout.where(place)
                    yield playout, place

    def line_of(self, name: str) -> str:
        """Return where the game defines a method, a fact or a value: the line to look at first."""
        return line_of(self.game, name)

    def raised_at(self, error: BaseException) -> str:
        """Return the last line of the game's code that an error passed through."""
        return raised_at(self.game, error)

    def with_server(self, server: Server) -> Bench:
        """Return a bench with the same game and playouts on another server."""
        other = Bench(self.game, thorough=self.thorough, counting=self.counting, server=server)
        other._played, other._kinds, other._rest = self._played, self._kinds, self._rest
        return other

    def troubles(self, law: Law) -> list[Trouble]:
        """Return the different troubles that a law finds on this bench. Cached."""
        if law not in self._found:
            found: dict[str, Trouble] = {}
            for trouble in self.found(law):
                found.setdefault(trouble.what, trouble)
                if len(found) == MOST_TROUBLES:
                    break
            self._found[law] = list(found.values())
        return self._found[law]

    def found(self, law: Law) -> Iterator[Trouble]:
        """Yield what a law finds, one by one."""
        troubles = law(self)
        while (trouble := self._next(troubles)) is not None:
            yield trouble

    def _next(self, troubles: Iterator[Trouble]) -> Trouble | None:
        with bounded(self.game) if self.counting else nullcontext():
            return next(troubles, None)

    def _kinds_in(self, number: int) -> dict[object, list[int]]:
        if number not in self._kinds:
            places: dict[object, list[int]] = {}
            playout = self._played[number]
            for at in playout.sample(_MOST_TABLES):
                places.setdefault(kind_of(playout.tables[at]), []).append(at)
            self._kinds[number] = places
        return self._kinds[number]


Law = Callable[[Bench], Iterator[Trouble]]
"""A promise that every game keeps: a function from a bench to the troubles it finds."""


def kind_of(table: Table) -> object:
    """Return what makes positions alike: the decisions, of one seat or several, and whether anyone has chosen."""
    asked = table.position.open()
    questions = frozenset(
        (re.split(r"[^a-z]", decision.topic)[0], frozenset(act.verb for act in decision.acts))
        for decision in asked.values()
    )
    return len(asked) > 1, questions, bool(table.position.box)


def play(game: Game[Any], plan: Plan) -> Playout:
    """Play a game as planned. An error is recorded and not raised; the law `ends` reports it."""
    try:
        dealt = begin(game, plan.seats, plan.seed, plan.options)
    except BROKEN as error:
        stopped = isinstance(error, TooManySteps)
        return Playout(plan, (), (), describe(error), code=raised_at(game, error), stopped=stopped)
    return _go_on(game, plan, [dealt], [], Stream(plan.seed, 2**48))


def branch(game: Game[Any], playout: Playout, at: int, number: int) -> Playout:
    """Play the same game up to one of its tables, and then differently."""
    luck = Stream(playout.plan.seed, 2**48 + number)
    return _go_on(game, playout.plan, list(playout.tables[: at + 1]), list(playout.moves[:at]), luck)


def _go_on(game: Game[Any], plan: Plan, tables: list[Table], moves: list[tuple[int, Choice]], luck: Draw) -> Playout:
    fault, cut, code, stopped = "", False, "", False
    try:
        longest = game.longest(plan.seats, tables[0].options)
        while asks := tables[-1].asks():
            if plan.most is not None and len(moves) >= plan.most:
                cut = True
                break
            if len(tables[-1].log) > longest:
                break
            seat = luck.pick([s for s in asks if s not in tables[-1].position.box])
            choice = pick(plan.style, game, tables[-1].view(seat), asks[seat], luck)
            tables.append(tables[-1].submit(seat, choice))
            moves.append((seat, choice))
        if len(tables[-1].log) > longest:
            fault, code = f"it goes on after {longest} entries", line_of(game, "longest")
    except BROKEN as error:
        fault, code, stopped = describe(error), raised_at(game, error), isinstance(error, TooManySteps)
    return Playout(plan, tuple(tables), tuple(moves), fault, cut, code, stopped)


def pick(style: str, game: Game[Any], view: Any, decision: Decision, luck: Draw) -> Choice:
    """Return a choice in a style of play, or the default if none that is legal comes up."""
    if style == "silent" or (style == "lazy" and luck.below(3)):
        return decision.default
    if style == "greedy":
        return bots.greedy(game, view, decision, luck)
    for _ in range(MOST_TRIES):
        choice = _draft(style, decision, luck)
        if game.objects(view, decision.seat, choice) is None:
            return choice
    return decision.default


def sampled(game: Game[Any], view: Any, decision: Decision, luck: Draw) -> Choice:
    """Return a random legal choice."""
    return pick("any", game, view, decision, luck)


def as_seen_by(table: Table, server: Server, reader: int) -> Table:
    """Return the table with the view of one reader on this server, and no other views."""
    view = table.position.game.start(table.position.seats, table.options)
    for happened in story(table):
        view = server.seen(happened, reader).apply(view)
    views: list[Any] = [None] * (table.position.seats + 1)
    views[reader] = view
    return replace(table, views=tuple(views))


def readers(seats: int) -> tuple[int, ...]:
    """Return all readers: the seats and the spectator."""
    return (*range(seats), SPECTATOR)


def describe(error: BaseException) -> str:
    """Describe an exception on one line."""
    if isinstance(error, TooManySteps):
        return str(error)
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def story(table: Table) -> tuple[Fact[Any], ...]:
    """Return all facts of a table, in order."""
    return tuple(happened for entry in table.log for happened in entry.facts)


def _draft(style: str, decision: Decision, luck: Draw) -> Choice:
    act = luck.pick(decision.acts)
    if style.startswith(INSISTS):
        act = next((each for each in decision.acts if each.verb == style.removeprefix(INSISTS)), act)
    if style == "climb":
        raising = [a for a in decision.acts if any(isinstance(blank, Amount) for blank in a.blanks)]
        act = luck.pick(raising) if raising else act
    values = []
    for blank in act.blanks:
        if isinstance(blank, Amount) and style not in ("any", "lazy"):
            lowest = next(blank.values())
            highest = next((n for n in range(blank.high, blank.low - 1, -1) if n in blank), lowest)
            values.append(highest if style == "edges" and luck.below(2) else lowest)
        else:
            values.append(blank.sample(luck))
    return Choice(act.verb, tuple(values))


def _refusals(server: Server, table: Table, reader: int, decision: Decision | None) -> Iterator[str]:
    """Yield the answers to a few choices of the reader, good and bad. Good ones are only checked, not made."""
    tries: list[object] = [Choice("no such verb"), Choice("pass", (1, 2, 3)), None]
    if decision is not None:
        luck = Stream(b"refusals", table.position.turn)
        tries += [decision.default, *(decision.sample(luck) for _ in range(_SAMPLES))]
    for choice in tries:
        try:
            table.position.check(reader, choice)
            yield "accepted"
        except Refused:
            try:
                server.submit(table, reader, choice)
            except Refused as refused:
                yield str(refused)
    if decision is None:
        return
    for text in ("", "no such verb", decision.acts[0].verb, f"{decision.acts[-1].verb} 999"):
        try:
            grammar.read(decision, text)
            yield "read"
        except Refused as refused:
            yield str(refused)


def _answers(game: Game[Any], view: Any, decision: Decision) -> Iterator[str]:
    """Yield what standing orders would answer here."""
    texts = ("up to 5", "up to 50 or ask me", f"always {grammar.write(decision, decision.default)}")
    for text in texts:
        given = orders.answer(orders.read_order(text), game, view, decision.seat)
        yield f"{codec.dumps(given.choice)} {given.note}"
