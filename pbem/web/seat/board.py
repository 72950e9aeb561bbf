"""A board as a page draws it: headings, sentences, lists of things, numbers by name, tables.

It is made from the data of `engine.board` alone, which are made from one seat's view, so nothing else can get into a page.
Everything in here is plain text for the template, which escapes it.
"""

from dataclasses import dataclass

from engine.board import ALL, HEADINGS, Amounts, Board, Face, Line, Part, Row
from engine.tell import Teller, Text
from pbem.web.art.drawings import sign_of
from pbem.web.phrases import capital


@dataclass(frozen=True, slots=True)
class Thing:
    """A card, tile or die, or what is counted: its word, what stands on it, and what it is drawn from, if it has a picture."""

    word: str
    note: str = ""
    kind: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """One part of a board. Which of the fields are filled follows from its kind: line, row, amounts or grid."""

    kind: str
    text: str = ""
    things: tuple[Thing, ...] = ()
    amounts: tuple[tuple[Thing, int], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, bool, tuple[int | None, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under one heading. The name is that of the board's field."""

    name: str
    heading: str
    parts: tuple[DrawnPart, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A whole board."""

    title: str
    turn: str
    sections: tuple[Section, ...]


def draw(board: Board, teller: Teller, reader: int | None) -> Drawn:
    """The board for one reader, in the order in which it is read aloud."""
    sections = []
    for name, heading in HEADINGS:
        parts: tuple[Part, ...] = getattr(board, name)
        if parts:
            called = ALL if name == "others" and not board.mine else heading
            sections.append(Section(name, teller(called), tuple(_part(part, teller, reader) for part in parts)))
    return Drawn(teller(board.title), teller(board.turn), tuple(sections))


def faces_of(board: Board) -> dict[str, Face]:
    """All that lies on the table, by its word, so that what a form offers looks as it does there."""
    rows = (part for name, _ in HEADINGS for part in getattr(board, name) if isinstance(part, Row))
    return {face.word: face for row in rows for face in row.faces}


def _part(part: Part, teller: Teller, reader: int | None) -> DrawnPart:
    if isinstance(part, Line):
        return DrawnPart("line", teller(part.text))
    if isinstance(part, Row):
        things = tuple(Thing(teller(face.word), teller(face.note), face.kind, face.id) for face in part.faces)
        return DrawnPart("row", capital(teller(part.label)), things)
    if isinstance(part, Amounts):
        return DrawnPart("amounts", amounts=tuple((_counted(label, teller), number) for label, number in part.pairs))
    rows = tuple((capital(teller.name(seat)), seat == reader, numbers) for seat, numbers in part.rows)
    return DrawnPart("grid", columns=tuple(capital(teller(column)) for column in part.columns), rows=rows)


def _counted(label: Text, teller: Teller) -> Thing:
    return Thing(capital(teller(label)), kind="sign", id=sign_of(label))
