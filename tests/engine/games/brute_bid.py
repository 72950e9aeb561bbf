"""Bid! told a second time, clumsily: one auction with physical tiles, without looking at the game module.

Everything is worked out again from the table: suits are kept, circles are searched for among all orders,
and money is moved coin by coin.
"""

from itertools import pairwise, permutations


class Auction:
    """One auction once the time for rerolls is over. Call `open_tiles`, and `open_coins` if it says so."""

    def __init__(self, hands, coins, bank, points, dice):
        self.hands = [[(seat, i, value) for i, value in enumerate(hand)] for seat, hand in enumerate(hands)]
        self.coins = list(coins)
        self.bank = bank
        self.points = list(points)
        self.dice = dict(zip(("suns", "moons", "crowns", "arms"), dice, strict=True))
        self.everyone = range(len(hands))
        self.factor = 1 + (self.dice["suns"] == 1)
        self.bids = {}
        self.contest = []
        self.winner = None

    def values(self):
        """Everyone's tiles without their suits."""
        return tuple(tuple(sorted(value for _, _, value in hand)) for hand in self.hands)

    def pay_the_arms(self):
        if self.dice["arms"] == 1:
            for seat in self.everyone:
                if sum(value for _, _, value in self.hands[seat]) > 15:
                    self.points[seat] += 5 * self.factor

    def open_tiles(self, wanted):
        """The bids by value; True if the coins must decide."""
        for seat in self.everyone:
            self.bids[seat] = []
            for value in wanted[seat]:
                tile = next(t for t in self.hands[seat] if t[2] == value and t not in self.bids[seat])
                self.bids[seat].append(tile)
        ahead = [s for s in self.everyone if all(self.worth(s) >= self.worth(o) for o in self.everyone)]
        if len(ahead) == 1:
            self.winner = ahead[0]
        elif self.dice["crowns"] == 1:
            for seat in ahead:
                self.points[seat] -= self.pips() * self.factor
        else:
            self.contest = ahead
        return bool(self.contest)

    def open_coins(self, offers):
        for seat in self.contest:
            for _ in range(offers[seat]):
                self.coins[seat] -= 1
                self.bank += 1
        for seat in self.contest:
            if all(offers[seat] > offers[other] for other in self.contest if other != seat):
                self.winner = seat

    def pay_out(self):
        if self.winner is not None:
            self.points[self.winner] += self.pips() * self.factor
            for _ in range(sum(face == 0 for face in self.dice.values()) * self.factor):
                if self.bank:
                    self.bank -= 1
                    self.coins[self.winner] += 1
        if self.dice["moons"] == 1:
            losers = [seat for seat in self.everyone if seat != self.winner]
            if self.bank >= self.factor * len(losers):
                for seat in losers:
                    self.bank -= self.factor
                    self.coins[seat] += self.factor

    def pass_on(self):
        losers = [seat for seat in self.everyone if seat != self.winner]
        circle = [s for s in losers if not any(o != s and self.worth(o) == self.worth(s) for o in losers)]
        circle += [] if self.winner is None else [self.winner]
        for order in permutations(circle):
            downwards = all(self.worth(a) >= self.worth(b) for a, b in pairwise(order))
            if order and downwards and self.winner in (None, order[0]):
                for giver, taker in zip(order, order[1:] + order[:1], strict=True):
                    for tile in self.bids[giver]:
                        self.hands[giver].remove(tile)
                        self.hands[taker].append(tile)
                return

    def worth(self, seat):
        return sum(value for _, _, value in self.bids[seat])

    def pips(self):
        return sum(face for face in self.dice.values() if face >= 2)
