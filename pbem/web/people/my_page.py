"""The pages of a person who is signed in: tables, emails and settings. Complete without the script.

The browser's cookie says who it is, so a form counts only from a page of this site.
"""

from datetime import datetime
from functools import partial

from flask import Blueprint, Response, request

from engine.result import ordinal
from pbem.domain.delivery import Way
from pbem.domain.errors import Refusal, read_fields
from pbem.domain.moments import relative_text
from pbem.domain.rating_words import rating_text
from pbem.domain.topics import Topic
from pbem.domain.vacation import parse_day
from pbem.domain.week import DAYS, week_text
from pbem.i18n.speech import gettext as _, render
from pbem.service.account import feeds, my_page, ratings
from pbem.service.clocks import vacations
from pbem.service.outgoing import ledger, preferences
from pbem.service.people import addresses, sessions, sign_in as link_email
from pbem.service.people.sessions import SessionProof
from pbem.service.play.rules import title_of
from pbem.store import outbox, vacations as vacation_rows
from pbem.web import phrases, security, site
from pbem.web.people import session_cookie
from pbem.web.people.rating_chart import rating_chart
from pbem.web.people.session_cookie import Cookie
from pbem.web.site import field, picked, row, server, ticked, whole_number

pages = Blueprint("my_page", __name__, url_prefix="/my")


@pages.before_request
def must_be_signed_in() -> Response | None:
    """Lead people who are not signed in to the form for a link, and refuse forms from other sites."""
    session = session_cookie.session(Cookie.PERSON)
    if session is None:
        if request.method == "POST":
            raise sessions.ended()
        return site.go("sign_in.show_form")
    # Pages too: some show new links, which must not come from a session that ended with the old ones.
    site.act_with(SessionProof(session))
    if request.method == "POST":
        sessions.note_use(server(), session)
    return None


@pages.after_request
def allow_script(response: Response) -> Response:
    """Allow the page to run the scripts of this site."""
    response.headers["Content-Security-Policy"] = security.POLICY_WITH_SCRIPT
    return response


@pages.get("")
def show(refused: Refusal | None = None) -> Response:
    """A person's tables, those first that wait for a move."""
    found, now = server().read(my_page.my_games, person_id()), server().now()
    until = {each: phrases.moment(each.due_at, found.zone, now) for each in found.played if each.due_at}
    rated = server().read(ratings.own_ratings, person_id())
    return site.page(
        "own/games.html",
        found=found,
        place=lambda rank: render(ordinal(rank.number)),
        until=until,
        rated=rated,
        chart=rating_chart(rated, title_of),
        rating_text=rating_text,
        game_named=title_of,
        refused=refused,
    )


@pages.post("/seat")
def open_seat() -> Response:
    return site.go("seat.show", token=server().run(my_page.seat_token, person_id(), *_game_and_seat()))


@pages.post("/table")
def open_table() -> Response:
    """Lead to a table that waits for players."""
    return site.go("invitation.show", token=server().run(my_page.table_token, person_id(), _game()))


@pages.post("/again")
@site.shows_refusals_on(show)
def resend_turn() -> Response:
    server().run(ledger.resend_turn, person_id(), *_game_and_seat())
    return site.go("my_page.emails", done="resent")


@pages.post("/link")
def send_links() -> Response:
    """Email the links to all games, and one to sign in, which shows that emails arrive."""
    server().run(link_email.send_link_to, person_id())
    return site.go("front.sent")


@pages.get("/mails")
def emails(refused: Refusal | None = None) -> Response:
    """When emails come, and what became of them."""
    found, now = server().read(my_page.emails, person_id()), server().now()
    listed = [(each, at := each.accepted_at or each.queued_at, relative_text(now, at)) for each in found.listed]
    return site.page("own/mails.html", found=found, mails=listed, given=field, refused=refused)


@pages.post("/mails")
@site.shows_refusals_on(emails)
def choose_delivery() -> Response:
    """Choose when emails come."""
    way = field("delivery")
    delivery = f"{way} {field('minutes')}m" if way == Way.DELAYED else way
    my_page.choose_delivery(server(), person_id(), delivery, field("digest_at") if way == Way.DAILY else "")
    return site.go("my_page.emails", done="delivery")


@pages.post("/mails/kinds")
def choose_topics() -> Response:
    """Choose the kinds of emails."""
    server().run(preferences.set_topics, person_id(), ticked_topics())
    return site.go("my_page.emails", done="delivery")


@pages.post("/mails/again")
@site.shows_refusals_on(emails)
def resend_email() -> Response:
    server().run(ledger.resend_own, person_id(), row("mail", _("an email number"), _queued_at))
    return site.go("my_page.emails", done="resent")


@pages.get("/settings")
def settings(refused: Refusal | None = None) -> Response:
    found, at = server().read(my_page.settings, person_id()), server().read(feeds.feed_tokens, person_id())
    week = "" if found.week is None else week_text(found.week)
    return site.page(
        "own/settings.html", found=found, feeds=at, given=field, picked=picked, days=DAYS, week=week, refused=refused
    )


@pages.post("/settings")
@site.shows_refusals_on(settings)
def save_settings() -> Response:
    server().run(
        my_page.change_settings,
        person_id(),
        name=field("name"),
        zone=field("zone"),
        quiet=field("quiet"),
        cadence=field("cadence"),
        willing=ticked("willing"),
        sealed=ticked("sealed"),
        reviews=ticked("reviews"),
        show_ratings=ticked("show_ratings"),
    )
    return site.go("my_page.settings", done="settings")


@pages.post("/zone")
@site.shows_refusals_on(show)
def save_zone() -> Response:
    """Save the time zone that the browser has named, or keep the one there is."""
    server().run(addresses.change_settings, person_id(), zone=field("zone"))
    return site.go("my_page.show", done="zone")


@pages.post("/vacation")
@site.shows_refusals_on(settings)
def change_vacation() -> Response:
    if field("cancel"):
        since = {each.id: each.start_at for each in server().query(vacation_rows.of_person, person_id())}
        server().run(vacations.cancel, person_id(), row("cancel", _("a vacation number"), since.get))
        done = "vacation cancelled"
    else:
        typed = {"first": field("first"), "last": field("last") or field("first")}
        days = read_fields({name: partial(parse_day, day) for name, day in typed.items()})
        server().run(vacations.book_text, person_id(), f"{days['first']} to {days['last']}")
        done = "vacation"
    return site.go("my_page.settings", done=done)


@pages.post("/week")
@site.shows_refusals_on(settings)
def save_week() -> Response:
    server().run(my_page.change_week, person_id(), picked("days_off"), picked("workdays"), field("hours"))
    return site.go("my_page.settings", done="week")


@pages.post("/feeds")
def renew_feeds() -> Response:
    """Give the feeds new addresses, or their first ones."""
    server().run(feeds.renew, person_id())
    return site.go("my_page.settings", done="feeds")


def ticked_topics() -> list[Topic]:
    """The kinds of emails that are ticked in a form."""
    return [topic for topic in Topic if ticked(topic)]


def session() -> sessions.Session:
    """The session of the person who is signed in."""
    found = session_cookie.session(Cookie.PERSON)
    assert found is not None, "looked for before every request"
    return found


def person_id() -> int:
    number = session().holder.person_id
    assert number is not None, "it is a person's cookie"
    return number


def _queued_at(outbox_id: int) -> datetime | None:
    email = server().query(outbox.read, outbox_id)
    return None if email is None else email.queued_at


def _game() -> int:
    return row("game", _("a table number"))


def _game_and_seat() -> tuple[int, int]:
    return _game(), whole_number("seat", _("a seat number"))
