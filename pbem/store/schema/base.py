"""What all tables share: names of constraints, column types and kinds of keys."""

from datetime import datetime
from typing import Annotated

from sqlalchemy import CheckConstraint, LargeBinary, MetaData, Table, Text
from sqlalchemy.orm import DeclarativeBase, mapped_column

from pbem.store.types import Moment, Number

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

Id = Annotated[int, mapped_column(Number, primary_key=True, autoincrement=True)]
Part = Annotated[int, mapped_column(Number, primary_key=True, autoincrement=False)]


def one_of(column: str, *values: str) -> CheckConstraint:
    """A check that a column holds one of these words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


class Base(DeclarativeBase):
    """The base of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Moment, int: Number, str: Text, bytes: LargeBinary}  # noqa: RUF012 - SQLAlchemy's


def table_of(kind: type[Base]) -> Table:
    """The table of a class, for statements that are built once."""
    table = kind.__table__
    assert isinstance(table, Table)
    return table
