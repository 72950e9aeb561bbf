"""The page of a seat: the table as its player sees it, what happened, and everything the player can do.

A form names the turn it was made for, so one that was left open for a day never plays in another turn.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from typing import Final

from flask import Blueprint, Response, make_response, render_template, request, url_for

from engine import coach, grammar
from engine.board import faces_of
from engine.coach.remarks import of_hint
from engine.decisions import Choice, Decision, Refused
from engine.tell import Text, say
from pbem.domain.duration import HOUR, MINUTE
from pbem.domain.errors import BadInput, NotFound, Refusal, Stale, TooMany
from pbem.domain.moments import relative_text, short_moment_text
from pbem.domain.pace import Bank, read_pace
from pbem.hints import HintTask, NoHint
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.absence import second_chance
from pbem.service.account import my_page
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.people import quota
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import SeatView
from pbem.service.tables import demo
from pbem.store.deadlines import NextTurn
from pbem.web import client, page_cache, phrases, security, site
from pbem.web.people import session_cookie
from pbem.web.result import PageResult, page_result
from pbem.web.seat import orders as seat_orders, sandbox
from pbem.web.seat.board import draw
from pbem.web.seat.fields import EMPTY, Fields
from pbem.web.seat.forms import choosable, fields_of, forms_of
from pbem.web.seat.selection import fields_of_selection, form_of_selection
from pbem.web.site import field, server, status_of

pages = Blueprint("seat", __name__)

_FORM_TURN: Final = re.compile(r"([0-9]+)\.([0-9a-f]{20})", re.ASCII)

HINTS_AN_HOUR: Final = 60
"""Hints for one network in an hour: each keeps everyone else who asks waiting for some seconds."""


@dataclass(frozen=True, slots=True)
class Input:
    """What someone has filled in, to be shown again: a `choice` from an address or form, or `words` they typed."""

    fields: Fields = EMPTY
    choice: str = ""
    words: str = ""
    order: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a player asked to do, and why it is not possible now; the reason is empty if it is possible."""

    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class Content:
    """All that the page is made of. Where that is the same as the last time, so is the page."""

    seat: SeatView
    token: str
    entered: Input
    deadline: phrases.Deadline | None
    waiting: str
    placed: bool
    refused: Refusal | None
    moved_on: bool
    explanation: Explanation | None
    hint: tuple[str, ...]
    waits: NextTurn | None
    signed_in: bool
    until: str


@pages.get("/s/<token>")
def show(token: str) -> Response:
    """The table. A player who comes back from a question finds the choice still filled in.

    `placed` is the turn of the choice that was just made.
    """
    seat = server().read(seat_view.view_seat, token)
    placed = seat.made is not None and request.args.get("placed") == str(seat.made.turn)
    return page(seat, token, Input(choice=request.args.get("choice", "")), placed=placed, waits=_waits(seat, placed))


@pages.get("/s/<token>/news")
def news(token: str) -> Response:
    """Whether there is news for an open table: 304 if its mark is still the one that is sent along."""
    mark = server().read(seat_view.read_mark, token)
    response = Response(status=304 if request.if_none_match.contains(mark) else 204)
    response.set_etag(mark)
    return response


@pages.post("/s/<token>/why")
def why(token: str) -> Response:
    """Why something is not possible now. The rules answer from what this seat knows, and the question is not kept."""
    seat = server().read(seat_view.view_seat, token)
    question = field("wanted")
    if seat.decision is None:
        return page(seat, token, Input(choice=question), moved_on=True)
    try:
        read_choice(seat, seat.decision, question)
        reason = ""
    except BadInput as refused:
        reason = refused.what
    return page(seat, token, Input(question=question), explanation=Explanation(question, reason))


@pages.post("/s/<token>/hint")
def ask_for_hint(token: str) -> Response:
    """What the Expert bot would choose now, made from what this seat sees. Where a table has no hints, there's no such page."""
    seat = server().read(seat_view.view_seat, token)
    if seat.decision is None or not seat.is_at(field("turn")):
        return page(seat, token, moved_on=True)
    if not seat.hints:
        raise NotFound(_("This table has no hints."))
    of_network = quota.quota_of(server(), "hint", client.network(), HINTS_AN_HOUR, HOUR)
    try:
        if server().read(quota.used_up, [of_network]):
            raise _too_many_hints()
        found = site.hint(HintTask(seat.rules, seat.view, seat.decision))
    except TooMany as refused:
        if isinstance(refused, NoHint):
            server().run(quota.take, [of_network])
        return page(seat, token, refused=refused)
    # Only what the Expert has worked on has kept others waiting.
    server().run(quota.take, [of_network])
    words = tuple(map(seat.teller, of_hint(found, coach.HINTED)))
    return page(seat, token, Input(choice=found.chosen), hint=words)


