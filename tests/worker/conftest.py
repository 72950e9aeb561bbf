"""A server for the worker's tests: that of the services', and a relay on this machine."""

from tests.mail.conftest import sink
from tests.service.conftest import (
    clock,
    database_url,
    empty_postgresql,
    empty_sqlite,
    person,
    server,
    store,
    table,
)

__all__ = ["clock", "database_url", "empty_postgresql", "empty_sqlite", "person", "server", "sink", "store", "table"]
