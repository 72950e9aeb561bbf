"""What organisers and the host did at a table, for its players, and what outages did: when, what and why."""

from datetime import datetime

from flask import Blueprint, Response

from pbem.domain import phrase
from pbem.service.moderation import told
from pbem.web import said, site
from pbem.web.site import house

pages = Blueprint("decided", __name__)


@pages.get("/s/<token>/decided")
def show(token: str) -> Response:
    """What was done at the table of a seat."""
    found, now = told.by_link(house(), token), house().now()
    rows = [(row, said.moment(row.at, found.zone, now)) for row in found.rows]
    spans = {
        row.seq: [phrase.said(datetime.fromisoformat(row.says[end]), found.zone) for end in ("start", "end")]
        for row in found.rows
        if "start" in row.says
    }
    return site.page("decided.html", found=found, token=token, rows=rows, spans=spans)
