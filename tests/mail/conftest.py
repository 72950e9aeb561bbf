"""A relay on this machine, for tests that send."""

from collections.abc import Iterator

import pytest

from tests.mail.sink import Sink


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A relay that wants neither encryption nor a login."""
    with Sink() as listening:
        yield listening
