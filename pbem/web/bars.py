"""Tables whose rows end in a bar: a chart that reads as a table, and needs no legend."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row: its head, its cells, and the length of its bar in percent. `mark` is where a line crosses it; None for none.

    `address` is where the head leads, if anywhere.
    """

    head: str
    cells: tuple[str, ...]
    length: float
    mark: float | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A table of bars. `says` is the same in a sentence, or what is worth saying about it."""

    name: str
    title: str
    says: str
    columns: tuple[str, ...]
    rows: tuple[BarRow, ...]


def bars_of_counts(counts: Iterable[tuple[str, int]]) -> tuple[BarRow, ...]:
    """A row for each count, with its share of all in percent; the highest count has the longest bar."""
    rows = list(counts)
    total, most = sum(count for _head, count in rows), max((count for _head, count in rows), default=0)
    return tuple(
        BarRow(head, (f"{count:,}", share_text(count, total)), round(100 * count / max(most, 1), 1))
        for head, count in rows
    )


def share_text(part: float, whole: float) -> str:
    """A share in percent, such as `37%`."""
    return f"{100 * part / whole:.0f}%" if whole else ""
