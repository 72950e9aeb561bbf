"""Column types that behave the same on SQLite and PostgreSQL."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A moment in UTC. A time without a zone is refused, because it could mean any moment."""

    impl = DateTime(timezone=True)
    cache_ok = True

    # Both are called for every moment of every row, so each is one function and not a chain of three.

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        """Convert for the driver: to text on SQLite, which has no type for moments."""
        return _as_text if dialect.name == "sqlite" else _in_utc

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """Convert what the driver returns."""
        return _from_text if dialect.name == "sqlite" else _in_utc


def _in_utc(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if value.tzinfo is not UTC and value.utcoffset() is None:
        raise ValueError(f"{value.isoformat()} has no time zone, so it is not a moment")
    return value.astimezone(UTC)


def _as_text(value: datetime | None) -> str | None:
    """In the format of SQLAlchemy, so that texts sort like moments."""
    in_utc = _in_utc(value)
    return None if in_utc is None else in_utc.replace(tzinfo=None).isoformat(" ", "microseconds")


def _from_text(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


# SQLite numbers rows only in a column of type INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")
