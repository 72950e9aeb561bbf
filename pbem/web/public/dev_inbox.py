"""The local mailbox in development: every mail as mail programs show it, so that a game can be played on one machine.

A mail's HTML is shown in a frame of its own, where nothing runs and nothing is fetched, as wide as a telephone or a desk
and light or dark, as its reader may have it. Whoever sees these pages can play for everybody, so they exist only where the settings say that nobody else can come.
"""

import re
from collections.abc import Collection
from typing import Final

from flask import Blueprint, Response, request
from markupsafe import Markup, escape

from pbem.domain.errors import BadInput
from pbem.i18n.speech import gettext as _
from pbem.mail.send import local_mailbox
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.service.incoming import receive
from pbem.service.outgoing.deliver import mailbox_of
from pbem.web import security, site
from pbem.web.site import field, server

WIDTHS: Final = {"375": "phone", "320": "small phone", "640": "desk"}
"""How wide a frame is, and what reads mail in it."""

SCHEMES: Final = ("light", "dark")

# The frame's page is ours, and its sandbox lets a click lead the whole window on, and nothing else.
_FRAMING: Final = f"{security.POLICY}; frame-src 'self'"
_FRAMED: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-top-navigation-by-user-activation"
)

pages = Blueprint("mailbox", __name__, url_prefix="/mailbox")

# Addresses in our own mails end in a letter, a digit or a slash; a full stop behind one is the sentence's.
_LINK: Final = re.compile(r"https?://[^\s<>\"]*[\w/=-]")


@pages.get("")
def inbox() -> Response:
    """All mails, or those to one address."""
    to = request.args.get("to", "")
    found = _mailbox()
    return site.page("mailbox.html", letters=found.entries(to), addresses=found.addresses(), to=to)


@pages.get("/<key>")
def letter(key: str) -> Response:
    """One mail: as a mail program shows it, its text with links to click, its headers and its size."""
    opened = _mailbox().read(key)
    shown = site.page(
        "mail.html",
        opened=opened,
        text=_with_links(opened.text),
        width=_one_of(WIDTHS, "width"),
        widths=WIDTHS,
        scheme=_one_of(SCHEMES, "scheme"),
        schemes=SCHEMES,
        answered=site.config().inbound.replies and "Reply-To" in dict(opened.headers),
    )
    shown.headers["Content-Security-Policy"] = _FRAMING
    return shown


@pages.post("/<key>/reply")
def reply(key: str) -> Response:
    """Answer a mail as its reader, the way an answer comes in from outside; a worker reads it soon."""
    security.must_be_ours()
    opened = _mailbox().read(key)
    text = field("text")
    if not text or "Reply-To" not in dict(opened.headers):
        raise BadInput(
            _("There is nothing to send."), why=_("An answer has a text, and goes to a mail that can be answered.")
        )
    box = receive.letterbox_of(site.config())
    sent = local_mailbox.reply_to(opened, text, server().now(), box.authserv_id)
    receive.receive(server(), box, sent.sender, sent.recipient, sent.content)
    return site.go("mailbox.inbox", to=opened.entry.to)


@pages.get("/<key>/html")
def framed(key: str) -> Response:
    """A mail's HTML for its frame, as a mail program in light or dark mode would have it."""
    opened = _mailbox().read(key)
    shown = Response(_in_scheme(opened.html, _one_of(SCHEMES, "scheme")), mimetype="text/html")
    shown.headers["Content-Security-Policy"] = _FRAMED
    return shown


@pages.get("/<key>/source")
def source(key: str) -> Response:
    """The bytes of a mail as they were sent."""
    return Response(_mailbox().read(key).content, mimetype="text/plain")


def _mailbox() -> LocalMailbox:
    return mailbox_of(site.config())


def _one_of(known: Collection[str], name: str) -> str:
    """What the address asks for, or the first of what there is."""
    asked = request.args.get(name, "")
    return asked if asked in known else next(iter(known))


def _in_scheme(html: str, scheme: str) -> str:
    """A mail's HTML that believes its reader to like it light or dark, with links that lead the whole window on.

    A frame takes the question whether it is dark from the machine, so the mail's own answers to it are put in force or
    out of force by hand.
    """
    dark = "all" if scheme == "dark" else "not all"
    html = html.replace("(prefers-color-scheme: dark)", dark).replace("(prefers-color-scheme:dark)", dark)
    ours = f'<base target="_top"><style>:root {{ color-scheme: {scheme} !important; }}</style>'
    before, head, after = html.partition("<head>")
    html = f"{before}{head}{ours}{after}" if head else f"{ours}{html}"
    return html.replace(f'href="{site.config().base_url}/', 'href="/')


def _with_links(text: str) -> Markup:
    """The text with its addresses as links. Only addresses of this site are: nobody else's stand in our mails."""
    ours = site.config().base_url + "/"
    pieces, end = [], 0
    for match in _LINK.finditer(text):
        pieces.append(escape(text[end : match.start()]))
        link = escape(match[0])
        # Where the site is visited under another name of this machine, its links should stay there.
        path = escape("/" + match[0].removeprefix(ours))
        pieces.append(Markup('<a href="{}">{}</a>').format(path, link) if match[0].startswith(ours) else link)
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])
