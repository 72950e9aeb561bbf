"""Nobody sees another's address: two worlds that differ in one of Carla's addresses look the same to everyone else.

Every story is told once with each of its addresses changed. The mailbox of the changed address is left out, and so is a host
who has typed it. Everything else has to be the same to the byte, which also covers lengths, order and time. Her other mailboxes
are readers too: someone else may have tomorrow a mailbox that she has left.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from pbem.domain.states import EmailKind
from pbem.service.archive import verify_upload
from tests.mail.kinds import emails_of, kind_of as kind_of_message
from tests.twins.address_stories import STORIES, TYPED, USED
from tests.twins.address_world import OTHER, AddressWorld, Seen

TWINS = [(story, name) for story in STORIES for name in USED[story]]
"""The addresses of the stories. A run changes a few of them, and `make twins` all."""

CHECKED = cache(verify_upload._run_process)
"""The check of a file in a process of its own. It depends on the text alone, and all readers send the same."""

# Stories that were told are kept by one process.
# The first test that needs every story plays them all.
pytestmark = [pytest.mark.xdist_group("addresses"), pytest.mark.timeout(1200)]


class Telling:
    """What is left of a story that was told."""

    def __init__(self, story: str, changed: str = "", *, quick: bool = False) -> None:
        with world_of(changed, quick=quick) as world:
            STORIES[story](world)
            self.seen, self.kinds, self.opened = world.seen(), world.kinds(), world.opened


@cache
def as_usual(story: str) -> Telling:
    """A story with the addresses that it usually has."""
    return Telling(story)


@contextmanager
def world_of(changed: str = "", *, quick: bool = False) -> Iterator[AddressWorld]:
    with TemporaryDirectory() as folder, patch.object(verify_upload, "_run_process", CHECKED):
        world = AddressWorld(Path(folder), changed, quick=quick)
        try:
            yield world
        finally:
            world.close()


@pytest.mark.slow
@pytest.mark.parametrize(("story", "name"), [("invited", "SECOND")])
def test_nobody_else_sees_an_address_at_a_glance(story: str, name: str) -> None:
    compare(Telling(story, quick=True), Telling(story, name, quick=True), story, name)


@pytest.mark.slow
@pytest.mark.slice(1 / 12)
@pytest.mark.parametrize(("story", "name"), TWINS)
def test_nobody_else_sees_an_address(story: str, name: str, record_property: Callable[[str, object], None]) -> None:
    record_property("twins.compared", compare(as_usual(story), Telling(story, name), story, name))
    record_property("twins.pairs", 1)


def compare(one: Telling, other: Telling, story: str, name: str) -> int:
    """Fail unless all readers have seen the same, but those who know the address. Returns the number of things compared."""
    assert one.seen.keys() == other.seen.keys()
    readers = one.seen.keys() - {name, TYPED.get((story, name))}
    for reader in readers:
        what = differing(one.seen[reader], other.seen[reader])
        assert what is None, f"{reader} is told of {name} by {what}"
    # The twin was told, and it differs where it should.
    assert any(OTHER.encode() in content for content in other.seen[name].values())
    return sum(len(one.seen[reader]) for reader in readers)


@pytest.mark.slow
@pytest.mark.slice(1 / 12)
def test_every_kind_of_email_was_looked_at() -> None:
    kinds = {kind for story in STORIES for kind in as_usual(story).kinds}
    # A test email is sent at the machine, and about nobody.
    (trial,) = (email for email in emails_of("sunset-poker") if kind_of_message(email.message) == EmailKind.TRIAL)
    assert "player" not in trial.message.as_string().partition("\n\n")[0].lower()
    assert kinds | {EmailKind.TRIAL} == set(EmailKind)


@pytest.mark.slow
@pytest.mark.slice(1 / 12)
def test_every_route_was_opened_by_another_person() -> None:
    answers: dict[str, set[int]] = {}
    for story in STORIES:
        for route, statuses in as_usual(story).opened.items():
            answers.setdefault(route, set()).update(statuses)
    with world_of() as world:
        routes = {
            f"{method} {rule.rule}"
            for rule in world.app.url_map.iter_rules()
            for method in {"GET", "POST"} & (rule.methods or set())
        }
    unseen = {route for route in routes if not _was_opened(route, answers.get(route, set()))}
    assert {route for route in unseen if not _is_closed(route, answers.get(route, set()))} == set()


def _was_opened(route: str, statuses: set[int]) -> bool:
    """Whether a page was shown, or a form was read: it may have been refused, with our own words."""
    return any(status < 400 or (route.startswith("POST") and status in (400, 409)) for status in statuses)


def _is_closed(route: str, statuses: set[int]) -> bool:
    """Whether a route turned everyone away: the desk, whose pages are for organisers, and the mail server's own door."""
    return route.split()[1].startswith(("/desk", "/inbound")) and bool(statuses) and statuses <= {401, 403, 404}


def differing(one: Seen, other: Seen) -> str | None:
    """The first difference, with its position; None if there is none."""
    for what in {**one, **other}:
        if one.get(what) != other.get(what):
            here, there = one.get(what, b""), other.get(what, b"")
            at = next(
                (i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there))
            )
            return f"{what}: {here[max(0, at - 90) : at + 90]!r} and {there[max(0, at - 90) : at + 90]!r}"
    return None
