"""Servers in SQLite, each in a file or in memory."""

from tests.service.conftest import clock, person, server, table

__all__ = ["clock", "person", "server", "table"]
