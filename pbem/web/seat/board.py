"""A board as a page shows it: a table with its centre, the players around it, and what the reader has.

It is made from an `engine.board.Board` alone, which is made from one seat's view, so nothing else can get into a page. All
of it is plain text, which the template escapes.
"""

from collections.abc import Collection, Sequence
from typing import Final

from engine.board import Amounts, Board, Face, Fold, Grid, Line, Panel, Part, Row, words_of
from engine.records import record, replace
from engine.tell import Teller, Text, say
from pbem.i18n import speech
from pbem.i18n.speech import capital
from pbem.lru import LRU
from pbem.web.art.drawings import sign_of

AROUND: Final = (
    (0, 0, 0),
    (0, 1, 0),
    (1, 0, 1),
    (1, 1, 1),
    (1, 2, 1),
    (1, 3, 1),
    (2, 2, 2),
    (2, 3, 2),
    (2, 4, 2),
    (3, 3, 3),
)
"""How many of the other players sit at the left, at the far side and at the right of a wide table, by their number."""

MOST_FOLDS: Final = 1000
"""Folds in memory, a few kilobytes each. Few of them change with every move."""


@record
class Thing:
    """A card, tile or die, or something counted: its word, a note on it, and the kind and id of its picture, if it has one."""

    word: str
    note: str = ""
    kind: str = ""
    id: str = ""


@record
class Pick:
    """A thing that can be chosen where it is: the field of a form, its value, and whether it is chosen; `many` for boxes.

    A pick that comes `again` is of another thing just like it: either may be chosen.
    """

    name: str
    value: str
    many: bool
    chosen: bool
    again: bool = False


@record
class BoardPart:
    """One part of a board. Its kind says which of its fields are used: line, row, amounts or grid.

    `picks` are the things of a row that can be chosen, at their places; empty where there are none.
    """

    kind: str
    text: str = ""
    laid: str = ""
    things: tuple[Thing, ...] = ()
    picks: tuple[Pick | None, ...] = ()
    amounts: tuple[tuple[Thing, int], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, bool, tuple[int | str | None, ...]], ...] = ()

    def choices(self) -> list[tuple[Thing, Pick | None, bool]]:
        """Each thing with its pick, and whether neither it nor another one like it can be chosen, though others can."""
        choosable = {thing.word for thing, pick in zip(self.things, self.picks, strict=True) if pick}
        return [(thing, pick, thing.word not in choosable) for thing, pick in zip(self.things, self.picks, strict=True)]


@record
class PagePanel:
    """A player at the table. The first of the `numbers` is the score; `deciding` if it is this player's turn.

    `leads` if nobody is known to have a higher score, and someone has a lower one. `level` is that of a bot, or None. `chosen` if
    the reader, whose panel this is, has sealed a choice; to everyone else they are deciding still.
    """

    seat: int
    name: str
    initial: str
    numbers: tuple[tuple[str, int | None], ...]
    state: str
    deciding: bool
    out: bool
    leads: bool
    parts: tuple[BoardPart, ...]
    scenery: tuple[Thing, ...] = ()
    level: str | None = None
    chosen: bool = False


@record
class HighBid:
    """The high bid, a number or a card, and whose it is."""

    seat: int
    name: str
    initial: str
    number: int | None
    card: Thing | None


@record
class PageBoard:
    """A whole board. The other players sit around it, clockwise from the reader: left, far side, right."""

    title: str
    turn: str
    centre: tuple[BoardPart, ...]
    left: tuple[PagePanel, ...]
    far: tuple[PagePanel, ...]
    right: tuple[PagePanel, ...]
    own: PagePanel | None
    mine: tuple[BoardPart, ...]
    notes: tuple[str, ...]
    folds: tuple[tuple[str, tuple[BoardPart, ...]], ...] = ()
    """What helps to decide well: labels with parts."""
    scenery: tuple[Thing, ...] = ()
    """What is drawn in the middle besides; words elsewhere tell of it."""
    bids: tuple[HighBid, ...] = ()
    lead: str = ""
    """Who leads a game under way, or why nobody does."""
    picked: frozenset[str] = frozenset()
    """The fields of the form whose things are chosen on the board."""


