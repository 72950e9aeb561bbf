"""A press whose n-th call to the database fails, for every n: a page that says so, nothing changed, and the next press works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pbem.domain.choice_links import choice_segment
from pbem.tokens import Purpose
from tests.faults.fail_at_n import BrokenCallError, break_at, rows
from tests.service.database import count_calls
from tests.twins.address_world import AddressWorld
from tests.web.browser import Browser


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AddressWorld]:
    made = AddressWorld(tmp_path)
    yield made
    made.close()


def test_a_press_that_fails_at_any_call_says_so_and_works_the_next_time(world: AddressWorld) -> None:
    ann, browser = world.other("Ann"), Browser(world.app)
    game = world.table(ann, world.other("Ben"), world.carla())
    move, seat = world.links.of(game, 0)
    templari = world.table(ann, world.other("Ben"), world.carla(), kind="templari")
    later = (min(templari.asked()) + 1) % 3
    order = world.links.of(templari, later)[1]
    turn = str(game.row().turn)
    presses = [
        (f"/m/{move}/{choice_segment(game.open()[0].default)}", [("press", "yes")]),
        (f"/s/{seat}/back", [("turn", turn)]),
        (f"/s/{order}/order", [("turn", str(templari.row().turn)), ("order", "up to 3")]),
        (f"/s/{seat}/talk", [("text", "Hello!")]),
        (f"/u/{world.links.made(Purpose.STOP, ann)}", [("mail", "daily")]),
    ]
    for path, fields in presses:
        _press(world, browser, path, fields)


def _press(world: AddressWorld, browser: Browser, path: str, fields: list[tuple[str, str]]) -> None:
    before, done, n = rows(world.server), None, 0
    while True:
        n += 1
        with count_calls(world.server.store, break_at(n)) as made:
            page = browser.post(path, fields, follow=False)
        if len(made) < n:
            break
        assert page.status == 503, (path, made[-1])
        assert "Try again in a few minutes. The page will show whether this counted" in page.text
        assert BrokenCallError.__name__ not in page.source
        if (now := rows(world.server)) != before:
            # Only what is shown afterwards failed: it counts, and pressing again may change nothing more.
            assert done in (None, now), (path, n)
            done = now
    assert page.status in (200, 303), (path, page.status, page.text)
    assert n > 3
    assert done in (None, rows(world.server)), path
    assert rows(world.server) != before, path
