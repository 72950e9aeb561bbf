"""Whether a choice was made by a single order or by one of a list, nobody but its player is told."""

from pathlib import Path

import pytest

from pbem.service.play import standing_orders
from tests.twins.test_twins import differing
from tests.twins.world import Truth, World

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 4)]

ONE = "up to 3"
"""An order that answers a bid of 1 as the list does."""

SEVERAL = "up to 9 if seat 1 is out and seat 1 is in; bid 99 then 3; up to 3; always pass"


def test_the_others_see_no_difference_between_an_order_and_one_of_a_list(tmp_path: Path) -> None:
    for reader, (what, twin) in enumerate(zip(answered(tmp_path, ONE), answered(tmp_path, SEVERAL), strict=True)):
        found = differing(what, twin)
        assert found is None, f"reader {reader} is told of a list by {found}"


def answered(folder: Path, order: str) -> list[dict[str, bytes]]:
    """What the others see once an order has answered a bid, and emails about it are sent."""
    world = World(Truth("templari", 3, {}, (), {}), folder)
    game, turn = world.game, world.game.row().turn
    (bidder,) = game.asked()
    hiding = (bidder + 1) % 3
    game.server.run(standing_orders.set_order, game.id, hiding, order)
    game.play(bidder, "bid 1")
    assert game.row().turn == turn + 2
    world.carry()
    met = [world.meets(seat, crawl=False) for seat in sorted({0, 1, 2} - {hiding})]
    world.close()
    return met