@record
class Choosable:
    """A field of a form whose things may lie on the board: the word and the pick of each."""

    name: str
    picks: tuple[tuple[str, Pick], ...]


_FOLDS: Final[LRU[tuple[str, tuple[BoardPart, ...]]]] = LRU(MOST_FOLDS)


def draw(
    board: Board,
    teller: Teller,
    reader: int | None,
    deciding: Collection[int] = (),
    choosable: Sequence[Choosable] = (),
    levels: Sequence[str | None] = (),
) -> PageBoard:
    """The board for one reader. `deciding` are the seats whose turn it is, `choosable` what the reader may choose, and `levels`
    those of the bots, by seat."""
    own, open_fields, leading = board.panel(reader), list(choosable), _leading(board)
    # A thing is chosen where its player has it, or else in the centre.
    mine = draw_parts(board.mine, teller, open_fields)
    own_panel = None if own is None else _panel(own, teller, deciding, leading, open_fields)
    centre = draw_parts(board.centre, teller, open_fields)
    others = tuple(_panel(panel, teller, deciding, leading) for panel in board.others(reader))
    if levels:
        others = tuple(replace(panel, level=levels[panel.seat]) for panel in others)
    left, far, right = _around(others)
    return PageBoard(
        teller(board.title),
        teller(board.turn),
        centre,
        left,
        far,
        right,
        own_panel,
        mine,
        tuple(teller(note.text) for note in board.notes),
        tuple(_drawn_fold(fold, teller) for fold in board.folds if fold.parts),
        _scenery(board.scenery),
        tuple(_high_bid(panel, teller) for panel in board.players if panel.chip is not None),
        _lead(board, leading, teller) if deciding else "",
        frozenset(field.name for field in choosable) - {field.name for field in open_fields},
    )


def _drawn_fold(fold: Fold, teller: Teller) -> tuple[str, tuple[BoardPart, ...]]:
    key = fold, teller.voice, speech.language()
    try:
        known = _FOLDS.get(key)
    except TypeError:
        # Another package's game may have something in a text that can't be looked up, such as a dictionary.
        return teller(fold.label), draw_parts(fold.parts, teller)
    return known or _FOLDS.put(key, (teller(fold.label), draw_parts(fold.parts, teller)))


def _around(
    others: tuple[PagePanel, ...],
) -> tuple[tuple[PagePanel, ...], tuple[PagePanel, ...], tuple[PagePanel, ...]]:
    left, far, _right = AROUND[min(len(others), len(AROUND) - 1)]
    return others[:left], others[left : left + far], others[left + far :]


def _leading(board: Board) -> frozenset[int]:
    """The seats that lead, by the scores that the board shows; nobody if some score is not shown, or all are the same."""
    if board.lead is not None:
        return frozenset()
    scores = {panel.seat: panel.numbers[0][1] for panel in board.players if panel.numbers}
    known = {seat: score for seat, score in scores.items() if score is not None}
    if len(known) < len(board.players) or len(set(known.values())) < 2:
        return frozenset()
    return frozenset(seat for seat, score in known.items() if score == max(known.values()))


def _lead(board: Board, leading: Collection[int], teller: Teller) -> str:
    """Who leads, or why nobody does; empty where the board has no scores for all."""
    if board.lead is not None:
        return teller(board.lead)
    if not all(panel.numbers and panel.numbers[0][1] is not None for panel in board.players):
        return ""
    if not board.players:
        return ""
    if not leading:
        return teller(say("Scores are level."))
    if len(leading) == 1:
        return teller(say("{seat} [leads|lead].", seat=next(iter(leading))))
    return teller(
        say("{seats:seats} lead.", seats=tuple(sorted(leading, key=lambda seat: (seat != teller.reader, seat))))
    )


