"""One's own pages, for whoever has signed in: tables, mails and settings.

The browser's cookie says whose they are, so a form counts only if it comes from a page of ours. They may run one script of
our own, and are complete without it.
"""

from flask import Blueprint, Response, request

from pbem.domain.delivery import Way
from pbem.domain.errors import Forbidden, Refusal
from pbem.domain.moments import from_now
from pbem.i18n.speech import gettext as _
from pbem.service.account import feeds, my_page
from pbem.service.clocks import vacations
from pbem.service.outgoing import ledger
from pbem.service.people import send_links, sessions
from pbem.service.play.rules import title_of
from pbem.web import phrases, security, site
from pbem.web.errors import status_of
from pbem.web.people import session_cookie
from pbem.web.people.session_cookie import Who
from pbem.web.site import field, server, ticked, whole_number

pages = Blueprint("own", __name__, url_prefix="/my")


@pages.before_request
def let_in() -> Response | None:
    """Whoever has not signed in is asked to; a form is taken from a page of ours alone."""
    found = session_cookie.session(Who.PERSON)
    if request.method != "POST":
        return None if found is not None else site.go("send_links.show")
    security.must_be_ours()
    if found is None:
        raise Forbidden(
            _("You are not signed in any more."),
            why=_("A sign-in lasts for thirty days, and you can end it on any of your devices."),
            remedy=_("Nothing was changed; please have a new link sent to you with “My games” below."),
        )
    sessions.used(server(), found)
    return None


@pages.after_request
def with_script(response: Response) -> Response:
    """Let the page run the scripts that we serve ourselves."""
    response.headers["Content-Security-Policy"] = security.POLICY_WITH_SCRIPT
    return response


@pages.get("")
def show() -> Response:
    """One's tables, those first that wait for an answer."""
    return _games()


@pages.post("/seat")
def seat() -> Response:
    """Lead on to a seat of one's own."""
    return site.go("seat.show", token=server().run(my_page.seat_token, person_id(), *_seat()))


@pages.post("/table")
def table() -> Response:
    """Lead on to a table that waits for players."""
    return site.go("invitation.show", token=server().run(my_page.table_token, person_id(), _table()))


@pages.post("/again")
def turn_again() -> Response:
    """Mail a turn anew."""
    try:
        server().run(ledger.turn_again, person_id(), *_seat())
    except Refusal as refused:
        return _games(refused)
    return site.go("own.mails")


@pages.post("/link")
def link_again() -> Response:
    """Mail the links to all games, and one to sign in, which shows that mail arrives."""
    server().run(send_links.send_to, person_id())
    return site.go("front.sent")


@pages.get("/mails")
def mails() -> Response:
    """How one is mailed, and what became of one's mails."""
    return _mails()


@pages.post("/mails")
def choose() -> Response:
    """Choose when mails come."""
    way = field("delivery")
    try:
        wish = f"{way} {field('minutes')}m" if way == Way.DELAYED else way
        my_page.choose(server(), person_id(), wish, field("digest_at") if way == Way.DAILY else "")
    except Refusal as refused:
        return _mails(refused)
    return site.go("own.mails")


@pages.post("/mails/again")
def resend() -> Response:
    """Send a mail again."""
    try:
        server().run(ledger.resend_own, person_id(), whole_number("mail", _("the number of a mail")))
    except Refusal as refused:
        return _mails(refused)
    return site.go("own.mails")


@pages.get("/settings")
def settings() -> Response:
    """How one wants things, and one's vacations."""
    return _settings()


@pages.post("/settings")
def settle() -> Response:
    """Change how one wants things."""
    try:
        server().run(
            my_page.settle,
            person_id(),
            name=field("name"),
            zone=field("zone"),
            quiet=field("quiet"),
            cadence=field("cadence"),
            willing=ticked("willing"),
            sealed=ticked("sealed"),
        )
    except Refusal as refused:
        return _settings(refused)
    return site.go("own.settings")


@pages.post("/vacation")
def vacation() -> Response:
    """Book a vacation, or cancel one."""
    try:
        if field("cancel"):
            server().run(vacations.cancel, person_id(), whole_number("cancel", _("the number of a vacation")))
        else:
            server().run(vacations.book_text, person_id(), f"{field('first')} to {field('last') or field('first')}")
    except Refusal as refused:
        return _settings(refused)
    return site.go("own.settings")


@pages.post("/feeds")
def renew_feeds() -> Response:
    """Give one's feeds new addresses, or their first ones."""
    server().run(feeds.renew, person_id())
    return site.go("own.settings")


def person_id() -> int:
    """Whoever has signed in."""
    found = session_cookie.session(Who.PERSON)
    assert found is not None, "asked for before every request"
    assert found.holder.person_id is not None, "it is a person's cookie"
    return found.holder.person_id


def _table() -> int:
    return whole_number("game", _("the number of a table"))


def _seat() -> tuple[int, int]:
    return _table(), whole_number("seat", _("the number of a seat"))


def _games(refused: Refusal | None = None) -> Response:
    found, now = server().read(my_page.at, person_id()), server().now()
    until = {each: phrases.moment(each.due_at, found.zone, now) for each in found.played if each.due_at}
    return site.page("own/games.html", _status(refused), found=found, until=until, game_named=_named, refused=refused)


def _mails(refused: Refusal | None = None) -> Response:
    found, now = server().read(my_page.emails, person_id()), server().now()
    listed = [(each, at := each.accepted_at or each.queued_at, from_now(now, at)) for each in found.listed]
    return site.page("own/mails.html", _status(refused), found=found, mails=listed, given=field, refused=refused)


def _settings(refused: Refusal | None = None) -> Response:
    found, at = server().read(my_page.settings, person_id()), server().read(feeds.addresses, person_id())
    return site.page("own/settings.html", _status(refused), found=found, feeds=at, given=field, refused=refused)


def _named(kind: str) -> str:
    return title_of(kind)


def _status(refused: Refusal | None) -> int:
    return status_of(refused)
