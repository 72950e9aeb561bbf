"""The board: what a seat sees, as data and as plain text.

A board follows the order in which it would be read aloud: whose turn it is, what is on the table, what I have, what the
others have, the scores. A page draws it with cards and dice, an email prints it in 72 columns. It is made from one
seat's view and nothing else. This module must never contain a rule.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from engine.facts import fact
from engine.tell import Teller, Text

WIDTH: Final = 72


@fact
class Face:
    """A thing on the table, such as a card, tile or die. `kind` and `id` choose the drawing; `word` and `note` name it."""

    kind: str
    id: str
    word: str
    note: str = ""


@fact
class Line:
    """A sentence."""

    text: Text


@fact
class Row:
    """Things side by side under a label: a pool, a hand, a roll of dice."""

    label: Text
    faces: tuple[Face, ...]


@fact
class Amounts:
    """Numbers with their names: coins, cards left, the high bid."""

    pairs: tuple[tuple[Text, int], ...]


@fact
class Grid:
    """Numbers of several players: a row for each seat, a column for each kind of number. None is an empty cell."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[int, tuple[int | None, ...]], ...]


Part = Line | Row | Amounts | Grid


@fact
class Board:
    """A whole table as one reader sees it. The fields are in reading order."""

    title: Text
    turn: Text
    up: tuple[Part, ...] = ()
    mine: tuple[Part, ...] = ()
    others: tuple[Part, ...] = ()
    scores: tuple[Part, ...] = ()


HEADINGS: Final = (
    ("up", Text("On the table")),
    ("mine", Text("You have")),
    ("others", Text("The others")),
    ("scores", Text("Scores")),
)
ALL: Final = Text("The players")
"""The heading for the others if the reader has no seat."""


def plain(board: Board, teller: Teller, width: int = WIDTH) -> str:
    """Return the board as plain text, which makes sense read aloud from top to bottom.

    >>> from engine.tell import say
    >>> hand = Row(say("your hand"), (Face("card", "7", "the Forest"), Face("card", "8", "the Sea", "Crown")))
    >>> coins = Amounts(((say("coins"), 5),))
    >>> print(plain(Board(say("Toy"), say("It is {seat's} turn.", seat=0), mine=(hand, coins)), Teller(0)), end="")
    TOY
    It is your turn.
    <BLANKLINE>
    You have
      Your hand: the Forest; the Sea (Crown)
      Coins 5
    """
    lines = [*wrap(teller(board.title).upper(), width), *wrap(teller(board.turn), width)]
    for field, heading in HEADINGS:
        parts: tuple[Part, ...] = getattr(board, field)
        if parts:
            lines += ["", teller(ALL if field == "others" and not board.mine else heading)]
            for part in parts:
                lines += _part(part, teller, width)
    return "\n".join(lines) + "\n"


def _part(part: Part, teller: Teller, width: int) -> list[str]:
    if isinstance(part, Line):
        return wrap(teller(part.text), width, "  ", "  ")
    if isinstance(part, Row):
        return wrap(f"{_capital(teller(part.label))}: {_faces(part.faces, teller)}", width, "  ", "    ")
    if isinstance(part, Amounts):
        line = ", ".join(f"{teller(label)} {number}" for label, number in part.pairs)
        return wrap(_capital(line), width, "  ", "    ")
    return _grid(part, teller, width)


def _faces(faces: Sequence[Face], teller: Teller) -> str:
    return "; ".join(describe(face, teller) for face in faces) if faces else teller("none")


def describe(face: Face, teller: Teller) -> str:
    """Return a face in words: its name and note."""
    word = teller(face.word)
    return f"{word} ({teller(face.note)})" if face.note else word


def _grid(grid: Grid, teller: Teller, width: int) -> list[str]:
    heads = [teller(column) for column in grid.columns]
    rows = [
        (_capital(teller.name(seat)), ["-" if n is None else str(n) for n in numbers]) for seat, numbers in grid.rows
    ]
    wide = [max(len(text) for text in (head, *(cells[i] for _, cells in rows))) for i, head in enumerate(heads)]
    first = max(len(name) for name, _ in rows)
    room = width - 2 - sum(2 + w for w in wide)
    first = min(first, max(room, 8))

    def line(name: str, cells: Sequence[str]) -> str:
        shown = name if len(name) <= first else name[: first - 3] + "..."
        return "  " + shown.ljust(first) + "".join("  " + c.rjust(w) for c, w in zip(cells, wide, strict=True))

    return [line("", heads), *(line(name, cells) for name, cells in rows)]


def wrap(text: str, width: int = WIDTH, first: str = "", rest: str = "") -> list[str]:
    """Return the text as lines of at most this width, never broken at a hyphen."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [""]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
