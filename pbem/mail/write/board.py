"""A board in an email: as text, and for the HTML as headings, tables and lines.

It is made from `engine.board` alone, which is made from one seat's view, so nothing else can get into an email. Every part
of a board fits into one of three blocks, so a new game needs no template. This module must have no words of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from engine.board import Amounts, Board, Fold, Grid, Line, Panel, Part, Row, plain, sections, state_of, words_of
from engine.tell import Teller, Text
from pbem.i18n.speech import capital
from pbem.mail.write.faces import Piece, piece


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table of pieces: a label with pieces or a number, a player with what they do, or a sentence.

    What everyone plays for is `large`.
    """

    label: str = ""
    faces: tuple[Piece, ...] = ()
    large: bool = False
    number: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """A row of a table of numbers or words: one player."""

    name: str
    mine: bool
    numbers: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one kind: `lines`, a table of `things`, or a table of `numbers`."""

    kind: str
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[Entry, ...] | tuple[Score, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under one heading; `centre` for the middle of the table."""

    heading: str
    blocks: tuple[Block, ...]
    centre: bool = False


@dataclass(frozen=True, slots=True)
class PrintedBoard:
    """A whole board, as text and in parts."""

    text: str
    title: str
    turn: str
    sections: tuple[Section, ...]


def print_board(board: Board, teller: Teller, reader: int) -> PrintedBoard:
    """The board for one reader, in reading order, without what is bulky."""
    board = replace(board, folds=tuple(fold for fold in board.folds if not _is_bulky(fold)))
    blocks = tuple(
        Section(teller(section.heading), tuple(_blocks(section.parts, teller, reader)), section.parts == board.centre)
        for section in sections(board, reader)
    )
    return PrintedBoard(plain(board, teller).rstrip("\n"), teller(board.title), teller(board.turn), blocks)


def _is_bulky(fold: Fold) -> bool:
    """Whether a fold is too long for an email, or has a grid, which would be too wide for a small phone."""
    return fold.bulky or any(isinstance(part, Grid) for part in fold.parts)


def _blocks(parts: Sequence[Part | Panel], teller: Teller, reader: int) -> Iterator[Block]:
    """Sentences among pieces become rows of their table; those around tables of numbers are blocks of their own."""
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
    rows = tuple(
        Score(
            capital(teller.name(seat)),
            seat == reader,
            tuple(words_of(cell, teller) if isinstance(cell, Text) else cell for cell in cells),
        )
        for seat, cells in grid.rows
    )
    return Block("numbers", columns=tuple(teller(column) for column in grid.columns), rows=rows)


def _entries(part: Part | Panel, teller: Teller) -> Iterator[Entry]:
    if isinstance(part, Panel):
        name, state = capital(teller.name(part.seat)), state_of(part, teller)
        yield Entry(name, text=state) if state else Entry(text=name)
        for each in part.parts:
            yield from _entries(each, teller)
    elif isinstance(part, Line):
        yield Entry(text=teller(part.text))
    elif isinstance(part, Row):
        yield Entry(
            capital(teller(part.label)), tuple(piece(face, teller) for face in part.faces), large=part.laid == "lot"
        )
    elif isinstance(part, Amounts):
        for label, number in part.pairs:
            yield Entry(capital(teller(label)), number=number)
