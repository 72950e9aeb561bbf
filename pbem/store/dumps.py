"""The nightly file of finished public games, as rows: a file that is being made, and the one that is served.

A file is made part by part, in a transaction each, and nobody sees it before its own row is there. So work that is cut short leaves
the former file whole. That one stays for a night more, for those who are downloading it.
"""

from dataclasses import asdict
from typing import Final

from sqlalchemy import Connection, delete, func, insert, select

from pbem.store import queries
from pbem.store.schema import DUMP, DUMP_PART, DumpPartRow, DumpRow

_NEWEST: Final = select(func.max(DUMP.c.number)).scalar_subquery()


def begin(tx: Connection, body: bytes) -> int:
    """Begin a file with its first part. Returns its number, which no other file has."""
    highest = (tx.execute(select(func.max(table.c.number))).scalar_one() or 0 for table in (DUMP, DUMP_PART))
    number = 1 + max(map(int, highest))
    add(tx, DumpPartRow(number, 0, body))
    return number


def add(tx: Connection, row: DumpPartRow) -> None:
    """Add a part to a file that is being made."""
    tx.execute(insert(DUMP_PART), asdict(row))


def publish(tx: Connection, row: DumpRow) -> bool:
    """Serve a file, and drop all but the former one. False if a later one is served already, or parts of this one were dropped."""
    former = current(tx)
    of_file = select(func.coalesce(func.sum(func.length(DUMP_PART.c.body)), 0)).where(DUMP_PART.c.number == row.number)
    if (former is not None and former.number > row.number) or tx.execute(of_file).scalar_one() != row.size:
        drop(tx, row.number)
        return False
    tx.execute(insert(DUMP), row._asdict())
    latest = [row.number] if former is None else [row.number, former.number]
    for table in (DUMP, DUMP_PART):
        tx.execute(delete(table).where(table.c.number.not_in(latest), table.c.number < row.number))
    return True


def drop(tx: Connection, number: int) -> None:
    """Drop the files up to this number that were begun and never served."""
    served = select(DUMP.c.number)
    tx.execute(delete(DUMP_PART).where(DUMP_PART.c.number <= number, DUMP_PART.c.number.not_in(served)))


def current(tx: Connection) -> DumpRow | None:
    """The file that is served; None before the first night."""
    return queries.one(tx, DumpRow, select(DUMP).where(DUMP.c.number == _NEWEST))


def part_at(tx: Connection, number: int, at: int) -> DumpPartRow | None:
    """The part of a file that has this byte; None if the file is gone."""
    query = select(DUMP_PART).where(DUMP_PART.c.number == number, DUMP_PART.c.start <= at)
    return queries.one(tx, DumpPartRow, query.order_by(DUMP_PART.c.start.desc()).limit(1))
