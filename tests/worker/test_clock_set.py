"""A real server whose clock is set while it runs. Its ticks follow the steady clock."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ops.processes import get, serving
from tests.ports import free_port
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.needs("faketime")]


class SetClock:
    """A server, its admin port, and the file with the offset of its clock."""

    def __init__(self, port: int, offset: Path) -> None:
        self.port = port
        self.offset = offset

    def set(self, offset: str) -> None:
        """Set the clock by this much from the machine's."""
        new = self.offset.with_suffix(".new")
        new.write_text(f"{offset}\n")
        new.replace(self.offset)

    def ticks(self, name: str) -> float:
        """How often a tick has run."""
        found = re.search(rf'^pbem_tick_seconds_count{{tick="{name}"}} (\S+)', get(self.port, "/metrics")[1], re.M)
        return float(found[1]) if found else 0

    def steps(self) -> list[str]:
        """What `/ready` says of steps of the clock, once the server is ready."""
        status, body = get(self.port, "/ready")
        if status != 200:
            return []
        return [each["says"] for each in json.loads(body)["checks"] if each["what"] == "clock steps"]

    def shows(self, says: str) -> None:
        """Wait until `/ready` says this of a step."""
        until(lambda: any(says in each for each in self.steps()), f"the step is shown: {says}")

    def works_on(self) -> None:
        """Wait until ticks have run that run every two seconds."""
        before = self.ticks("deliver")
        until(lambda: self.ticks("deliver") >= before + 2, "the ticks run on")


@pytest.fixture
def clock_set(tmp_path: Path) -> Iterator[SetClock]:
    (library,) = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    found = SetClock(free_port(), tmp_path / "offset")
    found.set("+0")
    settings = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(found.offset),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "PBEM_WEB_PORT": str(free_port()),
        "PBEM_WEB_ADMIN_PORT": str(found.port),
    }
    with serving("serve", folder=tmp_path, **settings) as process:
        process.until("Stop it with")
        yield found
        assert process.stop() == 0


def test_ticks_run_on_when_the_clock_is_set_back_forward_and_right(clock_set: SetClock) -> None:
    # A machine without a battery for its clock starts decades away from the right time.
    assert clock_set.steps() == []
    for offset, says in (
        ("-2h", "back by 2 hours"),
        ("+0", "forward by 2 hours"),
        ("+9000d", "forward by 9000 days"),
        ("+0", "back by 9000 days"),
    ):
        clock_set.set(offset)
        clock_set.shows(says)
        clock_set.works_on()
