"""The inbox: messages from people who contacted the organiser, and the answers."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, Response, request

from pbem.domain.acts import Act
from pbem.domain.errors import Refusal
from pbem.service.desk import calls
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.errors import status_of
from pbem.web.site import field, server

pages = Blueprint("desk_calls", __name__)

BEGINNING: Final = 300
"""Characters of each message in the list."""


@pages.get("/desk/calls")
@permissions.needs(Act.CALLS)
def show() -> Response:
    """The open calls, oldest first; with `?status=closed` the closed ones."""
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
def answer(call_id: int) -> Response:
    """Answer a call by email."""
    return _change(call_id, lambda: server().run(calls.answer, permissions.actor(), call_id, field("text")))


@pages.post("/desk/calls/<int:call_id>/close")
@permissions.needs(Act.CLOSE_CALL)
def close(call_id: int) -> Response:
    """Close a call without an answer."""
    return _change(call_id, lambda: server().run(calls.close, permissions.actor(), call_id, field("reason")))


def _change(call_id: int, act: Callable[[], None]) -> Response:
    try:
        act()
    except Refusal as refused:
        return _page(call_id, refused)
    return site.go("desk_calls.show_call", call_id=call_id)


def _page(call_id: int, refused: Refusal | None = None) -> Response:
    found = server().read(calls.one, permissions.actor(), call_id)
    return site.page("desk/call.html", status_of(refused), found=found, call=found.row, refused=refused)
