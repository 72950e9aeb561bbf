"""The local mailbox in development: every mail as a client shows it, so that a game can be played on one machine.

Whoever sees these pages can play for everybody, so they exist only where the settings say that nobody else can come.
"""

import re
from typing import Final

from flask import Blueprint, Response, request
from markupsafe import Markup, escape

from pbem.mail.mailbox import LocalMailbox
from pbem.service.delivery import mailbox_of
from pbem.web import site

pages = Blueprint("mailbox", __name__, url_prefix="/mailbox")

# Addresses in our own mails end in a letter, a digit or a slash; a full stop behind one is the sentence's.
_LINK: Final = re.compile(r"https?://[^\s<>\"]*[\w/=-]")


@pages.get("")
def inbox() -> Response:
    """All mails, or those to one address."""
    to = request.args.get("to", "")
    found = _mailbox()
    return site.page("mailbox.html", letters=found.letters(to), addresses=found.addresses(), to=to)


@pages.get("/<key>")
def letter(key: str) -> Response:
    """One mail: its text with links to click, and its headers."""
    opened = _mailbox().read(key)
    return site.page("mail.html", opened=opened, text=_with_links(opened.text))


@pages.get("/<key>/source")
def source(key: str) -> Response:
    """The bytes of a mail as they were sent."""
    return Response(_mailbox().read(key).content, mimetype="text/plain")


def _mailbox() -> LocalMailbox:
    return mailbox_of(site.config())


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
