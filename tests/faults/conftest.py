"""Servers on SQLite, each in a file of its own."""

import shutil
from pathlib import Path

import pytest

from tests.service.conftest import clock, empty_sqlite, person, server, store, table

__all__ = ["clock", "empty_sqlite", "person", "server", "store", "table"]


@pytest.fixture
def database_url(empty_sqlite: Path, tmp_path: Path) -> str:
    """A fresh database with all tables."""
    return f"sqlite:///{shutil.copy(empty_sqlite, tmp_path)}"
