"""The slow, plain ways to what Sun Bid works out quickly: everything is tried, nothing is left out as hopeless."""

from collections import Counter
from itertools import permutations, product

from engine.decks.decktet import FACES, RANKS, SUITS, rank, suits


def sequences(cards, per_suit):
    """The most points for sequences, over every number that every Crown could stand for, all Crowns at once."""
    crowns = [place for place, card in enumerate(cards) if rank(card) == "X"]
    best = 0
    for numbers in product(range(1, 11), repeat=len(crowns)):
        stands_for = dict(zip(crowns, numbers, strict=True))
        bound = [
            (place, suit)
            for place, card in enumerate(cards)
            for suit in suits(card)
            if any(
                suit in suits(other)
                and abs(_number(card, stands_for.get(place)) - _number(other, stands_for.get(i))) == 1
                for i, other in enumerate(cards)
            )
        ]
        best = max(best, len(bound) if per_suit else len({place for place, _ in bound}))
    return best


def _number(card, stands_for):
    if stands_for is not None:
        return stands_for
    if rank(card) in "PT":
        return -100 if rank(card) == "P" else -200
    return 1 if rank(card) == "A" else int(rank(card))


def of_a_kind(cards):
    """Two points for each card that has another of its printed rank; Aces, Pawns and Courts have none that counts."""
    return 2 * sum(
        any(rank(other) == rank(card) for other in cards[:i] + cards[i + 1 :])
        for i, card in enumerate(cards)
        if rank(card) not in "APT"
    )


def pawns_and_courts(cards):
    """Three points for each, read off what stands on the cards."""
    return 3 * sum(FACES[card].note.startswith(("Pawn", "Court")) for card in cards)


def worth(cards, per_suit):
    """All points of a take."""
    return pawns_and_courts(cards) + of_a_kind(cards) + sequences(cards, per_suit)


def losses(aces, kept):
    """Everything that can be lost, following the rule to the letter: the Aces one by one, in every order."""
    found = set()
    for order in set(permutations(aces)):
        found |= set(_pay(order, tuple(sorted(kept))))
    return found


def answers(aces, kept):
    """Every answer that some order of the Aces allows: for each Ace, in the order given, its victim or none."""
    found = set()
    for order in permutations(range(len(aces))):
        found |= {
            tuple(dict(zip(order, paid, strict=True))[i] for i in range(len(aces)))
            for paid in _one_by_one([aces[i] for i in order], tuple(kept))
        }
    return found


def _one_by_one(aces, kept):
    if not aces:
        yield ()
        return
    eligible = {card for card in kept if suits(aces[0]) in suits(card)}
    for victim in eligible or {"none"}:
        left = list(kept)
        if victim != "none":
            left.remove(victim)
        for rest in _one_by_one(aces[1:], tuple(left)):
            yield (victim, *rest)


def _pay(aces, kept):
    for paid in _one_by_one(aces, kept):
        yield tuple(sorted(card for card in paid if card != "none"))


def cheapest_loss(aces, kept, per_suit):
    """What a silent winner loses: most points left, then fewest cards, lowest ranks, first suits."""

    def key(cards):
        left = sorted((Counter(kept) - Counter(cards)).elements())
        ranks = sorted(RANKS.index(rank(card)) for card in cards)
        in_suits = sorted((RANKS.index(rank(card)), [list(SUITS).index(s) for s in suits(card)]) for card in cards)
        return -worth(left, per_suit), len(cards), ranks, in_suits

    return min(losses(aces, kept), key=key)
