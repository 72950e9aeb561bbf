"""Templates of emails: each kind is written once, in its `body.jinja`, and rendered as text and as HTML.

A `body.jinja` has sentences, loops and ifs, and puts every sentence into a part: `say.para`, `say.option`, `say.board`. There
are two sets of these parts, `_text.jinja` and `_html.jinja`, so the text and the HTML say the same, and there are no two
templates to keep alike. Text has 72 columns, with the URL of each link on its own line.

Every sentence goes through gettext. English needs no catalogue, since the templates are in English. This module must never
know what an email is about.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, pass_context
from jinja2.runtime import Context

from pbem import paths
from pbem.domain.duration import duration_text, parse_duration
from pbem.domain.moments import day_text, moment_text
from pbem.i18n import sentences
from pbem.i18n.speech import capital, gettext, tag, translate
from pbem.mail.wire import one_line
from pbem.mail.write import faces

WIDTH: Final = 72

LONGEST_SUBJECT: Final = 70
"""Characters of a subject: as much as a list of emails shows."""

_RE: Final = "Re: "
_LEAST_TITLE: Final = 12
"""Characters of a table's title that stay in a subject, however long the rest is."""

_LONGEST_WORD: Final = 16
"""A shortened text ends before a word; one longer than this is cut."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？])\s*(?=\S)")

LONGEST_PREHEADER: Final = 90
"""Characters that a list of emails shows beside the subject."""


class RenderedEmail(NamedTuple):
    """The subject, text and HTML of an email."""

    subject: str
    text: str
    html: str


def render_template(kind: str, words: Mapping[str, object], zone: ZoneInfo) -> RenderedEmail:
    """The email of this kind, with moments in its reader's zone."""
    context = {"kind": kind, "language": tag(), "zone": zone, **words}
    text, html = _templates("text"), _templates("html")
    subject = _subject(text.get_template(f"{kind}/subject.txt"), context)
    return RenderedEmail(
        subject,
        _tidy(text.get_template("_layout.txt").render(context)),
        _tight(html.get_template("_layout.html").render(context, subject=subject)),
    )


def wrap(text: str, first: str = "", rest: str = "") -> str:
    """A paragraph in lines that every mail program shows whole; long words, such as links, are not broken."""
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def join_list(words: Sequence[str]) -> str:
    """`Ann, Ben and Cleo`."""
    if len(words) < 2:
        return "".join(words)
    return gettext("%(most)s and %(last)s", most=", ".join(words[:-1]), last=words[-1])


def shorten(text: str, most: int = LONGEST_SUBJECT) -> str:
    """A text cut to a length, before a word, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    words, _, last = cut.rpartition(" ")
    return (words if words and len(last) < _LONGEST_WORD else cut).rstrip(" ,.:;") + "…"


def question(prompt: str) -> str:
    """The sentence of a prompt that asks; the first one if none does."""
    sentences_of = _SENTENCE_END.split(prompt)
    return next((each for each in sentences_of if each.endswith(("?", "？"))), sentences_of[0])


def _subject(template: Template, context: Mapping[str, object]) -> str:
    """A subject that lists of emails show whole, with the game and what is asked; the title of a table gives way first."""
    subject = one_line(template.render(context))
    longest = LONGEST_SUBJECT if subject.startswith(_RE) else LONGEST_SUBJECT - len(_RE)
    if len(subject) > longest and isinstance(table := context.get("table"), str):
        title, bracket, game = table.rpartition(" (")
        shorter = shorten(title, max(_LEAST_TITLE, len(title) - (len(subject) - longest))) + bracket + game
        subject = one_line(template.render({**context, "table": shorter}))
    return shorten(subject, longest)


@cache
def _templates(parts: str) -> Environment:
    """The templates of all emails, with one of the two sets of parts."""
    environment = Environment(
        loader=FileSystemLoader(paths.templates() / "mail"),
        extensions=["jinja2.ext.i18n"],
        autoescape=parts == "html",  # noqa: S701 - text is not escaped
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    sentences.install(environment)
    environment.filters["wrap"] = wrap
    environment.filters["short"] = shorten
    environment.filters["question"] = question
    environment.filters["preheader"] = _preheader
    environment.filters["listed"] = join_list
    environment.filters["sentence"] = capital
    environment.filters["translated"] = translate
    environment.filters["moment"] = _moment
    environment.filters["day"] = _day
    environment.filters["spoken"] = _duration
    environment.globals["drawn"] = faces.html
    environment.globals["say"] = environment.get_template(f"_{parts}.jinja").module
    return environment


def _preheader(text: str) -> str:
    return shorten(text, LONGEST_PREHEADER)


@pass_context
def _moment(context: Context, at: str | datetime) -> str:
    return moment_text(at if isinstance(at, datetime) else datetime.fromisoformat(at), context["zone"])


def _day(day: str) -> str:
    return day_text(date.fromisoformat(day))


def _duration(length: str) -> str:
    """A duration in words; facts have it in its short form."""
    return duration_text(parse_duration(length))


def _tidy(text: str) -> str:
    """The text without blanks at the ends of lines and without double empty lines, which unmet ifs leave behind."""
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def _tight(html: str) -> str:
    """The HTML without empty lines and indentation, which only make an email larger."""
    return "\n".join(line for each in html.splitlines() if (line := each.strip())) + "\n"
