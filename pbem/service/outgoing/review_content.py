"""What the email with a review says: the chances and remarks of its page, as lines."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from engine.coach import Point, Review, Side, Verdict
from engine.coach.remarks import of_luck, of_swing, of_verdict, percent
from engine.tell import Teller, Text
from pbem import coach
from pbem.domain.evenly import evenly
from pbem.domain.former_players import TellerIn, teller_in_turn
from pbem.i18n.speech import gettext as _
from pbem.mail.write.words import Words
from pbem.service.play.rules import rules_of
from pbem.store import reviews, seats
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_POINTS: Final = 12
"""Points of the chart in an email; the page has all."""


def review_words(tx: Tx, game: GameRow, seat: int) -> Words:
    """What the email says of the review of a seat, to its player."""
    made = reviews.of_game(tx, game.id)[seat]
    assert made.body is not None, "an email with a review is queued once that is made"
    review = coach.read(made.body)
    taken = seats.taken(tx, game.id)
    names, former = tuple(player.name for player in taken), seats.former(taken)
    # What happened is told with the names of those who played then, and what might have with those of today, as results are.
    teller_in = partial(teller_in_turn, rules=rules_of(game), reader=seat, names=names, former=former)
    return {
        "imagined": f"{review.imagined:,}",
        "luck": [_line(each.turn, of_luck(each), teller_in(each.turn)) for each in review.luck],
        "sides": [_side(review, side, teller_in) for side in (review.known, review.opened) if side is not None],
    }


def _side(review: Review, side: Side, teller_in: TellerIn) -> Words:
    now = teller_in(None)

    def judged(verdicts: Iterable[Verdict]) -> list[str]:
        return [_line(each.turn, of_verdict(each, review, side), now) for each in verdicts]

    return {
        "chances": [_chance(point) for point in evenly(side.chart, MOST_POINTS)],
        "mistakes": judged(side.mistakes),
        "best": judged(side.best),
        "swings": [_line(each.turn, of_swing(each), teller_in(each.turn)) for each in side.swings],
    }


def _chance(point: Point) -> str:
    chance, low, high = map(percent, (point.chance, point.low, point.high))
    return _("Turn %(turn)s: %(chance)s%% (%(low)s–%(high)s%%)", turn=point.turn, chance=chance, low=low, high=high)


def _line(turn: int, texts: Iterable[Text], teller: Teller) -> str:
    says = " ".join(map(teller, texts))
    return _("Turn %(turn)s: %(says)s", turn=turn, says=says) if turn else _("The deal: %(says)s", says=says)
