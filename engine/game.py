"""What a game is: the class that a contributor writes.

A game is a module, or a package, that defines one subclass of `Game`. Its docstring is the rules page.

This module must never know a particular game.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from copy import copy
from dataclasses import is_dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, Generic, TypeVar

from engine.board import Board, Example, Face
from engine.chance import Draw
from engine.decisions import Choice, Decision, Refused, Selection
from engine.facts import Fact, fact
from engine.options import Option, Options, OptionValue
from engine.rulings import Ruling
from engine.tell import UNNAMED, Teller, Text, say

S = TypeVar("S")

Story = Generator[Fact[S], S, None]
"""Facts in order. Each `yield` returns the state after the fact."""

Chapter = Generator[Fact[S], S, S]
"""A part of a story, for `yield from`. Returns the state at its end."""


@fact
class Standing:
    """The scores by seat and, at the end, the ranking: seats from first to last, tied seats together."""

    scores: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...] = ()
    reasons: tuple[Text, ...] = ()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.ranking)

    @staticmethod
    def by(keys: Sequence[tuple[int, ...]], breakers: Sequence[Text] = ()) -> Standing:
        """Return the final standing. The first number of a seat's key is its score; the others break ties, in order.

        `breakers` name the other numbers; those that were needed become the reasons.

        >>> standing = Standing.by([(12, 1), (12, 3), (9, 0)], [say("more coins left")])
        >>> standing.scores, standing.ranking
        ((12, 12, 9), ((1,), (0,), (2,)))
        >>> print(*standing.reasons)
        A tie went to more coins left.
        """
        places = sorted(set(keys), reverse=True)
        ranking = tuple(tuple(seat for seat, key in enumerate(keys) if key == place) for place in places)
        reasons = []
        for i, breaker in enumerate(breakers, start=1):
            if len({key[: i + 1] for key in places}) > len({key[:i] for key in places}):
                reasons.append(say("A tie went to {breaker}.", breaker=breaker))
        return Standing(tuple(key[0] for key in keys), ranking, tuple(reasons))


@fact
class Lesson:
    """What a newcomer is told before a decision."""

    what: Text
    do: Text
    why: Text


class Game(Generic[S]):
    """A game. All methods are pure functions of their arguments."""

    title: ClassVar[str]
    seats: ClassVar[tuple[int, int]]
    """The fewest and the most players."""
    options: ClassVar[tuple[Option, ...]] = ()
    length: ClassVar[Text]
    """How long a game takes by email, in words."""
    mood: ClassVar[Text | None] = None
    """What playing it feels like, in one sentence."""
    credits: ClassVar[Text]
    """Who designed the game, and the licence of its rules."""
    cover: ClassVar[tuple[Face, ...]] = ()
    """A few faces that stand for the game in lists."""
    examples: ClassVar[tuple[Example, ...]] = ()
    """Worked examples for the rules page, of what people get wrong the first time."""
    short: ClassVar[Options] = MappingProxyType({})
    """Options that make a game short, for demos and tests."""
    demo: ClassVar[int | None] = None
    """The players of the demo, one person among bots; None for no demo."""
    demo_options: ClassVar[Options | None] = None
    """The options of the demo, if they are not those in `short`."""
    bid_price: ClassVar[Fraction | None] = None
    """The points that one more on a winning bid costs, to find the best buy. None if bids can't be weighed against points; 0
    if the score counts the money."""
    independent_topics: ClassVar[bool] = False
    """Whether `prospect` tells at the end of a topic, such as a round or an auction, what it was worth. Then bots think no further:
    what comes later is luck that would hide it."""
    RULES: ClassVar[int] = 1
    """The newest version of the rules. Raise it with every change of what may be chosen, happens or is shown."""
    OLDEST: ClassVar[int] = 1
    """The oldest version that can still be played."""
    rulings: ClassVar[tuple[Ruling, ...]] = ()
    """Changes within a version, oldest first; only ever added to."""
    version: int = 0
    """The version that this object plays by; see `by_version`."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.version = cls.RULES

    def start(self, seats: int, options: Options) -> S:
        """Return the empty table. It is public."""
        raise NotImplementedError

    def setup(self, state: S, draw: Draw) -> Story[S]:
        """Yield the facts before the first decision."""
        raise NotImplementedError

    def asks(self, view: S, seat: int) -> Decision | None:
        """Return what this seat may do now, or None. View and whole truth must give the same answer."""
        raise NotImplementedError

    def resolve(self, state: S, choices: Mapping[int, Choice], draw: Draw) -> Story[S]:
        """Yield the facts that follow from the choices of a turn, which have been checked."""
        raise NotImplementedError

    def standing(self, state: S) -> Standing:
        """Return the scores and, when the game is over, the ranking with its reasons."""
        raise NotImplementedError

    def board(self, view: S, seat: int) -> Board:
        """Return the board as this seat, or the SPECTATOR, sees it."""
        raise NotImplementedError

    def longest(self, seats: int, options: Options) -> int:
        """Return an upper limit for the log entries of a game."""
        raise NotImplementedError

    def tally(self, state: S) -> Mapping[str, int]:
        """Count each kind of thing, wherever it is. The counts must never change."""
        raise NotImplementedError

    def hindsight(self, view: S, end: S) -> S | None:
        """Return an earlier view with what the end of the game revealed.

        Its standing has the true scores at that moment. None, as by default, if the scores are known during the game.
        """
        return None

    def objects(self, view: S, seat: int, choice: Choice) -> Text | None:
        """Return why the values don't fit together, or None if they do."""
        return None

    def selection(self, view: S, decision: Decision) -> Selection | None:
        """Return the things that fill all blanks of a decision, for a page on which they're chosen together.

        None, as by default, for a field for each blank. It is for blanks that limit each other.
        """
        return None

    def choice_of(self, view: S, decision: Decision, selected: Sequence[str]) -> Choice:
        """Return the choice that these things of a selection make. Raises Refused if they make none."""
        raise NotImplementedError

    def barred(self, view: S, seat: int) -> Mapping[str, Text]:
        """Return the verbs that a player may miss, each with why it can't be used now.

        The reasons come from that seat's own view, so they cannot contain a secret.
        """
        return {}

    def prospect(self, state: S, seat: int) -> int:
        """Return how good a state looks for a seat, for bots: by default its lead. Once the game is over, higher for more points."""
        scores = self.standing(state).scores
        return scores[seat] - max(score for i, score in enumerate(scores) if i != seat)

    def imagine(self, view: S, seat: int, draw: Draw) -> S:
        """Return a whole truth that fits this view, for bots. A game with secrets must override it."""
        return view

    def mask(self, state: S, seat: int) -> S:
        """Return what a seat, or the SPECTATOR, would know of an imagined truth. Only bots use it.

        A game with secrets should override it. A search then lets every seat choose by what that seat knows.
        """
        return state

    def plausible(self, state: S, seat: int) -> int:
        """Return how well an imagined truth fits what the others have done: a weight of at least 1. Only bots use it."""
        return 1

    def quick(self, view: S, decision: Decision, draw: Draw) -> Choice | None:
        """Return a choice that is sensible at first sight, in no time; None for any of those offered. Only bots use it.

        A view or a whole truth must give the same answer, so that nobody plays by what is hidden from their seat.
        """
        return None

    def caution(self, view: S, seat: int, choice: Choice) -> Text | None:
        """Return what a choice will cost, if its player may not have meant that, or None.

        A page asks again before such a choice. It is worked out from the seat's own view.
        """
        return None

    def lesson(self, view: S, seat: int) -> Lesson | None:
        """Return what a newcomer should hear before this decision, or None.

        The demo shows it beside the decision. It is worked out from the seat's own view.
        """
        return None

    def word(self, value: Any) -> str:
        """Return what a card, a suit or a tile is called in a sentence."""
        return str(value)

    hidden: ClassVar[tuple[str, str]] = UNNAMED
    """What one hidden thing is called, and several: `("a card", "cards")`."""

    def by_version(self, version: int) -> Game[S]:
        """Return the game by a version of its rules. Raises Refused if it can't be played."""
        if version == self.version:
            return self
        if not self.OLDEST <= version <= self.RULES:
            raise Refused(
                say(
                    "Version {version} of the rules of {game} isn't available here. Versions {oldest} to {newest} are.",
                    game=self.title,
                    oldest=self.OLDEST,
                    newest=self.RULES,
                    version=version,
                )
            )
        return _of_version(self, version)

    @property
    def slug(self) -> str:
        """The name in commands and addresses, from the module's name: `fish-market`."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    @property
    def rules(self) -> str:
        """The rules page."""
        return inspect.cleandoc(sys.modules[type(self).__module__].__doc__ or "")

    @property
    def about(self) -> str:
        """The first paragraph of its rules page."""
        return self.rules.split("\n\n")[1]

    def teller(
        self,
        reader: int | None = None,
        names: tuple[str, ...] = (),
        translate: Callable[[str], str] = lambda text: text,
    ) -> Teller:
        """Return a teller of this game for one reader."""
        return Teller(reader, names, self.word, self.hidden, translate)

    @property
    def players(self) -> Text:
        """How many can play: `3 or 4 players`."""
        low, high = self.seats
        if high == low + 1:
            return say("{low} or {high} players", low=low, high=high)
        return say("{low} to {high} players", low=low, high=high)

    def settle(self, seats: int, chosen: Options) -> dict[str, OptionValue]:
        """Return all options with their values.

        Raises Refused if the number of players, an option or a value does not exist.
        """
        low, high = self.seats
        if type(seats) is not int or not low <= seats <= high:
            raise Refused(say("{game} is for {players}.", game=self.title, players=self.players))
        known = {option.name: option for option in self.options}
        for name, value in chosen.items():
            if name not in known:
                raise Refused(say("{game} has no option “{name}”.", game=self.title, name=str(name)))
            if not known[name].fits(value):
                raise Refused(
                    say("“{option}” must be {possible}.", option=known[name].called, possible=known[name].possible())
                )
        return {name: chosen.get(name, option.default) for name, option in known.items()}


@cache
def _of_version(game: Game[S], version: int) -> Game[S]:
    # One object for each version, because positions are cached by their game.
    other = copy(game)
    other.version = version
    return other


def modules_of(game: Game[Any]) -> tuple[ModuleType, ...]:
    """Return the module of a game and, if it is a package, those below it."""
    home = type(game).__module__
    loaded = sorted(name for name in tuple(sys.modules) if name.startswith(f"{home}."))
    return tuple(sys.modules[name] for name in (home, *loaded))


def kinds_of(game: Game[Any]) -> dict[str, type]:
    """Return the dataclasses of a game, facts among them, by name. Raises TypeError if two modules define the same name."""
    found: dict[str, type] = {}
    for module in modules_of(game):
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and kind.__module__ == module.__name__ and is_dataclass(kind):
                if name in found:
                    raise TypeError(f"{module.__name__} and {found[name].__module__} both define {name}: rename one")
                found[name] = kind
    return found


def facts_of(game: Game[Any]) -> dict[str, type[Fact[Any]]]:
    """Return the kinds of fact of a game, by name."""
    return {name: kind for name, kind in kinds_of(game).items() if issubclass(kind, Fact)}
