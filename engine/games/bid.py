"""Bid!

Everybody holds the same six tiles and bids one of them in secret, but the tiles that were bid travel on: what you won
with today lies in a rival's hand tomorrow. Four dice decide what each auction is worth, and what goes wrong in it.

What you have. Six tiles with the numbers 0 to 5, a Pawn and 2 coins. The bank begins with 4 coins for each player;
when it is empty there are no coins to win. Only you see your tiles, though whoever keeps track of all bids can work out
the others'.

The dice. Four dice are rolled, named after the suits: Suns, Moons, Crowns and Arms. Each shows a null, an ace, or a
number from 2 to 5. The numbers added up are the points at stake, and every null is worth a coin. Each ace has a meaning
of its own.

The Pawn. As long as the bids are sealed you may give up your Pawn, once in the game, to have all four dice rolled
again; the bids made so far are thrown away unseen and everybody bids anew. If several players want it at the same
moment, the first one clockwise from the roller pays and the others keep their Pawns.

The bids. Everybody seals one tile; all are opened together. The single highest bid wins the points and takes its coins
from the bank, as far as the bank has them, and the winner is the next roller.

A tie. If the highest bid is tied, the tied players seal a number of coins, 0 or more. All these coins are lost to the
bank, whoever wins. The single highest number of coins wins the auction; if that is tied as well, nobody wins it.

The Ace of Suns doubles the others: points, coins, bonus and losses alike. Bids are two tiles, and count their sum. Only
the coins bid in a tie are what they are.

The Ace of Moons gives a coin to everybody who did not win. If the bank cannot pay them all, none of them gets any.

The Ace of Crowns punishes a tie: instead of bidding coins, the players tied for the highest bid lose the points that
were at stake. A score may fall below 0.

The Ace of Arms lays all tiles open before the bidding. Before the bids are opened, each player whose six tiles add up
to 16 or more gets 5 points.

Passing on. After the auction the tiles that were bid change hands. The winner passes theirs to the player with the next
highest bid, and so on down; the lowest bid goes to the winner. Players who did not win and bid the same as another who
did not win keep their tiles and are skipped. Everybody has six tiles again.

The end. The first player with 100 points or more wins at once, if nobody has as many. If the lead is shared then, the
game goes on until one player alone is in the lead, whatever the score is by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.board import Amounts, Board, Face, Grid, Line, Part, Row
from engine.chance import Draw
from engine.decisions import Act, Amount, Choice, Decision, OneOf, Some, Thing
from engine.decks.piecepack import ACE, DICE, DIE_THINGS, NULL, SUITS, TILE_THINGS, VALUE_NAMES, VALUES, die, tile
from engine.facts import SPECTATOR, Fact, fact, put, take
from engine.game import Chapter, Game, Listed, Number, Options, Standing, Story
from engine.seats import clockwise
from engine.tell import Text, say

Tiles = tuple[int, ...]
"""Values of tiles, lowest first. Their suits never matter."""

Dice = tuple[int, ...]
"""What the four dice show, in the order of their names."""

SUNS, MOONS, CROWNS, ARMS = range(len(DICE))

TARGET: Final = 100
COINS_EACH: Final = 6
COINS_AT_START: Final = 2
STRONG_HAND: Final = 16
BONUS: Final = 5


@fact
class Terms:
    """What was agreed before the game: whether coins or Pawns buy rerolls, and how many auctions there are at most."""

    coin_rerolls: bool
    auctions: int


@fact
class State:
    """A table of Bid!. Sealed bids are never in it; nothing in it is a secret."""

    terms: Terms
    hands: tuple[Tiles, ...]
    coins: tuple[int, ...]
    pawns: tuple[int, ...]
    bank: int
    points: tuple[int, ...]
    auction: int = 0
    roller: int = 0
    dice: Dice = ()
    bids: tuple[Tiles, ...] = ()
    tied: tuple[int, ...] = ()
    overtime: bool = False
    over: bool = False


# What can happen.


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

    def apply(self, state: State) -> State:
        return replace(state, auction=self.auction, roller=self.seat, dice=self.dice, bids=())


@fact
class UsedPawn(Fact[State]):
    """A player had all four dice rolled again."""

    seat: int
    dice: Dice

    def sentence(self) -> Text:
        return say(
            "{seat} [gives|give] up [their|your] Pawn. All bids are dropped and the dice are rolled again: {dice}.",
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
            "{seat} [pays|pay] 1 coin. All bids are dropped and the {suit} die is rolled again: {value}.",
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
            return say("The Ace of Arms brings nothing: nobody's tiles add up to {least}.", least=STRONG_HAND)
        return say(
            "The Ace of Arms brings {points} points for tiles of {least} or more to {seats:seats}.",
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
            "{seat} [bids|bid] {tiles}, together {value}.", seat=self.seat, tiles=self.tiles, value=sum(self.tiles)
        )

    def apply(self, state: State) -> State:
        bids = state.bids or ((),) * len(state.hands)
        return replace(state, bids=put(bids, self.seat, self.tiles))


@fact
class Tied(Fact[State]):
    """{seats:seats} are tied for the highest bid and bid coins now."""

    seats: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, tied=self.seats)


@fact
class BidCoins(Fact[State]):
    """{seat} [pays|pay] {coins:coin|coins}, which the bank keeps."""

    # Not that somebody bids them: the bids of an auction are its tiles, and coins do not belong in one chart with them.

    seat: int
    coins: int

    def sentence(self) -> Text:
        if not self.coins:
            return say("{seat} [pays|pay] no coins.", seat=self.seat)
        return say("{seat} [pays|pay] {coins:coin|coins}, which the bank keeps.", seat=self.seat, coins=self.coins)

    def apply(self, state: State) -> State:
        coins = put(state.coins, self.seat, state.coins[self.seat] - self.coins)
        return replace(state, coins=coins, bank=state.bank + self.coins)


@fact
class CoinsTied(Fact[State]):
    """{seats:seats} bid the same number of coins: nobody wins this auction."""

    seats: tuple[int, ...]

    def apply(self, state: State) -> State:
        return replace(state, tied=())


@fact
class CrownsTook(Fact[State]):
    """{seats:seats} are tied under the Ace of Crowns and lose {points:point|points} each. Nobody wins this auction."""

    seats: tuple[int, ...]
    points: int

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
            return say("The bank cannot pay everybody for the Ace of Moons, and pays nobody.")
        return say(
            "For the Ace of Moons the bank pays {each:coin|coins} each to {seats:seats}.",
            each=self.each,
            seats=self.seats,
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
            say("{tiles} from {giver:seat} to {taker:seat}", tiles=spoken_tiles(tiles), giver=giver, taker=taker)
            for giver, taker, tiles in zip(self.seats, takers, self.tiles, strict=True)
        )
        return say("Tiles are passed on: {passes}.", passes=passes)

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
    """{seats:seats} share the lead with {points} points. Whoever is next to lead alone wins the game."""

    seats: tuple[int, ...]
    points: int

    def apply(self, state: State) -> State:
        return replace(state, overtime=True)


@fact
class TookTheLead(Fact[State]):
    """{seat} [leads|lead] with {points:point|points}. The game is over."""

    seat: int
    points: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)


@fact
class RanOut(Fact[State]):
    """Auction {auction} was the last that had been agreed. The game is over."""

    auction: int

    def apply(self, state: State) -> State:
        return replace(state, over=True)


# The arithmetic of the rules.


def doubling(dice: Dice) -> int:
    """2 under the Ace of Suns: how many tiles make a bid, and how often everything else counts."""
    return 2 if dice[SUNS] == ACE else 1


def prize(dice: Dice) -> tuple[int, int]:
    """The points and the coins that are up for auction."""
    points = sum(value for value in dice if value not in (NULL, ACE))
    return points * doubling(dice), dice.count(NULL) * doubling(dice)


def strong_hands(hands: Sequence[Tiles]) -> tuple[int, ...]:
    """Who gets the bonus of the Ace of Arms."""
    return tuple(seat for seat, hand in enumerate(hands) if sum(hand) >= STRONG_HAND)


def highest(bids: Mapping[int, int]) -> tuple[int, ...]:
    """The seats with the most, in the order of the seats."""
    most = max(bids.values())
    return tuple(sorted(seat for seat, bid in bids.items() if bid == most))


def consolation(winner: int | None, seats: int, each: int, bank: int) -> tuple[int, ...]:
    """Whom the Ace of Moons pays: all but the winner, or nobody if the bank cannot pay them all."""
    others = tuple(seat for seat in range(seats) if seat != winner)
    return others if each * len(others) <= bank else ()


def passing_order(bids: Sequence[int], winner: int | None) -> tuple[int, ...]:
    """Who passes tiles on, each to the next and the last to the first. A circle of one is none."""
    others = {seat: bid for seat, bid in enumerate(bids) if seat != winner}
    alike = Counter(others.values())
    single = sorted((seat for seat, bid in others.items() if alike[bid] == 1), key=lambda seat: -bids[seat])
    order = tuple(single) if winner is None else (winner, *single)
    return order if len(order) > 1 else ()


def added(amounts: tuple[int, ...], seats: tuple[int, ...], more: int) -> tuple[int, ...]:
    """The amounts, with more of it for some seats."""
    return tuple(amount + more if seat in seats else amount for seat, amount in enumerate(amounts))


class Bid(Game[State]):
    """Bid! for three or four players."""

    title = "Bid!"
    seats = (3, 4)
    options = (
        Listed(
            "reroll",
            say("A new roll costs"),
            "pawn",
            (("pawn", say("the Pawn")), ("coin", say("a coin"))),
            say("What buys a new roll: the Pawn (all four dice, once) or a coin (one die, as often as you can pay)?"),
        ),
        Number(
            "max_auctions",
            say("Auctions at most"),
            150,
            1,
            1000,
            say("After how many auctions the game stops; the most points win then, and equal players share the place."),
        ),
    )
    length = say("About 25 auctions; everybody answers at the same time, once or twice in each.")
    credits = say(
        "Bid! is a design by Ian Schreiber and Jeb Havens, 2004, whose rules are published under the GNU Free "
        "Documentation License 1.2. The piecepack is by James Kyle. This page is our own account of the rules."
    )
    cover = (die("S", 1), die("C", 3), tile(5))
    short = {"max_auctions": 4}

    def start(self, seats: int, options: Options) -> State:
        coin_rerolls = options["reroll"] == "coin"
        return State(
            terms=Terms(coin_rerolls, int(options["max_auctions"])),
            hands=(VALUES,) * seats,
            coins=(COINS_AT_START,) * seats,
            pawns=(0 if coin_rerolls else 1,) * seats,
            bank=(COINS_EACH - COINS_AT_START) * seats,
            points=(0,) * seats,
        )

    def setup(self, state: State, draw: Draw) -> Story[State]:
        yield Rolled(1, 0, roll(draw))

    def asks(self, view: State, seat: int) -> Decision | None:
        if view.over or not view.dice or seat == SPECTATOR:
            return None
        if view.tied:
            return self._ask_for_coins(view, seat) if seat in view.tied else None
        return self._ask_for_tiles(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        verb = "coin" if view.terms.coin_rerolls else "pawn"
        if view.tied:
            return {
                "bid": say("The tiles are open; only those who are tied pay coins now."),
                verb: say("The dice can be rolled again only as long as the bids are sealed."),
            }
        if verb == "coin" and not view.coins[seat]:
            return {verb: say("You have no coin to pay for another roll.")}
        if verb == "pawn" and not view.pawns[seat]:
            return {verb: say("You have given up your Pawn already, and it buys a roll only once in the game.")}
        return {}

    def _ask_for_tiles(self, view: State, seat: int) -> Decision:
        """The sealed bid and the wish for another roll on one form: who wants the roll gone need not wait for bids."""
        hand, many = view.hands[seat], doubling(view.dice)
        stake = spoken_prize(*prize(view.dice))
        if many == 1:
            prompt = say("Which tile do you bid for {stake}?", stake=stake)
            bid = Act("bid", (OneOf("tile", things(tuple(dict.fromkeys(hand)))),))
            lowest = Choice("bid", hand[:1])
        else:
            prompt = say("Which two tiles do you bid for {stake}?", stake=stake)
            bid = Act("bid", (Some("tiles", things(hand), many),))
            lowest = Choice("bid", (hand[:many],))
        reroll: tuple[Act, ...] = ()
        if view.terms.coin_rerolls and view.coins[seat]:
            note = say("Pay a coin to have one die rolled again. All bids made so far are dropped.")
            reroll = (Act("coin", (OneOf("die", tuple(DIE_THINGS.values())),), note=note),)
        elif view.pawns[seat]:
            note = say("Give up your Pawn to have all dice rolled again. All bids made so far are dropped.")
            reroll = (Act("pawn", note=note),)
        return Decision(
            seat,
            say("{prompt} Or do you have the dice rolled again?", prompt=prompt) if reroll else prompt,
            (bid, *reroll),
            default=lowest,
            closes=frozenset(act.verb for act in reroll),
            topic=f"auction {view.auction}",
        )

    def _ask_for_coins(self, view: State, seat: int) -> Decision:
        own = view.coins[seat]
        prompt = say(
            "You are tied with {rivals:seats} at {bid}. How many coins do you pay? They are lost in any case.",
            rivals=tuple(rival for rival in view.tied if rival != seat),
            bid=sum(view.bids[seat]),
        )
        return Decision(
            seat,
            prompt,
            # Another verb than that of the tiles: no late reply and no standing order can take the one for the other.
            (Act("pay", (Amount("coins", 0, own, why=say("You have {coins:coin|coins}.", coins=own)),)),),
            default=Choice("pay", (0,)),
            topic=f"auction {view.auction}",
            public=True,
        )

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if state.tied:
            yield from self._open_coins(state, choices, draw)
            return
        order = [seat for seat in clockwise(state.roller, len(state.hands)) if seat in choices]
        first = next((seat for seat in order if choices[seat].verb != "bid"), None)
        if first is None:
            yield from self._open_bids(state, choices, draw)
        elif choices[first].verb == "pawn":
            yield UsedPawn(first, roll(draw))
        else:
            yield PaidForRoll(first, choices[first].text(), draw.pick(VALUES))

    def _open_bids(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Chapter[State]:
        """The bonus of the Ace of Arms comes first; if it ends the game, nobody sees the bids."""
        if state.dice[ARMS] == ACE:
            state = yield ArmsPaid(strong_hands(state.hands), BONUS * doubling(state.dice))
            state = yield from self._check_the_lead(state)
            if state.over:
                return state
        for seat in clockwise(state.roller, len(state.hands)):
            state = yield BidTiles(seat, choices[seat].numbers())
        best = highest({seat: sum(tiles) for seat, tiles in enumerate(state.bids)})
        if len(best) == 1:
            return (yield from self._pay_out(state, best[0], draw))
        if state.dice[CROWNS] == ACE:
            state = yield CrownsTook(best, prize(state.dice)[0])
            return (yield from self._pay_out(state, None, draw))
        return (yield Tied(best))

    def _open_coins(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Chapter[State]:
        bids = {seat: choices[seat].number() for seat in state.tied}
        for seat, coins in bids.items():
            state = yield BidCoins(seat, coins)
        best = highest(bids)
        if len(best) == 1:
            return (yield from self._pay_out(state, best[0], draw))
        state = yield CoinsTied(best)
        return (yield from self._pay_out(state, None, draw))

    def _pay_out(self, state: State, winner: int | None, draw: Draw) -> Chapter[State]:
        """The prize, then the consolation of the Ace of Moons, then the tiles; in between the game may end."""
        points, coins = prize(state.dice)
        if winner is not None:
            state = yield Won(winner, points, min(coins, state.bank))
        if state.dice[MOONS] == ACE:
            each = doubling(state.dice)
            state = yield MoonsPaid(consolation(winner, len(state.hands), each, state.bank), each)
        state = yield from self._check_the_lead(state)
        if state.over:
            return state
        order = passing_order([sum(tiles) for tiles in state.bids], winner)
        state = yield PassedOn(order, tuple(state.bids[seat] for seat in order))
        if state.auction == state.terms.auctions:
            return (yield RanOut(state.auction))
        return (yield Rolled(state.auction + 1, state.roller if winner is None else winner, roll(draw)))

    def _check_the_lead(self, state: State) -> Chapter[State]:
        """At 100 points a single leader wins; once the lead was shared there, a single leader wins at any score."""
        best = highest(dict(enumerate(state.points)))
        most = state.points[best[0]]
        if most < TARGET and not state.overtime:
            return state
        if len(best) == 1:
            return (yield TookTheLead(best[0], most))
        return state if state.overtime else (yield LeadShared(best, most))

    def standing(self, state: State) -> Standing:
        return Standing.by(tuple((points,) for points in state.points)) if state.over else Standing(state.points)

    def board(self, view: State, seat: int) -> Board:
        return Board(
            title=say("Bid!, auction {auction} of at most {most}", auction=view.auction, most=view.terms.auctions),
            turn=self._turn(view),
            up=self._up(view),
            mine=self._mine(view, seat) if seat != SPECTATOR else (),
            others=self._others(view, seat),
            scores=(self._scores(view), *self._finish(view)),
        )

    def _turn(self, view: State) -> Text:
        if view.over:
            return say("The game is over.")
        if view.tied:
            return say("{seats:seats} are tied for the highest bid and bid coins, in secret.", seats=view.tied)
        return say("Everybody bids in secret. {seat} [is|are] the roller.", seat=view.roller)

    def _up(self, view: State) -> tuple[Part, ...]:
        if not view.dice:
            return ()
        dice = Row(say("The dice"), tuple(map(die, DICE, view.dice)))
        bids = [
            Row(say("{seat's} bid of {value}", seat=seat, value=sum(tiles)), faces(tiles))
            for seat, tiles in enumerate(view.bids)
        ]
        bank = Amounts(((say("coins in the bank"), view.bank),))
        at_stake = [] if view.over else [Line(text) for text in stakes(view.dice, bids_open=bool(view.bids))]
        return (dice, *at_stake, *bids, bank)

    def _mine(self, view: State, seat: int) -> tuple[Part, ...]:
        pawns = () if view.terms.coin_rerolls else ((say("Pawns"), view.pawns[seat]),)
        return (
            Row(say("tiles, together {sum}", sum=sum(view.hands[seat])), faces(view.hands[seat])),
            Amounts(((say("coins"), view.coins[seat]), *pawns)),
        )

    def _others(self, view: State, seat: int) -> tuple[Part, ...]:
        """What custom hides lies open under the Ace of Arms."""
        if not view.dice or view.dice[ARMS] != ACE:
            return ()
        return tuple(
            Row(say("{seat's} tiles, together {sum}", seat=other, sum=sum(hand)), faces(hand))
            for other, hand in enumerate(view.hands)
            if other != seat
        )

    def _scores(self, view: State) -> Grid:
        columns = [(say("points"), view.points), (say("coins"), view.coins)]
        if not view.terms.coin_rerolls:
            columns.append((say("Pawns"), view.pawns))
        rows = tuple((seat, tuple(column[seat] for _, column in columns)) for seat in range(len(view.points)))
        return Grid(tuple(head for head, _ in columns), rows)

    def _finish(self, view: State) -> tuple[Line, ...]:
        if view.over:
            return ()
        if view.overtime:
            return (Line(say("The lead was shared at the finish: whoever is next to lead alone wins.")),)
        return (Line(say("{target} points win, if nobody else has as many.", target=TARGET)),)

    def longest(self, seats: int, options: Options) -> int:
        # After the deal an auction takes an entry for the tiles and perhaps one for the coins. Every reroll is one more:
        # each Pawn once in the game, or each coin of the game once in every auction, as none comes back within it.
        auctions = int(options["max_auctions"])
        if options["reroll"] == "coin":
            return 1 + auctions * (2 + COINS_EACH * seats)
        return 1 + auctions * 2 + seats

    def tally(self, state: State) -> Mapping[str, int]:
        tiles = Counter(tile for hand in state.hands for tile in hand)
        return {"coins": sum(state.coins) + state.bank, **{f"tiles of {value}": tiles[value] for value in VALUES}}

    def prospect(self, state: State, seat: int) -> int:
        # One more on the tiles, or one more coin, wins about two points in the auctions to come; a Pawn is kept for a
        # roll that is really bad. These weights won most games against random play.
        worth = [
            points + 2 * sum(hand) + 2 * coins + 4 * pawns
            for points, hand, coins, pawns in zip(state.points, state.hands, state.coins, state.pawns, strict=True)
        ]
        return worth[seat] - max(worth[:seat] + worth[seat + 1 :])


def roll(draw: Draw) -> Dice:
    """A throw of all the dice."""
    return tuple(draw.pick(VALUES) for _ in DICE)


def faces(tiles: Tiles) -> tuple[Face, ...]:
    """Tiles as they lie on the table."""
    return tuple(map(tile, tiles))


def things(tiles: Tiles) -> tuple[Thing, ...]:
    """Tiles as they are named in a choice."""
    return tuple(TILE_THINGS[value] for value in tiles)


def spoken_dice(dice: Dice) -> Text:
    """What the dice show, in words."""
    names = dict(zip(("suns", "moons", "crowns", "arms"), (VALUE_NAMES[value] for value in dice), strict=True))
    return say("Suns {suns}, Moons {moons}, Crowns {crowns}, Arms {arms}", **names)


def spoken_prize(points: int, coins: int) -> Text:
    """What is won, without what there is none of."""
    if not points and not coins:
        return say("no points and no coins")
    if not coins:
        return say("{points:point|points}", points=points)
    if not points:
        return say("{coins:coin|coins}", coins=coins)
    return say("{points:point|points} and {coins:coin|coins}", points=points, coins=coins)


def spoken_tiles(tiles: Tiles) -> Text:
    """A bid within a sentence that has enough of "and" already."""
    if len(tiles) == 1:
        return say("{tile}", tile=tiles[0])
    return say("{first} + {second}", first=tiles[0], second=tiles[1])


def stakes(dice: Dice, bids_open: bool) -> tuple[Text, ...]:
    """What the roll means for this auction, as far as it still matters."""
    points, coins = prize(dice)
    each = doubling(dice)
    aces = {
        MOONS: say("Ace of Moons: {each:coin|coins} for each of the others, if the bank can pay them all.", each=each)
    }
    if not bids_open:
        aces[SUNS] = say("Ace of Suns: everything is doubled, and a bid is two tiles.")
        aces[CROWNS] = say(
            "Ace of Crowns: those tied for the highest bid lose {points:point|points} each.", points=points
        )
        aces[ARMS] = say(
            "Ace of Arms: all tiles are open; hands of {least} or more get {bonus} points before the bids are opened.",
            least=STRONG_HAND,
            bonus=BONUS * each,
        )
    return (
        say("The winner gets {prize}.", prize=spoken_prize(points, coins)),
        *(aces[which] for which in sorted(aces) if dice[which] == ACE),
    )
