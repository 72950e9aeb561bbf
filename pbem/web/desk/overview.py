"""The desk's first page: what needs an organiser, the state of the server, tables by list and by search; and activity.

A search is in the address of its page, so that it can be bookmarked. An email address never is: it is searched for by a form,
which leads to a page that names the person by a number.
"""

from typing import Any

from flask import Blueprint, Response, request, url_for

from engine import registry
from pbem.domain.acts import Act
from pbem.domain.moments import relative_text
from pbem.service.desk import overview, statistics as desk_activity
from pbem.service.desk.overview import STATUSES, TableFilter
from pbem.store.overview import COUNTED, TROUBLES
from pbem.web import security, site
from pbem.web.desk import charts, permissions
from pbem.web.site import field, server

pages = Blueprint("desk_overview", __name__)

"""Pages about things that change may fetch themselves again, and nothing from another site."""


@pages.get("/desk")
@permissions.needs(Act.OVERVIEW)
def show() -> Response:
    """What needs an organiser, and a list of tables."""
    search = {name: request.args.get(name, "").strip() for name in ("q", "person", "trouble", "status", "kind")}
    person = site.read_number(search["person"], "the number of a person") if search["person"] else None
    tables = TableFilter(search["q"][:100], person, search["trouble"], search["status"], search["kind"])
    found = server().read(overview.summary, tables, request.args.get("after", ""), actor=permissions.actor())
    query: dict[str, Any] = {name: value for name, value in search.items() if value}
    return live(
        site.page(
            "desk/overview.html",
            found=found,
            asked=search,
            titles={name: registry.load(name).title for name in registry.names()},
            troubles=TROUBLES,
            statuses=STATUSES,
            most=COUNTED,
            from_now=relative_text,
            after=url_for("desk_overview.show", **query, after=found.page.after) if found.page.after else "",
        )
    )


@pages.post("/desk/find")
@permissions.needs(Act.OVERVIEW)
def find() -> Response:
    """Lead to the person with a whole address, or to the tables that match words or a key."""
    text = field("q")
    if "@" not in text:
        return site.go("desk_overview.show", q=text or None)
    person_id = server().read(overview.person_with, text)
    if person_id is None:
        return site.page("desk/nobody.html", 404)
    return site.go("desk_people.show_person", person_id=person_id)


@pages.get("/desk/activity")
@permissions.needs(Act.OVERVIEW)
def activity() -> Response:
    """Charts of the last days, or with `?by=hour` of the last hours."""
    hourly = request.args.get("by") == "hour"
    found = server().read(desk_activity.activity, hourly=hourly)
    return live(site.page("desk/activity.html", charts=charts.activity_charts(found), hourly=hourly))


def live(response: Response) -> Response:
    """The page, allowed to fetch itself again."""
    response.headers["Content-Security-Policy"] = security.POLICY_OF_LIVE_PAGES
    return response
