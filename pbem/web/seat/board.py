"""A board as a page shows it: headings, sentences, lists of things, numbers by name, and tables.

It is made from an `engine.board.Board` alone, which is made from one seat's view, so nothing else can get into a page. All
of it is plain text, which the template escapes.
"""

from dataclasses import dataclass

from engine.board import ALL, HEADINGS, Amounts, Board, Face, Line, Part, Row
from engine.tell import Teller, Text
from pbem.i18n.speech import capital
from pbem.web.art.drawings import sign_of


@dataclass(frozen=True, slots=True)
class Thing:
    """A card, tile or die, or something counted: its word, a note on it, and the kind and id of its picture, if it has one."""

    word: str
    note: str = ""
    kind: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class BoardPart:
    """One part of a board. Its kind says which of its fields are used: line, row, amounts or grid."""

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
    parts: tuple[BoardPart, ...]


@dataclass(frozen=True, slots=True)
class PageBoard:
    """A whole board."""

    title: str
    turn: str
    sections: tuple[Section, ...]


def draw(board: Board, teller: Teller, reader: int | None) -> PageBoard:
    """The board for one reader, in the order in which a screen reader reads it."""
    sections = []
    for name, heading in HEADINGS:
        parts: tuple[Part, ...] = getattr(board, name)
        if parts:
            words = ALL if name == "others" and not board.mine else heading
            sections.append(Section(name, teller(words), tuple(_part(part, teller, reader) for part in parts)))
    return PageBoard(teller(board.title), teller(board.turn), tuple(sections))


def faces_of(board: Board) -> dict[str, Face]:
    """Everything on the table by its word, so that a form can show it as it looks there."""
    rows = (part for name, _ in HEADINGS for part in getattr(board, name) if isinstance(part, Row))
    return {face.word: face for row in rows for face in row.faces}


def _part(part: Part, teller: Teller, reader: int | None) -> BoardPart:
    if isinstance(part, Line):
        return BoardPart("line", teller(part.text))
    if isinstance(part, Row):
        things = tuple(Thing(teller(face.word), teller(face.note), face.kind, face.id) for face in part.faces)
        return BoardPart("row", capital(teller(part.label)), things)
    if isinstance(part, Amounts):
        return BoardPart("amounts", amounts=tuple((_label(label, teller), number) for label, number in part.pairs))
    rows = tuple((capital(teller.name(seat)), seat == reader, numbers) for seat, numbers in part.rows)
    return BoardPart("grid", columns=tuple(capital(teller(column)) for column in part.columns), rows=rows)


def _label(label: Text, teller: Teller) -> Thing:
    return Thing(capital(teller(label)), kind="sign", id=sign_of(label))
