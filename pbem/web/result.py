"""The end of a game as pages show it: the podium, the sentences about it, and the course of the scores as a chart."""

from dataclasses import dataclass

from engine.facts import SPECTATOR
from engine.result import Place, Result
from engine.tell import Teller, say
from pbem.domain.former_players import TellerIn
from pbem.i18n import speech
from pbem.i18n.speech import capital, gettext as _
from pbem.service.archive.score_history import Scores
from pbem.service.play.endings import Ending
from pbem.web.tables.charts import LineChart, Turn, score_chart

ON_PODIUM = 3


@dataclass(frozen=True, slots=True)
class Player:
    """A player on the podium or in the list: their seat, name and first letter, and whether it is the reader."""

    seat: int
    name: str
    initial: str
    mine: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A place with those who have it."""

    number: int
    players: tuple[Player, ...]
    score: int


@dataclass(frozen=True, slots=True)
class PageResult:
    """The end of a game on a page. Without a result there is no podium, and the sentences say why."""

    headline: str
    podium: tuple[Step, ...] = ()
    others: tuple[Step, ...] = ()
    story: tuple[str, ...] = ()
    chart: LineChart | None = None


def page_result(ending: Ending, names: tuple[str, ...], teller_in: TellerIn, reader: int, turn: Turn) -> PageResult:
    """The end of a game for one reader, or for the SPECTATOR."""
    teller = teller_in(None)
    handovers = tuple(teller(each.sentence) for each in ending.handovers)
    if ending.result is None:
        return PageResult(_("The game ended without a result"), story=(*_why(ending), *handovers))
    result = ending.result
    steps = [_step(place, names, reader) for place in result.places]
    return PageResult(
        headline=teller(result.headline(reader)).rstrip("."),
        podium=tuple(step for step in steps if step.number <= ON_PODIUM),
        others=tuple(step for step in steps if step.number > ON_PODIUM),
        story=(*(teller_in(each.turn)(each.text) for each in result.story(reader)), *handovers),
        chart=_chart(result, names, teller, turn),
    )


def _why(ending: Ending) -> tuple[str, ...]:
    why = speech.translate(ending.why)
    reason = _("The organiser wrote: %(reason)s", reason=ending.reason) if ending.reason else ""
    return tuple(sentence for sentence in (why, reason) if sentence)


def _step(place: Place, names: tuple[str, ...], reader: int) -> Step:
    players = tuple(
        Player(seat, names[seat], capital(names[seat][:1]), mine=seat == reader and reader != SPECTATOR)
        for seat in place.seats
    )
    return Step(place.number, players, place.score)


def _chart(result: Result, names: tuple[str, ...], teller: Teller, turn: Turn) -> LineChart | None:
    return score_chart(Scores(say("points"), result.course), names, teller, turn) if result.course else None
