"""A game that runs in a child process, as the rest of the server sees it: like any other game.

What this process holds of it are shapes: for each kind of value a class with the same fields, the same secrets and the same
sentence, made from what the child says of itself. So facts are written, read, masked and told here as those of any game.
What the rules do is asked of the child. The facts of a fold are gathered and folded there all at once, when someone looks
at the outcome.
"""

import inspect
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import field, fields, is_dataclass, make_dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar, Final, NamedTuple, cast

import structlog

from engine import codec, introduction
from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision, Refused
from engine.facts import Fact, Step
from engine.game import Game, Standing
from engine.options import Options, OptionValue
from engine.tell import Teller, Text
from pbem.domain.errors import Unplayable
from pbem.i18n.speech import gettext as _
from pbem.plugins import wire
from pbem.plugins.process import Busy, Failed, Process, Visit

_log = structlog.get_logger(__name__)

MOST_REMEMBERED: Final = 4096
"""Words and sentences of a game that a process remembers: each is a few hundred bytes."""

_HOME: Final = "pbem.plugins.shapes"
"""Under this name the shapes of all games are modules, which is where the engine looks for the kinds of a game."""

_HOLDS: Final[dict[str, Any]] = {"any": Any, "set": frozenset[Any], "mapping": dict[Any, Any]}


class Fault(NamedTuple):
    """A table whose game has failed: its kind, and in what way it failed."""

    game_id: int
    kind: str
    how: str


FAULTS: Final[deque[Fault]] = deque(maxlen=1000)
"""The tables whose games have failed in this process, until they are stopped."""

_FAILING: Final[set[int]] = set()
"""The same tables: until they are stopped, nothing more is asked for them."""

_AT: Final = threading.local()


@contextmanager
def at_table(game_id: int | None) -> Iterator[None]:
    """What fails in here fails at this table, unless it is known better."""
    before = getattr(_AT, "game_id", None)
    _AT.game_id = before if game_id is None else game_id
    try:
        yield
    finally:
        _AT.game_id = before


def begin_visit() -> None:
    """Note that what this thread asks from now on is for a request to the web server."""
    _AT.visit = Visit()


def end_visit() -> None:
    _AT.visit = None


def take_faults() -> list[Fault]:
    """The tables whose games have failed here since this was asked last, each once."""
    found: dict[int, Fault] = {}
    while FAULTS:
        fault = FAULTS.popleft()
        found.setdefault(fault.game_id, fault)
    return list(found.values())


def forgive(game_id: int) -> None:
    """Ask the rules for a table again, after it was stopped or has gone on."""
    _FAILING.discard(game_id)


class Kinds:
    """The shapes of one game's values, and the child that is asked about them."""

    def __init__(self, name: str, process: Process, thinker: Process) -> None:
        self.name = name
        self.process = process
        # Bots think for long, and no move may wait for that.
        self.thinker = thinker
        self.title = name
        self.module = ModuleType(f"{_HOME}.{name.replace('-', '_')}")
        self.shapes: dict[str, type] = {}
        self._decoder = wire.decoder({})
        self.word = lru_cache(MOST_REMEMBERED)(self._word)
        self.sentence = lru_cache(MOST_REMEMBERED)(self._sentence)
        self.step = lru_cache(MOST_REMEMBERED)(self._step)

    def settle(self, described: Mapping[str, Any]) -> None:
        """Make the shapes, of what the child has said of itself."""
        self.title = described["title"]
        self.module.__doc__ = described["rules"]
        for description in described["kinds"]:
            shape = _shape(self, description)
            self.shapes[shape.__name__] = shape
            setattr(self.module, shape.__name__, shape)
        self._decoder = wire.decoder(self.shapes)
        sys.modules[self.module.__name__] = self.module

    def ask(self, do: str, draw: Draw | None = None, **request: Any) -> Any:
        """What the child answers. Raises Refused if the rules refuse, and Unplayable if they fail."""
        game_id = getattr(_AT, "game_id", None)
        if game_id in _FAILING:
            raise self._unplayable(game_id)
        try:
            process = self.thinker if do == "bot" else self.process
            visit: Visit | None = getattr(_AT, "visit", None)
            text = process.ask(do, request, None if draw is None else draw.below, visit)
            reply = self._decoder.decode(text)
            if "refused" in reply and isinstance(reply["refused"], Text):
                raise Refused(reply["refused"])
            if "raised" in reply:
                raise Failed(f"“{do}” raised {reply['raised']}")
            return reply["answer"]
        except Failed as failed:
            raise self._failed(str(failed), game_id) from failed
        except Busy as busy:
            _log.error("game_slow", kind=self.name, game=game_id)
            raise Unplayable(
                _("%(game)s is slow to answer right now.", game=self.title),
                why=_("Its rules took too long, or other pages wait for them."),
                remedy=_("Nothing changed. Try again in a minute."),
            ) from busy
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
            raise self._failed(f"“{do}” sent something unreadable", game_id) from error

    def must_be(self, kind: Any, value: Any) -> Any:
        """A value that the child gave, if it is of the kind that it must be."""
        if not isinstance(value, kind):
            raise self._failed(f"gave {type(value).__name__}", getattr(_AT, "game_id", None))
        return value

    def _failed(self, how: str, game_id: int | None) -> Unplayable:
        self.process.end()
        self.thinker.end()
        _log.error("game_failed", kind=self.name, game=game_id, how=how)
        if game_id is not None:
            FAULTS.append(Fault(game_id, self.name, how))
            _FAILING.add(game_id)
        return self._unplayable(game_id)

    def _unplayable(self, game_id: int | None) -> Unplayable:
        return Unplayable(
            _("The rules of %(game)s failed.", game=self.title),
            why=_("The table is stopped, and the organiser has been told."),
            remedy=_("Nothing is lost. We'll email you when it resumes."),
        )

    def _word(self, text: str) -> str:
        value = self._decoder.decode(text)
        return str(self.must_be(str, self.ask("word", value=value)))

    def _sentence(self, text: str) -> Text | None:
        spoken = self.ask("sentence", fact=self._decoder.decode(text))
        return cast("Text | None", self.must_be((Text, type(None)), spoken))

    def _step(self, text: str) -> Step | None:
        step = self.ask("step", fact=self._decoder.decode(text))
        return cast("Step | None", self.must_be((Step, type(None)), step))


