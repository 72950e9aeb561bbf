"""A board as a mail shows it: the text as it is printed, and for the HTML the same cut into headings, tables and lines.

It is made from the data of `engine.board` alone, which are made from one seat's view, so nothing else can get into a
mail. Whatever a game puts on its board fits into one of three blocks, so a new game needs no template. This module must
never hold words of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from engine.board import ALL, HEADINGS, Amounts, Board, Grid, Line, Part, Row, plain
from engine.tell import Teller


@dataclass(frozen=True, slots=True)
class Thing:
    """A card, tile or die: its word, and what stands on it."""

    word: str
    note: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of things: a label with things or with a number, or a sentence."""

    label: str = ""
    faces: tuple[Thing, ...] = ()
    number: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """A line of a table of numbers: one player."""

    name: str
    mine: bool
    numbers: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """What stands together: `lines`, a table of `things`, or one of `numbers`, with its rows."""

    kind: str
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[Entry, ...] | tuple[Score, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under one heading."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """A whole board, as text and in parts."""

    text: str
    title: str
    turn: str
    sections: tuple[Section, ...]


def printed(board: Board, teller: Teller, reader: int) -> Printed:
    """The board for one reader, in the order in which it is read aloud."""
    sections = []
    for name, heading in HEADINGS:
        parts: tuple[Part, ...] = getattr(board, name)
        if parts:
            called = ALL if name == "others" and not board.mine else heading
            sections.append(Section(teller(called), tuple(_blocks(parts, teller, reader))))
    return Printed(plain(board, teller).rstrip("\n"), teller(board.title), teller(board.turn), tuple(sections))


def _blocks(parts: Sequence[Part], teller: Teller, reader: int) -> Iterator[Block]:
    """Sentences among things are lines of their table; those around tables of numbers stand by themselves."""
    for is_grid, run in groupby(parts, key=lambda part: isinstance(part, Grid)):
        together = tuple(run)
        if is_grid:
            for grid in together:
                assert isinstance(grid, Grid)
                yield _numbers(grid, teller, reader)
        elif all(isinstance(part, Line) for part in together):
            yield Block("lines", tuple(teller(part.text) for part in together if isinstance(part, Line)))
        else:
            yield Block("things", rows=tuple(entry for part in together for entry in _entries(part, teller)))


def _numbers(grid: Grid, teller: Teller, reader: int) -> Block:
    rows = tuple(Score(_capital(teller.name(seat)), seat == reader, numbers) for seat, numbers in grid.rows)
    return Block("numbers", columns=tuple(teller(column) for column in grid.columns), rows=rows)


def _entries(part: Part, teller: Teller) -> Iterator[Entry]:
    if isinstance(part, Line):
        yield Entry(text=teller(part.text))
    elif isinstance(part, Row):
        faces = tuple(Thing(teller(face.word), teller(face.note) if face.note else "") for face in part.faces)
        yield Entry(_capital(teller(part.label)), faces)
    elif isinstance(part, Amounts):
        for label, number in part.pairs:
            yield Entry(_capital(teller(label)), number=number)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
