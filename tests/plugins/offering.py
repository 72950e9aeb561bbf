"""Another package's game on the server of a test: lanterns, whole or broken, by the source that a test gives."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from pbem.plugins import foreign, offers
from pbem.plugins.offers import Offer
from pbem.plugins.process import Limits
from tests.engine.published import on_the_path, publish
from tests.waiting import PATIENCE

LIMITS: Final = Limits(seconds=0.3, megabytes=200, starting=10, patience=PATIENCE / 0.3)


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Offer, ...]]]:
    """offered(source) -> lanterns of another package are played on this server, by that source."""
    folder = tmp_path / "packages"
    folder.mkdir()

    def offer(source: str, *trusted: str) -> tuple[Offer, ...]:
        offers.close()
        (folder / "lanterns.py").write_text(source)
        return offers.offer(trusted, LIMITS)

    with on_the_path(folder, monkeypatch):
        publish(folder, "paper-lamps", "lanterns = lanterns")
        yield offer
        offers.close()
        for fault in foreign.take_faults():
            foreign.forgive(fault.game_id)
