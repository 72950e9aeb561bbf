"""What a person meets: decisions that follow from the view, words that can be read, boards that fit.

This module must never judge whether a question is a good one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from engine import grammar
from engine.board import WIDTH, Face, plain
from engine.chance import Stream
from engine.decisions import Choice, Decision, Refused
from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game, facts_of
from engine.table import Table
from engine.tell import UNNAMED
from engine.testing.bench import NAMES, Bench, Playout, Trouble, readers, sampled, told_of
from engine.testing.differences import secret_fields
from engine.testing.source import line_of_game

_MOST_LISTED: Final = 60
"""So many choices of a decision are written and read again; of a longer one a few are drawn."""

_MOST_TABLES: Final = 60
"""So many tables of one playout are looked at, evenly spread."""

_MOST_OF_A_KIND: Final = 10

_LONG_NAMES: Final = tuple(f"{name} of a Server with Long Names" for name in NAMES)


def asks_from_views(bench: Bench) -> Iterator[Trouble]:
    """Whoever knows only the view is asked the same as whoever knows the truth, and the question is in order."""
    for playout in bench.playouts():
        for at in playout.sample(_MOST_TABLES):
            table = playout.tables[at]
            for seat in range(playout.plan.seats):
                asked = bench.game.asks(table.position.state, seat)
                if bench.game.asks(table.view(seat), seat) != asked:
                    yield Trouble(
                        "asks from views",
                        "the view asks another question than the truth",
                        playout.where(at),
                        bench.line_of("asks"),
                    )
                elif asked is not None:
                    for what in _disorder(bench.game, table, seat, asked):
                        yield Trouble("asks from views", what, playout.where(at), bench.line_of("asks"))


def _disorder(game: Game[Any], table: Table, seat: int, decision: Decision) -> Iterator[str]:
    if decision.seat != seat:
        yield "a seat is handed the decision of another one"
    if not decision.acts or decision.count() < 1:
        yield "a seat is asked although it can do nothing"
    if decision.default not in decision:
        yield f"silence means “{decision.default.verb}”, which is not among the choices"
    elif (objection := game.objects(table.view(seat), seat, decision.default)) is not None:
        yield f"silence means a choice that is refused: {objection}"
    if not decision.closes <= {act.verb for act in decision.acts}:
        yield "a verb closes the window that nobody may choose"
    if both := {act.verb for act in decision.acts} & set(game.barred(table.view(seat), seat)):
        yield f"“{min(both)}” is among the acts, and called impossible"
    if decision.count() == 1:
        yield from _single(game, table, seat, decision)


def _single(game: Game[Any], table: Table, seat: int, decision: Decision) -> Iterator[str]:
    """The table may answer for a seat exactly where the spectator could."""
    if decision.default != decision.choices(1)[0]:
        yield "silence means something else than the only choice"
    try:
        guessed = game.asks(table.view(SPECTATOR), seat)
    except TypeError:
        guessed = None
    if decision.public and guessed != decision:
        yield "a decision is called public, and the spectator cannot name its only answer"
    if not decision.public and guessed == decision:
        yield f"the only answer “{decision.default.verb}” is plain to the spectator: say public"


def reads_what_it_writes(bench: Bench) -> Iterator[Trouble]:
    """Every choice, written as text, reads back as the same choice; every decision says what may be written."""
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
                except Exception as error:  # noqa: BLE001 - whatever is raised here is a trouble of the game.
                    again, text = told_of(error), str(choice)
                if again != choice:
                    yield Trouble(law, f"“{text}” reads as {again}", playout.where(at), bench.line_of("asks"))
                    break
            if not all(grammar.usages(decision)):
                yield Trouble(law, "an act has no usage", playout.where(at), bench.line_of("asks"))


def _listed(game: Game[Any], table: Table, decision: Decision) -> list[Choice]:
    if decision.count() <= _MOST_LISTED:
        return decision.choices()
    luck = Stream(b"listed", table.position.number)
    return [
        decision.default,
        *(sampled(game, table.view(decision.seat), decision, luck) for _ in range(8)),
    ]


def speaks(bench: Bench) -> Iterator[Trouble]:
    """Every fact has a sentence for every reader, or is silent; every prompt can be read; no code shows through."""
    law = "speaks"
    kinds = facts_of(bench.game)
    if bench.game.hidden == UNNAMED and (secrets := secret_fields(bench.game)):
        kind, name = min(secrets)
        what = f'the {name} of {kind} is a secret, and a hidden one has no name: say hidden = ("a card", "cards")'
        yield Trouble(law, what, code=bench.line_of(kind))
    for playout in bench.playouts():
        if not playout.tables:
            continue
        often: Counter[str] = Counter()
        for happened in (f for entry in playout.tables[-1].log for f in entry.facts):
            # The same kind of fact is told in the same words: some of each are enough.
            often[type(happened).__name__] += 1
            if often[type(happened).__name__] > _MOST_OF_A_KIND:
                continue
            for reader in readers(playout.plan.seats):
                for what in _unreadable(bench.game, reader, seen(happened, reader), kinds):
                    yield Trouble(law, what, str(playout.plan), bench.line_of(type(happened).__name__))
    for playout, at in _places(bench):
        for seat, decision in playout.tables[at].position.open().items():
            texts = (decision.prompt, *(act.note for act in decision.acts if act.note))
            for text in texts:
                said = bench.game.teller(seat, NAMES)(text)
                if (fault := _shows_through(said, kinds)) is not None:
                    yield Trouble(law, f"a question reads “{said}”: {fault}", playout.where(at), bench.line_of("asks"))


def introduces_itself(bench: Bench) -> Iterator[Trouble]:
    """What a game says of itself is complete and fits: its title, rules page, cover, short options and demo."""
    law, game = "introduces itself", bench.game
    for name in ("title", "seats", "length", "credits"):
        if not getattr(game, name, None):
            yield Trouble(law, f"it does not say its {name}", code=line_of_game(game))
    if len(game.rules.split("\n\n")) < 2:
        yield Trouble(
            law, "its docstring is no rules page: a title, an empty line, and how to play", code=line_of_game(game)
        )
    if not all(isinstance(face, Face) for face in game.cover):
        yield Trouble(law, "its cover holds something that is not a Face", code=line_of_game(game))
    try:
        game.settle(game.demo or game.seats[0], game.short)
    except Refused as refused:
        yield Trouble(law, f"its demo, or its short game, cannot begin: {refused}", code=line_of_game(game))


def _unreadable(game: Game[Any], reader: int, happened: Fact[Any], kinds: dict[str, Any]) -> Iterator[str]:
    name = type(happened).__name__
    try:
        said = game.teller(None if reader == SPECTATOR else reader, NAMES).tell(happened)
    except Exception as error:  # noqa: BLE001 - whatever a sentence raises is its trouble.
        yield f"the sentence of {name} cannot be told: {told_of(error)}"
        return
    if said is None:
        if not happened.silent and getattr(happened, "sentence", None) is None:
            yield f"{name} has no sentence and is not silent"
    elif not said.strip():
        yield f"the sentence of {name} is empty"
    elif (fault := _shows_through(said, kinds)) is not None:
        yield f"the sentence of {name} reads “{said}”: {fault}"
    elif said.startswith(f"{name}("):
        yield f"{name} has no docstring of its own"


def fits_the_page(bench: Bench) -> Iterator[Trouble]:
    """The board of every reader can be drawn and fits 72 columns, with short names and long ones."""
    law = "fits the page"
    kinds = facts_of(bench.game)
    for playout, at in _places(bench):
        table = playout.tables[at]
        for reader in readers(playout.plan.seats):
            for names in ((), NAMES, _LONG_NAMES):
                teller = bench.game.teller(None if reader == SPECTATOR else reader, names)
                try:
                    text = plain(bench.game.board(table.view(reader), reader), teller)
                except Exception as error:  # noqa: BLE001 - whatever a board raises is its trouble.
                    yield Trouble(
                        law, f"a board cannot be drawn: {told_of(error)}", playout.where(at), bench.raised_at(error)
                    )
                    break
                widest = max(text.splitlines(), key=len)
                if len(widest) > WIDTH:
                    yield Trouble(
                        law,
                        f"a line of the board is {len(widest)} wide: {widest}",
                        playout.where(at),
                        bench.line_of("board"),
                    )
                if (fault := _shows_through(text, kinds, board=True)) is not None:
                    yield Trouble(law, f"on a board {fault}", playout.where(at), bench.line_of("board"))


def _places(bench: Bench) -> Iterator[tuple[Playout, int]]:
    """A few places of every kind of position, and the end of every playout."""
    yield from bench.positions(20 if bench.thorough else 3)
    for playout in bench.playouts():
        if playout.tables:
            yield playout, len(playout.tables) - 1


def _shows_through(said: str, kinds: dict[str, Any], board: bool = False) -> str | None:
    """What of the code can be seen in a text for people, if anything."""
    for mark in ("HIDDEN", "{", "}", "[", "]", "|", "  ") if not board else ("HIDDEN", "{", "}"):
        if mark in said:
            return f"“{mark}” shows through" if mark != "  " else "there are two blanks in a row"
    # People set brackets apart from the word before; code writes `Choice(` and `('R1',)`.
    if not board and (found := re.search(r"\w\(|\([\"'(]|,\)", said)):
        return f"“{found[0]}” shows through"
    if found := re.search(r"\b(None|True|False|frozenset|Text|Choice)\b(?! of)", said):
        return f"“{found[1]}” shows through"
    for name in kinds:
        if re.search(r"[a-z][A-Z]", name) and name in said:
            return f"“{name}” shows through"
    return None
