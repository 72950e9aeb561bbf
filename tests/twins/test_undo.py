"""Whether a choice can be taken back, and what follows, tells nobody of the orders and sealed choices of others.

Here nothing is made up: the same game is played on servers with the same keys, clock and randomness, and differs only in
what one player does in secret. What the others see is compared after each step.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pbem.service.play import standing_orders, undo
from pbem.service.play.move import Actor
from pbem.service.tables import going_back
from pbem.store import tables
from tests.service.running_game import RunningGame
from tests.twins.test_twins import differing
from tests.twins.world import Truth, World
from tests.web.browser import Browser

pytestmark = [pytest.mark.slow, pytest.mark.slice(1 / 4)]

Secretly = Callable[[RunningGame, int], object]
"""What a player does in secret at a table, by seat."""


def nothing(game: RunningGame, seat: int) -> None:
    """Do nothing."""


def leaves(text: str) -> Secretly:
    """Leave a standing order."""
    return lambda game, seat: game.server.run(standing_orders.set_order, game.id, seat, text)


def chooses(by: Actor) -> Secretly:
    """Seal the default choice."""
    return lambda game, seat: game.play(seat, game.asked()[seat].default, by)


@pytest.mark.parametrize(
    ("secretly", "after"),
    [
        (leaves("up to 1 or ask me"), 1),
        (leaves("always pass unless the moon is over 0"), 1),
        (leaves("up to 3"), 2),
        (leaves("bid 99 then 3; up to 9 if high bid over 8 and seat 1 is in; up to 1 or ask me; always pass"), 1),
    ],
    ids=["an order that ends", "an order that waits", "an order of a player not asked", "orders that do not fit"],
)
def test_an_undo_tells_nobody_of_the_orders_of_others(tmp_path: Path, secretly: Secretly, after: int) -> None:
    one, other = undone(tmp_path, nothing, after), undone(tmp_path, secretly, after)
    for step, here, there in zip(("choice", "undo", "choice again", "emails"), one, other, strict=True):
        for reader, (what, twin) in enumerate(zip(here, there, strict=True)):
            found = differing(what, twin)
            assert found is None, f"after the {step} reader {reader} is told of an order by {found}"


def undone(folder: Path, secretly: Secretly, after: int) -> Iterator[list[dict[str, bytes]]]:
    """What the others see while a bid is made, taken back and made again, if a player does this in secret before."""
    world = World(Truth("templari", 3, {}, (), {}), folder)
    game, turn = world.game, world.game.row().turn
    (bidder,) = game.asked()
    hiding = (bidder + after) % 3
    others = sorted({0, 1, 2} - {hiding})
    secretly(game, hiding)
    game.play(bidder, "bid 1")
    yield [world.meets(seat, crawl=False) for seat in others]
    game.server.run(undo.take_back, game.id, turn, bidder)
    yield [world.meets(seat, crawl=False) for seat in others]
    game.play(bidder, "bid 1")
    yield [world.meets(seat, crawl=False) for seat in others]
    world.carry()
    yield [world.meets(seat, crawl=False) for seat in others]
    world.close()


@pytest.mark.parametrize(
    "secretly",
    [chooses(Actor.PERSON), chooses(Actor.CLOCK), leaves("always bid 0")],
    ids=["in person", "by the clock", "by an order"],
)
def test_a_refused_undo_tells_nobody_who_has_sealed_a_choice(tmp_path: Path, secretly: Secretly) -> None:
    found = differing(refused(tmp_path, nothing), refused(tmp_path, secretly))
    assert found is None, f"the player is told of a sealed choice by {found}"


@pytest.mark.parametrize("secretly", [chooses(Actor.PERSON), leaves("always bid 0")], ids=["in person", "by an order"])
def test_a_second_chance_tells_nobody_who_has_sealed_a_choice(tmp_path: Path, secretly: Secretly) -> None:
    one, other = (refused(tmp_path, each, Actor.CLOCK) for each in (nothing, secretly))
    assert b"Several players choose at the same time" in one["POST back"]
    found = differing(one, other)
    assert found is None, f"the player is told of a sealed choice by {found}"


def test_going_back_tells_nobody_who_has_sealed_a_choice(tmp_path: Path) -> None:
    one, other = gone_back(tmp_path, nothing), gone_back(tmp_path, chooses(Actor.PERSON))
    for step, here, there in zip(("proposed", "done"), one, other, strict=True):
        found = differing(here, there)
        assert found is None, f"once it is {step} the player is told of a sealed choice by {found}"


def gone_back(folder: Path, secretly: Secretly) -> Iterator[dict[str, bytes]]:
    """What the opener of a sealed auction sees, who proposes to go back, if another player does this in secret before."""
    world = World(Truth("sorcerous-futures", 3, {}, (), {}), folder)
    game = world.game
    game.server.store.write(lambda tx: tables.change_game(tx, game.id, going_back=True))
    while len(game.asked()) == 1:
        (opener,) = game.asked()
        choices = game.asked()[opener].choices()
        game.play(opener, next((choice for choice in choices if choice.verb == "closed"), choices[0]))
    turn, others = game.row().turn, sorted({0, 1, 2} - {opener})
    secretly(game, next(seat for seat in game.asked() if seat != opener))
    answer = Browser(world.app).post(f"/s/{world.links[opener][1]}/go-back", [("agree", "propose")])
    assert "We've asked the others" in answer.text
    yield world.meets(opener, crawl=False)
    for seat in others:
        game.server.run(going_back.agree, game.id, seat, game.person_at(seat), turn)
    assert set(game.asked()) == {opener}
    yield world.meets(opener, crawl=False)
    world.close()


def refused(folder: Path, secretly: Secretly, by: Actor = Actor.PERSON) -> dict[str, bytes]:
    """What the opener of a sealed auction sees, who cannot take that back, if another player does this in secret.

    With second chances, even where the clock has opened it.
    """
    world = World(Truth("sorcerous-futures", 3, {}, (), {}), folder)
    game = world.game
    game.server.store.write(lambda tx: tables.change_game(tx, game.id, second_chance=12))
    while len(game.asked()) == 1:
        (opener,) = game.asked()
        turn, choices = game.row().turn, game.asked()[opener].choices()
        game.play(opener, next((choice for choice in choices if choice.verb == "closed"), choices[0]), by)
    secretly(game, next(seat for seat in game.asked() if seat != opener))
    answer = Browser(world.app).post(f"/s/{world.links[opener][1]}/back", [("turn", str(turn))])
    assert answer.status == 410
    met = world.meets(opener, crawl=False) | {"POST back": answer.response.get_data()}
    world.close()
    return met
