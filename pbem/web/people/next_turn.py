"""The turn that waits for the person who is signed in, in the header of every page but that of a seat.

A page that is cached is the same for everyone, so it has a mark instead of this line, which each reader's own replaces.
"""

import secrets
from typing import Final

from flask import g, render_template
from markupsafe import Markup

from pbem.domain.duration import rough_text
from pbem.i18n.speech import gettext as _
from pbem.service.account import my_page
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import server

_MARK: Final = secrets.token_hex(16)
"""Stands for the line in a cached page. Nobody can guess it and write it into a page."""


def line() -> Markup:
    """The line for a template: the reader's own, or its mark in a page that is cached."""
    return Markup(_MARK if g.get("cached") else _line())  # noqa: S704 - a template has escaped it


def filled_in(page: str) -> str:
    """A cached page with the line of its reader."""
    return page.replace(_MARK, _line()) if _MARK in page else page


def _line() -> str:
    session = session_cookie.session(Cookie.PERSON)
    if session is None or session.holder.person_id is None:
        return ""
    with server().store.read() as tx:
        turn = my_page.next_turn(tx, server(), session.holder.person_id)
    if turn is None:
        return ""
    left = "" if turn.due_at is None else _("%(time)s left", time=rough_text(turn.due_at - server().now()))
    return render_template("next.html", turn=turn, left=left)
