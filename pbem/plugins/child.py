"""The program of a child process: one game, asked by its parent, within limits.

The game is imported here and nowhere else. All it prints goes nowhere, what it raises is told to the parent as the
kind of error and its place, without its text: that might name a hidden card. A call that uses too much time ends this
process, and so does a parent that is gone.
"""

import importlib
import inspect
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, get_origin, get_type_hints

from engine import grammar
from engine.board import Board, plain
from engine.bots import BOTS
from engine.chance import Draw
from engine.decisions import Choice, Decision, Refused
from engine.facts import Fact, Step, fold, secrets_of
from engine.game import Game, kinds_of
from engine.registry import game_in
from engine.tell import Text, sentence
from pbem import child_process
from pbem.plugins import wire

Request = dict[str, Any]

_DESCRIBED: Final = (
    "title",
    "slug",
    "seats",
    "options",
    "length",
    "credits",
    "cover",
    "demo",
    "RULES",
    "OLDEST",
    "hidden",
)
"""What a game says of itself."""


class Asking(Draw):
    """Luck that the parent draws, number by number, so that the rules know none that is still to come."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def below(self, bound: int) -> int:
        wire.send(self._line, wire.dumps({"draw": bound}))
        return int(wire.receive(self._line))


class Player:
    """Answers what the parent asks of one game."""

    def __init__(self, game: Game[Any], line: socket.socket) -> None:
        self._newest = self._game = game
        self._draw = Asking(line)
        self._teller = game.teller()
        self.kinds = kinds_of(game)
        self.does: Mapping[str, Callable[[Request], Any]] = {
            "describe": lambda _request: _description(game, self.kinds),
            "settle": lambda request: self._game.settle(request["seats"], request["options"]),
            "start": lambda request: self._game.start(request["seats"], request["options"]),
            "fold": lambda request: fold(request["view"], request["facts"]),
            "setup": lambda request: self._run(request["state"], self._game.setup(request["state"], self._draw)),
            "resolve": self._resolve,
            "asks": lambda request: self._sound(self._game.asks(request["view"], request["seat"])),
            "objects": lambda request: self._spoken(
                self._game.objects(request["view"], request["seat"], request["choice"])
            ),
            "barred": lambda request: [
                (verb, self._spoken(why))
                for verb, why in sorted(self._game.barred(request["view"], request["seat"]).items())
            ],
            "standing": lambda request: self._game.standing(request["view"]),
            "board": lambda request: self._drawn(self._game.board(request["view"], request["seat"])),
            "sentence": lambda request: self._spoken(sentence(request["fact"])),
            "step": lambda request: self._stepped(request["fact"].step()),
            "word": lambda request: str(game.word(request["value"])),
            "bring_up": lambda request: self.kinds[request["kind"]].older[request["shape"]](request["data"]),  # type: ignore[attr-defined]
            "bot": self._bot,
        }

    def answer(self, request: Request) -> Any:
        """What the game says, by the version of its rules that is asked for."""
        self._game = self._newest.by_version(request.get("version", self._newest.RULES))
        return self.does[request["do"]](request)

    def _resolve(self, request: Request) -> Request:
        choices = dict(request["choices"])
        return self._run(request["state"], self._game.resolve(request["state"], choices, self._draw))

    def _run(self, state: Any, story: Generator[Fact[Any], Any, Any]) -> Request:
        happened = []
        try:
            each = next(story)
            while True:
                happened.append(each)
                state = each.apply(state)
                each = story.send(state)
        except StopIteration:
            return {"facts": happened, "after": state}

    def _bot(self, request: Request) -> Choice | None:
        decision = self._game.asks(request["view"], request["seat"])
        if decision is None:
            return None
        return BOTS[request["bot"]](self._game, request["view"], decision, self._draw)

    # What a page would stumble over, or think about for too long, is found here and not there.

    def _sound(self, decision: Decision | None) -> Decision | None:
        if decision is not None:
            self._teller(decision.prompt)
            decision.count()
            grammar.usages(decision)
            assert decision.default in decision, "the default is not among the possible choices"
        return decision

    def _drawn(self, board: Board) -> Board:
        plain(board, self._teller)
        return board

    def _stepped(self, step: Step | None) -> Step | None:
        if step is not None:
            dict(step.bids), dict(step.adds)
        return step

    def _spoken(self, text: Text | None) -> Text | None:
        if text is not None:
            self._teller(text)
        return text


def main() -> None:
    """Limit this process, import the game, and answer until the parent is gone."""
    place, number, memory, seconds = sys.argv[1:]
    line = socket.socket(fileno=int(number))
    try:
        child_process.limit(child_process.MEMORY, int(memory))
        with _limited(float(seconds)):
            player = Player(_imported(place), line)
    except MemoryError:
        os._exit(wire.OUT_OF_MEMORY)
    except BaseException as error:
        _reply(line, {"raised": _kind_of(error, named=True)})
        raise
    _reply(line, {"is_ready": True})
    reading = wire.decoder(player.kinds)
    while True:
        text = wire.receive(line)
        try:
            request = reading.decode(text)
            with _limited(request["milliseconds"] / 1000):
                reply = {"answer": player.answer(request)}
                text = wire.dumps(reply)
        except MemoryError:
            os._exit(wire.OUT_OF_MEMORY)
        except Refused as refused:
            text = wire.dumps({"refused": refused.text})
        except BaseException as error:  # noqa: BLE001 - everything rules raise is for the parent to hear
            text = wire.dumps({"raised": _kind_of(error)})
        wire.send(line, text)


def _imported(place: str) -> Game[Any]:
    module, _, kind = place.partition(":")
    imported = importlib.import_module(module)
    game: Game[Any] = getattr(imported, kind)() if kind else game_in(imported)
    return game


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End this process if it works for longer. Time that it waits for its parent does not count."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _reply(line: socket.socket, request: Request) -> None:
    wire.send(line, wire.dumps(request))


def _kind_of(error: BaseException, *, named: bool = False) -> str:
    """An error as its kind and its place. Its text is for those who import a game, who have no secrets yet."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    text = f": {error}" if named and str(error) else ""
    return f"{type(error).__name__}{text} ({Path(where.filename).name}, line {where.lineno})"


def _description(game: Game[Any], kinds: Mapping[str, type]) -> Request:
    """All that a parent has to know of a game before it is played."""
    return {name: getattr(game, name) for name in _DESCRIBED} | {
        "short": dict(game.short),
        "rules": game.rules,
        "has_words": type(game).word is not Game.word,
        "kinds": [_shape(kind) for kind in kinds.values()],
    }


def _shape(kind: type) -> Request:
    """What a parent has to know of the values of one kind to hold and to mask them."""
    readers, hints = dict(secrets_of(kind)), get_type_hints(kind)
    return {
        "name": kind.__name__,
        "doc": inspect.getdoc(kind) if kind.__doc__ else "",
        "happens": issubclass(kind, Fact),
        "silent": bool(getattr(kind, "silent", False)),
        "speaks": hasattr(kind, "sentence"),
        "steps": issubclass(kind, Fact) and kind.step is not Fact.step,
        "shapes": len(getattr(kind, "older", ())),
        "fields": [(f.name, _holds(hints[f.name]), readers.get(f.name)) for f in fields(kind)],
    }


def _holds(hint: Any) -> str:
    """What JSON gives back as something else: a set, a mapping, or anything."""
    origin = get_origin(hint)
    if origin is frozenset:
        return "set"
    return "mapping" if inspect.isclass(origin) and issubclass(origin, Mapping) else "any"


if __name__ == "__main__":
    main()
