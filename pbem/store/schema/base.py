"""Declaring a table by the class of its rows: each field is a column, which is NULL where the field may be None.

`Annotated` adds keys and references.
"""

from datetime import date, datetime
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, get_args, get_type_hints

from sqlalchemy import Boolean, CheckConstraint, Column, Date, Double, ForeignKey, LargeBinary, MetaData, Table, Text
from sqlalchemy.schema import SchemaItem

from pbem.store.types import Moment, Number

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_TYPES: Final[dict[Any, Any]] = {
    bool: Boolean,
    int: Number,
    float: Double,
    str: Text,
    bytes: LargeBinary,
    date: Date,
    datetime: Moment,
}


class Key(NamedTuple):
    """Marks a column of the primary key."""

    counted: bool = False


class Reference(NamedTuple):
    """Marks a column that refers to one of another table."""

    column: str
    ondelete: str | None = None


KEY: Final = Key()
Id = Annotated[int, Key(counted=True)]
Part = Annotated[int, KEY]
GameId = Annotated[int, Reference("game.id")]
PersonId = Annotated[int, Reference("person.id")]


def table(name: str, row: type[Any], *constraints: SchemaItem) -> Table:
    hints = get_type_hints(row, include_extras=True)
    return Table(name, METADATA, *(_column(field, hint) for field, hint in hints.items()), *constraints)


def one_of(column: str, *values: str) -> CheckConstraint:
    """A check that a column holds one of these words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column, info={column: values})


def words_of(table: Table) -> dict[str, tuple[str, ...]]:
    """The columns of a table that hold one of some words, with these words."""
    checks = (each.info for each in table.constraints if isinstance(each, CheckConstraint))
    return {column: words for info in checks for column, words in info.items()}


def _column(name: str, hint: Any) -> Column[Any]:
    nullable = NoneType in get_args(hint)
    annotated = get_args(hint)[0] if nullable else hint
    marks = getattr(annotated, "__metadata__", ())
    references = [ForeignKey(mark.column, ondelete=mark.ondelete) for mark in marks if isinstance(mark, Reference)]
    key = next((mark for mark in marks if isinstance(mark, Key)), None)
    kind = _TYPES[getattr(annotated, "__origin__", annotated)]
    if key is None:
        return Column(name, kind, *references, nullable=nullable)
    return Column(name, kind, *references, primary_key=True, autoincrement=key.counted)
