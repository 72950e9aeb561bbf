"""The board: what a seat sees, as data and as plain text.

Its reading order: whose turn it is, what is on the table, what I have, the other players, the scores, what helps to
decide. It is made from one seat's view. This module must never contain a rule.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from engine.facts import fact
from engine.tell import Teller, Text, say

WIDTH: Final = 72
_LEAST_NAME: Final = 8
"""Letters of a name that a grid shows at least."""


@fact
class Face:
    """A card, tile or die. `kind` and `id` choose the drawing; `word` and `note` name it."""

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
    """Things side by side under a label. `laid` says how a page lays them out.

    A "row" is in front of a player, a "lot" is what everyone plays for, a "hand" what its player may play, "spent" what is
    used up for now, and of a "pile" only the number matters.

    """

    label: Text
    faces: tuple[Face, ...]
    laid: str = "row"


@fact
class Amounts:
    """Numbers with their names: coins, cards left, the high bid."""

    pairs: tuple[tuple[Text, int], ...]


@fact
class Grid:
    """Numbers or words about players: a row per seat, a column per kind. None is an empty cell."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[int, tuple[int | Text | None, ...]], ...]


Part = Line | Row | Amounts | Grid


@fact
class Panel:
    """A player at the table, as everyone sees them.

    `numbers` start with the score and are the same for all panels; None is not shown. `state` is what the player does now,
    such as "passed"; `chip` is the high bid if it is theirs, a number or a card, which pages show by the lot. A player who is
    `out` takes no more part in this auction or round. `parts` are in front of them. `scenery` is drawn there by pages alone:
    numbers or words already tell of it.
    """

    seat: int
    numbers: tuple[tuple[Text, int | None], ...] = ()
    state: Text | None = None
    chip: int | Face | None = None
    out: bool = False
    parts: tuple[Part, ...] = ()
    scenery: tuple[Face, ...] = ()


@fact
class Fold:
    """Information beside the table, which a small screen folds away.

    Emails leave out a `bulky` one, and one with a grid.

    """

    label: Text
    parts: tuple[Part, ...]
    bulky: bool = False


@fact
class Board:
    """A whole table as one reader sees it.

    `centre` is in the middle of the table, `mine` what only the reader has or sees, `players` everyone by seat, `notes` are
    about the scores, and `folds` help to decide. `scenery` is in the middle, drawn by pages alone. `lead` is why the first
    numbers of the panels don't tell who leads, where they don't; `calls` is the heading of the latest bids.
    """

    title: Text
    turn: Text
    centre: tuple[Part, ...] = ()
    mine: tuple[Part, ...] = ()
    players: tuple[Panel, ...] = ()
    notes: tuple[Line, ...] = ()
    folds: tuple[Fold, ...] = ()
    scenery: tuple[Face, ...] = ()
    lead: Text | None = None
    calls: Text = say("Recent bids")

    def panel(self, seat: int | None) -> Panel | None:
        """Return the panel of a seat, or None."""
        return next((panel for panel in self.players if panel.seat == seat), None)

    def others(self, reader: int | None) -> tuple[Panel, ...]:
        """Return the panels of the other players, clockwise from the reader."""
        places = [panel.seat for panel in self.players]
        own = places.index(reader) if reader in places else -1
        return self.players[own + 1 :] + self.players[: max(own, 0)]

    def scores(self) -> Grid | None:
        """Return the numbers of all panels as a table, or None if there are none."""
        if not self.players or not self.players[0].numbers:
            return None
        columns = tuple(label for label, _number in self.players[0].numbers)
        return Grid(
            columns, tuple((panel.seat, tuple(number for _, number in panel.numbers)) for panel in self.players)
        )


@fact
class Section:
    """Parts of a board under one heading, in reading order."""

    heading: Text
    parts: tuple[Part | Panel, ...]


@fact
class Example:
    """A worked example for a rules page: things on the table, and what follows from them."""

    heading: Text
    parts: tuple[Part, ...]


def sections(board: Board, reader: int | None) -> tuple[Section, ...]:
    """Return the sections of a board that aren't empty, in reading order."""
    own = board.panel(reader)
    others = tuple(panel for panel in board.others(reader) if panel.state is not None or panel.parts)
    scores = board.scores()
    every = (
        Section(say("On the table"), board.centre),
        Section(say("Your side"), (*board.mine, *(() if own is None else own.parts))),
        Section(say("The players") if own is None else say("The others"), others),
        Section(say("Scores"), (*(() if scores is None else (scores,)), *board.notes)),
        *(Section(fold.label, fold.parts) for fold in board.folds),
    )
    return tuple(section for section in every if section.parts)


