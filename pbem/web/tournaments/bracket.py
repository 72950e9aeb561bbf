"""The bracket of a knockout as a drawing: a column for each round, a box for each table, and the way of those who went on."""

import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _, ngettext
from pbem.service.tournaments.reading import Round

_WIDTH: Final = 168
_BETWEEN: Final = 44
"""Between two columns, where the ways are."""

_TOP: Final = 34
_EDGE: Final = 10
_HEAD: Final = 24
_LINE: Final = 20
_FOOT: Final = 6
_APART: Final = 14
"""Between two boxes of a column."""

_LONGEST: Final = 16
"""Letters of a name that fit a box; wide ones count twice."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words on a drawing."""

    x: int
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A player in a box: the name as far as it fits, the place, and whether they went on."""

    y: int
    name: str
    place: str
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A table, or someone who `rests`: who goes on without one."""

    x: int
    y: int
    width: int
    height: int
    title: str
    lines: tuple[Line, ...]
    rests: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A box in words."""

    round: int
    table: str
    players: str
    next: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """The drawing, and the same in words. `ways` are the lines between boxes, as the data of their paths."""

    width: int
    height: int
    says: str
    headings: tuple[Words, ...]
    boxes: tuple[Box, ...]
    ways: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(slots=True)
class _Node:
    """A box before it has its position. `players` are the names with their places, by number, the first place first."""

    title: str
    players: dict[int, tuple[str, str]]
    rests: bool = False
    y: int = 0

    @property
    def height(self) -> int:
        return _HEAD + _LINE * len(self.players) + _FOOT


def bracket(rounds: tuple[Round, ...]) -> Bracket:
    """The bracket of these rounds, at least one."""
    columns = [_column(each) for each in rounds]
    _put_in_order(columns)
    _lay_out(columns)
    boxes, ways, rows = [], [], []
    for at, column in enumerate(columns):
        following = columns[at + 1] if at + 1 < len(columns) else []
        x = _EDGE + at * (_WIDTH + _BETWEEN)
        for node in column:
            lines = []
            for index, (number, (name, place)) in enumerate(node.players.items()):
                then = _with(following, number)
                y = node.y + _HEAD + _LINE * (index + 1) - 5
                lines.append(Line(y, _short(name), place, then is not None))
                if then is not None:
                    ways.append(_way(x + _WIDTH, y - 4, x + _WIDTH + _BETWEEN, _line_of(then, number)))
            boxes.append(Box(x, node.y, _WIDTH, node.height, node.title, tuple(lines), node.rests))
            rows.append(_row(rounds[at].number, node, following))
    return Bracket(
        width=2 * _EDGE + len(columns) * (_WIDTH + _BETWEEN) - _BETWEEN,
        height=max(node.y + node.height for column in columns for node in column) + _EDGE,
        says=ngettext(
            "One round. The same as a table is under “Show data”.",
            "%(num)s rounds. The same as a table is under “Show data”.",
            len(rounds),
        ),
        headings=tuple(
            Words(_EDGE + at * (_WIDTH + _BETWEEN), 20, _("Round %(number)s", number=each.number))
            for at, each in enumerate(rounds)
        ),
        boxes=tuple(boxes),
        ways=tuple(ways),
        rows=tuple(rows),
    )


def _column(round_: Round) -> list[_Node]:
    tables = [
        _Node(
            _("Table %(number)s", number=table.number),
            {each.number: (each.name, f"{each.place or ''}") for each in table.ranked},
        )
        for table in round_.tables
    ]
    return tables + [
        _Node(_("No game"), {number: (name, "")}, rests=True)
        for number, name in zip(round_.bye_numbers, round_.byes, strict=True)
    ]


def _put_in_order(columns: list[list[_Node]]) -> None:
    """Sort the boxes of each column by where their players went, so that few ways cross."""
    for column, following in reversed(list(pairwise(columns))):
        places = {number: at for at, node in enumerate(following) for number in node.players}

        def mean(node: _Node, places: dict[int, int] = places) -> float:
            went = [places[number] for number in node.players if number in places]
            return sum(went) / len(went) if went else len(places)

        column.sort(key=mean)


def _lay_out(columns: list[list[_Node]]) -> None:
    """Stack the boxes of each column, and put all columns on one middle line."""
    heights = [sum(node.height + _APART for node in column) - _APART for column in columns]
    for column, height in zip(columns, heights, strict=True):
        y = _TOP + (max(heights) - height) // 2
        for node in column:
            node.y = y
            y += node.height + _APART


def _with(column: list[_Node], number: int) -> _Node | None:
    return next((node for node in column if number in node.players), None)


def _line_of(node: _Node, number: int) -> int:
    """The height of a player's line in a box."""
    return node.y + _HEAD + _LINE * (list(node.players).index(number) + 1) - 9


def _way(x: int, y: int, to_x: int, to_y: int) -> str:
    middle = (x + to_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"


def _row(number: int, node: _Node, following: list[_Node]) -> Row:
    went = [
        _("%(name)s to %(table)s", name=isolate(name), table=then.title.lower())
        for player, (name, _place) in node.players.items()
        if (then := _with(following, player)) is not None
    ]
    players = [f"{isolate(name)} ({place})" if place else isolate(name) for name, place in node.players.values()]
    return Row(number, node.title, ", ".join(players), ", ".join(went) or "–")


def _short(name: str) -> str:
    """A name as far as it fits."""
    width, short = 0, ""
    for letter in name:
        width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if width > _LONGEST:
            return f"{short[:-1].rstrip()}…"
        short += letter
    return short
