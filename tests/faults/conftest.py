"""Servers on SQLite."""

import pytest

from tests.service.conftest import clock, empty_sqlite, person, server, sqlite_alone, store, table

__all__ = ["clock", "empty_sqlite", "person", "server", "sqlite_alone", "store", "table"]


@pytest.fixture
def database_url(sqlite_alone: str) -> str:
    """A fresh database with all tables."""
    return sqlite_alone
