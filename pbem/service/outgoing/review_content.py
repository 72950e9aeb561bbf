"""What the email with a review says: the chances and remarks of its page, as lines."""

from collections.abc import Callable, Iterable
from typing import Final

from engine.coach import Point, Side, Verdict
from engine.coach.remarks import of_best, of_luck, of_mistake, of_swing, percent
from engine.tell import Teller, Text
from pbem import coach
from pbem.domain.evenly import evenly
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.mail.write.words import Words
from pbem.service.play.rules import rules_of
from pbem.store import reviews
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

MOST_POINTS: Final = 12
"""Points of the chart in an email; the page has all."""


def review_words(tx: Tx, game: GameRow, players: Iterable[PlayerRow], seat: int) -> Words:
    """What the email says of the review of a seat, to its player."""
    made = reviews.of_game(tx, game.id)[seat]
    assert made.body is not None, "an email with a review is queued once that is made"
    review = coach.read(made.body)
    names = tuple(isolate(player.name) for player in sorted(players, key=lambda player: player.seat or 0))
    teller = speech.teller(rules_of(game), seat, names)
    return {
        "imagined": f"{review.imagined:,}",
        "luck": [_line(each.turn, of_luck(each), teller) for each in review.luck],
        "sides": [_side(side, teller) for side in (review.known, review.opened) if side is not None],
    }


def _side(side: Side, teller: Teller) -> Words:
    return {
        "chances": [_chance(point) for point in evenly(side.chart, MOST_POINTS)],
        "mistakes": list(_verdicts(side.mistakes, of_mistake, teller)),
        "best": list(_verdicts(side.best, of_best, teller)),
        "swings": [_line(each.turn, of_swing(each), teller) for each in side.swings],
    }


def _chance(point: Point) -> str:
    chance, low, high = map(percent, (point.chance, point.low, point.high))
    return _("Turn %(turn)s: %(chance)s%% (%(low)s–%(high)s%%)", turn=point.turn, chance=chance, low=low, high=high)


def _verdicts(
    verdicts: Iterable[Verdict], says: Callable[[Verdict], tuple[Text, ...]], teller: Teller
) -> Iterable[str]:
    return (_line(each.turn, says(each), teller) for each in verdicts)


def _line(turn: int, texts: Iterable[Text], teller: Teller) -> str:
    says = " ".join(map(teller, texts))
    return _("Turn %(turn)s: %(says)s", turn=turn, says=says) if turn else _("The deal: %(says)s", says=says)
