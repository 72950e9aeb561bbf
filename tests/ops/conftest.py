"""Servers to look after: those of the service tests."""

from tests.service.conftest import (
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    house,
    person,
    store,
    table,
)

__all__ = ["clock", "database_url", "empty_postgresql", "empty_sqlite", "house", "person", "store", "table"]
