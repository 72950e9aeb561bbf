"""The site and its server on SQLite, for the doors that need them."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest

from tests.service.conftest import (  # noqa: F401 - fixtures come in by their names
    clock,
    empty_postgresql,
    empty_sqlite,
    offered,
    person,
    server,
    sqlite_alone,
    store,
    table,
    time,
)
from tests.web.conftest import app, browser, carry, links, olga, settings, sign_in  # noqa: F401 - fixtures come in by their names


@pytest.fixture
def database_url(sqlite_alone):  # noqa: F811 - the fixture, as above
    """SQLite alone: nothing here is about a database."""
    return sqlite_alone


@pytest.fixture(autouse=True)
def count_inputs(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Count what a test is tried with, for the handbook."""
    given: Any = getattr(request.function, "hypothesis", None)
    if given is None:
        yield
        return
    tried, once = 0, given.inner_test

    @wraps(once)
    def counted(*args: Any, **named: Any) -> Any:
        nonlocal tried
        tried += 1
        return once(*args, **named)

    given.inner_test = counted
    yield
    given.inner_test = once
    record_property("fuzz.doors", 1)
    record_property("fuzz.inputs", tried)
