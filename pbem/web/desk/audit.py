"""The audit: what was done at the desk, to be looked through, checked and taken away."""

import json
from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, Response, request

from pbem.domain import chain
from pbem.domain.acts import Act
from pbem.domain.errors import Refusal
from pbem.domain.speech import gettext as _
from pbem.service import audit
from pbem.store.audit import AuditRow, Wanted
from pbem.web import site
from pbem.web.desk import door
from pbem.web.errors import status_of
from pbem.web.site import house, read_number

pages = Blueprint("desk_audit", __name__)

SHOWN: Final = 50


@pages.get("/desk/audit")
@door.needs(Act.AUDIT)
def show() -> Response:
    """The newest acts, or those that are looked for."""
    return _page()


@pages.get("/desk/audit/check")
@door.needs(Act.AUDIT)
def check() -> Response:
    """Read the whole chain, and say what is wrong with it."""
    noted = [request.args["head"].strip()] if request.args.get("head", "").strip() else []
    return _page(audit.verify(house(), noted))


@pages.get("/desk/audit.jsonl")
@door.needs(Act.AUDIT)
def export() -> Response:
    """The whole chain as a file."""
    response = Response(audit.export(house()), mimetype="application/jsonl")
    response.headers["Content-Disposition"] = "attachment; filename=audit.jsonl"
    return response


def _page(outcome: chain.Outcome | None = None) -> Response:
    asked = {name: request.args.get(name, "").strip() for name in ("act", "table", "person", "by")}
    refused, found = None, []
    try:
        before = _number(request.args.get("before", ""), _("the number of an act"))
        found = audit.listed(house(), _wanted(asked), before=before, limit=SHOWN + 1)
    except Refusal as error:
        refused = error
    return site.page(
        "desk/audit.html",
        200 if refused is None else status_of(refused),
        rows=[(row, _told(row)) for row in found[:SHOWN]],
        older={name: value for name, value in asked.items() if value} | {"before": found[SHOWN - 1].seq}
        if len(found) > SHOWN
        else None,
        asked=asked,
        acts=list(Act),
        head=audit.head(house()),
        outcome=outcome,
        refused=refused,
    )


def _wanted(asked: Mapping[str, str]) -> Wanted:
    return Wanted(
        act=asked["act"] or None,
        game_id=_number(asked["table"], _("the number of a table")),
        person_id=_number(asked["person"], _("the number of a person")),
        actor=" ".join(asked["by"].split()) or None,
    )


def _number(text: str, called: str) -> int | None:
    return read_number(text, called) if text else None


def _told(row: AuditRow) -> list[tuple[str, Any]]:
    """What an act alone knows, in the words in which it was written down."""
    return [
        (name.replace("_", " "), _said(name, value))
        for name, value in sorted(json.loads(row.body).items())
        if value is not None
    ]


def _said(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    # People count seats from one.
    return value + 1 if name == "seat" else value
