"""What a game has to say for itself.

A game module holds one subclass of `Game`; its docstring is the rules page, its facts are what can happen. The house
never asks for more than stands here, and a module that gives it is a whole game: pages, mails, commands, help, bots and
tests come from the same few functions. This module must never know a particular game.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from itertools import count
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, Generic, TypeVar

from engine.board import Board, Face
from engine.chance import Draw
from engine.decisions import Choice, Decision, Refused
from engine.facts import Fact, fact
from engine.tell import UNNAMED, Teller, Text, say

S = TypeVar("S")

Story = Generator[Fact[S], S, None]
"""Facts one after the other; each `yield` hands back the state after the fact."""

Chapter = Generator[Fact[S], S, S]
"""A part of a story; it ends with the state that it leaves."""

OptionValue = str | int
Options = Mapping[str, OptionValue]


@fact
class Listed:
    """An option with a few named values, each with what people call it.

    `called` is what they call the option; `name` is written by programs alone. `seats` are the player counts for which it
    means anything (all if empty).
    """

    name: str
    called: Text
    default: str
    spoken: tuple[tuple[str, Text], ...]
    about: Text
    seats: tuple[int, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """What the option can be, as programs write it."""
        return tuple(value for value, _spoken in self.spoken)

    def value_in(self, options: Options) -> str:
        """What a table has chosen."""
        return str(options[self.name])

    def words(self, value: OptionValue) -> Text:
        """One of its values, as people say it."""
        return dict(self.spoken)[str(value)]

    def fits(self, value: object) -> bool:
        """Whether the option can have this value."""
        return type(value) is str and value in self.values

    def possible(self) -> Text:
        """What the option can be, in words."""
        return say("one of {values}", values=self.values)


@fact
class Number:
    """An option that is a whole number; `called` is what people call it."""

    name: str
    called: Text
    default: int
    low: int
    high: int
    about: Text
    seats: tuple[int, ...] = ()

    def value_in(self, options: Options) -> int:
        """What a table has chosen."""
        return int(options[self.name])

    def words(self, value: OptionValue) -> Text:
        """One of its values, as people say it."""
        # Figures are the same in every language.
        return Text(str(value))

    def fits(self, value: object) -> bool:
        """Whether the option can have this value."""
        return type(value) is int and self.low <= value <= self.high

    def possible(self) -> Text:
        """What the option can be, in words."""
        return say("a whole number from {low} to {high}", low=self.low, high=self.high)


Option = Listed | Number


def agreed(option: Option, value: OptionValue) -> Text:
    """What a table has agreed about an option, as people say it."""
    return say("{option}: {value}", option=option.called, value=option.words(value))


@fact
class Standing:
    """The scores by seat and, once the game is over, the seats from first place to last, tied ones together."""

    scores: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...] = ()
    reasons: tuple[Text, ...] = ()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.ranking)

    @staticmethod
    def by(keys: Sequence[tuple[int, ...]], breakers: Sequence[Text] = ()) -> Standing:
        """The final standing: the first number of each seat's key is its score, the others break ties in their order.

        A reason is given for every tie-break that was needed.
        """
        places = sorted(set(keys), reverse=True)
        ranking = tuple(tuple(seat for seat, key in enumerate(keys) if key == place) for place in places)
        reasons = []
        for i, breaker in enumerate(breakers, start=1):
            if len({key[: i + 1] for key in places}) > len({key[:i] for key in places}):
                reasons.append(say("A tie was broken by {breaker}.", breaker=breaker))
        return Standing(tuple(key[0] for key in keys), ranking, tuple(reasons))


class Game(Generic[S]):
    """A game: what a contributor writes. Everything is a pure function of its arguments."""

    title: ClassVar[str]
    seats: ClassVar[tuple[int, int]]
    """Fewest and most players."""
    options: ClassVar[tuple[Option, ...]] = ()
    length: ClassVar[Text]
    """How long a game takes by mail, in words."""
    credits: ClassVar[Text]
    """Whose design it is and under which licence its rules are published."""
    cover: ClassVar[tuple[Face, ...]] = ()
    """A few of its things, to stand for the game where games are listed. A site that has no drawings of them shows none."""
    short: ClassVar[Options] = MappingProxyType({})
    """Options that make a game short, for demos, simulations and tests; empty if every game is short enough."""
    demo: ClassVar[int | None] = None
    """How many players a game of two minutes has, one person among bots, with the options in `short`; None if none is."""
    RULES: ClassVar[int] = 1
    """Raised when the rules are meant to change; running games keep theirs."""

    def start(self, seats: int, options: Options) -> S:
        """The empty table, before anything happened. Public."""
        raise NotImplementedError

    def setup(self, state: S, draw: Draw) -> Story[S]:
        """What happens before the first decision."""
        raise NotImplementedError

    def asks(self, view: S, seat: int) -> Decision | None:
        """What this seat may do now, from its own view; the same from the whole truth. None if it is not asked."""
        raise NotImplementedError

    def resolve(self, state: S, choices: Mapping[int, Choice], draw: Draw) -> Story[S]:
        """What comes of everybody's choices together. They have been checked: nothing is validated here."""
        raise NotImplementedError

    def standing(self, state: S) -> Standing:
        """The scores now and, when the game is over, the ranking with its reasons."""
        raise NotImplementedError

    def board(self, view: S, seat: int) -> Board:
        """What this seat sees. A spectator's seat is SPECTATOR."""
        raise NotImplementedError

    def longest(self, seats: int, options: Options) -> int:
        """No game has more log entries than this, whatever is chosen."""
        raise NotImplementedError

    def tally(self, state: S) -> Mapping[str, int]:
        """What there is of each kind of thing, wherever it lies: the same at every moment of a game."""
        raise NotImplementedError

    def objects(self, view: S, seat: int, choice: Choice) -> Text | None:
        """Why blanks that fit one by one do not fit together; None if they do."""
        return None

    def barred(self, view: S, seat: int) -> Mapping[str, Text]:
        """The verbs that a seat which is asked may miss among its acts, each with why it cannot be done now.

        It is made from that seat's own view: what is secret is no reason that could be given.
        """
        return {}

    def prospect(self, state: S, seat: int) -> int:
        """How good this looks for a seat; only bots ask. The lead over the best other score unless the game knows better."""
        scores = self.standing(state).scores
        return scores[seat] - max(score for i, score in enumerate(scores) if i != seat)

    def imagine(self, view: S, seat: int, draw: Draw) -> S:
        """A whole truth that fits this view; only bots ask. A game with secrets says how."""
        return view

    def word(self, value: Any) -> str:
        """What a card, a suit or a tile is called in a sentence."""
        return str(value)

    hidden: ClassVar[tuple[str, str]] = UNNAMED
    """What one hidden thing is called, and several: `("a card", "cards")`. A game with secrets must say."""

    @property
    def slug(self) -> str:
        """The name in commands and addresses: `sunset-poker`."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    @property
    def rules(self) -> str:
        """The rules page."""
        return inspect.cleandoc(sys.modules[type(self).__module__].__doc__ or "")

    @property
    def about(self) -> str:
        """What the game is about: the passage with which its rules page begins, below the heading."""
        return self.rules.split("\n\n")[1]

    def teller(
        self,
        reader: int | None = None,
        names: tuple[str, ...] = (),
        translate: Callable[[str], str] = lambda text: text,
    ) -> Teller:
        """Somebody who tells this game's facts to one reader, in English unless there is a translation."""
        return Teller(reader, names, self.word, self.hidden, translate)

    def settle(self, seats: int, chosen: Options) -> dict[str, OptionValue]:
        """All options with their values; refused if a value, an option or the number of players does not exist."""
        low, high = self.seats
        if type(seats) is not int or not low <= seats <= high:
            raise Refused(
                say(
                    "{game} is for {low} to {high} players.",
                    game=self.title,
                    low=low,
                    high=high,
                )
            )
        known = {option.name: option for option in self.options}
        for name, value in chosen.items():
            if name not in known:
                raise Refused(
                    say(
                        "{game} has no option “{name}”.",
                        game=self.title,
                        name=str(name),
                    )
                )
            if not known[name].fits(value):
                raise Refused(
                    say(
                        "“{option}” must be {possible}.",
                        option=known[name].called,
                        possible=known[name].possible(),
                    )
                )
        return {name: chosen.get(name, option.default) for name, option in known.items()}


