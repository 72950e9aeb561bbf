"""What can happen in Bid!."""

from __future__ import annotations

from engine.decks.piecepack import DICE, SUITS, VALUE_NAMES
from engine.facts import Fact, Step, fact, put, take
from engine.records import replace
from engine.tell import Text, say

from .auction import STRONG_HAND, Dice, Tiles
from .state import State, added
from .words import spoken_dice, spoken_prize, spoken_tiles


@fact
class Rolled(Fact[State]):
    """The dice of a new auction."""

    auction: int
    seat: int
    dice: Dice

    def sentence(self) -> Text:
        return say(
            "Auction {auction}: {seat} [rolls|roll] {dice}.",
            auction=self.auction,
            seat=self.seat,
            dice=spoken_dice(self.dice),
        )

    def step(self) -> Step:
        return Step(opens=True)

    def apply(self, state: State) -> State:
        return replace(state, auction=self.auction, roller=self.seat, dice=self.dice, bids=())


@fact
class UsedPawn(Fact[State]):
    """A player had all four dice rolled again."""

    seat: int
    dice: Dice

    def sentence(self) -> Text:
        return say(
            "{seat} [gives|give] up [their|your] Pawn to reroll the dice: {dice}. All bids are cancelled.",
            seat=self.seat,
            dice=spoken_dice(self.dice),
        )

    def apply(self, state: State) -> State:
        return replace(state, pawns=put(state.pawns, self.seat, state.pawns[self.seat] - 1), dice=self.dice)


@fact
class PaidForRoll(Fact[State]):
    """A player had one die rolled again."""

    seat: int
    suit: str
    value: int

    def sentence(self) -> Text:
        return say(
            "{seat} [pays|pay] 1 coin to reroll the {suit} die: {value}. All bids are cancelled.",
            seat=self.seat,
            suit=SUITS[self.suit],
            value=VALUE_NAMES[self.value],
        )

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] - 1)
        dice = put(state.dice, DICE.index(self.suit), self.value)
        return replace(state, coins=coins, bank=state.bank + 1, dice=dice)


@fact
class ArmsPaid(Fact[State]):
    """The bonus for strong hands under the Ace of Arms."""

    seats: tuple[int, ...]
    points: int

    def sentence(self) -> Text:
        if not self.seats:
            return say("Ace of Arms: nobody's tiles add up to {least}.", least=STRONG_HAND)
        return say(
            "Ace of Arms: {points} points for tiles adding up to {least} or more go to {seats:seats}.",
            points=self.points,
            least=STRONG_HAND,
            seats=self.seats,
        )

    def apply(self, state: State) -> State:
        return replace(state, points=added(state.points, self.seats, self.points))


@fact
class BidTiles(Fact[State]):
    """A bid is opened."""

    seat: int
    tiles: Tiles

    def sentence(self) -> Text:
        if len(self.tiles) == 1:
            return say("{seat} [bids|bid] {tiles}.", seat=self.seat, tiles=self.tiles)
        return say(
            "{seat} [bids|bid] {tiles} (total {value}).", seat=self.seat, tiles=self.tiles, value=sum(self.tiles)
        )

    def step(self) -> Step:
        return Step(bids=((self.seat, self.tiles),))

    def apply(self, state: State) -> State:
        bids = state.bids or ((),) * len(state.hands)
        return replace(state, bids=put(bids, self.seat, self.tiles))


@fact
class Tied(Fact[State]):
    """{seats:seats} tie for the highest bid and now bid coins."""

    seats: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, tied=self.seats)


@fact
class BidCoins(Fact[State]):
    """{seat} [pays|pay] {coins:coin|coins} to the bank."""

    # Not worded as a bid: the bids of an auction are its tiles, and coins do not belong in one chart with them.

    seat: int
    coins: int

    def sentence(self) -> Text:
        if not self.coins:
            return say("{seat} [pays|pay] no coins.", seat=self.seat)
        return say("{seat} [pays|pay] {coins:coin|coins} to the bank.", seat=self.seat, coins=self.coins)

    def step(self) -> Step:
        return Step(adds=((self.seat, say("{coins:coin|coins}", coins=self.coins)),))

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] - self.coins)
        return replace(state, coins=coins, bank=state.bank + self.coins)


