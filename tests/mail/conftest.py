"""A relay on this machine, for tests that send."""

from collections.abc import Iterator

import pytest

from tests.mail.sink import Sink


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A relay without encryption or a login."""
    with Sink() as listening:
        yield listening
