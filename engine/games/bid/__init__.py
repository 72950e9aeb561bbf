"""Bid!

Everyone has the same six tiles and bids them in secret for a prize set by four dice. Then the tiles you bid change hands, so
the one you win with now may be used against you next time. The first player to lead outright with 100 points or more wins.

What you have. Everyone starts with six tiles numbered 0 to 5, a Pawn and 2 coins. Only you can see your tiles.

An auction. The four dice are called Suns, Moons, Crowns and Arms. Each shows a blank, an Ace or a number from 2 to 5.
Everyone bids one tile in secret, and all bids are revealed at once. The highest bid wins, unless it's tied. The winner
scores the numbers on the dice added together, gets a coin for each blank, and rolls next.

Ties. Players tied for the highest bid then bid coins in secret, 0 or more. The highest coin bid wins the auction; if that's
tied too, nobody wins. Either way, all coins bid go to the bank.

Exchanging tiles. The winner's tile goes to the next highest bidder, that bidder's tile to the next, and so on; the lowest
bidder's tile goes to the winner. Losers who made the same bid keep their tiles and are skipped.

Aces. The Ace on each die changes the auction in its own way:
Suns: points, coins, bonuses and losses are all doubled. You bid two tiles, and they're added together. Coins bid to break a
tie aren't doubled.
Moons: everyone who doesn't win gets a coin. If the bank can't pay them all, it pays nobody.
Crowns: players tied for the highest bid lose the points they were bidding for, and don't bid coins. A score can fall below 0.
Arms: all tiles are shown before the bidding. Players whose six tiles add up to 16 or more get 5 points.

The Pawn. Once a game, before bids are revealed, you can give up your Pawn to reroll all four dice. Any bids already made are
cancelled without being shown, and everyone bids again.

The end. The game ends as soon as one player has 100 points or more and leads outright. If the lead is shared, play on until
it isn't, however high the scores.

Fine print. The bank starts with 4 coins per player and only pays out what it has. Bids are public once they're revealed, so
you can work out who has which tiles. If nobody wins, the exchange starts with the highest bid that wasn't tied. If several
players give up a Pawn at once, only the first of them, going clockwise from the roller, loses it. The Arms bonus is paid as
soon as nobody can reroll any more, or just before bids are revealed at the latest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from engine.board import Board
from engine.chance import Draw
from engine.decisions import Choice, Decision
from engine.decks.piecepack import ACE, VALUES, die, tile
from engine.game import Chapter, Game, Lesson, Standing, Story
from engine.options import Options
from engine.seats import clockwise
from engine.tell import Text, say

from . import board, bots, decisions, lessons
from .auction import (
    ARMS,
    BONUS,
    CROWNS,
    MOONS,
    TARGET,
    consolation,
    doubling,
    highest,
    passing_order,
    prize,
    roll,
    strong_hands,
)
from .examples import EXAMPLES
from .facts import (
    ArmsPaid,
    BidCoins,
    BidTiles,
    CoinsTied,
    CrownsTook,
    LeadShared,
    MoonsPaid,
    PaidForRoll,
    PassedOn,
    RanOut,
    Rolled,
    Tied,
    TookTheLead,
    UsedPawn,
    Won,
)
from .state import State
from .terms import MAX_AUCTIONS, REROLL, agreed

COINS_EACH: Final = 6
COINS_AT_START: Final = 2


class Bid(Game[State]):
    """Bid! for three or four players."""

    title = "Bid!"
    seats = (3, 4)
    options = (REROLL, MAX_AUCTIONS)
    length = say("About 25 auctions, with one or two bids each.")
    mood = say("Quick and cheeky: your winning bid arms a rival.")
    credits = say(
        "Bid! is by Ian Schreiber and Jeb Havens, 2004. The published rules are under the GNU Free "
        "Documentation License 1.2; this page is our own account of them. The piecepack is by James Kyle."
    )
    cover = (die("S", 1), die("C", 3), tile(5))
    examples = EXAMPLES
    short = {"max_auctions": 4}
    demo = 3
    # As in `prospect`: one more on the tiles wins about two points in the auctions to come.
    bid_price = Fraction(2)
    independent_topics = True
    RULES = 2

    def start(self, seats: int, options: Options) -> State:
        terms = agreed(options)
        return State(
            terms,
            hands=(VALUES,) * seats,
            coins=(COINS_AT_START,) * seats,
            pawns=(0 if terms.coin_rerolls else 1,) * seats,
            bank=(COINS_EACH - COINS_AT_START) * seats,
            points=(0,) * seats,
        )

    def setup(self, state: State, draw: Draw) -> Story[State]:
        yield Rolled(1, 0, roll(draw))

    def asks(self, view: State, seat: int) -> Decision | None:
        return decisions.asks(view, seat)

    def barred(self, view: State, seat: int) -> Mapping[str, Text]:
        return decisions.barred(view, seat)

    def lesson(self, view: State, seat: int) -> Lesson | None:
        return lessons.lesson(view, seat)

    def resolve(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Story[State]:
        if state.tied:
            yield from self._open_coins(state, choices, draw)
            return
        order = [seat for seat in clockwise(state.roller, len(state.hands)) if seat in choices]
        first = next((seat for seat in order if choices[seat].verb != "bid"), None)
        if first is None:
            yield from self._open_bids(state, choices, draw)
        elif choices[first].verb == "pawn":
            state = yield UsedPawn(first, roll(draw))
            yield from self._pay_arms_at_once(state)
        else:
            state = yield PaidForRoll(first, choices[first].text(), draw.pick(VALUES))
            yield from self._pay_arms_at_once(state)

    def _open_bids(self, state: State, choices: Mapping[int, Choice], draw: Draw) -> Chapter[State]:
        """Open the bids, after the bonus of the Ace of Arms. If the bonus ends the game, the bids stay sealed."""
        if not self._dice_are_final(state):
            state = yield from self._pay_arms(state)
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

    def _dice_are_final(self, state: State) -> bool:
        """Whether nobody can have the dice rolled again. By the first rules, that was asked only with the bids."""
        return self.version > 1 and not any(state.coins if state.terms.coin_rerolls else state.pawns)

    def _pay_arms_at_once(self, state: State) -> Chapter[State]:
        """Pay the bonus of the Ace of Arms before bids are asked for, if these dice are final."""
        return (yield from self._pay_arms(state)) if self._dice_are_final(state) else state

    def _pay_arms(self, state: State) -> Chapter[State]:
        """Pay the bonus of the Ace of Arms, which may end the game."""
        if state.dice[ARMS] != ACE:
            return state
        state = yield ArmsPaid(strong_hands(state.hands), BONUS * doubling(state.dice))
        return (yield from self._check_the_lead(state))

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
        """Pay the prize and the consolation of the Ace of Moons, then pass the tiles on, unless the game has ended."""
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
        state = yield Rolled(state.auction + 1, state.roller if winner is None else winner, roll(draw))
        return (yield from self._pay_arms_at_once(state))

    def _check_the_lead(self, state: State) -> Chapter[State]:
        """End the game if one player leads with 100 points or, after the lead was shared there, with any score."""
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
        return board.show(view, seat, self._dice_are_final(view))

    def longest(self, seats: int, options: Options) -> int:
        # After the deal an auction takes an entry for the tiles and perhaps one for the coins. Every reroll is one more:
        # each Pawn once in the game, or each coin in the game once in every auction.
        auctions = MAX_AUCTIONS.value_in(options)
        if REROLL.value_in(options) == "coin":
            return 1 + auctions * (2 + COINS_EACH * seats)
        return 1 + auctions * 2 + seats

    def tally(self, state: State) -> Mapping[str, int]:
        tiles = Counter(tile for hand in state.hands for tile in hand)
        return {"coins": sum(state.coins) + state.bank, **{f"tiles of {value}": tiles[value] for value in VALUES}}

    def prospect(self, state: State, seat: int) -> int:
        # One more on the tiles, or one more coin, wins about two points in the auctions to come; a Pawn is kept for a
        # roll that is really bad. These weights won most games against random play. At the end only points count.
        more = not state.over
        worth = [
            points + more * (2 * sum(hand) + 2 * coins + 4 * pawns)
            for points, hand, coins, pawns in zip(state.points, state.hands, state.coins, state.pawns, strict=True)
        ]
        return worth[seat] - max(worth[:seat] + worth[seat + 1 :])

    def quick(self, view: State, decision: Decision, draw: Draw) -> Choice | None:
        return bots.quick(view, decision, draw)
