"""Every use case at every call to the database that it makes: the call fails, nothing is left of it, and it works afterwards.

Stories are told twice, once with every transaction broken at each of its calls before it may succeed. Both have to end with
the same rows, emails and pages. Together the stories reach every public function of the services that changes something.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import pytest

from tests.conftest import EVERYTHING
from tests.faults.fail_at_n import FailAtN, rows
from tests.faults.stories import STORIES
from tests.faults.use_cases import writers
from tests.twins.address_world import AddressWorld, Seen

KNOWN: set[tuple[str, ...]] | None = None if EVERYTHING else set()
"""The transactions broken so far, by their calls. With `make faults` all are broken, at every call."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults"), pytest.mark.timeout(3600)]

# Salts are not drawn from the randomness of a test.
_SALTED = re.compile(r"\$argon2id\$[^']*")


class _World(AddressWorld):
    """A server in a story, at which nobody but mailboxes looks."""

    def looks(self, *, press: bool = False) -> None:
        self.carry()


class Telling:
    """The end of a story, and the functions that it reached within a transaction."""

    def __init__(self, story: str, *, broken: bool = False) -> None:
        self.reached: set[str] = set()
        with TemporaryDirectory() as folder:
            world = _World(Path(folder))
            self.faults = FailAtN(world.server, KNOWN)
            if broken:
                with self.faults.on():
                    STORIES[story](world)
            else:
                self._watch(world)
                STORIES[story](world)
            self.rows = _SALTED.sub("a hash", repr(rows(world.server)))
            self.seen = world.seen()
            world.close()

    def _watch(self, world: AddressWorld) -> None:
        """Note the functions that change something while they run in, or around, a transaction."""
        names, whole = writers(), world.server.store.write

        def called(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call" and frame.f_code in names:
                self.reached.add(names[frame.f_code])

        def write(work: Any) -> Any:
            frame: FrameType | None = sys._getframe()
            while frame is not None:
                called(frame, "call", None)
                frame = frame.f_back
            before = sys.getprofile()
            sys.setprofile(called)
            try:
                return whole(work)
            finally:
                sys.setprofile(before)

        world.server.store.write = write  # type: ignore[method-assign]  # of this store alone


@cache
def as_usual(story: str) -> Telling:
    """A story without any failure."""
    return Telling(story)


@pytest.mark.slice(1 / 5)
@pytest.mark.parametrize("story", STORIES)
def test_a_transaction_that_breaks_at_any_call_leaves_nothing_and_does_all_the_next_time(
    story: str, record_property: Callable[[str, object], None]
) -> None:
    usual, broken = as_usual(story), Telling(story, broken=True)
    assert broken.faults.broken
    assert broken.rows == usual.rows
    assert differing(broken.seen, usual.seen) == set()
    record_property("faults.stories", 1)
    record_property("faults.broken", broken.faults.broken)


def test_every_use_case_that_changes_something_is_broken_at_every_call(
    record_property: Callable[[str, object], None],
) -> None:
    reached = set().union(*(as_usual(story).reached for story in STORIES))
    assert set(writers().values()) - reached == set(), "these are in no story of tests.faults.stories"
    record_property("faults.use cases", len(writers()))


def differing(one: dict[str, Seen], other: dict[str, Seen]) -> set[str]:
    """What readers have seen differently: emails by their names."""
    return {
        f"{reader}: {what}"
        for reader in one.keys() | other.keys()
        for what in one.get(reader, {}).keys() | other.get(reader, {}).keys()
        if one.get(reader, {}).get(what) != other.get(reader, {}).get(what)
    }
