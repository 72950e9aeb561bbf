"""The feeds of a person's deadlines and tables, for calendars and readers: at secret addresses, without a cookie."""

from datetime import timedelta

from flask import Blueprint, Response, render_template
from icalendar import Calendar, Event

from pbem.service.account import feeds
from pbem.service.account.feeds import Turn
from pbem.web.site import config, server

pages = Blueprint("feeds", __name__)

_ASK_AGAIN = timedelta(hours=1)


@pages.get("/k/<token>/deadlines.ics")
def calendar(token: str) -> Response:
    """One's deadlines (RFC 5545)."""
    found = server().read(feeds.calendar, token)
    shown = Calendar()
    shown.add("prodid", "-//pbem//deadlines//EN")
    shown.add("version", "2.0")
    shown.add("x-wr-calname", config().site.name)
    shown.add("refresh-interval", _ASK_AGAIN, {"VALUE": "DURATION"})
    for turn in found:
        shown.add_component(_event(turn))
    return Response(shown.to_ical(), mimetype="text/calendar")


@pages.get("/n/<token>/news.atom")
def news(token: str) -> Response:
    """What happened at one's tables (RFC 4287)."""
    since, pieces = server().read(feeds.news, token)
    updated = pieces[0].at if pieces else since
    return Response(render_template("news.xml", pieces=pieces, updated=updated), mimetype="application/atom+xml")


def _event(turn: Turn) -> Event:
    event = Event()
    event.add("uid", f"{turn.name}@{config().mail.domain}")
    event.add("dtstamp", turn.asked_at)
    event.add("dtstart", turn.due_at)
    event.add("sequence", turn.revision)
    event.add("status", "CANCELLED" if turn.done else "CONFIRMED")
    # A deadline takes nobody's time away.
    event.add("transp", "TRANSPARENT")
    event.add("summary", render_template("deadline.txt", title=turn.title))
    event.add("url", f"{config().base_url}/my")
    return event
