"""Lanterns

A toy for the tests of the kit: sealed bids for lanterns out of a bag, one veto for each, and a secret taste.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from engine.board import Amounts, Board, Face, Line, Panel, Row
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import HIDDEN, SPECTATOR, Fact, fact, is_hidden, put, secret, take
from engine.game import Game, Standing, Story
from engine.options import Listed, Number, Options
from engine.tell import say

COLOURS: Final = ("red", "green", "blue", "white", "amber")


@fact
class State:
    """The bag has no order: a lantern has no place until it is drawn."""

    bag: tuple[str, ...]
    coins: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    vetoes: tuple[bool, ...]
    tastes: tuple[Any, ...]
    spent: int = 0
    broken: tuple[str, ...] = ()
    lot: str = ""
    bidding: bool = False
    over: bool = False


@fact
class Liked(Fact[State]):
    """{seat} secretly [likes|like] {colour} lanterns."""

    seat: int
    colour: str = secret()

    def apply(self, state: State) -> State:
        return replace(state, tastes=put(state.tastes, self.seat, self.colour))


@fact
class Offered(Fact[State]):
    """A {lot} lantern is put up."""

    lot: str

    def apply(self, state: State) -> State:
        return replace(state, lot=self.lot, bag=take(state.bag, self.lot), bidding=not any(state.vetoes))


@fact
class Vetoed(Fact[State]):
    """{seat} [has|have] the lantern broken."""

    seat: int

    def apply(self, state: State) -> State:
        vetoes = put(state.vetoes, self.seat, False)
        return replace(state, broken=(*state.broken, state.lot), lot="", vetoes=vetoes)


@fact
class Allowed(Fact[State]):
    """Nobody objects; bids are taken."""

    def apply(self, state: State) -> State:
        return replace(state, bidding=True)


@fact
class Sold(Fact[State]):
    """The bids are {bids}; {seat} [buys|buy] the lantern for {price:coin|coins}."""

    bids: tuple[int, ...]
    seat: int
    price: int

    def apply(self, state: State) -> State:
        return replace(
            state,
            coins=put(state.coins, self.seat, state.coins[self.seat] - self.price),
            spent=state.spent + self.price,
            rows=put(state.rows, self.seat, (*state.rows[self.seat], state.lot)),
            lot="",
            bidding=False,
        )


@fact
class TastesRevealed(Fact[State]):
    """The bag is empty, and all tell what they like: {colours}."""

    colours: tuple[str, ...]

    def apply(self, state: State) -> State:
        return replace(state, tastes=self.colours, over=True)


class Lanterns(Game[State]):
    """Lanterns for two to four players."""

    title = "Lanterns"
    seats = (2, 4)
    options = (
        Listed(
            "vetoes",
            say("Vetoes"),
            "one",
            (("none", say("none")), ("one", say("one"))),
            say("May each player have one lantern broken?"),
        ),
        Number("purse", say("Coins at the start"), 12, 1, 40, say("What is in a purse.")),
    )
    length = say("15 lanterns.")
    credits = say("A toy.")
    hidden = ("a colour", "colours")

    def start(self, seats: int, options: Options) -> State:
        vetoes = (options["vetoes"] == "one",) * seats
        return State(COLOURS * 3, (int(options["purse"]),) * seats, ((),) * seats, vetoes, (HIDDEN,) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        for seat in range(len(state.coins)):
            state = yield Liked(seat, draw.pick(COLOURS))
        yield Offered(draw.pick(state.bag))

    def asks(self, view: State, seat: int) -> Decision | None:
        if not view.lot:
            return None
        if view.bidding:
            blank = Amount("coins", 0, view.coins[seat])
            prompt = say("What do you bid for the {lot} lantern?", lot=view.lot)
            return Decision(seat, prompt, (Act("bid", (blank,)),), Choice("bid", (0,)), topic="lot", public=True)
        if not view.vetoes[seat]:
            return None
        return Decision(
            seat,
            say("May the {lot} lantern be sold?", lot=view.lot),
            (Act("allow"), Act("veto")),
            default=Choice("allow"),
            closes=frozenset({"veto"}),
            topic="veto",
        )

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if state.bidding:
            bids = tuple(choices[seat].number() for seat in sorted(choices))
            state = yield Sold(bids, bids.index(max(bids)), max(bids))
        elif vetoed := [seat for seat, choice in choices.items() if choice.verb == "veto"]:
            state = yield Vetoed(vetoed[0])
        else:
            state = yield Allowed()
        if state.lot:
            return
        if state.bag:
            yield Offered(draw.pick(state.bag))
        else:
            yield TastesRevealed(state.tastes)

    def standing(self, state: State) -> Standing:
        if not state.over:
            return Standing(tuple(map(len, state.rows)))
        scores = (len(row) + 2 * Counter(row)[taste] for row, taste in zip(state.rows, state.tastes, strict=True))
        return Standing.by(tuple(zip(scores, state.coins, strict=True)), (say("the coins that were left"),))

    def board(self, view: State, seat: int) -> Board:
        own = () if seat == SPECTATOR else (Line(say("You like {colour}.", colour=view.tastes[seat])),)
        rows = tuple(
            Row(say("lanterns"), tuple(Face("lantern", colour, colour) for colour in row)) for row in view.rows
        )
        return Board(
            say("Lanterns"),
            say("A {lot} lantern is up.", lot=view.lot) if view.lot else say("The game is over."),
            (Amounts(((say("lanterns in the bag"), len(view.bag)),)),),
            own,
            tuple(Panel(i, ((say("coins"), coins),), parts=(rows[i],)) for i, coins in enumerate(view.coins)),
        )

    def longest(self, seats: int, options: Options) -> int:
        return 2 * 15 + seats + 2

    def tally(self, state: State) -> Mapping[str, int]:
        lying = len(state.bag) + len(state.broken) + bool(state.lot)
        return {"coins": sum(state.coins) + state.spent, "lanterns": sum(map(len, state.rows)) + lying}

    def imagine(self, view: State, seat: int, draw: Draw) -> State:
        return replace(view, tastes=tuple(draw.pick(COLOURS) if is_hidden(t) else t for t in view.tastes))