@pages.post("/s/<token>/order")
def leave_order(token: str) -> Response:
    (turn, head), order = form_turn(), field("order")
    try:
        order = seat_orders.text_of_form()
        server().run(by_link.add_order, token, turn, order, head)
    except (BadInput, Stale) as refused:
        return page(server().read(seat_view.view_seat, token), token, Input(order=order), refused=refused)
    demo.go_on(server(), token)
    return site.go("seat.show", token=token, done="order set")


@pages.post("/s/<token>/order/drop")
def drop_order(token: str) -> Response:
    """Drop the standing order that the form names."""
    rank, expected = seat_orders.rank_of_form()
    try:
        server().run(by_link.drop_order, token, rank, expected)
    except Stale as refused:
        return page(server().read(seat_view.view_seat, token), token, refused=refused)
    return site.go("seat.show", token=token, done="order dropped")


@pages.post("/s/<token>/order/move")
def move_order(token: str) -> Response:
    rank, expected = seat_orders.rank_of_form()
    try:
        server().run(by_link.move_order, token, rank, expected, up=field("to") == "up")
    except Stale as refused:
        return page(server().read(seat_view.view_seat, token), token, refused=refused)
    demo.go_on(server(), token)
    return site.go("seat.show", token=token, done="order moved")


@pages.post("/s/<token>/programs")
def show_api_token(token: str) -> Response:
    """The token by which a program may play this seat."""
    return site.page("programs.html", token=token, secret=server().run(by_link.api_token, token))


def form_turn() -> tuple[int, str]:
    """The turn that a form names, and the head that its player has seen. Raises BadInput."""
    found = _FORM_TURN.fullmatch(field("turn"))
    turn, head = (field("turn"), "") if found is None else found.groups()
    return site.read_number(turn, _("a turn number")), head


def read_choice(seat: SeatView, decision: Decision, words: str) -> Choice:
    """The choice that these words mean. Raises BadInput, with the reason, where it is not possible now."""
    try:
        choice = grammar.read(decision, words)
    except Refused as refused:
        verb = next(iter(grammar.words_of(words[: grammar.LONGEST_LINE])), "")
        reason = _barred(seat).get(verb, refused.text)
        raise BadInput(seat.teller(reason), remedy=_("Nothing changed.")) from refused
    return allowed(seat, choice)


def allowed(seat: SeatView, choice: Choice) -> Choice:
    """The choice itself. Raises BadInput where its values are not possible together."""
    objection = seat.rules.objects(seat.view, seat.seat, choice)
    if objection is not None:
        raise BadInput(seat.teller(objection))
    return choice


def deadline_of(seat: SeatView, token: str) -> phrases.Deadline | None:
    """The deadline of a seat for its player; None in a demo, which has none."""
    if seat.guest:
        return None
    has_bank = isinstance(read_pace(seat.pace), Bank)
    bank = server().read(clocks_deadlines.bank_left_by_link, token) if has_bank else None
    return phrases.deadline(seat, server().now(), bank)


def page(
    seat: SeatView,
    token: str,
    entered: Input = Input(),
    *,
    placed: bool = False,
    refused: Refusal | None = None,
    moved_on: bool = False,
    explanation: Explanation | None = None,
    hint: tuple[str, ...] = (),
    waits: NextTurn | None = None,
) -> Response:
    """The page, with what a player has filled in and what was wrong with it; `moved_on` if it came too late.

    `waits` is the player's most urgent turn elsewhere.
    """
    deadline = deadline_of(seat, token) if seat.decision else None
    waiting = "" if seat.decision else _waiting(seat, server().now())
    signed_in = waits is not None and session_cookie.is_of(seat.person_id)
    until = _second_chance(seat, token)
    content = Content(
        seat, token, entered, deadline, waiting, placed, refused, moved_on, explanation, hint, waits, signed_in, until
    )
    response = make_response(page_cache.drawn_once(token, content, _draw), 409 if moved_on else status_of(refused))
    response.headers["Content-Security-Policy"] = security.POLICY_OF_LIVE_PAGES
    return response


