"""Fixtures of a server of many processes: the PostgreSQL of the service tests, and a relay."""

import pytest

from tests.mail.sink import Sink
from tests.service.conftest import emptied, empty_postgresql

__all__ = ["empty_postgresql"]


@pytest.fixture
def sink():
    """The far end of SMTP."""
    with Sink() as listening:
        yield listening


@pytest.fixture
def database_url(empty_postgresql):
    """A fresh PostgreSQL database with all tables."""
    return emptied(empty_postgresql)
