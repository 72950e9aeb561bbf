"""What a seat sees, as data, and its plain-text rendering.

A board is told in the order in which it would be read aloud: whose turn it is, what is up, what I have, what the others
have, the scores. A page draws the same data with cards and dice; a mail prints it in 72 columns. It is made from one
seat's view and from nothing else. This module must never hold a rule.
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
    """One thing on the table: a card, a tile, a die. `id` is what it is drawn from, `word` and `note` what it is called."""

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
    """Things side by side under one label: a pool, a hand, a throw of dice."""

    label: Text
    faces: tuple[Face, ...]


@fact
class Amounts:
    """Numbers by name: coins, cards left, the high bid."""

    pairs: tuple[tuple[Text, int], ...]


@fact
class Grid:
    """Numbers of several players: one line a seat, one column a kind of number. None stands where there is none."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[int, tuple[int | None, ...]], ...]


Part = Line | Row | Amounts | Grid


@fact
class Board:
    """A whole table as one reader sees it. The order of the fields is the order of reading."""

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
"""What the others are called where the reader has no seat."""


def plain(board: Board, teller: Teller, width: int = WIDTH) -> str:
    """The board in plain text, fit to be read aloud from top to bottom."""
    lines = [
        *wrap(teller(board.title).upper(), width),
        *wrap(teller(board.turn), width),
    ]
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
        return wrap(
            f"{_capital(teller(part.label))}: {_faces(part.faces, teller)}",
            width,
            "  ",
            "    ",
        )
    if isinstance(part, Amounts):
        said = ", ".join(f"{teller(label)} {number}" for label, number in part.pairs)
        return wrap(_capital(said), width, "  ", "    ")
    return _grid(part, teller, width)


def _faces(faces: Sequence[Face], teller: Teller) -> str:
    return "; ".join(describe(face, teller) for face in faces) if faces else teller("none")


def describe(face: Face, teller: Teller) -> str:
    """A face in words: its name and what stands on it."""
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
    """The text in lines of this width; no word is broken at a hyphen."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    ) or [""]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
