"""A choice from the page of a seat: made by one press, unless it costs more than its player may have meant."""

from flask import Blueprint, Response, request

from engine import grammar
from engine.decisions import Choice, Decision
from pbem.domain.errors import Gone, Refusal, Stale
from pbem.i18n.speech import gettext as _
from pbem.service.absence import second_chance
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import SeatView
from pbem.service.tables import demo
from pbem.tokens import Purpose
from pbem.web import csrf, site
from pbem.web.seat.forms import choice_of
from pbem.web.seat.page import Input, allowed, deadline_of, form_turn, page, read_choice
from pbem.web.seat.selection import choice_of_selection
from pbem.web.site import field, server

pages = Blueprint("choice", __name__)


@pages.post("/s/<token>/play")
def play(token: str) -> Response:
    """Make the choice, and lead back to the table. A costly choice, or a press that was not a person's, is asked again."""
    seat = server().read(seat_view.view_seat, token)
    entered = Input(fields=request.form, words=field("choice"))
    turn, _head = form_turn()
    if seat.decision is None or not seat.is_at(field("turn")):
        decided = seat.made is not None and seat.made.turn == turn
        return page(seat, token, Input(choice=entered.words), placed=decided, moved_on=True)
    try:
        choice = _choice(seat, seat.decision)
        written = grammar.write(seat.decision, choice)
        if not csrf.our_button_was_pressed():
            return _question(seat, token, choice, 200)
        if field("sure") != "yes" and seat.caution(choice):
            return site.go("choice.ask", token=token, turn=seat.form_turn, choice=written)
        server().run(by_link.play, token, turn, written, head=seat.head)
    except Stale:
        return page(server().read(seat_view.view_seat, token), token, Input(choice=entered.words), moved_on=True)
    except Refusal as refused:
        return page(server().read(seat_view.view_seat, token), token, entered, refused=refused)
    demo.go_on(server(), token)
    return site.go("seat.show", token=token, placed=turn)


@pages.get("/s/<token>/sure")
def ask(token: str) -> Response:
    """What a costly choice means, before it is made. Nothing is kept of it. Without a choice, this leads to the table."""
    if "choice" not in request.args:
        return site.go("seat.show", token=token)
    seat = server().read(seat_view.view_seat, token)
    entered, turn = Input(choice=request.args.get("choice", "")), request.args.get("turn", "")
    if seat.decision is None or not seat.is_at(turn):
        return page(seat, token, entered, moved_on=True)
    try:
        return _question(seat, token, read_choice(seat, seat.decision, entered.choice))
    except Refusal as refused:
        return page(seat, token, entered, refused=refused)


@pages.post("/s/<token>/back")
def take_back(token: str) -> Response:
    turn = site.whole_number("turn", _("a turn number"))
    try:
        server().run(second_chance.by_link, token, Purpose.SEAT, turn, field("choice"))
    except (Gone, Stale) as refused:
        # The table says what has happened since, and the player can go on from there.
        return page(server().read(seat_view.view_seat, token), token, Input(), refused=refused)
    return site.go("seat.show", token=token, done="taken back")


def _choice(seat: SeatView, decision: Decision) -> Choice:
    """The choice that was pressed or typed. Raises BadInput or Stale."""
    if words := field("choice"):
        return read_choice(seat, decision, words)
    if selection := seat.rules.selection(seat.view, decision):
        return choice_of_selection(seat, decision, selection, request.form)
    return allowed(seat, choice_of(decision, request.form))


def _question(seat: SeatView, token: str, choice: Choice, status: int = 200) -> Response:
    assert seat.decision is not None
    return site.page(
        "sure.html",
        status,
        found=seat,
        token=token,
        written=grammar.write(seat.decision, choice),
        caution=seat.caution(choice),
        deadline=deadline_of(seat, token),
    )
