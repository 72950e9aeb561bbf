"""The handbook on the site.

Its pages are the Markdown files of the repository. The contents list the pages for players and organisers; pages for
contributors have no entry, but links to them work. HTML in a page is shown as text and never runs.
"""

import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from flask import Blueprint, Response, url_for
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from engine import registry
from pbem import paths
from pbem.domain.errors import NotFound
from pbem.i18n.speech import gettext as _
from pbem.web import site

pages = Blueprint("handbook", __name__)

FOR_PLAYERS: Final = (
    "first-game",
    "playing-by-mail",
    "time",
    "tables",
    "ratings",
    "mail",
    "channels",
    "your-data",
    "seat-file",
    "game-file",
    "api",
    "open-data",
)
FOR_ORGANISERS: Final = (
    "organising",
    "running-a-server",
    "table-file",
    "small-machine",
    "several-machines",
    "failover",
    "receiving-mail",
    "metrics",
    "settings",
    "commands",
    "pages",
    "promises",
    "scaling",
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the handbook. `about` is its first sentence, and `lead` the same as HTML, with commands set off as code."""

    name: str
    title: str
    about: str
    lead: str
    html: str


@pages.get("/help")
def contents() -> Response:
    """The contents: pages for players and for organisers."""
    players, organisers = ([_page(name) for name in names] for names in (FOR_PLAYERS, FOR_ORGANISERS))
    return site.page(
        "help.html", players=players, organisers=organisers, games=[registry.load(name) for name in registry.names()]
    )


@pages.get("/help/<name>")
def show(name: str) -> Response:
    if name not in _names():
        base_url, path = site.config().base_url, url_for(".contents")
        raise NotFound(
            _("The handbook has no such page."),
            remedy=_("Its contents are at %(base_url)s%(url_for)s.", base_url=base_url, url_for=path),
        )
    return site.page("help_page.html", page=_page(name))


@pages.get("/help/grafana.json", defaults={"name": "grafana.json", "kind": "application/json"})
@pages.get("/help/alerts.yml", defaults={"name": "alerts.yml", "kind": "text/plain"})
@pages.get("/help/verify_game.py", defaults={"name": "verify_game.py", "kind": "text/plain"})
def file(name: str, kind: str) -> Response:
    """A file for programs that monitor a server, or the verifier for players."""
    return Response((paths.handbook() / name).read_bytes(), mimetype=kind)


@cache
def _names() -> frozenset[str]:
    return frozenset(file.stem for file in paths.handbook().glob("*.md"))


@cache
def _page(name: str) -> Page:
    """One page. It is read once, because the files change only with the program."""
    tokens = _MARKDOWN.parse((paths.handbook() / f"{name}.md").read_text(encoding="utf-8"))
    # Each file begins with its title, which the page shows as its own heading.
    title, body = tokens[1], tokens[3:]
    opening = next(after for token, after in pairwise(body) if token.type == "paragraph_open")
    about, lead = (text.partition(". ")[0].rstrip(".:") + "." for text in (_words(opening), _marked(opening)))
    return Page(name, _words(title), about, lead, str(_MARKDOWN.renderer.render(body, _MARKDOWN.options, {})))


def _words(inline: Token) -> str:
    """The words of a line without Markdown."""
    breaks = {"softbreak": " ", "hardbreak": " "}
    return "".join(breaks.get(each.type, each.content) for each in inline.children or ())


def _marked(inline: Token) -> str:
    """The words of a line as HTML, with nothing but its code set off."""
    tags = {"code_inline": ("<code>", "</code>")}
    return "".join(
        escapeHtml(each.content or " " * each.type.endswith("break")).join(tags.get(each.type, ("", "")))
        for each in inline.children or ()
    )


class _Renderer(RendererHTML):
    """Rendering with links between pages, and with wide tables and listings that scroll by themselves."""

    def link_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A link; one to the file of another page leads to that page."""
        file, dot, place = str(tokens[at].attrs["href"]).partition(".md")
        if dot and "/" not in file:
            tokens[at].attrs["href"] = f"/help/{file}{place}"
        return self.renderToken(tokens, at, options, env)

    def heading_open(
        self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """A heading that links can lead to, by its words as in `time.md#for-organisers`."""
        words = re.sub(r"[^\w\- ]", "", _words(tokens[at + 1])).strip().lower()
        tokens[at].attrSet("id", words.replace(" ", "-"))
        return self.renderToken(tokens, at, options, env)

    def code_inline(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A name in code, which can be broken between its parts."""
        return f"<code>{_PARTS_MEET.sub('<wbr>', escapeHtml(tokens[at].content))}</code>"

    def table_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A table in a box that can be scrolled by keyboard."""
        return '<div class="scroll" tabindex="0">' + self.renderToken(tokens, at, options, env)

    def table_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """The end of a table and its box."""
        return self.renderToken(tokens, at, options, env) + "</div>"

    def th_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A cell is aligned by a class, because our pages have no styles within them."""
        if tokens[at].attrs.pop("style", None) == "text-align:right":
            tokens[at].attrSet("class", "number")
        return self.renderToken(tokens, at, options, env)

    td_open = th_open

    def code_block(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A listing that can be scrolled by keyboard."""
        return super().code_block(tokens, at, options, env).replace("<pre", '<pre tabindex="0"', 1)

    def fence(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        """A listing with a language, which can be scrolled by keyboard."""
        return super().fence(tokens, at, options, env).replace("<pre", '<pre tabindex="0"', 1)


# The text has been escaped: a part in angle brackets begins with `&lt;` and ends with `&gt;`.
_PARTS_MEET: Final = re.compile(r"(?<=\w[_/.=]|;/)(?=\w|&lt;)")

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
