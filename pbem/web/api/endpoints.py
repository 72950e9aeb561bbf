"""The API: what a seat's player sees and does, for a program, as data.

A program shows the token of one seat as `Authorization: Bearer`; there is nothing else it could reach with it. Answers are
made from the same look that the page of the seat is made from. What each route takes and gives stands in `openapi.py`, and
a test holds the two together.
"""

import json
from typing import Any, Final

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import Unauthorized

from engine import codec, grammar, orders
from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.decisions import Act, Amount, Blank, Choice, Decision, Some, Split, Value
from engine.tell import Teller
from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export
from pbem.service.play import by_link, seat_view
from pbem.service.play.move import Receipt
from pbem.service.play.seat_view import Look
from pbem.tokens import Purpose
from pbem.web.api import openapi
from pbem.web.site import read_number, server

routes = Blueprint("api", __name__, url_prefix="/api/v1")

MOST_TURNS: Final = 200
"""Turns that one answer tells; the next ones are asked for with the next number."""

DEEPEST: Final = 4
"""A choice is an object with a list of values, some of which are lists: nothing of ours is nested deeper."""


@routes.get("/openapi.json")
def description() -> Response:
    """What this API takes and gives."""
    return jsonify(openapi.DESCRIPTION)


@routes.get("/decision")
def decision() -> Response:
    """What the seat is asked now."""
    return jsonify(_asked(server().read(seat_view.look_by_program, _token())))


@routes.post("/choice")
def choose() -> Response:
    """Make a choice, in the turn that the program has seen."""
    turn, wanted = _choice_in(_body())
    return jsonify(_receipt(server().run(by_link.play_by_program, _token(), turn, wanted)))


@routes.post("/choice/withdrawal")
def take_back() -> Response:
    """Take back a choice that has told nobody anything yet."""
    turn = _turn(_body())
    token = _token()
    server().run(by_link.take_back, token, Purpose.API, turn)
    return jsonify(_asked(server().read(seat_view.look_by_program, token)))


@routes.get("/view")
def view() -> Response:
    """Everything that the seat knows."""
    found = server().read(seat_view.look_by_program, _token())
    return jsonify(_table(found) | {"view": codec.plain(found.view)})


@routes.get("/board")
def board() -> Response:
    """The table as a person at the seat would see it."""
    found = server().read(seat_view.look_by_program, _token())
    return jsonify(_table(found) | {"board": _board(found.board, found.teller)})


@routes.get("/history")
def history() -> Response:
    """What the seat was told in the turns from one on."""
    since = read_number(request.args.get("since", "0"), "the number of a turn")
    found, told, more = server().read(seat_view.history, _token(), since, MOST_TURNS)
    entries = [
        {
            "turn": each.turn,
            "facts": [codec.plain(fact) for fact in each.facts],
            "sentences": [sentence for fact in each.facts if (sentence := found.teller.tell(fact)) is not None],
        }
        for each in told
    ]
    following = told[-1].turn + 1 if more else None
    return jsonify(_table(found) | {"entries": entries, "next": following})


@routes.get("/export")
def whole_game() -> Response:
    """The file of the finished game."""
    found = server().read(export.by_link, _token(), Purpose.API)
    return Response(export.write(found), mimetype="application/json")


def _token() -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Unauthorized
    return token.strip()