@fact
class CoinsTied(Fact[State]):
    """{seats:seats} tie on coins too, so nobody wins this auction."""

    seats: tuple[int, ...]

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, tied=())


@fact
class CrownsTook(Fact[State]):
    """Ace of Crowns: {seats:seats} tie for the highest bid and lose {points:point|points} each. Nobody wins this
    auction.
    """

    seats: tuple[int, ...]
    points: int

    def step(self) -> Step:
        return Step(ends=True)

    def apply(self, state: State) -> State:
        return replace(state, points=added(state.points, self.seats, -self.points))


@fact
class Won(Fact[State]):
    """{seat} [wins|win] the auction: {points:point|points} and {coins:coin|coins}."""

    seat: int
    points: int
    coins: int

    def sentence(self) -> Text:
        return say(
            "{seat} [wins|win] the auction: {prize}.", seat=self.seat, prize=spoken_prize(self.points, self.coins)
        )

    def step(self) -> Step:
        return Step(ends=True, winner=self.seat)

    def apply(self, state: State) -> State:
        return replace(
            state,
            points=added(state.points, (self.seat,), self.points),
            coins=added(state.coins, (self.seat,), self.coins),
            bank=state.bank - self.coins,
            tied=(),
        )


@fact
class MoonsPaid(Fact[State]):
    """The coins of the Ace of Moons; no seats if the bank could not pay them all."""

    seats: tuple[int, ...]
    each: int

    def sentence(self) -> Text:
        if not self.seats:
            return say("Ace of Moons: the bank can't pay everyone, so it pays nobody.")
        return say(
            "Ace of Moons: the bank pays {each:coin|coins} each to {seats:seats}.", each=self.each, seats=self.seats
        )

    def apply(self, state: State) -> State:
        coins = added(state.coins, self.seats, self.each)
        return replace(state, coins=coins, bank=state.bank - self.each * len(self.seats))


@fact
class PassedOn(Fact[State]):
    """The tiles that were bid change hands: each of the seats passes its tiles to the next, the last to the first."""

    seats: tuple[int, ...]
    tiles: tuple[Tiles, ...]

    def sentence(self) -> Text:
        if not self.seats:
            return say("No tiles change hands.")
        takers = self.seats[1:] + self.seats[:1]
        passes = tuple(
            say("the {tiles} from {giver:seat} to {taker:seat}", tiles=spoken_tiles(tiles), giver=giver, taker=taker)
            for giver, taker, tiles in zip(self.seats, takers, self.tiles, strict=True)
        )
        return say("Tiles change hands: {passes}.", passes=passes)

    def step(self) -> Step:
        return Step(adds=self._got())

    def _got(self) -> tuple[tuple[int, Text], ...]:
        """Return what each of the seats got: the tiles of the one before it."""
        return tuple(
            (seat, say("got {tiles}", tiles=spoken_tiles(self.tiles[i - 1]))) for i, seat in enumerate(self.seats)
        )

    def apply(self, state: State) -> State:
        hands = list(state.hands)
        for i, seat in enumerate(self.seats):
            hand = hands[seat]
            for passed in self.tiles[i]:
                hand = take(hand, passed)
            # The first one's neighbour in the circle is the last one, which is where -1 leads.
            hands[seat] = tuple(sorted(hand + self.tiles[i - 1]))
        return replace(state, hands=tuple(hands))


@fact
class LeadShared(Fact[State]):
    """{seats:seats} share the lead on {points} points. The next player to lead outright wins."""

    seats: tuple[int, ...]
    points: int

    def apply(self, state: State) -> State:
        return replace(state, overtime=True)


@fact
class TookTheLead(Fact[State]):
    """{seat} [wins|win] with {points:point|points}. The game is over."""

    seat: int
    points: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)


@fact
class RanOut(Fact[State]):
    """Auction {auction} was the last. The game is over."""

    auction: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)
