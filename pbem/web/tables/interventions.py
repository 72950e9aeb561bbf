"""Interventions at a table, for its players: what organisers and the host did and what outages did, when and why."""

from datetime import datetime

from flask import Blueprint, Response

from pbem.domain import moments
from pbem.service.desk import table as desk_table
from pbem.web import phrases, site
from pbem.web.site import server

pages = Blueprint("interventions", __name__)


@pages.get("/s/<token>/decided")
def show(token: str) -> Response:
    found, now = server().read(desk_table.interventions, token), server().now()
    rows = [(row, phrases.moment(row.at, found.zone, now)) for row in found.rows]
    spans = {
        row.seq: [moments.moment_text(datetime.fromisoformat(row.says[end]), found.zone) for end in ("start", "end")]
        for row in found.rows
        if "start" in row.says
    }
    return site.page("decided.html", found=found, token=token, rows=rows, spans=spans)
