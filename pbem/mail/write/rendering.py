"""How a mail gets its words: each kind is written once, in its `body.jinja`, and comes out as text and as HTML.

A `body.jinja` holds sentences, loops and ifs, and puts every sentence into a part: `say.para`, `say.option`, `say.board`.
There are two sets of these parts, `_text.jinja` and `_html.jinja`, so what stands in the text stands in the HTML: nobody
has to keep two templates alike. Text is of 72 columns, with the address of each link alone on its line.

Every sentence goes through gettext. English is what stands in the templates, so it needs no catalogue. This module must
never know what a mail is about.
"""

import textwrap
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from pbem import paths
from pbem.domain.duration import duration_text, parse_duration
from pbem.domain.moments import day_text, moment_text
from pbem.i18n import sentences
from pbem.i18n.speech import gettext, tag, translate
from pbem.mail.wire import one_line

WIDTH: Final = 72

LONGEST_ASKED: Final = 90
"""Characters of the question that a subject repeats: what a list of mails shows."""

LONGEST_PREHEADER: Final = 90
"""Characters that a list of mails shows beside the subject."""


class Said(NamedTuple):
    """A mail in words."""

    subject: str
    text: str
    html: str


def rendered(kind: str, words: Mapping[str, object], zone: ZoneInfo) -> Said:
    """What a mail of this kind says, with its moments in its reader's zone."""
    context = {"kind": kind, "language": tag(), "zone": zone, **words}
    text, html = _templates("text"), _templates("html")
    subject = one_line(text.get_template(f"{kind}/subject.txt").render(context))
    return Said(
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


def listed(words: Sequence[str]) -> str:
    """`Ann, Ben and Cleo`."""
    if len(words) < 2:
        return "".join(words)
    return gettext("%(most)s and %(last)s", most=", ".join(words[:-1]), last=words[-1])


def shortened(text: str, most: int = LONGEST_ASKED) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= most else text[: most - 1].rstrip(" ,.:;") + "…"


@cache
def _templates(parts: str) -> Environment:
    """The templates of all mails, with one of the two sets of parts."""
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
    environment.filters["short"] = shortened
    environment.filters["preheader"] = _preheader
    environment.filters["listed"] = listed
    environment.filters["sentence"] = _sentence
    environment.filters["translated"] = translate
    environment.filters["moment"] = _moment
    environment.filters["day"] = _day
    environment.filters["spoken"] = _spoken
    environment.globals["say"] = environment.get_template(f"_{parts}.jinja").module
    return environment


def _sentence(text: str) -> str:
    """What stands alone on its line begins with a capital."""
    return text[:1].upper() + text[1:]


def _preheader(text: str) -> str:
    return shortened(text, LONGEST_PREHEADER)


@pass_context
def _moment(context: Context, at: str | datetime) -> str:
    """A moment as its reader reads it."""
    return moment_text(at if isinstance(at, datetime) else datetime.fromisoformat(at), context["zone"])


def _day(day: str) -> str:
    return day_text(date.fromisoformat(day))


def _spoken(length: str) -> str:
    """A length of time, which facts hold in its short form, in words."""
    return duration_text(parse_duration(length))


def _tidy(text: str) -> str:
    """No blanks at the ends of lines, and never more than one empty line: what ifs that were not met leave behind."""
    lines: list[str] = []
    for line in text.splitlines():
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def _tight(html: str) -> str:
    """No empty lines and no blanks around lines: they only make a mail larger."""
    return "\n".join(line for each in html.splitlines() if (line := each.strip())) + "\n"
