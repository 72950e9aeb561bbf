"""Caravans

A toy for the tests of the kit: every season all players, in secret, send two of their camels, rank the three towns, and
split four coins over them. Each town goes to the player who gave it most; the place of the town in the ranking helps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from engine.board import Amounts, Board, Face, Line, Panel, Row
from engine.chance import Draw
from engine.decisions import Act, Choice, Decision, Ranking, Some, Split, Thing
from engine.facts import SPECTATOR, Fact, fact, put
from engine.game import Game, Standing, Story
from engine.options import Listed, Options
from engine.tell import Text, say

TOWNS: Final = ("Aleppo", "Basra", "Cairo")
CAMELS: Final = ("old", "old", "young", "lame", "white")
COINS: Final = 4
PHRASE: Final = "send {} with {} by way of {}"


@fact
class State:
    """Coins that were given are gone for good, and counted for the tally."""

    seasons: int
    left: int
    herds: tuple[tuple[str, ...], ...]
    towns: tuple[int, ...]
    purses: tuple[int, ...]
    given: int = 0
    away: tuple[str, ...] = ()


@fact
class Began(Fact[State]):
    """The camels rest before the first of {seasons:season|seasons}."""

    seasons: int

    def apply(self, state: State) -> State:
        return state


@fact
class Sent(Fact[State]):
    """{seat} [sends|send] {camels}, [gives|give] {coins} to the towns and [goes|go] to {route}."""

    seat: int
    camels: tuple[str, ...]
    coins: tuple[int, ...]
    route: tuple[str, ...]

    def apply(self, state: State) -> State:
        herd = list(state.herds[self.seat])
        for camel in self.camels:
            herd.remove(camel)
        return replace(
            state,
            herds=put(state.herds, self.seat, tuple(herd)),
            purses=put(state.purses, self.seat, state.purses[self.seat] - sum(self.coins)),
            given=state.given + sum(self.coins),
            away=state.away + self.camels,
        )


@fact
class Traded(Fact[State]):
    """{seat} [takes|take] {town}."""

    seat: int
    town: str

    def apply(self, state: State) -> State:
        return replace(state, towns=put(state.towns, self.seat, state.towns[self.seat] + 1))


@fact
class Ended(Fact[State]):
    """The camels come home."""

    silent = True
    camels: tuple[str, ...]

    def apply(self, state: State) -> State:
        return replace(state, left=state.left - 1, herds=(CAMELS,) * len(state.herds), away=())


class Caravans(Game[State]):
    """Caravans for two or three players."""

    title = "Caravans"
    seats = (2, 3)
    options = (
        Listed(
            "seasons",
            say("Seasons"),
            "two",
            (("one", say("one")), ("two", say("two")), ("three", say("three"))),
            say("How long the game is."),
            seats=(2,),
        ),
    )
    length = say("Two seasons.")
    credits = say("A toy.")

    def start(self, seats: int, options: Options) -> State:
        seasons = ("one", "two", "three").index(str(options["seasons"])) + 1
        return State(seasons, seasons, (CAMELS,) * seats, (0,) * seats, (COINS * seasons,) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        yield Began(state.left)

    def asks(self, view: State, seat: int) -> Decision | None:
        if not view.left:
            return None
        herd = tuple(Thing(camel, f"{camel} camel") for camel in view.herds[seat])
        towns = tuple(Thing(town, town) for town in TOWNS)
        send = Act("send", (Some("camels", herd, 2), Split("coins", towns, COINS), Ranking("route", towns)), PHRASE)
        rest = Act("rest", (Ranking("route", towns),))
        default = Choice("rest", (TOWNS,))
        return Decision(seat, say("Where do your camels go?"), (send, rest), default, topic="season")

    def objects(self, view: State, seat: int, choice: Choice) -> Text | None:
        if choice.verb == "send" and "lame" in choice.texts(0) and choice.texts(2)[0] == "Cairo":
            return say("The lame camel does not go to {town} first.", town="Cairo")
        return None

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        given = {}
        for seat, choice in sorted(choices.items()):
            if choice.verb == "send":
                camels, coins, route = choice.texts(0), choice.numbers(1), choice.texts(2)
                given[seat] = {town: (coins[i], -route.index(town)) for i, town in enumerate(TOWNS)}
                state = yield Sent(seat, camels, coins, route)
        for town in TOWNS:
            if given:
                best = max(gifts[town] for gifts in given.values())
                winners = [seat for seat, gifts in given.items() if gifts[town] == best]
                state = yield Traded(draw.pick(winners), town)
        yield Ended(state.away)

    def standing(self, state: State) -> Standing:
        if state.left:
            return Standing(state.towns)
        return Standing.by(tuple(zip(state.towns, state.purses, strict=True)), (say("the coins that were kept"),))

    def board(self, view: State, seat: int) -> Board:
        herd = () if seat == SPECTATOR else view.herds[seat]
        return Board(
            say("Caravans"),
            say("Seasons left: {left}", left=view.left),
            (Line(say("The towns: {towns}.", towns=TOWNS)), Amounts(((say("coins given"), view.given),))),
            (Row(say("camels"), tuple(Face("camel", camel, f"{camel} camel") for camel in herd)),),
            tuple(Panel(i, ((say("towns"), towns),)) for i, towns in enumerate(view.towns)),
        )

    def longest(self, seats: int, options: Options) -> int:
        return 4

    def tally(self, state: State) -> Mapping[str, int]:
        return {"coins": sum(state.purses) + state.given, "camels": sum(map(len, state.herds)) + len(state.away)}
