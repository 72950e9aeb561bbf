"""Fixtures of a server of many processes: the PostgreSQL of the service tests, and a relay."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.crash.town import Town
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


Opened = Callable[[Town], AbstractContextManager[Town]]


@pytest.fixture
def opened(record_property: Callable[[str, object], None]) -> Opened:
    """Closes a town after a test, whose figures are noted."""

    @contextmanager
    def opened(town: Town) -> Iterator[Town]:
        try:
            yield town
        finally:
            town.close()
        for name, number in town.figures.items():
            record_property(f"soak.{name}", number)

    return opened
