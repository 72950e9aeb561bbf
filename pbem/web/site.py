"""What every view uses: the server, the settings, the fields of a form, pages and redirects."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Final, TypeVar

from flask import Flask, Response, current_app, g, make_response, render_template, request, url_for

from engine.coach import Verdict
from pbem.config.settings import Config
from pbem.domain import errors
from pbem.domain.errors import BadInput, NotFound, PbemError, Refusal, quoted
from pbem.hints import Advise, HintTask
from pbem.i18n.speech import gettext as _
from pbem.service.server import Proof, Server
from pbem.web import confirmations

V = TypeVar("V")
View = Callable[..., Response]

_STATUS: Final[dict[type[PbemError], int]] = {
    BadInput: 400,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.Stale: 409,
    errors.TooMany: 429,
    errors.Unavailable: 503,
    errors.Fault: 500,
}

_SERVER_AND_CONFIG: Final = "pbem"
_ADVISE: Final = "pbem advice"
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

LONGEST_FIELD: Final = 8000
"""Twice the longest message to the organiser. Only a list of addresses to invite comes near it."""


def set_up(app: Flask, server: Server, config: Config, advise: Advise) -> None:
    """Give an application its server, its settings and what makes hints."""
    app.extensions[_SERVER_AND_CONFIG] = (server, config)
    app.extensions[_ADVISE] = advise


def server() -> Server:
    """The server, as it may be used in this request."""
    found: Server = g.get("server") or current_app.extensions[_SERVER_AND_CONFIG][0]
    return found


def act_with(proof: Proof) -> None:
    """Let everything that this request does from now on be done only while the proof is good."""
    g.server = replace(server(), proof=proof)


def config() -> Config:
    found: Config = current_app.extensions[_SERVER_AND_CONFIG][1]
    return found


def hint(task: HintTask) -> Verdict:
    """A hint. Raises TooMany while another one is being made."""
    advise: Advise = current_app.extensions[_ADVISE]
    return advise(task)


def page(template: str, status: int | None = None, **values: Any) -> Response:
    """A page. Without a status, it gets that of the error `refused`, if there is one."""
    return make_response(render_template(template, **values), status or status_of(values.get("refused")))


def status_of(error: PbemError | None) -> int:
    """The HTTP status of an error; 200 if there is none."""
    return 200 if error is None else next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def shows_refusals_on(page: View, *, about: str = "") -> Callable[[View], View]:
    """Let a view show a refusal on this page, which gets the values of the view's address, and `refused`.

    Bad input is said beside its field, which is the field `about` where the refusal names none.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(**values: Any) -> Response:
            try:
                return view(**values)
            except BadInput as refused:
                if about and not refused.fields:
                    refused.fields = {about: refused}
                return page(**values, refused=refused)
            except Refusal as refused:
                return page(**values, refused=refused)

        return answer

    return decorate


def go(endpoint: str, *, done: str = "", **values: Any) -> Response:
    """Redirect after a form, so that reloading the page does not send it again; `done` is what the page says was done."""
    return go_to(url_for(endpoint, **values | confirmations.query(done)))


def go_to(address: str) -> Response:
    """Redirect to an address."""
    return Response(status=303, headers={"Location": address})


def field(name: str) -> str:
    """The text in a field, or an empty one. Raises BadInput where it is too long."""
    text = request.form.get(name, "")
    if len(text) > LONGEST_FIELD:
        raise BadInput(
            _("“%(name)s” is too long.", name=name),
            why=_("It can have up to %(longest_field)s characters.", longest_field=LONGEST_FIELD),
        )
    return text.strip()


def picked(name: str) -> tuple[str, ...]:
    """The boxes of that name that are ticked."""
    return tuple(request.form.getlist(name))


def ticked(name: str) -> bool:
    return bool(field(name))


def alias(kind: str, row: int, since: datetime | None = None) -> str:
    """The name of a row in a form, which tells nothing of how many rows others have.

    With `since`, when the row was made, it names no row that gets this number after a restore.
    """
    return server().keys.alias(kind, row, _mark(since))


def row(name: str, meaning: str, since: Callable[[int], datetime | None] | None = None) -> int:
    """The row that a field names by its alias, which should be `meaning`; the field's name is its kind. Raises BadInput.

    With `since`, which tells when a row was made, it is the one that the form was about, and not another with its number. One
    that isn't there may have any name: there is nothing left to do to it.
    """
    given, keys = field(name), server().keys
    wrong = BadInput(
        _("%(given)s isn't %(called)s.", given=quoted(given), called=meaning),
        remedy=_("Nothing changed. Open the page again."),
    )
    try:
        number = keys.row_of(given)
    except NotFound:
        raise wrong from None
    # What this raises is about the visitor: a link that isn't one, or was revoked.
    made_at = None if since is None else since(number)
    if since is not None and made_at is None:
        return number
    try:
        return keys.row_of_alias(name, given, lambda _row: _mark(made_at))
    except NotFound:
        raise wrong from None


def _mark(since: datetime | None) -> str:
    return "" if since is None else since.astimezone(UTC).isoformat()


def whole_number(name: str, meaning: str) -> int:
    """The whole number in a field, which should be `meaning`. Raises BadInput."""
    return read_number(field(name), meaning)


def read_number(text: str, meaning: str) -> int:
    """The whole number in a text, which should be `meaning`. Raises BadInput."""
    # int() alone would accept signs, underscores, the digits of every script, and a million digits.
    if not _NUMBER.fullmatch(text):
        raise BadInput(
            _("%(given)s isn't %(called)s.", given=quoted(text), called=meaning), why=_("It must be a whole number.")
        )
    return int(text)
