"""Fixtures for the worker: the server of the service tests, and a relay on this machine."""

from tests.mail.conftest import sink
from tests.service.conftest import (
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    person,
    server,
    sqlite_alone,
    store,
    table,
)

__all__ = [
    "clock",
    "database_url",
    "empty_postgresql",
    "empty_sqlite",
    "person",
    "server",
    "sink",
    "sqlite_alone",
    "store",
    "table",
]