class View:
    """A state or a view of a game that runs elsewhere: its fields are there, or are worked out when one is looked at."""

    __slots__ = ("_pending",)
    _kinds: ClassVar[Kinds]
    _pending: "tuple[View, tuple[Fact[Any], ...]]"

    def __getattr__(self, name: str) -> Any:
        # Called only for a field that has no value yet.
        if name not in {each.name for each in fields(cast("Any", self))}:
            raise AttributeError(name)
        base, facts = self._pending
        fill(self, self._kinds.ask("fold", view=base, facts=facts))
        return getattr(self, name)


def after(view: View, happened: Fact[Any]) -> View:
    """The view after a fact, to be worked out when someone looks at it."""
    later: View = object.__new__(type(view))
    base, facts = view._pending if _is_pending(view) else (view, ())
    object.__setattr__(later, "_pending", (base, (*facts, happened)))
    return later


def fill(view: View, worked_out: Any) -> None:
    """Give a view that is to be worked out its fields."""
    view._kinds.must_be(type(view), worked_out)
    for each in fields(cast("Any", view)):
        object.__setattr__(view, each.name, getattr(worked_out, each.name))
    if _is_pending(view):
        object.__delattr__(view, "_pending")


def _is_pending(view: View) -> bool:
    try:
        object.__getattribute__(view, "_pending")
    except AttributeError:
        return False
    return True


class Foreign(Game[Any]):
    """A game in a child process. What one object of it asks is asked for one table, or for none."""

    _kinds: ClassVar[Kinds]
    _has_words: ClassVar[bool]

    def __init__(self, game_id: int | None = None) -> None:
        self._game_id = game_id

    # The same game at another table is the same game: what was worked out of a log by one holds for the other.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Foreign) and (type(self), self.version) == (type(other), other.version)

    def __hash__(self) -> int:
        return hash((type(self), self.version))

    def at(self, game_id: int | None) -> "Foreign":
        """The game as it is asked for one table, which is stopped if it fails."""
        at_table = copy(self)
        at_table._game_id = game_id
        return at_table

    def by_version(self, version: int) -> Game[Any]:
        other = cast(Foreign, super().by_version(version))
        # Tables share what is known of a version, so it may have come from another one.
        return other if self._game_id == other._game_id else other.at(self._game_id)

    def settle(self, seats: int, chosen: Options) -> dict[str, OptionValue]:
        return dict(self._ask(dict, "settle", seats=seats, options=dict(chosen)))

    def start(self, seats: int, options: Options) -> Any:
        return self._ask(View, "start", seats=seats, options=dict(options))

    def setup(self, state: Any, draw: Draw) -> Generator[Fact[Any], Any, None]:
        yield from self._story(self._ask(dict, "setup", draw, state=state))

    def resolve(self, state: Any, choices: Mapping[int, Choice], draw: Draw) -> Generator[Fact[Any], Any, None]:
        yield from self._story(self._ask(dict, "resolve", draw, state=state, choices=sorted(choices.items())))

    def asks(self, view: Any, seat: int) -> Decision | None:
        return cast("Decision | None", self._ask((Decision, type(None)), "asks", view=view, seat=seat))

    def objects(self, view: Any, seat: int, choice: Choice) -> Text | None:
        found = self._ask((Text, type(None)), "objects", view=view, seat=seat, choice=choice)
        return cast("Text | None", found)

    def barred(self, view: Any, seat: int) -> Mapping[str, Text]:
        return dict(self._ask(list, "barred", view=view, seat=seat))

    def standing(self, state: Any) -> Standing:
        return cast(Standing, self._ask(Standing, "standing", view=state))

    def board(self, view: Any, seat: int) -> Board:
        return cast(Board, self._ask(Board, "board", view=view, seat=seat))

    def bot(self, name: str, view: Any, decision: Decision, draw: Draw) -> Choice:
        """What a bot chooses; it thinks where the rules are."""
        return cast(Choice, self._ask(Choice, "bot", draw, bot=name, view=view, seat=decision.seat))

    def word(self, value: Any) -> str:
        if not self._has_words:
            return str(value)
        with at_table(self._game_id):
            return self._kinds.word(codec.dumps(value))

    def teller(
        self,
        reader: int | None = None,
        names: tuple[str, ...] = (),
        translate: Callable[[str], str] = lambda text: text,
    ) -> Teller:
        return _Teller(self._game_id, reader, names, self.word, self.hidden, translate)

    def _ask(self, kind: Any, do: str, draw: Draw | None = None, **request: Any) -> Any:
        with at_table(self._game_id):
            return self._kinds.must_be(kind, self._kinds.ask(do, draw, version=self.version, **request))

    def _story(self, story: Mapping[str, Any]) -> Generator[Fact[Any], Any, None]:
        """The facts one after the other; the state after the last of them is known already."""
        state = None
        for each in story["facts"]:
            state = yield self._kinds.must_be(Fact, each)
        if state is not None and _is_pending(state):
            fill(state, story["after"])