def _draw(content: Content) -> str:
    """The HTML of the page, which is made of nothing but this."""
    seat, entered = content.seat, content.entered
    teller, decision = seat.teller, seat.decision
    faces, fields = faces_of(seat.board), _fields(seat, entered)
    forms = []
    if decision is not None and (selection := seat.rules.selection(seat.view, decision)):
        forms = [form_of_selection(decision, selection, teller, faces, fields)]
    elif decision is not None:
        forms = forms_of(decision, teller, faces, fields, cache(seat.is_costly))
    board = draw(seat.board, teller, seat.seat, seat.asked, choosable(forms), seat.levels)
    if seat.sealed is not None and board.own is not None:
        board = replace(board, own=replace(board.own, chosen=True))
    return render_template(
        "seat.html",
        found=seat,
        token=content.token,
        entered=entered,
        board=board,
        prompt=teller(decision.brief or decision.prompt) if decision else "",
        forms=forms,
        wording=grammar.usages(decision) if decision else (),
        deadline=content.deadline,
        placed=content.placed,
        waits=content.waits,
        signed_in=content.signed_in,
        until=content.until,
        waiting=content.waiting,
        may_get_time=_may_get_time(seat),
        givers=teller(say("{seats:seats}", seats=seat.givers)) if seat.givers and decision else "",
        story=phrases.story(seat.recent_facts, seat.teller_in),
        end=_end(seat, content.token),
        **seat_orders.of_seat(seat),
        may_plan=sandbox.is_offered(seat),
        barred=_barred_together(seat),
        explanation=content.explanation,
        hint=content.hint,
        refused=content.refused,
        moved_on=content.moved_on,
        # What the game is about, in its own words, for visitors who know none of the games.
        aim=speech.translate(seat.rules.about) if seat.guest else "",
        lesson=_lesson(seat),
        agreed=seat.seat in seat.votes,
        back_names=tuple(teller.name(other) for other in sorted(seat.back_votes)),
        others_agreed=tuple(teller.name(other) for other in sorted(seat.votes - {seat.seat})),
    )


def _too_many_hints() -> TooMany:
    return TooMany(
        _("Many hints were asked for in the last hour."),
        why=_("The Expert makes at most %(hints_an_hour)s an hour for one network.", hints_an_hour=HINTS_AN_HOUR),
        remedy=_("Choose without one, or try again in a few minutes."),
    )


def _waiting(seat: SeatView, now: datetime) -> str:
    """Who is to decide, and since when. In a simultaneous turn all are named, so it does not tell who has answered."""
    others = tuple(sorted(seat.asked - {seat.seat}))
    if not others or seat.asked_since is None:
        return ""
    names = seat.teller(say("{seats:seats}", seats=others))
    since = short_moment_text(seat.asked_since, seat.zone)
    ago = relative_text(now, seat.asked_since) if now - seat.asked_since >= MINUTE else _("just now")
    return _("Waiting for %(names)s since %(moment)s (%(ago)s).", names=names, moment=since, ago=ago)


def _second_chance(seat: SeatView, token: str) -> str:
    """Until when the player can take back the move made for their missed turn; empty if they can't."""
    if seat.made is None or not seat.made.by_clock or not seat.made.may_take_back:
        return ""
    until = server().read(second_chance.until_by_link, token, seat.made.turn)
    return "" if until is None else phrases.moment(until, seat.zone, server().now())


def _may_get_time(seat: SeatView) -> tuple[tuple[int, str], ...]:
    """The seats, with names, that may be given a day more: all that are asked, whether or not they have answered."""
    if seat.paused or seat.guest:
        return ()
    return tuple((each, seat.names[each]) for each in sorted(seat.asked.intersection(seat.people) - {seat.seat}))


def _waits(seat: SeatView, placed: bool) -> NextTurn | None:
    """The next game that waits for a player who has just moved. Only then it's looked for, so no other page reads more."""
    moved = placed or seat.sealed is not None
    if not moved or seat.guest or "placed" not in request.args:
        return None
    return server().read(my_page.next_turn, seat.person_id, seat.game_id)


def _end(seat: SeatView, token: str) -> PageResult | None:
    """How the game ended, if it has."""
    if seat.ending is None:
        return None
    turn = partial(url_for, "replay.seat_moment", token=token)
    return page_result(seat.ending, seat.names, seat.teller_in, seat.seat, lambda number: turn(turn=number))


def _lesson(seat: SeatView) -> tuple[str, str, str] | None:
    """What a guest of the demo hears before this decision: what it is about, what to do, and why."""
    lesson = seat.rules.lesson(seat.view, seat.seat) if seat.guest and seat.decision else None
    return None if lesson is None else (seat.teller(lesson.what), seat.teller(lesson.do), seat.teller(lesson.why))


def _fields(seat: SeatView, entered: Input) -> Fields:
    """What the forms show as filled in: what was sent, or the choice that was named, or the sealed one."""
    if seat.decision is None or entered.fields:
        return entered.fields
    try:
        choice = grammar.read(seat.decision, entered.choice) if entered.choice else seat.sealed
    except Refused:
        choice = seat.sealed
    if choice is None or choice not in seat.decision:
        return EMPTY
    selection = seat.rules.selection(seat.view, seat.decision)
    return fields_of_selection(selection, choice) if selection else fields_of(seat.decision, choice)


def _barred_together(seat: SeatView) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The reasons why acts are not possible now, each once, with the verbs of the acts."""
    verbs: dict[str, list[str]] = {}
    for verb, reason in _barred(seat).items():
        verbs.setdefault(seat.teller(reason), []).append(verb)
    return tuple((tuple(each), reason) for reason, each in verbs.items())


def _barred(seat: SeatView) -> Mapping[str, Text]:
    """The acts that the player may miss, each with the reason why it is not possible now."""
    return {} if seat.decision is None else seat.rules.barred(seat.view, seat.seat)
