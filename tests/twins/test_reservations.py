"""Who asks for a seat on offer is not told whether its player has answered in the open turn, and nor is anyone else.

Here nothing is made up: the same game is played on servers with the same keys, clock and randomness, and differs only in
what the player of the seat does in secret. What the taker and the others meet is compared until the turn closes.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from pbem.service.absence import offers, substitutes
from pbem.service.clocks import reachability
from pbem.service.desk.acts.clocks import Extend
from pbem.service.desk.acts.seats import Offer
from pbem.service.people import addresses
from pbem.service.play import standing_orders, undo
from pbem.store import people, tables
from pbem.tokens import Purpose
from tests.service.actors import moderate
from tests.service.clock import DAY, MINUTE, Time
from tests.service.running_game import RunningGame
from tests.twins.test_twins import difference
from tests.twins.world import Truth, World
from tests.web.browser import Browser, Links

pytestmark = pytest.mark.slow

GONE = 2
"""The seat on offer."""

Secretly = Callable[[RunningGame], object]


def nothing(_game: RunningGame) -> None:
    """Do nothing."""


def seals(game: RunningGame) -> None:
    game.play(GONE, game.asked()[GONE].default)


def seals_and_takes_back(game: RunningGame) -> None:
    seals(game)
    game.server.run(undo.take_back, game.id, game.row().turn, GONE)


def leaves_an_order(game: RunningGame) -> None:
    game.server.run(standing_orders.set_order, game.id, GONE, "always bid 0 unless round is over 90")


@pytest.mark.parametrize("secretly", [seals, seals_and_takes_back, leaves_an_order])
@pytest.mark.parametrize("withdraws", [False, True])
def test_asking_for_a_seat_tells_nobody_that_its_player_has_answered(
    tmp_path: Path, secretly: Secretly, withdraws: bool
) -> None:
    one, other = reserved(tmp_path, nothing, withdraws), reserved(tmp_path, secretly, withdraws)
    for reader in one:
        found = difference(one[reader], other[reader])
        assert found is None, f"{reader} is told by {found}"


@pytest.mark.parametrize("successor", ["substitute", "bot"])
@pytest.mark.parametrize("secretly", [seals, seals_and_takes_back, leaves_an_order])
def test_a_seat_given_up_because_email_fails_tells_nobody_that_its_player_has_answered(
    tmp_path: Path, secretly: Secretly, successor: str
) -> None:
    one, other = given_up(tmp_path, nothing, successor), given_up(tmp_path, secretly, successor)
    for reader in one:
        found = difference(one[reader], other[reader])
        assert found is None, f"{reader} is told by {found}"


@pytest.mark.parametrize("successor", ["substitute", "bot"])
def test_a_missed_deadline_tells_nobody_of_it_while_the_turn_is_open(tmp_path: Path, successor: str) -> None:
    one, other = missed(tmp_path, nothing, successor), missed(tmp_path, seals, successor)
    for reader in one:
        found = difference(one[reader], other[reader])
        assert found is None, f"{reader} is told by {found}"


def missed(folder: Path, secretly: Secretly, successor: str) -> dict[str, dict[str, bytes]]:
    """What everyone else meets while they still have time, after the last deadline that a player may miss."""
    world = World(Truth("bid", 3, {}, (), {}), folder)
    server, game, hands = world.server, world.game, Time(world.server, world.clock)
    server.store.write(lambda tx: tables.change_game(tx, game.id, successor=successor, missed_limit=2))
    play_until_one_is_missed(game, hands)
    for seat in range(3):
        if seat != GONE:
            moderate(server, Extend(game.id, "1d", seat))
    due = hands.due(game, GONE)
    secretly(game)
    hands.passes_until(due)
    hands.runs_out()
    hands.seats_change()
    assert game.asked().keys() == {0, 1}
    world.carry()
    met = {f"seat {seat}": world.meets(seat, crawl=False) for seat in range(3) if seat != GONE}
    for seat in (0, 1):
        game.play(seat, game.asked()[seat].default)
    hands.seats_change()
    given_up = game.players()[GONE].bot is not None or bool(server.read(offers.open_offers))
    assert given_up == (secretly is nothing)
    world.close()
    return met


def play_until_one_is_missed(game: RunningGame, hands: Time) -> None:
    """Play until all are asked again and the player who is gone has missed a turn."""
    while not game.players()[GONE].missed or len(game.asked()) < 3:
        for seat, decision in game.asked().items():
            if seat != GONE or game.players()[GONE].missed:
                game.play(seat, decision.default)
        if GONE in game.asked() and not game.players()[GONE].missed:
            hands.sends()
            hands.passes_until(hands.due(game, GONE))
            hands.runs_out()
    hands.sends()


def given_up(folder: Path, secretly: Secretly, successor: str) -> dict[str, dict[str, bytes]]:
    """What everyone else meets when no email has reached a player for a week, who did this in secret meanwhile."""
    world = World(Truth("bid", 3, {}, (), {}), folder)
    server, game, hands = world.server, world.game, Time(world.server, world.clock)
    server.store.write(lambda tx: tables.change_game(tx, game.id, successor=successor))
    server.run(reachability.note_refusal, game.person_at(GONE), "550 no such user")
    hands.passes(MINUTE)
    secretly(game)
    hands.passes(7 * DAY)
    offers.give_up_unreachable(server)
    substitutes.tidy(server)
    assert (successor == "bot") == (game.players()[GONE].bot is not None)
    assert (successor == "bot") != bool(server.read(offers.open_offers))
    world.carry()
    met = {"public": world.blanked({"page": Browser(world.app).open(f"/t/{game.row().key}").response.get_data()}, None)}
    met |= {f"seat {seat}": world.meets(seat, crawl=False) for seat in range(3) if seat != GONE}
    world.close()
    return met


def reserved(folder: Path, secretly: Secretly, withdraws: bool) -> dict[str, dict[str, bytes]]:
    """What everyone meets when two outsiders ask for a seat, if its player did this in secret before.

    If the first one withdraws, the other asks again.
    """
    world = World(Truth("bid", 3, {}, (), {}), folder)
    server, game = world.server, world.game
    outsiders = [server.run(addresses.confirm, server.run(addresses.register, f"{name.lower()}@example.org", name).id).id
                 for name in ("Yan", "Zoe")]  # fmt: skip
    for outsider in outsiders:
        server.run(offers.set_volunteer, outsider, volunteers=True)
    assert len(game.asked()) == 3
    moderate(server, Offer(game.id, GONE))
    (offer,) = server.read(offers.open_offers)
    world.clock.advance(MINUTE)
    secretly(game)
    world.clock.advance(MINUTE)
    paths = [f"/c/{Links(server).made(Purpose.CONFIRM, outsider, game.id)}" for outsider in outsiders]
    met: dict[str, dict[str, bytes]] = {"taker": {}, "latecomer": {}}
    asked = zip(met, paths, ("seat", "seat"), strict=True)
    again = zip(met, paths, ("withdraw", "seat"), strict=True) if withdraws else ()
    for reader, path, form in (*asked, *again):
        fields = [("offer", server.keys.alias("offer", offer.id)), ("seat", str(GONE)), ("name", reader)]
        answer = Browser(world.app).post(f"{path}/{form}", fields)
        assert answer.status == 200 or reader == "latecomer"
        met[reader][f"answer {len(met[reader])}"] = b"%d %s" % (answer.status, answer.response.get_data())
    substitutes.tidy(server)
    world.carry()
    for reader, path, outsider in zip(met, paths, outsiders, strict=True):
        met[reader]["page"] = Browser(world.app).open(path).response.get_data()
        met[reader] |= emails_to(world, outsider)
    met["public"] = {"page": Browser(world.app).open(f"/t/{game.row().key}").response.get_data()}
    met = {reader: world.blanked(found, None) for reader, found in met.items()}
    met |= {f"seat {seat}": world.meets(seat, crawl=False) for seat in range(3) if seat != GONE}
    world.close()
    return met


def emails_to(world: World, person: int) -> dict[str, bytes]:
    """The emails to a person, without the address that their replies go to."""
    with world.server.store.read() as tx:
        address = people.read(tx, person).address
    return {f"mail {at}": email.content for at, email in enumerate(world.inbox.emails) if email.recipient == address}
