"""A review and a hint that take no time to make, for tests of what becomes of them."""

from dataclasses import replace
from typing import Final

from engine import grammar
from engine.coach import Luck, Outcome, Point, Reasons, Review, Side, Swing, Tried, Verdict
from engine.tell import say
from pbem.coach import ReviewTask
from pbem.hints import HintTask

_WHY: Final = Reasons(
    (Outcome(say("{seat} [wins|win] auction 1.", seat=0), 900, 700),),
    points=-3_200,
    tried=(Tried("4", 700, 3_900), Tried("5", 900, 5_000)),
    worth=4,
)
_MISTAKE: Final = Verdict(2, "bid 5", "bid 4", 400, -100, -150, -50, "bid 5", "bid 4", _WHY)
_BEST: Final = Verdict(3, "bid 3", "bid 0", 500, 100, 50, 150, "bid 3", "bid 0")
_CHART: Final = (
    Point(1, 300, 240, 370),
    Point(2, 400, 340, 470),
    Point(3, 310, 250, 377),
    Point(5, 480, 410, 550),
    Point(8, 720, 655, 778),
)
_SWING: Final = Swing(7, 480, 720, (say("{seat} [wins|win] auction 3.", seat=0),))
_SIDE: Final = Side(_CHART, (_MISTAKE,), (_BEST,), (_SWING,))
_LUCK: Final = (Luck(0, 80, 20, 140), Luck(2, -120, -180, -60, say("Auction 2: {seat} [rolls|roll] Suns 3.", seat=1)))
SAMPLE: Final = Review(0, 1000, 12, 9600, _SIDE, _SIDE, _LUCK)


def sample(task: ReviewTask) -> Review:
    """The same review for any game."""
    return replace(SAMPLE, seat=task.seat)


def sample_hint(task: HintTask) -> Verdict:
    """The last of the first choices, whatever is asked."""
    written = grammar.write(task.decision, task.decision.choices(24)[-1])
    return replace(_MISTAKE, turn=0, chosen=written, other=written)
