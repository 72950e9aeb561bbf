"""The databases of the measurements."""

from tests.bench.conftest import database_url, durable_postgresql, fresh_database

__all__ = ["database_url", "durable_postgresql", "fresh_database"]
