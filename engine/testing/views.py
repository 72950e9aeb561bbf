"""Laws about what people see: decisions that follow from the view, readable words, boards that fit.

This module must never judge whether a decision is a good one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from engine import grammar, introduction
from engine.board import WIDTH, in_words, plain
from engine.chance import Stream
from engine.decisions import Choice, Decision, Refused
from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game, facts_of
from engine.table import Table
from engine.tell import UNNAMED
from engine.testing.bench import NAMES, Bench, Playout, Trouble, describe, readers, sampled
from engine.testing.differences import secret_fields
from engine.testing.source import line_of_game

_MOST_LISTED: Final = 60
"""The most choices of a decision that are all written and read; of more, only a sample."""

_MOST_TABLES: Final = 60
"""The most tables of a playout to look at, evenly spread."""

_MOST_OF_A_KIND: Final = 10

_LONG_NAMES: Final = tuple(f"{name} of a Server with Long Names" for name in NAMES)


def asks_from_views(bench: Bench) -> Iterator[Trouble]:
    """A view gives the same decision as the whole truth, and the decision is well formed."""
    for playout in bench.playouts():
        for at in playout.sample(_MOST_TABLES):
            table = playout.tables[at]
            for seat in range(playout.plan.seats):
                asked = bench.game.asks(table.position.state, seat)
                if bench.game.asks(table.view(seat), seat) != asked:
                    yield Trouble(
                        "asks from views",
                        "the view gives another decision than the whole truth",
                        playout.where(at),
                        bench.line_of("asks"),
                    )
                elif asked is not None:
                    for what in _disorder(bench.game, table, seat, asked):
                        yield Trouble("asks from views", what, playout.where(at), bench.line_of("asks"))


def _disorder(game: Game[Any], table: Table, seat: int, decision: Decision) -> Iterator[str]:
    if decision.seat != seat:
        yield "a seat gets the decision of another seat"
    if not decision.acts or decision.count() < 1:
        yield "a seat is asked although it has no choice at all"
    if decision.default not in decision:
        yield f"the default “{decision.default.verb}” is not among the choices"
    elif (objection := game.objects(table.view(seat), seat, decision.default)) is not None:
        yield f"the default is refused: {objection}"
    if not decision.closes <= {act.verb for act in decision.acts}:
        yield "a verb in `closes` is not among the acts"
    if both := {act.verb for act in decision.acts} & set(game.barred(table.view(seat), seat)):
        yield f"“{min(both)}” is among the acts and also barred"
    if decision.count() == 1:
        yield from _single(game, table, seat, decision)
    elif decision.public and _guessed(game, table, seat) != decision:
        yield "a decision is marked public, but the spectator cannot name its choices and its default"


def _single(game: Game[Any], table: Table, seat: int, decision: Decision) -> Iterator[str]:
    """The table may decide for a seat exactly if the spectator could."""
    if decision.default != decision.choices(1)[0]:
        yield "the default is not the only choice"
    guessed = _guessed(game, table, seat)
    if decision.public and guessed != decision:
        yield "a decision is marked public, but the spectator cannot name its only choice"
    if not decision.public and guessed == decision:
        yield f"the spectator can name the only choice “{decision.default.verb}”: mark the decision public"


def _guessed(game: Game[Any], table: Table, seat: int) -> Decision | None:
    """What the spectator would expect a seat to be asked; None if that takes knowing what is hidden."""
    try:
        return game.asks(table.view(SPECTATOR), seat)
    except TypeError:
        return None


def reads_what_it_writes(bench: Bench) -> Iterator[Trouble]:
    """Every choice written as text reads back as the same choice, and every act has a usage."""
    law = "reads what it writes"
    for playout, at in _places(bench):
        table = playout.tables[at]
        for seat, decision in table.position.open().items():
            for choice in _listed(bench.game, table, decision):
                try:
                    text = grammar.write(decision, choice)
                    again: object = grammar.read(decision, text)
                except Refused as refused:
                    again, text = str(refused), f"player {seat + 1} wrote {choice}"
                except Exception as error:  # noqa: BLE001 - anything that is raised here is the game's trouble.
                    again, text = describe(error), str(choice)
                if again != choice:
                    yield Trouble(law, f"“{text}” reads as {again}", playout.where(at), bench.line_of("asks"))
                    break
            if not all(grammar.usages(decision)):
                yield Trouble(law, "an act has no usage", playout.where(at), bench.line_of("asks"))


def _listed(game: Game[Any], table: Table, decision: Decision) -> list[Choice]:
    if decision.count() <= _MOST_LISTED:
        return decision.choices()
    luck = Stream(b"listed", table.position.turn)
    return [decision.default, *(sampled(game, table.view(decision.seat), decision, luck) for _ in range(8))]


def speaks(bench: Bench) -> Iterator[Trouble]:
    """Every fact has a sentence for every reader or is silent, prompts are readable, and no code shows."""
    law = "speaks"
    kinds = facts_of(bench.game)
    if bench.game.hidden == UNNAMED and (secrets := secret_fields(bench.game)):
        kind, name = min(secrets)
        what = f'{kind}.{name} is a secret: say what a hidden one is called, as in hidden = ("a card", "cards")'
        yield Trouble(law, what, code=bench.line_of(kind))
    for playout in bench.playouts():
        if not playout.tables:
            continue
        often: Counter[str] = Counter()
        for happened in (f for entry in playout.tables[-1].log for f in entry.facts):
            # A few facts of each kind are enough.
            often[type(happened).__name__] += 1
            if often[type(happened).__name__] > _MOST_OF_A_KIND:
                continue
            for reader in readers(playout.plan.seats):
                for what in _unreadable(bench.game, reader, seen(happened, reader), kinds):
                    yield Trouble(law, what, str(playout.plan), bench.line_of(type(happened).__name__))
    for playout, at in _places(bench):
        for seat, decision in playout.tables[at].position.open().items():
            texts = (
                decision.prompt,
                *((decision.brief,) if decision.brief else ()),
                *(act.note for act in decision.acts if act.note),
            )
            for text in texts:
                sentence = bench.game.teller(seat, NAMES)(text)
                if (fault := _shows_through(sentence, kinds)) is not None:
                    yield Trouble(
                        law, f"a prompt reads “{sentence}”: {fault}", playout.where(at), bench.line_of("asks")
                    )


def introduces_itself(bench: Bench) -> Iterator[Trouble]:
    """What a game says about itself is complete and valid: title, rules page, cover, short options and demo."""
    law, game = "introduces itself", bench.game
    missing = [name for name in ("title", "seats", "length", "credits") if not getattr(game, name, None)]
    for fault in [f"`{name}` is missing" for name in missing] or introduction.faults(game):
        yield Trouble(law, fault, code=line_of_game(game))
    for example in game.examples:
        try:
            in_words(example, game.teller())
        except Exception as error:  # noqa: BLE001 - anything that an example raises is its trouble.
            yield Trouble(
                law, f"the example `{example.heading}` cannot be told: {describe(error)}", code=line_of_game(game)
            )
    try:
        game.settle(game.demo or game.seats[0], game.short)
        game.settle(game.demo or game.seats[0], game.demo_options or {})
    except Refused as refused:
        yield Trouble(
            law, f"a game with `demo` players and `short` options cannot begin: {refused}", code=line_of_game(game)
        )


def _unreadable(game: Game[Any], reader: int, happened: Fact[Any], kinds: dict[str, Any]) -> Iterator[str]:
    name = type(happened).__name__
    try:
        sentence = game.teller(None if reader == SPECTATOR else reader, NAMES).tell(happened)
    except Exception as error:  # noqa: BLE001 - anything that a sentence raises is its trouble.
        yield f"the sentence of {name} fails: {describe(error)}"
        return
    if sentence is None:
        if not happened.silent and getattr(happened, "sentence", None) is None:
            yield f"{name} has no sentence and is not silent"
    elif not sentence.strip():
        yield f"the sentence of {name} is empty"
    elif (fault := _shows_through(sentence, kinds)) is not None:
        yield f"the sentence of {name} reads “{sentence}”: {fault}"
    elif sentence.startswith(f"{name}("):
        yield f"{name} has no docstring of its own"


def fits_the_page(bench: Bench) -> Iterator[Trouble]:
    """Every reader's board can be shown and fits 72 columns, with short and with long names."""
    law = "fits the page"
    kinds = facts_of(bench.game)
    for playout, at in _places(bench):
        table = playout.tables[at]
        for reader in readers(playout.plan.seats):
            for names in ((), NAMES, _LONG_NAMES):
                teller = bench.game.teller(None if reader == SPECTATOR else reader, names)
                try:
                    text = plain(bench.game.board(table.view(reader), reader), teller)
                except Exception as error:  # noqa: BLE001 - anything that a board raises is its trouble.
                    yield Trouble(
                        law, f"a board cannot be shown: {describe(error)}", playout.where(at), bench.raised_at(error)
                    )
                    break
                widest = max(text.splitlines(), key=len)
                if len(widest) > WIDTH:
                    yield Trouble(
                        law,
                        f"a line of the board has {len(widest)} characters: {widest}",
                        playout.where(at),
                        bench.line_of("board"),
                    )
                if (fault := _shows_through(text, kinds, board=True)) is not None:
                    yield Trouble(law, f"a board: {fault}", playout.where(at), bench.line_of("board"))


def _places(bench: Bench) -> Iterator[tuple[Playout, int]]:
    """Yield a few positions of every kind, and the end of every playout."""
    yield from bench.positions(20 if bench.thorough else 3)
    for playout in bench.playouts():
        if playout.tables:
            yield playout, len(playout.tables) - 1


def _shows_through(sentence: str, kinds: dict[str, Any], board: bool = False) -> str | None:
    """Return what of the code shows in a text for people, or None."""
    for mark in ("HIDDEN", "{", "}", "[", "]", "|", "  ") if not board else ("HIDDEN", "{", "}"):
        if mark in sentence:
            return f"“{mark}” shows" if mark != "  " else "there are two spaces in a row"
    # People put a space before a bracket; code writes `Choice(` and `('R1',)`.
    if not board and (found := re.search(r"\w\(|\([\"'(]|,\)", sentence)):
        return f"“{found[0]}” shows"
    if found := re.search(r"\b(None|True|False|frozenset|Text|Choice)\b(?! of)", sentence):
        return f"“{found[1]}” shows"
    for name in kinds:
        if re.search(r"[a-z][A-Z]", name) and name in sentence:
            return f"“{name}” shows"
    return None
