"""The page of a table that waits for players: by its public name, or by the link that the host of a private one passes on.

Nobody signs in here. A player types an address, and the link in the email that goes there takes the seat.
"""

from datetime import datetime
from typing import Any

from flask import Blueprint, Response, url_for

from engine.options import variants
from pbem.domain import conditions
from pbem.domain.errors import NotFound, Refusal
from pbem.domain.rating_words import rating_text
from pbem.domain.states import TableStatus
from pbem.domain.week import Week, counting_text
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.play.rules import rules_for
from pbem.service.tables import by_link, joining, listing
from pbem.service.tables.listing import TableSummary
from pbem.web import client, form_time, phrases, site
from pbem.web.site import field, server

pages = Blueprint("joining", __name__)


@pages.get("/t/<key>")
def show(key: str, refused: Refusal | None = None) -> Response:
    return _page(_public_table(key), url_for(".join", key=key), refused)


@pages.post("/t/<key>")
@site.shows_refusals_on(show)
def join(key: str) -> Response:
    form_time.check()
    table = _public_table(key)
    typed = (field("address"), field("name"), field("word"))
    server().run(joining.ask_to_join, table.game_id, *typed, network=client.network())
    return site.go("front.sent")


@pages.get("/j/<token>")
def show_private(token: str, refused: Refusal | None = None) -> Response:
    return _page(by_link.invited_table(server(), token), url_for(".join_private", token=token), refused)


@pages.post("/j/<token>")
@site.shows_refusals_on(show_private)
def join_private(token: str) -> Response:
    form_time.check()
    by_link.ask_to_join(server(), token, field("address"), field("name"), field("word"), client.network())
    return site.go("front.sent")


def table_values(table: TableSummary, week: Week | None = None) -> dict[str, Any]:
    """What pages show of a table that waits for players: the values of `terms.html`, for a reader with this week."""
    rules = rules_for(table.kind, table.game_id)
    teller = speech.teller(rules)
    changed = list(map(teller, variants(rules.options, table.options, table.seats)))
    ratings = [None if each is None else rating_text(each) for each in table.ratings]
    return {
        "table": table,
        "seated": list(zip(table.players, table.reliability, table.levels, ratings, strict=True)),
        "rules": rules,
        "teller": teller,
        "changed": changed,
        "own_time_off": "" if week is None else counting_text(week, table.time_off),
        "starts": "" if table.starts_at is None else _moment(table.starts_at),
        "asked": conditions.words(table.conditions),
        "until": _moment(table.expires_at),
    }


def _moment(at: datetime) -> str:
    return phrases.moment(at, site.config().site.timezone, server().now())


def _public_table(key: str) -> TableSummary:
    """The table of that name. Raises NotFound for a private one, which is only its players' business, and a planned one."""
    table = server().read(listing.by_key, key)
    if table.private or table.status == TableStatus.PLANNED:
        raise NotFound(_("There's no such table."), remedy=_("This table is private. Ask its host for an invitation."))
    return table


def _page(table: TableSummary, join_at: str, refused: Refusal | None) -> Response:
    return site.page("table.html", **table_values(table), given=field, refused=refused, join_at=join_at)
