"""A choice, from its form to its receipt.

A choice takes two forms. The first leads to a page that says it in words and keeps nothing; the button there makes it. That
page has an address, so a browser that goes back or reloads never asks whether to send a form again.
"""

from flask import Blueprint, Response, request

from engine import grammar
from engine.decisions import Act, Amount, Choice, Decision
from pbem.domain.errors import BadInput, Refusal, Stale
from pbem.i18n.speech import gettext as _
from pbem.service.play import by_link, seat_view
from pbem.service.tables import demo
from pbem.tokens import Purpose
from pbem.web import phrases, site
from pbem.web.seat.board import faces_of
from pbem.web.seat.forms import choice_of, things_of
from pbem.web.seat.page import Input, allowed, page, read_choice
from pbem.web.site import field, server

pages = Blueprint("choice", __name__)


@pages.post("/s/<token>/preview")
def choose(token: str) -> Response:
    """Lead to the preview of what a form means."""
    seat = server().read(seat_view.view_seat, token)
    entered = Input(fields=request.form, words=field("written"))
    turn = site.whole_number("turn", _("the number of a turn"))
    if seat.decision is None or seat.turn != turn:
        return page(seat, token, Input(choice=entered.words), moved_on=True)
    try:
        if entered.words:
            choice = read_choice(seat, seat.decision, entered.words)
        else:
            choice = allowed(seat, choice_of(seat.decision, request.form))
    except Refusal as refused:
        return page(seat, token, entered, refused=refused)
    return site.go("choice.preview", token=token, turn=turn, choice=grammar.write(seat.decision, choice))


@pages.get("/s/<token>/preview")
def preview(token: str) -> Response:
    """The choice in words, before it is made. Nothing is kept of it."""
    seat = server().read(seat_view.view_seat, token)
    entered, turn = Input(choice=request.args.get("choice", "")), request.args.get("turn", "")
    if seat.made is not None and turn == str(seat.made.turn):
        # The browser went back after the button was pressed.
        return site.go("choice.receipt", token=token, turn=turn)
    if seat.decision is None or turn != str(seat.turn):
        return page(seat, token, entered, moved_on=True)
    try:
        choice = read_choice(seat, seat.decision, entered.choice)
    except Refusal as refused:
        return page(seat, token, entered, refused=refused)
    act = next(act for act in seat.decision.acts if choice in act)
    things = things_of(seat.decision, choice, seat.teller, faces_of(seat.board))
    return site.page(
        "preview.html",
        found=seat,
        token=token,
        written=grammar.write(seat.decision, choice),
        things=[thing for thing in things if thing.kind],
        note=seat.teller(act.note) if act.note else "",
        closes=choice.verb in seat.decision.closes,
        again=choice == seat.sealed,
        beside=_neighbours(seat.decision, act, choice),
        prompt=seat.teller(seat.decision.prompt),
        deadline=None if seat.guest else phrases.deadline(seat, server().now()),
    )


@pages.post("/s/<token>/play")
def play(token: str) -> Response:
    turn, choice = site.whole_number("turn", _("the number of a turn")), field("choice")
    try:
        server().run(by_link.play, token, turn, choice)
    except Stale:
        return page(server().read(seat_view.view_seat, token), token, Input(choice=choice), moved_on=True)
    except BadInput as refused:
        return page(server().read(seat_view.view_seat, token), token, Input(choice=choice), refused=refused)
    if demo.go_on(server(), token):
        return site.go("seat.show", token=token)
    return site.go("choice.receipt", token=token, turn=turn)


@pages.get("/s/<token>/receipt/<int:turn>")
def receipt(token: str, turn: int) -> Response:
    """What became of the choice that was made in a turn."""
    seat = server().read(seat_view.view_seat, token)
    sealed = seat.sealed is not None and seat.turn == turn
    made = seat.made if seat.made is not None and seat.made.turn == turn else None
    if made is None and not sealed:
        made = server().read(seat_view.choice_in, token, turn)
    return site.page(
        "receipt.html",
        found=seat,
        token=token,
        turn=turn,
        sealed=seat.sealed_words if sealed else "",
        made=made,
        may_take_back=sealed or (made is not None and made.may_take_back),
        deadline=phrases.deadline(seat, server().now()),
        story=phrases.story(seat.recent_facts, seat.teller) if made else [],
    )


@pages.post("/s/<token>/back")
def take_back(token: str) -> Response:
    turn = site.whole_number("turn", _("the number of a turn"))
    server().run(by_link.take_back, token, Purpose.SEAT, turn)
    return site.go("seat.show", token=token)


def _neighbours(decision: Decision, act: Act, choice: Choice) -> list[str]:
    """The next smaller and the next larger choice, in words, where the choice is a number alone."""
    if len(act.blanks) != 1 or not isinstance(act.blanks[0], Amount):
        return []
    numbers = list(act.blanks[0].values())
    place = numbers.index(choice.values[0])
    neighbours = numbers[max(place - 1, 0) : place] + numbers[place + 1 : place + 2]
    return [grammar.write(decision, Choice(act.verb, (number,))) for number in neighbours]
