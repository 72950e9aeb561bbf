"""The inbox in development: every email as email programs show it, so that a game can be played on one machine.

The HTML of an email is shown in a frame where nothing runs and nothing is fetched, as wide as a phone or a desktop program,
light or dark. These pages let their reader play for everyone, so they exist only in development.
"""

import re
from collections.abc import Collection
from typing import Final

from flask import Blueprint, Response, request
from markupsafe import Markup, escape

from pbem.config.checks import is_local
from pbem.domain.errors import BadInput, NotFound
from pbem.i18n.speech import gettext as _
from pbem.mail.send import local_mailbox
from pbem.mail.send.local_mailbox import LocalMailbox
from pbem.service.incoming import authenticity, receive
from pbem.service.outgoing.post import mailbox_of
from pbem.web import security, site
from pbem.web.site import field, server

WIDTHS: Final = {"375": "phone", "320": "small phone", "640": "desk"}
"""Widths of the frame, and what is as wide."""

SCHEMES: Final = ("light", "dark")

PAGE: Final = 25
"""Emails on a page of the inbox."""

_PAGE_NUMBER: Final = re.compile(r"[0-9]{1,5}", re.ASCII)

# The framed page is from this site, and its sandbox allows links to open in the whole tab, and nothing else.
_POLICY_OF_PAGE: Final = f"{security.POLICY}; frame-src 'self'"
_POLICY_OF_FRAME: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-top-navigation-by-user-activation"
)

pages = Blueprint("dev_inbox", __name__, url_prefix="/mailbox")

# Addresses in emails end in a letter, a digit or a slash. A full stop after one belongs to the sentence.
_FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
"""Headers of a proxy."""

_LINK: Final = re.compile(r"https?://[^\s<>\"]*[\w/=-]")


@pages.before_request
def _refuse_others() -> None:
    """Refuse requests that came over a network or through a proxy, whatever host they name. Raises NotFound."""
    forwarded = any(name in request.headers for name in _FORWARDED)
    if forwarded or not is_local(request.remote_addr or ""):
        raise NotFound(
            _("The inbox can only be read on the server itself."), why=_("Anyone who reads it can play for everyone.")
        )


@pages.get("")
def show() -> Response:
    """A page of all emails, or of those to one address."""
    to, page = request.args.get("to", ""), _page_number()
    found = _mailbox()
    # One more than is shown tells whether there is another page.
    emails = found.entries(to, PAGE + 1, (page - 1) * PAGE)
    return site.page(
        "mailbox.html",
        letters=emails[:PAGE],
        addresses=found.addresses(),
        to=to,
        newer=page - 1,
        older=page + 1 if len(emails) > PAGE else 0,
    )


@pages.get("/<key>")
def email(key: str) -> Response:
    """One email: as an email program shows it, its text with links, its headers and its size."""
    opened = _mailbox().read(key)
    page = site.page(
        "mail.html",
        opened=opened,
        text=_with_links(opened.text),
        width=_one_of(WIDTHS, "width"),
        widths=WIDTHS,
        scheme=_one_of(SCHEMES, "scheme"),
        schemes=SCHEMES,
        answered=site.config().inbound.replies and "Reply-To" in dict(opened.headers),
    )
    page.headers["Content-Security-Policy"] = _POLICY_OF_PAGE
    return page


@pages.post("/<key>/reply")
def reply(key: str) -> Response:
    """Reply to an email as its reader. The reply comes in as from outside, and a worker reads it soon."""
    opened = _mailbox().read(key)
    text = field("text")
    if not text or "Reply-To" not in dict(opened.headers):
        raise BadInput(_("There is nothing to send."), why=_("A reply needs a text, and an email that takes replies."))
    box = authenticity.inbound_settings(site.config())
    message = local_mailbox.reply_to(opened, text, server().now(), box.authserv_id)
    receive.receive(server(), box, message.sender, message.recipient, message.content)
    return site.go("dev_inbox.show", to=opened.entry.to, done="reply")


@pages.get("/<key>/html")
def html(key: str) -> Response:
    """The HTML of an email for its frame, as an email program in light or dark mode shows it."""
    opened = _mailbox().read(key)
    frame = Response(_in_scheme(opened.html, _one_of(SCHEMES, "scheme")), mimetype="text/html")
    frame.headers["Content-Security-Policy"] = _POLICY_OF_FRAME
    return frame


@pages.get("/<key>/source")
def source(key: str) -> Response:
    """The bytes of an email as it was sent."""
    return Response(_mailbox().read(key).content, mimetype="text/plain")


def _page_number() -> int:
    number = request.args.get("page", "")
    return max(int(number), 1) if _PAGE_NUMBER.fullmatch(number) else 1


def _mailbox() -> LocalMailbox:
    return mailbox_of(site.config())


def _one_of(values: Collection[str], name: str) -> str:
    """The value in the query of the address, or the first one."""
    value = request.args.get(name, "")
    return value if value in values else next(iter(values))


def _in_scheme(html: str, scheme: str) -> str:
    """An email's HTML in light or dark mode, whatever the machine's, with links that open in the whole tab."""
    dark = "all" if scheme == "dark" else "not all"
    html = html.replace("(prefers-color-scheme: dark)", dark).replace("(prefers-color-scheme:dark)", dark)
    head_additions = f'<base target="_top"><style>:root {{ color-scheme: {scheme} !important; }}</style>'
    before, head, after = html.partition("<head>")
    html = f"{before}{head}{head_additions}{after}" if head else f"{head_additions}{html}"
    return html.replace(f'href="{site.config().base_url}/', 'href="/')


def _with_links(text: str) -> Markup:
    """The text with links for addresses of this site. Emails have no others."""
    base = site.config().base_url + "/"
    pieces, end = [], 0
    for match in _LINK.finditer(text):
        pieces.append(escape(text[end : match.start()]))
        link = escape(match[0])
        # The path alone, so that links work where the site is visited under another name of this machine.
        path = escape("/" + match[0].removeprefix(base))
        pieces.append(Markup('<a href="{}">{}</a>').format(path, link) if match[0].startswith(base) else link)
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])
