"""The desk's first page: what needs an organiser, how the house is, and tables by list and by search; and the charts.

What is asked for stands in the address of a page, so that it can be kept as a bookmark; an address of somebody never does:
who looks for one sends a form, and is led to a page that names its person by a number.
"""

from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from engine import game
from pbem.domain.acts import Act
from pbem.domain.moments import from_now
from pbem.service.desk import activity as desk_activity
from pbem.service.desk import overview
from pbem.service.desk.overview import STATUSES, Wanted
from pbem.store.overview import COUNTED, TROUBLES
from pbem.web import security, site
from pbem.web.desk import charts, permissions
from pbem.web.site import field, server

pages = Blueprint("desk_overview", __name__)

_LIVE: Final = f"{security.POLICY_WITH_SCRIPT}; connect-src 'self'"
"""The pages that show what changes fetch themselves anew, and nothing from anywhere else."""


@pages.get("/desk")
@permissions.needs(Act.OVERVIEW)
def show() -> Response:
    """What needs somebody, and a list of tables."""
    asked = {name: request.args.get(name, "").strip() for name in ("q", "person", "trouble", "status", "kind")}
    person = site.read_number(asked["person"], "the number of a person") if asked["person"] else None
    wanted = Wanted(asked["q"][:100], person, asked["trouble"], asked["status"], asked["kind"])
    found = server().read(overview.look, wanted, request.args.get("after", ""))
    given: dict[str, Any] = {name: value for name, value in asked.items() if value}
    return live(
        site.page(
            "desk/overview.html",
            found=found,
            asked=asked,
            titles={name: game.load(name).title for name in game.names()},
            troubles=TROUBLES,
            statuses=STATUSES,
            most=COUNTED,
            from_now=from_now,
            after=url_for("desk_overview.show", **given, after=found.page.after) if found.page.after else "",
        )
    )


@pages.post("/desk/find")
@permissions.needs(Act.OVERVIEW)
def find() -> Response:
    """Lead on to what was typed: a person by their whole address, tables by words or by their key."""
    text = field("q")
    if "@" not in text:
        return site.go("desk_overview.show", q=text or None)
    person_id = server().read(overview.person_with, text)
    if person_id is None:
        return site.page("desk/nobody.html", 404)
    return site.go("desk_people.one", person_id=person_id)


@pages.get("/desk/activity")
@permissions.needs(Act.OVERVIEW)
def activity() -> Response:
    """What happened in the last days, or with `?by=hour` in the last hours, as charts."""
    hourly = request.args.get("by") == "hour"
    found = server().read(desk_activity.activity, hourly=hourly)
    return live(site.page("desk/activity.html", charts=charts.activity_charts(found), hourly=hourly))


def live(response: Response) -> Response:
    """A page that may fetch itself anew."""
    response.headers["Content-Security-Policy"] = _LIVE
    return response
