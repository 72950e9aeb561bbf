"""The sandbox of a seat: choices of one's own and of others, played on in thought.

Everything comes from what the seat sees and from the fields of the form. No row is read beyond the page of the seat, and none is
written: a form that is sent changes nothing.
"""

from typing import Any, Final

from flask import Blueprint, Response, make_response, render_template, request

from engine import grammar, orders, sandbox
from engine.decisions import Decision, Refused
from engine.sandbox import Step, Thought
from pbem.domain.errors import BadInput, Gone
from pbem.domain.states import TableStatus
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.plugins.foreign import Foreign
from pbem.service.play import seat_view
from pbem.service.play.seat_view import SeatView
from pbem.web import security, site
from pbem.web.seat.board import draw
from pbem.web.site import field, server

pages = Blueprint("sandbox", __name__)

MOST_LISTED: Final = 60
"""The most choices in a list; more are written."""

_LONGEST_STEP: Final = grammar.LONGEST_LINE + 4


@pages.get("/s/<token>/imagine")
def show(token: str) -> Response:
    """The table as it is, in the first imagined world."""
    return _page(_seat(token), token, 1, [])


@pages.post("/s/<token>/imagine")
def think(token: str) -> Response:
    """One step further, one back, or another world. Nothing is kept."""
    seat = _seat(token)
    if not seat.is_at(field("turn")):
        return _page(seat, token, 1, [], moved_on=True)
    world, steps = site.read_number(field("world"), _("the number of a world")), _steps()
    if not 0 < world < sandbox.MOST_WORLDS:
        raise BadInput(_("There's no such world."), remedy=_("Start again from your table."))
    match field("do"):
        case "back":
            return _page(seat, token, world, steps[:-1])
        case "again":
            return _page(seat, token, world % (sandbox.MOST_WORLDS - 1) + 1, [])
    step = Step(site.read_number(field("who"), _("a seat")), field("choice"))
    return _page(seat, token, world, steps, step)


def _seat(token: str) -> SeatView:
    """The seat. Raises Gone where nothing can be imagined."""
    seat = server().read(seat_view.view_seat, token)
    if not is_offered(seat):
        raise Gone(
            _("You can't plan ahead here now."),
            why=_("That takes a game in progress, and rules that can imagine what you don't see."),
        )
    return seat


def is_offered(seat: SeatView) -> bool:
    """Whether a seat has a sandbox now."""
    foreign = isinstance(seat.rules, Foreign)
    return seat.status == TableStatus.PLAYING and not foreign and sandbox.is_possible(seat.rules, seat.view)


def _steps() -> list[Step]:
    """The steps that the form has. Raises BadInput."""
    found: list[Step] = []
    for text in request.form.getlist("step"):
        who, _colon, words = text.partition(":")
        if len(text) > _LONGEST_STEP or len(found) >= sandbox.MOST_STEPS:
            raise BadInput(_("That's too far ahead."), remedy=_("Start again from your table."))
        found.append(Step(site.read_number(who, _("a seat")), words))
    return found


def _page(
    seat: SeatView, token: str, world: int, steps: list[Step], step: Step | None = None, *, moved_on: bool = False
) -> Response:
    refused = ""
    try:
        steps_now = [*steps, *([] if step is None else [step])]
        thought = _think(seat, world, steps_now)
    except Refused as refusal:
        # The new step, or those of a form that no page has made.
        refused, steps_now = seat.teller(refusal.text), steps
        try:
            thought = _think(seat, world, steps)
        except Refused as refusal:
            refused, steps_now = seat.teller(refusal.text), []
            thought = _think(seat, world, [])
    html = render_template(
        "sandbox.html", **_words(seat, token, world, steps_now, thought), refused=refused, moved_on=moved_on
    )
    response = make_response(html, 409 if moved_on else 400 if refused else 200)
    response.headers["Content-Security-Policy"] = security.POLICY_OF_LIVE_PAGES
    return response


def _think(seat: SeatView, world: int, steps: list[Step]) -> Thought:
    return sandbox.think(seat.rules, seat.view, seat.seat, len(seat.names), seat.turn, world, steps, seat.order)


def _words(seat: SeatView, token: str, world: int, steps: list[Step], thought: Thought) -> dict[str, Any]:
    teller, decision, asked = seat.teller, thought.decision, thought.asked
    standing = seat.rules.standing(thought.view)
    board = seat.rules.board(thought.view, seat.seat)
    return {
        "found": seat,
        "token": token,
        "world": world,
        "steps": [
            {
                "field": f"{step.seat}:{step.words}",
                "who": speech.capital(teller.name(step.seat)),
                "words": step.words,
                "sentences": [sentence for fact in facts if (sentence := teller.tell(fact)) is not None],
            }
            for step, facts in zip(steps, thought.seen_facts, strict=True)
        ],
        "board": draw(board, teller, seat.seat, () if asked is None else (asked, *thought.waiting), (), seat.levels),
        "who": asked,
        "name": "" if asked is None else teller.name(asked),
        "mine": asked == seat.seat,
        "waiting": [teller.name(other) for other in thought.waiting],
        "prompt": ""
        if decision is None
        else speech.teller(seat.rules, asked, tuple(map(isolate, seat.names)))(decision.prompt),
        "choices": _choices(decision),
        "default": "" if decision is None else grammar.write(decision, decision.default),
        "usages": [] if decision is None else list(grammar.usages(decision)),
        "over": standing.over,
        "scores": [(teller.name(other), score) for other, score in enumerate(standing.scores)],
        "far": len(steps) >= sandbox.MOST_STEPS,
        "orders": _orders(seat, thought),
    }


def _choices(decision: Decision | None) -> list[str]:
    """All choices as they are written; none if there are too many to list."""
    if decision is None or decision.count() > MOST_LISTED:
        return []
    return [grammar.write(decision, choice) for choice in decision.choices()]


def _orders(seat: SeatView, thought: Thought) -> list[dict[str, str]]:
    """What the seat's standing orders would say to its decision in this world."""
    if thought.order is None or thought.decision is None or thought.asked != seat.seat:
        return []
    judged = orders.verdicts(thought.order, seat.rules, thought.view, seat.seat)
    return [
        {
            "says": orders.in_words(one, seat.teller),
            "why": "" if verdict.why is None else seat.teller(verdict.why),
            "plays": "" if verdict.choice is None else grammar.write(thought.decision, verdict.choice),
        }
        for one, verdict in judged
    ]
