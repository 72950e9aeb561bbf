"""Email at the desk: how it gets through, which addresses are left alone, what came in; and one email as its reader has it.

An email is shown in a frame where nothing runs and nothing is fetched. Its links are removed, so that an organiser can read
what a player was sent but do nothing as that player.
"""

import re
from typing import Final

from flask import Blueprint, Response

from pbem.domain.acts import Act
from pbem.service.desk import deliverability
from pbem.service.desk.email import OpenedEmail
from pbem.store.overview import COUNTED
from pbem.web import security, site
from pbem.web.desk import permissions
from pbem.web.desk.overview import live
from pbem.web.site import server

# HTML in the page for a frame is under the policy of the page, and an email has its own styles.
_FRAMING: Final = security.POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

_HREF: Final = re.compile(r"""\shref=(?:"[^"]*"|'[^']*')""")

pages = Blueprint("desk_emails", __name__)


@pages.get("/desk/mail")
@permissions.needs(Act.OVERVIEW)
def show() -> Response:
    """What waits, what became of emails, and what came in."""
    found = server().read(deliverability.summary, permissions.actor())
    return live(site.page("desk/mail.html", found=found, most=COUNTED))


def opened(email: OpenedEmail, back: str) -> Response:
    """One email, for an organiser who has given a reason; `back` is the page they came from."""
    html = "" if email.opened is None else _HREF.sub("", email.opened.html)
    shown = site.page("desk/letter.html", letter=email, mail=email.listed, html=html, back=back)
    shown.headers["Content-Security-Policy"] = _FRAMING
    return shown