class _Teller(Teller):
    """Tells the facts of a game for one table."""

    def __init__(self, game_id: int | None, *words: Any) -> None:
        super().__init__(*words)
        self._game_id = game_id

    def tell(self, happened: Fact[Any]) -> str | None:
        with at_table(self._game_id):
            return super().tell(happened)


def foreign(name: str, process: Process, thinker: Process | None = None) -> Foreign:
    """A game as the child describes it; `thinker` is a second child, for its bots. Raises Failed if it describes none."""
    kinds = Kinds(name, process, thinker or process)
    try:
        reply = wire.decoder({}).decode(process.ask("describe", {}))
        if "raised" in reply:
            raise Failed(f"it can't be described: {reply['raised']}")
        description = reply["answer"]
        low, high = description["seats"]
        one, several = description["hidden"]
        names = (description["title"], description["slug"], description["rules"], one, several)
        if not all(isinstance(name, str) for name in names):
            raise TypeError("a name that isn't text")
        if not all(type(each) is int for each in (low, high, description["RULES"], description["OLDEST"])):
            raise TypeError("a number that is none")
        kinds.settle(description)
        if description["slug"] != name:
            raise Failed(f"it calls itself “{description['slug']}”")
        described = {
            "__module__": kinds.module.__name__,
            "_kinds": kinds,
            "_has_words": bool(description["has_words"]),
            **{name: description[name] for name in ("title", "length", "credits", "demo", "RULES", "OLDEST")},
            "seats": (low, high),
            "options": tuple(description["options"]),
            "cover": tuple(description["cover"]),
            "short": dict(description["short"]),
            "hidden": (one, several),
        }
        game = type("Foreign", (Foreign,), described)()
        if found := list(introduction.faults(game)):
            raise Failed("; ".join(found))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise Failed("its description can't be read") from error
    return cast(Foreign, game)


def _shape(kinds: Kinds, description: Mapping[str, Any]) -> type:
    """A class for the values of one kind: their fields, what is secret in them, and where their behaviour is asked."""
    places = [
        (name, _HOLDS[holds], field(metadata={"readers": tuple(readers)}) if readers else field())
        for name, holds, readers in description["fields"]
    ]
    more: dict[str, Any] = {"_kinds": kinds, "__doc__": description["doc"]}
    if description["shapes"]:
        more["older"] = tuple(_bring_up(kinds, description["name"], number) for number in range(description["shapes"]))
    base: type = View
    if description["happens"]:
        base = Fact
        more |= {"silent": description["silent"], "apply": lambda self, state: after(state, self)}
        if description["speaks"]:
            more["sentence"] = lambda self: kinds.sentence(codec.dumps(self))
        if description["steps"]:
            more["step"] = lambda self: kinds.step(codec.dumps(self))
    shape = make_dataclass(description["name"], places, bases=(base,), namespace=more, frozen=True, slots=True)
    shape.__module__ = kinds.module.__name__
    assert is_dataclass(shape)
    assert inspect.isclass(shape)
    return shape


def _bring_up(kinds: Kinds, kind: str, number: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def bring_up(data: dict[str, Any]) -> dict[str, Any]:
        return dict(kinds.must_be(dict, kinds.ask("bring_up", kind=kind, shape=number, data=data)))

    return bring_up