def _body() -> dict[str, Any]:
    if request.mimetype != "application/json":
        raise BadInput(_("The body is not JSON."), why=_("Its Content-Type has to be application/json."))
    try:
        body = json.loads(request.get_data().decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadInput(_("The body cannot be read."), why=_("It has to be JSON in UTF-8.")) from None
    if not isinstance(body, dict):
        raise BadInput(_("The body has to be an object."))
    return body


def _no_number(text: str) -> float:
    raise ValueError(text)


def _turn(body: dict[str, Any]) -> int:
    turn = body.get("turn")
    if type(turn) is not int or not 0 <= turn < 10**9:
        raise BadInput(_("“turn” has to be the number of the turn that is answered."))
    return turn


def _choice_in(body: dict[str, Any]) -> tuple[int, str | Choice]:
    turn, text, choice = _turn(body), body.get("text"), body.get("choice")
    if (text is None) == (choice is None):
        raise BadInput(_("Either “text” or “choice” has to be there."))
    if text is not None:
        return turn, _text(text, "text")
    if not isinstance(choice, dict) or not isinstance(values := choice.get("values", []), list):
        raise BadInput(_("“choice” has to be an object with a “verb” and a list of “values”."))
    return turn, Choice(_text(choice.get("verb"), "verb"), tuple(_value(each, DEEPEST) for each in values))


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or len(value) > grammar.LONGEST_LINE:
        raise BadInput(
            _(
                "“%(name)s” has to be a text of at most %(longest_line)s characters.",
                name=name,
                longest_line=grammar.LONGEST_LINE,
            )
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(_("“%(name)s” holds half a character.", name=name)) from None
    return value


def _value(value: object, deep: int) -> Value:
    if isinstance(value, list) and deep:
        return tuple(_value(each, deep - 1) for each in value)
    if type(value) is int:
        return value
    return _text(value, "value")


def _table(found: Look) -> dict[str, Any]:
    """What stands in every answer about a table."""
    return {
        "game": found.key,
        "kind": found.rules.slug,
        "title": found.title,
        "status": "paused" if found.paused and found.status == "playing" else found.status,
        "turn": found.turn,
        "seat": found.seat,
        "players": list(found.names),
        "head": found.head,
    }


def _asked(found: Look) -> dict[str, Any]:
    decision = found.decision
    due_at = None if found.due_at is None else found.due_at.isoformat()
    asked = None if decision is None else _decision(decision, found.teller)
    sealed = None if found.sealed is None else _choice(found.sealed, found.sealed_words)
    order = None if found.order is None else orders.write_order(found.order)
    return _table(found) | {"decision": asked, "sealed": sealed, "due_at": due_at, "order": order}


def _decision(decision: Decision, teller: Teller) -> dict[str, Any]:
    return {
        "prompt": teller(decision.prompt),
        "topic": decision.topic,
        "acts": [_act(act, teller) for act in decision.acts],
        "default": _choice(decision.default, grammar.write(decision, decision.default)),
        "closes": sorted(decision.closes),
    }


def _act(act: Act, teller: Teller) -> dict[str, Any]:
    return {
        "verb": act.verb,
        "usage": grammar.usage(act),
        "note": None if act.note is None else teller(act.note),
        "blanks": [_blank(blank, teller) for blank in act.blanks],
    }


def _blank(blank: Blank, teller: Teller) -> dict[str, Any]:
    told: dict[str, Any] = {
        "kind": type(blank).__name__.lower(),
        "name": blank.name,
        "why": None if blank.why is None else teller(blank.why),
    }
    if isinstance(blank, Amount):
        return told | {
            "low": blank.low,
            "high": blank.high,
            "endings": sorted(blank.endings),
            "raising": blank.raising,
        }
    things = [{"value": thing.value, "word": teller(thing.word), "note": teller(thing.note)} for thing in blank.things]
    told["things"] = things
    if isinstance(blank, Some):
        told["many"] = blank.many
    if isinstance(blank, Split):
        told["total"] = blank.total
    return told


def _choice(choice: Choice, text: str) -> dict[str, Any]:
    return {"verb": choice.verb, "values": codec.plain(choice)["values"], "text": text}


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {
        "turn": receipt.turn,
        "seat": receipt.seat,
        "choice": _choice(receipt.choice, receipt.written),
        "sealed": receipt.sealed,
        "again": receipt.again,
        "over": receipt.over,
    }


def _board(board: Board, teller: Teller) -> dict[str, Any]:
    sections = {name: [_part(part, teller) for part in getattr(board, name)] for name in _SECTIONS}
    return {"title": teller(board.title), "turn": teller(board.turn)} | sections


def _part(part: Part, teller: Teller) -> dict[str, Any]:
    if isinstance(part, Line):
        return {"kind": "line", "text": teller(part.text)}
    if isinstance(part, Row):
        faces = [
            {"kind": face.kind, "id": face.id, "word": teller(face.word), "note": teller(face.note)}
            for face in part.faces
        ]
        return {"kind": "row", "label": teller(part.label), "faces": faces}
    if isinstance(part, Amounts):
        pairs = [{"label": teller(label), "number": number} for label, number in part.pairs]
        return {"kind": "amounts", "pairs": pairs}
    assert isinstance(part, Grid)
    rows = [{"seat": seat, "numbers": list(numbers)} for seat, numbers in part.rows]
    return {"kind": "grid", "columns": [teller(column) for column in part.columns], "rows": rows}


_SECTIONS: Final = ("up", "mine", "others", "scores")
