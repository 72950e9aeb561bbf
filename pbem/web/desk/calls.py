"""The inbox: messages from people who contacted the organiser, and the answers."""

from typing import Final

from flask import Blueprint, Response, request

from pbem.domain.acts import Act
from pbem.domain.errors import Refusal
from pbem.service.desk import calls, marks
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.site import field, server

pages = Blueprint("desk_calls", __name__)

BEGINNING: Final = 300
"""Characters of each message in the list."""


def _page(call_id: int, refused: Refusal | None = None) -> Response:
    found = server().read(calls.details, permissions.actor(), call_id)
    game_id = found.row.game_id
    return site.page(
        "desk/call.html",
        found=found,
        call=found.row,
        mark=marks.of_call(found.row),
        table_mark="" if game_id is None else server().read(marks.mark, {"game_id": game_id}),
        refused=refused,
    )


@pages.get("/desk/calls")
@permissions.needs(Act.CALLS)
def show() -> Response:
    """The open calls, known people's first, then oldest first; with `?status=closed` the closed ones."""
    status = "closed" if request.args.get("status") == "closed" else "open"
    return site.page(
        "desk/calls.html",
        queue=server().read(calls.queue, permissions.actor(), status),
        which=status,
        beginning=BEGINNING,
    )


@pages.get("/desk/calls/<int:call_id>")
@permissions.needs(Act.CALL)
def show_call(call_id: int) -> Response:
    """One call, with the forms to answer or close it."""
    return _page(call_id)


@pages.post("/desk/calls/<int:call_id>/answer")
@permissions.needs(Act.ANSWER)
@site.shows_refusals_on(_page)
def answer(call_id: int) -> Response:
    server().read(marks.must_fit, field("of"), {"call_id": call_id})
    server().run(calls.answer, permissions.actor(), call_id, field("text"))
    return site.go("desk_calls.show_call", call_id=call_id, done="answered")


@pages.post("/desk/calls/<int:call_id>/close")
@permissions.needs(Act.CLOSE_CALL)
@site.shows_refusals_on(_page)
def close(call_id: int) -> Response:
    server().read(marks.must_fit, field("of"), {"call_id": call_id})
    server().run(calls.close, permissions.actor(), call_id, field("reason"))
    return site.go("desk_calls.show_call", call_id=call_id, done="dismissed")
