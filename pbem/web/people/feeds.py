"""Feeds of a person's deadlines and tables, for calendars and feed readers: at secret addresses, without a cookie."""

from datetime import timedelta

from flask import Blueprint, Response, render_template
from icalendar import Calendar, Event

from pbem.service.account import feeds
from pbem.service.account.feeds import Turn
from pbem.web.site import config, server

pages = Blueprint("feeds", __name__)

_REFRESH = timedelta(hours=1)


@pages.get("/k/<token>/deadlines.ics")
def calendar(token: str) -> Response:
    """A person's deadlines (RFC 5545)."""
    ics = Calendar()
    ics.add("prodid", "-//pbem//deadlines//EN")
    ics.add("version", "2.0")
    ics.add("x-wr-calname", config().site.name)
    ics.add("refresh-interval", _REFRESH, {"VALUE": "DURATION"})
    for turn in server().read(feeds.calendar, token):
        ics.add_component(_event(turn))
    return Response(ics.to_ical(), mimetype="text/calendar")


@pages.get("/n/<token>/news.atom")
def news(token: str) -> Response:
    """What happened at a person's tables (RFC 4287)."""
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
    # A deadline does not make anyone busy.
    event.add("transp", "TRANSPARENT")
    event.add("summary", render_template("deadline.txt", title=turn.title))
    event.add("url", f"{config().base_url}/my")
    return event
