"""The page of a seat: the table as its player sees it, what happened, and everything the player can do.

A choice takes two forms: the first leads to a page that says it in words and keeps nothing, the button there makes it.
That page has an address of its own, so that nobody who goes back or reloads is asked whether to send a form again.
Forms carry the number of the turn they were made for, so one that was left open for a day never plays in another turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, Response, make_response, render_template, request

from engine import grammar, orders
from engine.decisions import Amount, Choice, Decision, Refused
from engine.tell import Text
from pbem.domain.errors import BadInput, Refusal, Stale
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export
from pbem.service.desk import calls
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import Look
from pbem.service.tables import by_link as tables_by_link
from pbem.service.tables import demo, rematch
from pbem.tokens import Purpose
from pbem.web import phrases, security, site
from pbem.web.errors import status_of
from pbem.web.seat.board import draw, faces_of
from pbem.web.seat.forms import EMPTY, Given, choice_of, chosen, forms_of, given_of
from pbem.web.site import field, server

pages = Blueprint("seat", __name__)


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody has filled in, so that a page that could not take it shows it again."""

    given: Given = EMPTY
    choice: str = ""
    written: str = ""
    order: str = ""
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """What somebody wanted to do, and why it cannot be done now; empty if it can."""

    wanted: str
    answer: str


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the page of a seat is made of: where it is the same as the last time, so is the page."""

    found: Look
    token: str
    typed: Typed
    deadline: phrases.Deadline | None
    refused: Refusal | None
    moved_on: bool
    asked_why: Reason | None


@pages.get("/s/<token>")
def show(token: str) -> Response:
    """The table as the player sees it. Whoever comes back from a preview finds the choice still filled in."""
    return _page(server().read(seat_view.look, token), token, Typed(choice=request.args.get("choice", "")))


@pages.post("/s/<token>/preview")
def choose(token: str) -> Response:
    """What a form means, which a page of its own says in words: going back and reloading sends no form again."""
    security.must_not_be_foreign()
    found = server().read(seat_view.look, token)
    typed = Typed(given=request.form, written=field("written"))
    turn = site.whole_number("turn", _("the number of a turn"))
    if found.decision is None or found.turn != turn:
        return _moved_on(found, token, Typed(choice=typed.written))
    try:
        choice = _wanted(found.decision, found)
    except Refusal as refused:
        return _page(found, token, typed, status=status_of(refused), refused=refused)
    return site.go("seat.preview", token=token, turn=turn, choice=grammar.write(found.decision, choice))


@pages.get("/s/<token>/preview")
def preview(token: str) -> Response:
    """The choice in words, before it is made; nothing is kept of it."""
    found = server().read(seat_view.look, token)
    typed, turn = Typed(choice=request.args.get("choice", "")), request.args.get("turn", "")
    if found.made is not None and turn == str(found.made.turn):
        # Somebody went back after the button was pressed.
        return site.go("seat.receipt", token=token, turn=turn)
    if found.decision is None or turn != str(found.turn):
        return _moved_on(found, token, typed)
    try:
        choice = _read(found.decision, found, typed.choice)
    except Refusal as refused:
        return _page(found, token, typed, status=status_of(refused), refused=refused)
    act = next(act for act in found.decision.acts if choice in act)
    return site.page(
        "preview.html",
        found=found,
        token=token,
        written=grammar.write(found.decision, choice),
        things=[each for each in chosen(found.decision, choice, found.teller, faces_of(found.board)) if each.kind],
        note=found.teller(act.note) if act.note else "",
        closes=choice.verb in found.decision.closes,
        again=choice == found.sealed,
        beside=_beside(found.decision, choice),
        prompt=found.teller(found.decision.prompt),
        deadline=None if found.guest else phrases.deadline(found, server().now()),
    )


@pages.post("/s/<token>/why")
def why(token: str) -> Response:
    """Why something cannot be done now. The rules answer from what this seat knows, and nothing is kept of the question."""
    security.must_not_be_foreign()
    found = server().read(seat_view.look, token)
    wanted = field("wanted")
    if found.decision is None:
        return _moved_on(found, token, Typed(choice=wanted))
    try:
        _read(found.decision, found, wanted)
        answer = ""
    except BadInput as refused:
        answer = refused.what
    return _page(found, token, Typed(wanted=wanted), asked_why=Reason(wanted, answer))


@pages.post("/s/<token>/play")
def play(token: str) -> Response:
    """Make the choice."""
    security.must_not_be_foreign()
    turn = site.whole_number("turn", _("the number of a turn"))
    typed = Typed(choice=field("choice"))
    try:
        server().run(by_link.play, token, turn, typed.choice)
    except Stale:
        return _moved_on(server().read(seat_view.look, token), token, typed)
    except BadInput as refused:
        return _page(server().read(seat_view.look, token), token, typed, status=status_of(refused), refused=refused)
    if demo.go_on(server(), token):
        return site.go("seat.show", token=token)
    return site.go("seat.receipt", token=token, turn=turn)


@pages.get("/s/<token>/receipt/<int:turn>")
def receipt(token: str, turn: int) -> Response:
    """What has become of the choice that was made in a turn."""
    found = server().read(seat_view.look, token)
    sealed = found.sealed is not None and found.turn == turn
    made = found.made if found.made is not None and found.made.turn == turn else None
    return site.page(
        "receipt.html",
        found=found,
        token=token,
        turn=turn,
        sealed=found.sealed_words if sealed else "",
        made=made,
        may_take_back=sealed or (made is not None and made.may_take_back),
        deadline=phrases.deadline(found, server().now()),
        story=phrases.story(found.told, found.teller) if made else [],
    )


@pages.post("/s/<token>/back")
def take_back(token: str) -> Response:
    """Take a choice back."""
    security.must_not_be_foreign()
    server().run(by_link.take_back, token, Purpose.SEAT, site.whole_number("turn", _("the number of a turn")))
    return site.go("seat.show", token=token)


@pages.post("/s/<token>/order")
def leave_order(token: str) -> Response:
    """Set a standing order."""
    security.must_not_be_foreign()
    text = field("order")
    if field("limit"):
        text = f"up to {site.whole_number('limit', 'a limit')}" + (" or ask me" if site.ticked("ask") else "")
    try:
        server().run(by_link.leave_order, token, text)
    except BadInput as refused:
        return _page(
            server().read(seat_view.look, token), token, Typed(order=text), status=status_of(refused), refused=refused
        )
    demo.go_on(server(), token)
    return site.go("seat.show", token=token, _anchor="orders")


@pages.post("/s/<token>/order/drop")
def drop_order(token: str) -> Response:
    """Drop the standing order."""
    security.must_not_be_foreign()
    server().run(by_link.drop_order, token)
    return site.go("seat.show", token=token, _anchor="orders")


@pages.get("/s/<token>/call")
def call_page(token: str) -> Response:
    """The form by which the reader of a mail calls the organiser about this game."""
    server().read(seat_view.look, token)
    return site.page("call.html", refused=None, action="seat.call", token=token)


@pages.post("/s/<token>/call")
def call(token: str) -> Response:
    """Call the organiser about this game."""
    security.must_not_be_foreign()
    calls.call_by_link(server(), token, Purpose.SEAT, field("text"))
    return site.go("lobby.called")


@pages.post("/s/<token>/programs")
def programs(token: str) -> Response:
    """Show the token by which a program may play this seat."""
    security.must_not_be_foreign()
    secret = server().run(by_link.token_for_programs, token)
    return site.page("programs.html", token=token, secret=secret)


@pages.post("/s/<token>/end")
def agree_to_end(token: str) -> Response:
    """Agree to end the game without a result, or no longer."""
    security.must_not_be_foreign()
    if field("agree") == "yes":
        tables_by_link.agree_to_end(server(), token)
    else:
        tables_by_link.play_on(server(), token)
    return site.go("seat.show", token=token, _anchor="leave")


@pages.post("/s/<token>/resign")
def resign(token: str) -> Response:
    """Give the seat away, once that was confirmed on a page of its own."""
    security.must_not_be_foreign()
    if field("sure") != "yes":
        return site.page("resign.html", found=server().read(seat_view.look, token), token=token)
    tables_by_link.resign(server(), token)
    return site.go("seat.resigned")


@pages.get("/resigned")
def resigned() -> Response:
    """Somebody has given a seat away."""
    return site.page("resigned.html")


@pages.post("/s/<token>/rematch")
def play_again(token: str) -> Response:
    """Open a table like this one for the same people, or go to the one that another of them has opened."""
    security.must_not_be_foreign()
    return site.go("lobby.doorstep_page", token=server().run(rematch.rematch, token))


@pages.get("/s/<token>/game.json")
def download(token: str) -> Response:
    """The file of the finished game."""
    found = server().read(export.by_link, token, Purpose.SEAT)
    response = Response(export.write(found), mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{found.kind}-{found.key}.json"'
    return response


def _wanted(decision: Decision, found: Look) -> Choice:
    """The choice that the form means, by its fields or as it was written."""
    if field("written"):
        return _read(decision, found, field("written"))
    return _agreeable(found, choice_of(decision, request.form))


def _read(decision: Decision, found: Look, written: str) -> Choice:
    """The choice that was written."""
    try:
        choice = grammar.read(decision, written)
    except Refused as refused:
        verb = next(iter(grammar.words_of(written[: grammar.LONGEST_LINE])), "")
        reason = _barred(found).get(verb, refused.text)
        raise BadInput(found.teller(reason), remedy=_("Nothing was changed.")) from refused
    return _agreeable(found, choice)


def _barred(found: Look) -> Mapping[str, Text]:
    """What the seat will miss among its acts, and why it cannot be done now."""
    return {} if found.decision is None else found.rules.barred(found.view, found.seat)


def _agreeable(found: Look, choice: Choice) -> Choice:
    objection = found.rules.objects(found.view, found.seat, choice)
    if objection is not None:
        raise BadInput(found.teller(objection))
    return choice


def _beside(decision: Decision, choice: Choice) -> list[str]:
    """The next smaller and the next larger choice where it is a number alone."""
    act = next(act for act in decision.acts if choice in act)
    if len(act.blanks) != 1 or not isinstance(act.blanks[0], Amount):
        return []
    numbers = list(act.blanks[0].values())
    place = numbers.index(choice.number())
    beside = numbers[max(place - 1, 0) : place] + numbers[place + 1 : place + 2]
    return [grammar.write(decision, Choice(act.verb, (number,))) for number in beside]


def _given(found: Look, typed: Typed) -> Given:
    """What the forms show as filled in: what came, or the choice that is named, or the one that is sealed."""
    if found.decision is None or typed.given:
        return typed.given
    try:
        choice = grammar.read(found.decision, typed.choice) if typed.choice else found.sealed
    except Refused:
        choice = found.sealed
    return EMPTY if choice is None or choice not in found.decision else given_of(found.decision, choice)


def _moved_on(found: Look, token: str, typed: Typed) -> Response:
    """The page as it is now, with a word about the form that came too late."""
    return _page(found, token, typed, status=409, moved_on=True)


def _page(
    found: Look,
    token: str,
    typed: Typed,
    *,
    status: int = 200,
    refused: Refusal | None = None,
    moved_on: bool = False,
    asked_why: Reason | None = None,
) -> Response:
    deadline = phrases.deadline(found, server().now()) if found.decision and not found.guest else None
    shown = Shown(found, token, typed, deadline, refused, moved_on, asked_why)
    return make_response(site.drawn_once(token, shown, _draw), status)


def _draw(shown: Shown) -> str:
    """The page, which is made of nothing but this."""
    found = shown.found
    teller, decision = found.teller, found.decision
    raised = orders.raising(decision) if decision else None
    offered = orders.offered(decision) if decision else ()
    return render_template(
        "seat.html",
        found=found,
        token=shown.token,
        typed=shown.typed,
        board=draw(found.board, teller, found.seat),
        prompt=teller(decision.prompt) if decision else "",
        forms=forms_of(decision, teller, faces_of(found.board), _given(found, shown.typed)) if decision else [],
        wording=grammar.usages(decision) if decision else (),
        deadline=shown.deadline,
        story=phrases.story(found.told, teller),
        places=phrases.places(found.standing, teller),
        reasons=[teller(reason) for reason in found.standing.reasons],
        order=orders.write_order(found.order) if found.order else "",
        raising=raised[1] if raised else None,
        ready_orders=[each for each in offered if "<" not in each],
        orders=orders.USAGES,
        barred=tuple((verb, teller(why)) for verb, why in _barred(found).items()),
        asked_why=shown.asked_why,
        refused=shown.refused,
        moved_on=shown.moved_on,
        # What the game is about, in its own words, for those who have come without knowing any game.
        aim=speech.translate(found.rules.about) if found.guest else "",
        agreed=found.seat in found.votes,
        others_agreed=tuple(teller.name(seat) for seat in sorted(found.votes - {found.seat})),
    )
