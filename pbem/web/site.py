"""What a request works with: the house, the settings, the forms that came, and the pages that go.

It knows where things are and decides nothing.
"""

import re
import secrets
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar
from urllib.parse import quote

from flask import Flask, Response, current_app, make_response, render_template, request, url_for
from markupsafe import Markup

from pbem.config import Config
from pbem.domain.errors import BadInput, quoted
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.service.server import Server

V = TypeVar("V")

_PLACE: Final = "pbem"
_PAGES: Final = "pbem pages"
_PARTS: Final = "pbem parts"
_ADDRESSES: Final = "pbem addresses"
_HOLE: Final = secrets.token_hex(16)
"""Stands for a token in what is drawn for all readers: letters that every address may hold, and nobody can write into a page."""
_OTHER_HOLE: Final = secrets.token_hex(16)
"""Stands for what comes after the token of an address."""

_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

MOST_PAGES: Final = 200
"""Pages of seats that are remembered as they were drawn: a few megabytes."""

MOST_PARTS: Final = 500
"""Parts of pages that are remembered, about a kilobyte each; most are the same for everybody, so there are few."""

LONGEST_FIELD: Final = 8000
"""Twice the longest text that anybody may write to the organiser; only the list of invited addresses comes near."""


def settle(extensions: dict[str, Any], server: Server, config: Config) -> None:
    """Keep what all requests of an application work with."""
    extensions[_PLACE] = (server, config)
    extensions[_PAGES] = LRU(MOST_PAGES)
    extensions[_PARTS] = LRU(MOST_PARTS)
    extensions[_ADDRESSES] = {}


def server() -> Server:
    """The house that this application belongs to."""
    found: Server = current_app.extensions[_PLACE][0]
    return found


def config() -> Config:
    """The settings of this application."""
    found: Config = current_app.extensions[_PLACE][1]
    return found


def page(template: str, status: int = 200, **values: Any) -> Response:
    """A page."""
    return make_response(render_template(template, **values), status)


def drawn_once(key: object, made_of: V, draw: Callable[[V], str]) -> str:
    """A page that is made of this and of nothing else, as it was drawn the last time if that was from the same."""
    pages, in_language = pages_of(current_app), (key, speech.language())
    before = pages.get(in_language)
    if before is None or before[0] != made_of:
        before = pages.put(in_language, (made_of, draw(made_of)))
    return before[1]


def part(template: str, token: str, **values: Hashable) -> Markup:
    """A part of a page that is made of these values and the reader's token and of nothing else.

    It is drawn once for all readers, with a hole where the token goes: most of what stands around a table is the same at
    every table and after every move.
    """
    parts: LRU[str] = current_app.extensions[_PARTS]
    key = (template, speech.language(), *sorted(values.items()))
    drawn = parts.get(key) or parts.put(key, render_template(template, token=_HOLE, **values))
    return Markup(drawn.replace(_HOLE, quote(token, safe="")))  # noqa: S704 - a template has escaped it, and this the token


def by_token(endpoint: str, token: str, option: str | None = None) -> str:
    """The address of a page that belongs to a token, as `url_for` makes it, which takes long for one page with twenty."""
    known: dict[tuple[str, str], str] = current_app.extensions[_ADDRESSES]
    key = request.script_root, endpoint
    if key not in known:
        known[key] = url_for(endpoint, token=_HOLE, option=option and _OTHER_HOLE)
    address = known[key].replace(_HOLE, quote(token, safe=""))
    return address if option is None else address.replace(_OTHER_HOLE, quote(option, safe=""))


def pages_of(app: Flask) -> LRU[tuple[Any, str]]:
    """The pages that an application remembers as they were drawn, each with what it was made of."""
    found: LRU[tuple[Any, str]] = app.extensions[_PAGES]
    return found


def go(endpoint: str, **values: Any) -> Response:
    """Lead on after a form was taken, so that reloading repeats nothing."""
    return lead_to(url_for(endpoint, **values))


def lead_to(address: str) -> Response:
    """The same, where the address is known."""
    return Response(status=303, headers={"Location": address})


def field(name: str) -> str:
    """What was typed into a field; empty if it was not there."""
    text = request.form.get(name, "")
    if len(text) > LONGEST_FIELD:
        raise BadInput(
            _("What was typed into “%(name)s” is too long.", name=name),
            why=_("%(longest_field)s characters are the most.", longest_field=LONGEST_FIELD),
        )
    return text.strip()


def ticked(name: str) -> bool:
    """Whether a box was ticked."""
    return bool(field(name))


def whole_number(name: str, called: str) -> int:
    """The whole number in a field; `called` is what people call the field."""
    return read_number(field(name), called)


def read_number(text: str, called: str) -> int:
    """A whole number that somebody typed."""
    # Not int() alone, which reads signs, underscores, the digits of every script and a million of them.
    if not _NUMBER.fullmatch(text):
        raise BadInput(
            _("%(given)s is not %(called)s.", given=quoted(text), called=called), why=_("It has to be a whole number.")
        )
    return int(text)
