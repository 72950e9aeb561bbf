"""The API: one seat, played by a program with its token as `Authorization: Bearer`, which reaches nothing else.

`openapi.json` describes every request and answer; the tests check each route and real answer against it.
"""

import json
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import Unauthorized

from engine import grammar
from engine.decisions import Choice, Value
from pbem.domain.errors import BadInput
from pbem.domain.pace import Bank, read_pace
from pbem.i18n.speech import gettext as _
from pbem.service.absence import second_chance
from pbem.service.archive import export
from pbem.service.clocks.deadlines import bank_left_by_link
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import SeatView
from pbem.tokens import Purpose
from pbem.web.api import answers
from pbem.web.site import config, read_number, server

routes = Blueprint("api", __name__, url_prefix="/api/v1")

MOST_TURNS: Final = 200
"""Turns in one answer of `/history`; its `next` is where the following answer begins."""

DEEPEST: Final = 4
"""Lists within lists in one value of a choice. No blank of any game needs more."""

_DESCRIPTION: Final = json.loads(Path(__file__).with_name("openapi.json").read_text(encoding="utf-8"))


@routes.get("/openapi.json")
def description() -> Response:
    document = _DESCRIPTION | {"servers": [{"url": f"{config().base_url}{routes.url_prefix}"}]}
    return Response(json.dumps(document, indent=2, ensure_ascii=False), mimetype="application/json")


@routes.get("/decision")
def decision() -> Response:
    """What the seat is asked now."""
    return jsonify(_decision())


@routes.post("/choice")
def choose() -> Response:
    """Make a choice in the turn, and at the head, that the program has seen."""
    body = _body()
    turn, choice = _choice(body)
    return jsonify(answers.receipt(server().run(by_link.play, _token(), turn, choice, Purpose.API, _head(body))))


@routes.post("/choice/withdrawal")
def take_back() -> Response:
    """Take back a choice before anyone has been told of it; if it's named, no other one."""
    body = _body()
    server().run(second_chance.by_link, _token(), Purpose.API, _turn(body), _text(body.get("text", ""), "text"))
    return jsonify(_decision())


@routes.get("/view")
def view() -> Response:
    """Everything the seat knows."""
    return jsonify(answers.view(_seat()))


@routes.get("/board")
def board() -> Response:
    """The table as a person in the seat would see it."""
    return jsonify(answers.board(_seat()))


@routes.get("/history")
def history() -> Response:
    """What the seat was told, from one turn on."""
    since = read_number(request.args.get("since", "0"), "the number of a turn")
    seat, entries, more = server().read(seat_view.history, _token(), since, MOST_TURNS)
    return jsonify(answers.history(seat, entries, more=more))


@routes.get("/export")
def whole_game() -> Response:
    game_file = server().read(export.by_link, _token(), Purpose.API)
    return Response(export.write(game_file), mimetype="application/json")


def _seat() -> SeatView:
    """What the seat of this request's token may see."""
    return server().read(seat_view.view_seat, _token(), Purpose.API)


def _token() -> str:
    """The token of this request. Raises Unauthorized where there is none."""
    scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthorized
    return token.strip()


def _decision() -> answers.Json:
    seat = _seat()
    has_bank = seat.decision is not None and isinstance(read_pace(seat.pace), Bank)
    bank = server().read(bank_left_by_link, _token(), Purpose.API) if has_bank else None
    return answers.decision(seat, bank)


def _body() -> dict[str, Any]:
    """The JSON object that was sent."""
    if request.mimetype != "application/json":
        raise BadInput(_("The body isn't JSON."), why=_("Its Content-Type must be application/json."))
    try:
        body = json.loads(request.get_data().decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadInput(_("The body can't be read."), why=_("It must be JSON in UTF-8.")) from None
    if not isinstance(body, dict):
        raise BadInput(_("The body must be an object."))
    return body


def _refuse_constant(name: str) -> float:
    # NaN and Infinity, which Python reads though they are not JSON.
    raise ValueError(name)


def _turn(body: dict[str, Any]) -> int:
    turn = body.get("turn")
    if type(turn) is not int or not 0 <= turn < 10**9:
        raise BadInput(_("“turn” must be the number of the turn you're answering."))
    return turn


def _head(body: dict[str, Any]) -> str:
    """The head that the program has seen: an undo or a restored backup gives the turn's number out again."""
    head = body.get("head")
    if not head:
        raise BadInput(_("“head” must be the one that came with the turn you're answering."))
    return _text(head, "head")


def _choice(body: dict[str, Any]) -> tuple[int, str | Choice]:
    """The turn that a request answers, and the choice: in words, or as data."""
    turn, text, choice = _turn(body), body.get("text"), body.get("choice")
    if (text is None) == (choice is None):
        raise BadInput(_("Send either “text” or “choice”."))
    if text is not None:
        return turn, _text(text, "text")
    if not isinstance(choice, dict) or not isinstance(values := choice.get("values", []), list):
        raise BadInput(_("“choice” must be an object with a “verb” and a list of “values”."))
    return turn, Choice(_text(choice.get("verb"), "verb"), tuple(_value(value, DEEPEST) for value in values))


def _text(value: object, name: str) -> str:
    most = grammar.LONGEST_LINE
    if not isinstance(value, str) or len(value) > most:
        raise BadInput(
            _("“%(name)s” must be a string of up to %(longest_line)s characters.", name=name, longest_line=most)
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(_("“%(name)s” contains an unpaired surrogate.", name=name)) from None
    return value


def _value(value: object, depth: int) -> Value:
    if isinstance(value, list) and depth:
        return tuple(_value(item, depth - 1) for item in value)
    if type(value) is int:
        return value
    return _text(value, "value")
