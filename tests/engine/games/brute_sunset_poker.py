"""The best Set the long way: look at every subset of the cards and ask of each what it is.

Written from the definitions alone, with nothing of the game module in it, so that the two can be held against each other.
"""

from collections import Counter
from itertools import combinations, pairwise
from operator import itemgetter

HEIGHTS = "23456789PTXA"
RANK = itemgetter(0)
SPLIT, RUN, STRAIGHT_FLUSH, KIND = range(4)


def strongest(cards, deck, split_min):
    """Size, kind and height of the best Set; nothing but the sizes is cut short."""
    circle = [rank for rank in "A23456789PTX" if any(card[0] == rank for card in deck)]
    for size in range(len(cards), 0, -1):
        found = [strength for subset in combinations(cards, size) for strength in sets(subset, circle, split_min)]
        if found:
            return max(found)
    return (0, KIND, 0)


def sets(subset, circle, split_min):
    """What this subset is, as a whole: it may be several kinds at once, or none."""
    size, met = len(subset), set(map(RANK, subset))
    # One rank, two ranks or no rank twice: most subsets are nothing of the kind, and are left here.
    if "E" in met or len(met) not in (1, 2, size):
        return
    height = max(HEIGHTS.index(rank) for rank in met)
    counts = Counter(map(RANK, subset))
    if len(counts) == 1:
        yield size, KIND, height
    if len(counts) == 2 and max(counts.values()) - min(counts.values()) <= 1 and size >= split_min:
        yield size, SPLIT, height
    if len(counts) == size >= 2:
        by_rank = {card[0]: set(card[1:]) for card in subset}
        for start in range(len(circle)):
            window = [circle[(start + i) % len(circle)] for i in range(size)]
            if met == set(window):
                suits = [by_rank[rank] for rank in window]
                if set.intersection(*suits):
                    yield size, STRAIGHT_FLUSH, height
                if all(one & next_one for one, next_one in pairwise(suits)):
                    yield size, RUN, height
