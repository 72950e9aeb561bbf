"""Rows with a start and an end, read as intervals by table or by person."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select

from pbem.domain.interval import Interval

Times = Mapping[int, tuple[Interval, ...]]
"""Intervals by id of a table or person; each id asked for is there, even without intervals."""


def times_of(tx: Connection, statement: Select[Any], these: Collection[int], since: datetime) -> Times:
    """The intervals that end after this moment, by id of the table or person."""
    times: dict[int, tuple[Interval, ...]] = dict.fromkeys(these, ())
    for owner_id, start, end in tx.execute(statement, {"these": list(these), "since": since}):
        times[owner_id] += (Interval(start, end),)
    return times
