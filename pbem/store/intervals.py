"""Rows with a start and an end, read as intervals by table or by person."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select

from pbem.domain.interval import Interval

Times = Mapping[int, tuple[Interval, ...]]
"""Times of tables or of people, by their numbers; of each that was asked for, none at all too."""


def times_of(tx: Connection, statement: Select[Any], these: Collection[int], since: datetime) -> Times:
    """The intervals of each table or person asked for that reach beyond a moment."""
    found: dict[int, tuple[Interval, ...]] = dict.fromkeys(these, ())
    for whose, start, end in tx.execute(statement, {"these": list(these), "since": since}):
        found[whose] += (Interval(start, end),)
    return found
