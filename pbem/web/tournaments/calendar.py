"""The calendar of tournaments: a page by months, and feeds for calendars and feed readers, of all tournaments or of one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from flask import Blueprint, Response, render_template, url_for
from icalendar import Calendar, Event as CalendarEvent

from pbem.domain.moments import month_text, short_moment_text
from pbem.domain.user_text import isolate
from pbem.i18n.speech import gettext as _
from pbem.service.play.rules import title_of
from pbem.service.tournaments import calendar
from pbem.service.tournaments.calendar import Event, Period, What
from pbem.web import conditional, site
from pbem.web.site import config, server

pages = Blueprint("tournament_calendar", __name__, url_prefix="/tournaments")

MOST_WINNERS: Final = 50
"""Past tournaments on the page, the newest."""

_MOST_NEWS: Final = 50
_NEWS: Final = (What.OPENED, What.BEGINS, What.OVER, What.CALLED_OFF)
_REFRESH: Final = timedelta(hours=6)
_BEFORE_ALL: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When a feed without news was last changed."""


@pages.get("/calendar")
def show() -> Response:
    """What opens, runs and ends from this month on, and who has won."""
    zone = site.config().site.timezone
    month = server().now().astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    coming = [event for event in server().read(calendar.events) if event.at >= month]
    months = groupby(coming, key=lambda event: event.at.astimezone(zone).strftime("%Y-%m"))
    return site.page(
        "tournaments/calendar.html",
        zone=zone.key,
        months=[_month(list(events)) for _name, events in months],
        past=[(each, title_of(each.row.kind)) for each in server().read(calendar.winners, MOST_WINNERS)],
    )


@pages.get("/calendar.ics")
def dates() -> Response:
    """Sign-ups and rounds of all tournaments (RFC 5545)."""
    return _dates(server().read(calendar.periods), _("Tournaments"))


@pages.get("/<key>/calendar.ics")
def dates_of_one(key: str) -> Response:
    """Sign-up and rounds of a tournament. Raises NotFound."""
    found = server().read(calendar.periods, key)
    return _dates(found, found[0].summary.row.name)


@pages.get("/news.atom")
def news() -> Response:
    """What has happened in all tournaments (RFC 4287)."""
    return _news(server().read(calendar.events), url_for("tournaments.show_all"), _("Tournaments"))


@pages.get("/<key>/news.atom")
def news_of_one(key: str) -> Response:
    """What has happened in a tournament. Raises NotFound."""
    found = server().read(calendar.events, key)
    return _news(found, url_for("tournaments.show", key=key), found[0].summary.row.name)


def _happens(event: Event) -> str:
    """What happens, as a calendar has it, without the name of the tournament."""
    match event.what:
        case What.OPENED:
            return _("Sign-up opens")
        case What.CLOSES:
            return _("Sign-up ends")
        case What.BEGINS:
            return _("Round %(number)s begins", number=event.round)
        case What.ENDS:
            return _("Round %(number)s ends", number=event.round)
        case _ended:
            return _happened(event)


def _happened(event: Event) -> str:
    """What has happened, as news have it."""
    winners = event.summary.winners
    match event.what:
        case What.OPENED:
            return _("Sign-up is open")
        case What.BEGINS:
            return _("Round %(number)s has begun", number=event.round)
        case What.OVER if len(winners) == 1:
            return _("%(name)s has won", name=isolate(winners[0]))
        case What.OVER:
            return _("%(names)s share the win", names=", ".join(map(isolate, winners)))
        case _called_off:
            return _("Called off")


def _month(events: list[Event]) -> dict[str, Any]:
    zone = site.config().site.timezone
    return {
        "title": month_text(events[0].at.astimezone(zone).date()),
        "rows": [
            (short_moment_text(each.at, zone), _happens(each), each.summary.row, title_of(each.summary.row.kind))
            for each in events
        ],
    }


def _news(events: list[Event], path: str, title: str) -> Response:
    """What has happened up to now, the latest first."""
    now = server().now()
    shown = [each for each in reversed(events) if each.at <= now and each.what in _NEWS]
    text = render_template(
        "tournaments/news.xml",
        title=title,
        path=path,
        events=[(each, f"{each.what.replace(' ', '-')}-{each.round}", _happened(each)) for each in shown[:_MOST_NEWS]],
        updated=shown[0].at if shown else _BEFORE_ALL,
    )
    return conditional.answer(text, "application/atom+xml")


def _dates(found: list[Period], title: str) -> Response:
    ics = Calendar()
    ics.add("prodid", "-//pbem//tournaments//EN")
    ics.add("version", "2.0")
    ics.add("x-wr-calname", f"{config().site.name}: {title}")
    ics.add("refresh-interval", _REFRESH, {"VALUE": "DURATION"})
    for event in _calendar_events(found):
        ics.add_component(event)
    return conditional.answer(ics.to_ical().decode(), "text/calendar")


def _calendar_events(found: list[Period]) -> Iterator[CalendarEvent]:
    for period in found:
        row = period.summary.row
        event = CalendarEvent()
        event.add("uid", f"{row.key}-{period.round}@{config().mail.domain}")
        event.add("dtstamp", period.start)
        if period.round:
            event.add("dtstart", period.start)
            event.add("dtend", period.end)
            event.add("summary", _("%(name)s: round %(number)s", name=row.name, number=period.round))
        else:
            event.add("dtstart", period.end)
            event.add("summary", _("%(name)s: sign-up ends", name=row.name))
        event.add("sequence", period.revision)
        event.add("status", "CANCELLED" if period.cancelled else "CONFIRMED")
        # A round does not make anyone busy.
        event.add("transp", "TRANSPARENT")
        event.add("url", f"{config().base_url}{url_for('tournaments.show', key=row.key)}")
        yield event
