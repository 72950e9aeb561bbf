"""Fish Market

Six fish worth 1 to 6 points come to market one by one, and everyone seals a bid for each. The highest bid pays and
takes the fish; if it is tied, the fish goes back into the sea. The most points win, then the most coins.
"""

from collections.abc import Mapping

from engine.board import Amounts, Board, Face, Panel, Row
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision
from engine.facts import Fact, fact, put
from engine.game import Game, Standing, Story
from engine.options import Options
from engine.records import replace
from engine.tell import say


@fact
class State:
    boat: tuple[int, ...]  # the fish still to come; they have no order until they are landed
    coins: tuple[int, ...]
    fish: tuple[tuple[int, ...], ...]
    stall: int = 0  # the fish for sale, 0 if there is none
    spent: int = 0
    sea: tuple[int, ...] = ()


@fact
class Landed(Fact[State]):
    """A fish worth {fish:point|points} comes to market."""

    fish: int

    def apply(self, state: State) -> State:
        return replace(state, boat=tuple(f for f in state.boat if f != self.fish), stall=self.fish)


@fact
class Sold(Fact[State]):
    """The bids are {bids}. {seat} [buys|buy] the fish for {price:coin|coins}."""

    bids: tuple[int, ...]
    seat: int
    price: int

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] - self.price)
        fish = put(state.fish, self.seat, (*state.fish[self.seat], state.stall))
        return replace(state, coins=coins, fish=fish, stall=0, spent=state.spent + self.price)


@fact
class Lost(Fact[State]):
    """The bids are {bids}. The highest is tied, and the fish goes back into the sea."""

    bids: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, stall=0, sea=(*state.sea, state.stall))


class FishMarket(Game[State]):
    title = "Fish Market"
    seats = (2, 5)
    length = say("Six sealed bids.")
    credits = say("Made for the handbook. Do with it what you like.")

    def start(self, seats: int, options: Options) -> State:
        return State((1, 2, 3, 4, 5, 6), (10,) * seats, ((),) * seats)

    def setup(self, state: State, draw: Draw) -> Story[State]:
        yield Landed(draw.pick(state.boat))

    def asks(self, view: State, seat: int) -> Decision | None:
        if not view.stall:
            return None
        prompt = say("What will you bid for the fish worth {fish:point|points}?", fish=view.stall)
        bid = Amount("coins", 0, view.coins[seat], why=say("You have {coins:coin|coins}.", coins=view.coins[seat]))
        return Decision(seat, prompt, (Act("bid", (bid,)),), default=Choice("bid", (0,)), public=True)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        bids = tuple(choices[seat].number() for seat in range(len(state.coins)))
        high = max(bids)
        state = yield Lost(bids) if bids.count(high) > 1 else Sold(bids, bids.index(high), high)
        if state.boat:
            yield Landed(draw.pick(state.boat))

    def standing(self, state: State) -> Standing:
        points = tuple(map(sum, state.fish))
        if state.stall or state.boat:
            return Standing(points)
        return Standing.by(tuple(zip(points, state.coins, strict=True)), (say("the coins left"),))

    def board(self, view: State, seat: int) -> Board:
        stall = (Face("fish", str(view.stall), str(view.stall)),) if view.stall else ()
        return Board(
            title=say("Fish Market"),
            turn=say("Everyone seals a bid.") if view.stall else say("The market is over."),
            centre=(Row(say("for sale"), stall, "lot"), Amounts(((say("fish to come"), len(view.boat)),))),
            players=tuple(
                Panel(i, ((say("points"), sum(view.fish[i])), (say("coins"), view.coins[i])))
                for i in range(len(view.coins))
            ),
        )

    def longest(self, seats: int, options: Options) -> int:
        return 7

    def tally(self, state: State) -> Mapping[str, int]:
        caught = sum(map(len, state.fish)) + (state.stall > 0)
        return {"fish": len(state.boat) + caught + len(state.sea), "coins": sum(state.coins) + state.spent}