def faces_of(board: Board) -> dict[str, Face]:
    """Return everything on the table by its word."""
    parts = (*board.centre, *(part for panel in board.players for part in panel.parts), *board.mine)
    return {face.word: face for part in parts if isinstance(part, Row) for face in part.faces}


def plain(board: Board, teller: Teller, width: int = WIDTH) -> str:
    """Return the board as plain text.

    >>> from engine.tell import say
    >>> hand = Row(say("your hand"), (Face("card", "7", "the Forest"), Face("card", "8", "the Sea", "Crown")))
    >>> ann = Panel(1, ((say("points"), 5),), say("high bid"), chip=3)
    >>> toy = Board(say("Toy"), say("It is {seat's} turn.", seat=0), mine=(hand,), players=(Panel(0, ann.numbers), ann))
    >>> print(plain(toy, Teller(0, ("Ben", "Ann"))), end="")
    TOY
    It is your turn.
    <BLANKLINE>
    Your side
      Your hand: the Forest; the Sea (Crown)
    <BLANKLINE>
    The others
      Ann: high bid 3
    <BLANKLINE>
    Scores
           points
      You       5
      Ann       5
    """
    lines = [*wrap(teller(board.title).upper(), width), *wrap(teller(board.turn), width)]
    for section in sections(board, teller.reader):
        lines += ["", *in_words(section, teller, width)]
    return "\n".join(lines) + "\n"


def in_words(section: Section | Example, teller: Teller, width: int = WIDTH) -> list[str]:
    """Return a section or an example as lines of plain text."""
    lines = [teller(section.heading)]
    for part in section.parts:
        lines += _panel(part, teller, width) if isinstance(part, Panel) else _part(part, teller, width)
    return lines


def _panel(panel: Panel, teller: Teller, width: int) -> list[str]:
    name = _capital(teller.name(panel.seat))
    lines = wrap(f"{name}: {state_of(panel, teller)}" if panel.state else name, width, "  ", "    ")
    for part in panel.parts:
        lines += [f"  {line}" for line in _part(part, teller, width - 2)]
    return lines


def state_of(panel: Panel, teller: Teller) -> str:
    """Return what a player does now, with their bid."""
    state = "" if panel.state is None else teller(panel.state)
    if isinstance(panel.chip, Face):
        return f"{state}: {teller(panel.chip.word)}"
    return state if panel.chip is None else f"{state} {panel.chip}".strip()


def _part(part: Part, teller: Teller, width: int) -> list[str]:
    if isinstance(part, Line):
        return wrap(teller(part.text), width, "  ", "  ")
    if isinstance(part, Row):
        return wrap(f"{_capital(teller(part.label))}: {_faces(part.faces, teller)}", width, "  ", "    ")
    if isinstance(part, Amounts):
        line = "; ".join(f"{teller(label)}: {number}" for label, number in part.pairs)
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
        (_capital(teller.name(seat)), ["-" if cell is None else words_of(cell, teller) for cell in cells])
        for seat, cells in grid.rows
    ]
    wide = [max(len(text) for text in (head, *(cells[i] for _, cells in rows))) for i, head in enumerate(heads)]
    first = max(len(name) for name, _ in rows)
    room = width - 2 - sum(2 + w for w in wide)
    if room < _LEAST_NAME and any(isinstance(cell, Text) for _, cells in grid.rows for cell in cells):
        # Long words fit better one under the other.
        return [
            each
            for name, cells in rows
            for each in wrap(
                f"{name}: " + "; ".join(f"{h}: {c}" if h else c for h, c in zip(heads, cells, strict=True) if c != "-"),
                width,
                "  ",
                "    ",
            )
        ]
    first = min(first, max(room, _LEAST_NAME))

    def line(name: str, cells: Sequence[str]) -> str:
        shown = name if len(name) <= first else name[: first - 3] + "..."
        return "  " + shown.ljust(first) + "".join("  " + c.rjust(w) for c, w in zip(cells, wide, strict=True))

    return [line("", heads), *(line(name, cells) for name, cells in rows)]


def words_of(cell: int | Text, teller: Teller) -> str:
    """Return what a cell of a grid says."""
    return _capital(teller(cell)) if isinstance(cell, Text) else str(cell)


def wrap(text: str, width: int = WIDTH, first: str = "", rest: str = "") -> list[str]:
    """Return the text as lines of at most this width, never broken at a hyphen."""
    # Most lines are short, and most of the time of a board would go into looking where to break them.
    if text and len(first) + len(text) <= width and text.isprintable() and text == text.strip():
        return [first + text]
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [""]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
