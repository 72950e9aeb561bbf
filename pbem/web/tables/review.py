"""The coach's review of a finished game: the reader's own, and those that other players of the table share."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from flask import Blueprint, Response, make_response, render_template, url_for

from engine.coach import Point, Review, Side, Tried, Verdict
from engine.coach.remarks import of_chance, of_luck, of_often, of_swing, of_verdict, percent, reasons
from engine.tell import Teller, Text
from pbem.domain.former_players import TellerIn, teller_in_turn
from pbem.i18n import speech
from pbem.service.archive import reviews
from pbem.service.archive.replay import ReplayTable
from pbem.service.archive.reviews import SeatReview, TurnVerdict
from pbem.store.reviews import MOST_A_DAY
from pbem.web import page_cache, site
from pbem.web.charts import Chart, Frame, Row, ticks
from pbem.web.site import field, server
from pbem.web.tables.charts import apart

pages = Blueprint("review", __name__)

FRAME = Frame(width=400, height=234, left=50, right=14, top=28, bottom=42, gap=7, baseline=4.5)
"""About as wide as it is shown on a phone, so that its words can be read; with room for the names of its axes."""

_QUARTERS = (0, 25, 50, 75, 100)
_TICKS = 5

Turn = Callable[[int], str]
"""The address at which a turn can be seen."""


@dataclass(frozen=True, slots=True)
class ChanceChart(Chart):
    """The chance of winning as a line, and its interval as a band around it, as SVG writes points."""

    line: str
    band: str
    named: tuple[tuple[float, float], ...]
    """Where the decisions are that are named below it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What is said of one turn, and the address at which it can be seen."""

    turn: int
    address: str
    says: str


@dataclass(frozen=True, slots=True)
class PageSide:
    """One side of a review as a page shows it."""

    chart: ChanceChart | None
    mistakes: tuple[Remark, ...]
    best: tuple[Remark, ...]
    swings: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a review says of a choice in a turn, for the page of the moment before or after it. `name` is empty if it's the reader's own; `bids` is a row for
    each amount that was tried: the amount, how often it won, and for how much.
    """

    turn: int
    name: str
    opened: bool
    mistake: bool
    chosen: str
    wins: str
    other: str
    other_wins: str
    why: str
    bids: tuple[tuple[str, str, str], ...]
    address: str


@pages.get("/s/<token>/review")
def show(token: str) -> Response:
    """The reader's own review."""
    return _page(token, server().read(reviews.of_seat, token))


@pages.get("/s/<token>/review/<int:seat>")
def of_other(token: str, seat: int) -> Response:
    """The review that another player shares with the table."""
    return _page(token, server().read(reviews.of_seat, token, seat))


@pages.post("/s/<token>/review/share")
def share(token: str) -> Response:
    """Share one's own review with the table, or take that back."""
    shared = field("shared") == "yes"
    server().run(reviews.share, token, shared=shared)
    if shared:
        return site.go(".show", token=token, done="review shared", _anchor="share")
    return site.go(".show", token=token, done="review not shared", _anchor="share")


def judged(found: TurnVerdict, table: ReplayTable, token: str) -> Judged:
    """What a review says of a turn, in the words of that review."""
    verdict, own = found.verdict, found.seat == table.seat
    teller = table.teller_for(found.seat)
    return Judged(
        turn=verdict.turn,
        name="" if own else table.names[found.seat],
        opened=found.opened,
        mistake=found.mistake,
        chosen=speech.translate(verdict.spoken),
        wins=teller(of_chance(verdict.chance)),
        other=speech.translate(verdict.other_spoken),
        other_wins=teller(of_chance(verdict.chance - verdict.gain)),
        why=" ".join(map(teller, reasons(verdict))),
        bids=tuple(_bid(each, teller) for each in verdict.reasons.tried),
        address=url_for("review.show", token=token)
        if own
        else url_for("review.of_other", token=token, seat=found.seat),
    )


def _bid(tried: Tried, teller: Teller) -> tuple[str, str, str]:
    won = "" if tried.won is None else teller(of_often(tried.won))
    return speech.translate(tried.bid), won, "" if tried.paid is None else str(round(tried.paid / 1000))


def _page(token: str, found: SeatReview) -> Response:
    return make_response(page_cache.drawn_once(("review", token, found.seat), found, partial(_draw, token)))


def _draw(token: str, found: SeatReview) -> str:
    table, review = found.table, found.review
    # What happened is told with the names of those who played then, and what might have with those of today, as results are.
    teller_in = partial(teller_in_turn, rules=table.rules, reader=found.seat, names=table.names, former=table.former)

    def address(turn: int) -> str:
        return url_for("replay.seat_moment", token=token, turn=turn)

    side = partial(_side, teller_in=teller_in, turn=address)
    luck = () if review is None else review.luck
    return render_template(
        "replay/review.html",
        found=found,
        table=table,
        token=token,
        most_a_day=MOST_A_DAY,
        review=review,
        known=None if review is None else side(review, review.known),
        opened=None if review is None or review.opened is None else side(review, review.opened),
        luck=[_remark(each.turn, of_luck(each), teller_in(each.turn), address) for each in luck],
        others=[(seat, table.names[seat]) for seat in found.others],
    )


def _side(review: Review, side: Side, *, teller_in: TellerIn, turn: Turn) -> PageSide:
    named = {each.turn for each in (*side.mistakes, *side.best)}
    now = teller_in(None)

    def judged_at(number: int) -> str:
        return f"{turn(number)}#coach"

    def judged(verdicts: Iterable[Verdict]) -> tuple[Remark, ...]:
        return tuple(_remark(each.turn, of_verdict(each, review, side), now, judged_at) for each in verdicts)

    return PageSide(
        _chart(side.chart, named, turn),
        judged(side.mistakes),
        judged(side.best),
        tuple(_remark(each.turn, of_swing(each), teller_in(each.turn), turn) for each in side.swings),
    )


def _remark(turn: int, says: Iterable[Text], teller: Teller, address: Turn) -> Remark:
    return Remark(turn, address(turn), " ".join(map(teller, says)))


def _chart(points: Sequence[Point], named: Collection[int], turn: Turn) -> ChanceChart | None:
    """The chances as a chart; None where there are too few to draw."""
    if len(points) < 2:
        return None
    x, y = FRAME.x(points[0].turn, points[-1].turn), FRAME.y(0, 1000)
    marked = sorted({points[round((len(points) - 1) * place / (_TICKS - 1))].turn for place in range(_TICKS)})
    upper = [(x(each.turn), y(each.high)) for each in points]
    lower = [(x(each.turn), y(each.low)) for each in reversed(points)]
    return ChanceChart(
        frame=FRAME,
        columns=("chance", "interval"),
        rows=tuple(
            Row(
                str(each.turn),
                (f"{percent(each.chance)}%", f"{percent(each.low)}–{percent(each.high)}%"),
                turn(each.turn),
            )
            for each in points
        ),
        across=ticks(x, apart(marked, x)),
        up=ticks(FRAME.y(0, 100), _QUARTERS, "%"),
        line=_points([(x(each.turn), y(each.chance)) for each in points]),
        band=_points([*upper, *lower]),
        named=tuple((x(each.turn), y(each.chance)) for each in points if each.turn in named),
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
