"""Mail at the desk: how it gets through, who is left alone, what came in; and one mail as its reader has it.

A mail is shown as the local mailbox shows it, in a frame of its own where nothing runs and nothing is fetched. Here no link
in it leads anywhere either: whoever helps reads what a player was sent, and does nothing as that player.
"""

import re
from typing import Final

from flask import Blueprint, Response

from pbem.domain.acts import Act
from pbem.service.desk import deliverability
from pbem.service.desk.email import Letter
from pbem.store.overview import COUNTED
from pbem.web import security, site
from pbem.web.desk import permissions
from pbem.web.desk.overview import live
from pbem.web.site import server

# What is written into the page for a frame is under the page's own policy, and a mail brings its style with it.
_FRAMING: Final = security.POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

_LEADS_ON: Final = re.compile(r"""\shref=(?:"[^"]*"|'[^']*')""")

pages = Blueprint("desk_mail", __name__)


@pages.get("/desk/mail")
@permissions.needs(Act.OVERVIEW)
def show() -> Response:
    """What waits, what became of mails, and what came in."""
    found = server().read(deliverability.look, permissions.actor())
    return live(site.page("desk/mail.html", found=found, most=COUNTED))


def opened(letter: Letter, back: str) -> Response:
    """One mail, for whoever has given a reason; `back` is the page from which they came."""
    html = "" if letter.opened is None else _LEADS_ON.sub("", letter.opened.html)
    shown = site.page("desk/letter.html", letter=letter, mail=letter.listed, html=html, back=back)
    shown.headers["Content-Security-Policy"] = _FRAMING
    return shown