def _high_bid(panel: Panel, teller: Teller) -> HighBid:
    card = _thing(panel.chip, teller) if isinstance(panel.chip, Face) else None
    number = panel.chip if isinstance(panel.chip, int) else None
    return HighBid(panel.seat, capital(teller.name(panel.seat)), _initial(panel, teller), number, card)


def _initial(panel: Panel, teller: Teller) -> str:
    return next((letter for letter in teller.names[panel.seat] if letter.isalnum()), "")


def _thing(face: Face, teller: Teller) -> Thing:
    return Thing(teller(face.word), teller(face.note) if face.note else "", face.kind, face.id)


def _panel(
    panel: Panel,
    teller: Teller,
    deciding: Collection[int],
    leading: Collection[int],
    choosable: list[Choosable] | None = None,
) -> PagePanel:
    return PagePanel(
        panel.seat,
        capital(teller.name(panel.seat)),
        _initial(panel, teller),
        tuple((teller(label), number) for label, number in panel.numbers),
        "" if panel.state is None else capital(teller(panel.state)),
        panel.seat in deciding,
        panel.out,
        panel.seat in leading,
        draw_parts(panel.parts, teller, choosable),
        _scenery(panel.scenery),
    )


def _scenery(faces: Sequence[Face]) -> tuple[Thing, ...]:
    return tuple(Thing("", "", face.kind, face.id) for face in faces)


def draw_parts(
    parts: Sequence[Part], teller: Teller, choosable: list[Choosable] | None = None
) -> tuple[BoardPart, ...]:
    """The parts. A field whose things all lie in one row is taken from the list and can be chosen there."""
    return tuple(_part(part, teller, [] if choosable is None else choosable) for part in parts)


def _part(part: Part, teller: Teller, choosable: list[Choosable]) -> BoardPart:
    if isinstance(part, Line):
        return BoardPart("line", teller(part.text))
    if isinstance(part, Row):
        things = tuple(_thing(face, teller) for face in part.faces)
        return BoardPart("row", capital(teller(part.label)), part.laid, things, _picks(part, choosable))
    if isinstance(part, Amounts):
        return BoardPart("amounts", amounts=tuple((_label(label, teller), number) for label, number in part.pairs))
    assert isinstance(part, Grid)
    rows = tuple(
        (
            capital(teller.name(seat)),
            seat == teller.reader,
            tuple(words_of(cell, teller) if isinstance(cell, Text) else cell for cell in cells),
        )
        for seat, cells in part.rows
    )
    return BoardPart("grid", columns=tuple(capital(teller(column)) for column in part.columns), rows=rows)


def _picks(row: Row, choosable: list[Choosable]) -> tuple[Pick | None, ...]:
    for field in choosable:
        if _lies_in(row, field):
            choosable.remove(field)
            left = list(field.picks)
            return tuple(_taken(left, face.word) or _same(field, face.word) for face in row.faces)
    return ()


def _lies_in(row: Row, field: Choosable) -> bool:
    """Whether the row has all things of a field, each as often as the field."""
    left = [face.word for face in row.faces]
    for word, _pick in field.picks:
        if word not in left:
            return False
        left.remove(word)
    return True


def _taken(left: list[tuple[str, Pick]], word: str) -> Pick | None:
    """The first pick left for a word, taken from the list."""
    for place, (picked, pick) in enumerate(left):
        if picked == word:
            del left[place]
            return pick
    return None


def _same(field: Choosable, word: str) -> Pick | None:
    """The pick of another thing of this word, for a field that takes one."""
    pick = next((pick for picked, pick in field.picks if picked == word and not pick.many), None)
    return None if pick is None else replace(pick, chosen=False, again=True)


def _label(label: Text, teller: Teller) -> Thing:
    return Thing(capital(teller(label)), kind="sign", id=sign_of(label))
