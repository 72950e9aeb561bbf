"""The audit of the desk: searching, checking and downloading it."""

import json
from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, Response, request

from engine import game
from pbem.domain import hash_chain
from pbem.domain.acts import READ_ONLY, Act
from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.mail.write import words
from pbem.service.desk import audit
from pbem.service.play.rules import rules_for
from pbem.store.audit import AuditFilter, AuditRow
from pbem.web import phrases, site
from pbem.web.desk import permissions
from pbem.web.site import read_number, server

pages = Blueprint("desk_audit", __name__)

SHOWN: Final = 50


@pages.get("/desk/audit")
@permissions.needs(Act.AUDIT)
def show() -> Response:
    """The newest acts, or those that match a search."""
    return _page()


@pages.get("/desk/audit/check")
@permissions.needs(Act.AUDIT)
def check() -> Response:
    """Check the whole chain, and show what is wrong with it."""
    heads = [request.args["head"].strip()] if request.args.get("head", "").strip() else []
    return _page(server().read(audit.verify, heads))


@pages.get("/desk/audit.jsonl")
@permissions.needs(Act.AUDIT)
def export() -> Response:
    """The whole chain as a file."""
    response = Response(audit.export(server()), mimetype="application/jsonl")
    response.headers["Content-Disposition"] = "attachment; filename=audit.jsonl"
    return response


def _page(outcome: hash_chain.ChainCheck | None = None) -> Response:
    search = {name: request.args.get(name, "").strip() for name in ("act", "table", "person", "by")}
    refused, acts = None, []
    try:
        before = _number(request.args.get("before", ""), _("an act number"))
        acts = server().read(audit.newest, _filter(search), before=before, limit=SHOWN + 1)
    except Refusal as error:
        refused = error
    kinds = server().read(audit.game_kinds, [row for row in acts if row.act == Act.CORRECT])
    return site.page(
        "desk/audit.html",
        rows=[(row, _details(row, kinds)) for row in acts[:SHOWN]],
        older={name: value for name, value in search.items() if value} | {"before": acts[SHOWN - 1].seq}
        if len(acts) > SHOWN
        else None,
        asked=search,
        acts=[act for act in Act if act not in READ_ONLY],
        head=server().read(audit.head),
        outcome=outcome,
        refused=refused,
    )


def _filter(search: Mapping[str, str]) -> AuditFilter:
    return AuditFilter(
        act=search["act"] or None,
        game_id=_number(search["table"], _("a table number")),
        person_id=_number(search["person"], _("a person number")),
        actor=" ".join(search["by"].split()) or None,
    )


def _number(text: str, meaning: str) -> int | None:
    return read_number(text, meaning) if text else None


def _details(row: AuditRow, kinds: Mapping[int, str]) -> list[tuple[str, Any]]:
    """What the audit has of an act beside its columns, in words where there are any."""
    body = {name: value for name, value in json.loads(row.body).items() if value is not None}
    if row.game_id is not None and row.game_id in kinds:
        body = _corrected(body, rules_for(kinds[row.game_id], row.game_id))
    ordered = sorted(body.items(), key=lambda each: (each[0] not in _FIRST, each[0]))
    return [(name, _in_words(row.act, name, value)) for name, value in ordered]


def _corrected(body: dict[str, Any], rules: game.Game[Any]) -> dict[str, Any]:
    """What was corrected, as the players of the game have read it."""
    if not {"what", "before", "to"} <= body.keys():
        return body
    facts = {"what": "corrected", "of": body["what"], "before": body["before"], "now": body["to"]}
    in_words = words.correction_in_words(facts, rules)
    return body | {"before": in_words["before"], "to": in_words["now"]}


def _in_words(act: str, name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name in _MOMENTS:
        return phrases.utc(value)
    if name in _PEOPLE and act in _ACTS_ON_PEOPLE:
        return _("person %(number)s", number=value)
    return value


_FIRST: Final = frozenset({"what", "seat", "start"})
_MOMENTS: Final = frozenset({"start", "end", "since"})
_PEOPLE: Final = frozenset({"before", "to"})
_ACTS_ON_PEOPLE: Final = frozenset({Act.SUBSTITUTE, Act.RESEND, Act.RETRY, Act.ADDRESS})
"""Acts whose `before` and `to` are the numbers of people."""
