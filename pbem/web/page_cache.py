"""Pages, parts of pages and addresses, kept as they were drawn, because drawing them takes longer than reading a seat."""

import secrets
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Final, TypeVar
from urllib.parse import quote

from flask import Flask, current_app, g, render_template, request, url_for
from markupsafe import Markup

from pbem.i18n import speech
from pbem.lru import LRU
from pbem.web.art.pictures import Drawings, drawings_of_part, need
from pbem.web.confirmations import confirmation
from pbem.web.people import next_turn

V = TypeVar("V")

_PAGES: Final = "pbem pages"
_PARTS: Final = "pbem parts"
_ADDRESSES: Final = "pbem addresses"
_TOKEN: Final = secrets.token_hex(16)
"""Stands for the token in a part or an address made for all readers. Nobody can guess it and write it into a page."""
_OPTION: Final = secrets.token_hex(16)
"""Stands for the part of an address after the token."""

MOST_PAGES: Final = 200
"""Pages kept as they were drawn: a few megabytes."""

MOST_PARTS: Final = 2000
"""Parts of pages kept as they were drawn, of one to four kilobytes: those that are the same for everyone, and players at tables."""


def set_up(app: Flask) -> None:
    """Give an application empty caches."""
    app.extensions[_PAGES] = LRU(MOST_PAGES)
    app.extensions[_PARTS] = LRU(MOST_PARTS)
    app.extensions[_ADDRESSES] = {}


def drawn_once(key: object, content: V, draw: Callable[[V], str]) -> str:
    """A page made of this content and of nothing else. It is drawn again only where the content has changed.

    A page that says what its reader has just done is for that reader alone, and is not kept.
    """
    if confirmation():
        return draw(content)
    pages, key_in_language = pages_of(current_app), (key, speech.language())
    page = pages.get(key_in_language)
    if page is None or page[0] != content:
        g.cached = True
        page = pages.put(key_in_language, (content, draw(content)))
    return next_turn.filled_in(page[1])


def part(template: str, token: str, **values: Hashable) -> Markup:
    """A part of a page made of these values and the reader's token alone, and so drawn once for all readers."""
    parts: LRU[tuple[str, Drawings]] = current_app.extensions[_PARTS]
    key = (template, speech.language(), *values.items())
    known = parts.get(key)
    if known is None:
        with drawings_of_part() as drawings:
            html = render_template(template, token=_TOKEN, **values)
        known = parts.put(key, (html, drawings))
    html, drawings = known
    if drawings:
        need(drawings)
    return Markup(html.replace(_TOKEN, _quoted(token)))  # noqa: S704 - a template has escaped it, and this the token


def by_token(endpoint: str, token: str, option: str | None = None) -> str:
    """The address of a page behind a token. It is what `url_for` returns, which is slow for a page with twenty addresses."""
    known: dict[tuple[str, str], str] = current_app.extensions[_ADDRESSES]
    key = request.script_root, endpoint
    if key not in known:
        known[key] = url_for(endpoint, token=_TOKEN, option=option and _OPTION)
    address = known[key].replace(_TOKEN, _quoted(token))
    return address if option is None else address.replace(_OPTION, _quoted(option))


@lru_cache(maxsize=100)
def _quoted(text: str) -> str:
    """A token or an option as an address has it: a page asks for the same one a dozen times."""
    return quote(text, safe="")


def pages_of(app: Flask) -> LRU[tuple[Any, str]]:
    """The pages of an application as they were drawn, each with its content."""
    found: LRU[tuple[Any, str]] = app.extensions[_PAGES]
    return found
