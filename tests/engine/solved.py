"""Games that are small enough to solve: what the bots do there, and what the best answer to it would gain."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from pathlib import Path
from typing import Final

from engine.chance import Stream
from engine.decisions import Choice
from engine.facts import HIDDEN
from engine.registry import load_file
from engine.search import LEVELS
from engine.search.search import Search

TOYS: Final = Path(__file__).parent / "toys"
KUHN: Final = load_file(TOYS / "kuhn.py")
ENVELOPES: Final = load_file(TOYS / "envelopes.py")
CARDS: Final = ("Jack", "Queen", "King")
ASKED: Final[tuple[tuple[str, ...], ...]] = ((), ("check",), ("bet",), ("check", "bet"))
"""What can have been done when a player of Kuhn poker decides."""

Bold = Mapping[tuple[str, tuple[str, ...]], float]
"""How often a player bets or calls, with each card after each course."""


def shares(game, view, seat, iterations, searches):
    """How often each choice is made, by searches with different numbers."""
    found: dict[Choice, float] = {}
    decision = game.asks(view, seat)
    for number in range(searches):
        choice = Search(game, view, decision, Stream(b"solved", number), LEVELS["expert"]).run(iterations)
        found[choice] = found.get(choice, 0.0) + 1 / searches
    return found


def kuhn_by_search(iterations: int, searches: int) -> Bold:
    """What the search does in Kuhn poker."""
    empty = KUHN.start(2, {})
    kind = type(empty)
    bold = {}
    for card, done in product(CARDS, ASKED):
        seat = len(done) % 2
        cards = (card, HIDDEN) if seat == 0 else (HIDDEN, card)
        view = kind(cards, tuple(each for each in CARDS if each != card), done)
        found = shares(KUHN, view, seat, iterations, searches)
        bold[card, done] = sum(share for choice, share in found.items() if choice.verb in ("bet", "call"))
    return bold


def kuhn_value(first: Bold, second: Bold) -> float:
    """What the first player gains on average, in chips."""
    return sum(_hand(pair, (), first, second) for pair in permutations(CARDS, 2)) / 6


def kuhn_exploitability(bold: Bold) -> float:
    """What the best answers to a strategy gain in both seats, on average: 0 for a perfect one."""
    value = 0.0
    for seat in (0, 1):
        own = [(card, done) for card in CARDS for done in ASKED if len(done) % 2 == seat]
        answers = (dict(zip(own, pure, strict=True)) for pure in product((0.0, 1.0), repeat=len(own)))
        value += max(kuhn_value(answer, bold) if seat == 0 else -kuhn_value(bold, answer) for answer in answers)
    return value / 2


def _hand(cards: tuple[str, str], done: tuple[str, ...], first: Bold, second: Bold) -> float:
    higher = 1 if CARDS.index(cards[0]) > CARDS.index(cards[1]) else -1
    if done == ("check", "check"):
        return higher
    if done[-1:] == ("call",):
        return 2 * higher
    if done[-1:] == ("fold",):
        return 1 if len(done) % 2 == 0 else -1
    seat = len(done) % 2
    bold = (first, second)[seat][cards[seat], done]
    verbs = ("fold", "call") if "bet" in done else ("check", "bet")
    return (1 - bold) * _hand(cards, (*done, verbs[0]), first, second) + bold * _hand(
        cards, (*done, verbs[1]), first, second
    )


def envelopes_by_search(iterations: int, searches: int) -> list[list[float]]:
    """How often the search makes each bid, for each worth of the lot."""
    kind, most = type(ENVELOPES.start(2, {})), 8
    bids = []
    for worth in range(most + 1):
        found = shares(ENVELOPES, kind((worth, HIDDEN)), 0, iterations, searches)
        bids.append([sum(s for choice, s in found.items() if choice.number() == bid) for bid in range(most + 1)])
    return bids


def envelopes_gains(bids: list[list[float]]) -> tuple[float, float, float]:
    """What the search gains against itself, what the best answer gains, and what a lot is worth on average.

    A gain is what the buyer saved, less what the other one saved when they buy: only the difference wins.
    """
    worths = range(len(bids))

    def gain(worth: int, bid: int) -> float:
        total = 0.0
        for other in worths:
            for rival, share in enumerate(bids[other]):
                if share:
                    buys = 1.0 if bid > rival else 0.5 if bid == rival else 0.0
                    total += share * (buys * (worth - bid) - (1 - buys) * (other - rival))
        return total / len(worths)

    own = sum(share * gain(worth, bid) for worth in worths for bid, share in enumerate(bids[worth])) / len(worths)
    best = sum(max(gain(worth, bid) for bid in worths) for worth in worths) / len(worths)
    return own, best, sum(worths) / len(worths)