def modules_of(game: Game[Any]) -> tuple[ModuleType, ...]:
    """The modules that a game is written in: the one that defines it and, if that is a package, those below it."""
    home = type(game).__module__
    loaded = sorted(name for name in tuple(sys.modules) if name.startswith(f"{home}."))
    return tuple(sys.modules[name] for name in (home, *loaded))


def kinds_of(game: Game[Any]) -> dict[str, type]:
    """The values of a game, facts among them, by name. Raises TypeError if two modules define one of the same name."""
    found: dict[str, type] = {}
    for module in modules_of(game):
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and kind.__module__ == module.__name__ and is_dataclass(kind):
                if name in found:
                    raise TypeError(f"{module.__name__} and {found[name].__module__} both define {name}: rename one")
                found[name] = kind
    return found


def facts_of(game: Game[Any]) -> dict[str, type[Fact[Any]]]:
    """The kinds of fact of a game, by name."""
    return {name: kind for name, kind in kinds_of(game).items() if issubclass(kind, Fact)}


def names() -> tuple[str, ...]:
    """The games of the house, by their names in commands, found by walking the package."""
    package = importlib.import_module("engine.games")
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__)))


@cache
def load(name: str) -> Game[Any]:
    """A game of the house by its name."""
    if name not in names():
        raise Refused(
            say(
                "There is no game “{name}”. There are {names}.",
                name=name,
                names=names(),
            )
        )
    return game_in(importlib.import_module(f"engine.games.{name.replace('-', '_')}"))


def load_file(path: Path) -> Game[Any]:
    """The game in a file, or in the folder of a package. Loaded twice it is two games that do not share anything."""
    if path.is_dir():
        path = path / "__init__.py"
    package = [str(path.parent)] if path.name == "__init__.py" else None
    stem = path.parent.resolve().name if package else path.stem
    # A name of its own: a file called random.py must not stand in for the library, nor a second loading for the first.
    name = next(name for i in count() if (name := f"outside.{i}.{stem}") not in sys.modules)
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=package)
    if spec is None or spec.loader is None:
        raise Refused(say("{path} is not a Python module.", path=str(path)))
    module = importlib.util.module_from_spec(spec)
    # Python looks for the first part of a name even where the last one is imported from beside it.
    sys.modules.setdefault("outside", ModuleType("outside"))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return game_in(module)


def game_in(module: ModuleType) -> Game[Any]:
    """The one game that a module defines."""
    found = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Game) and kind.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise Refused(
            say(
                "{module} must define one game, not {number}.",
                module=module.__name__,
                number=len(found),
            )
        )
    game: Game[Any] = found[0]()
    return game
