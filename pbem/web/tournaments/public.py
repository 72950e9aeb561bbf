"""Tournaments as everyone sees them: the list of all, and each with its rounds, standings and file."""

from typing import Any, Final

from flask import Blueprint, Response, request

from engine import registry
from engine.result import ordinal
from pbem.domain.conditions import Conditions, words as condition_words
from pbem.domain.errors import NotFound, Refusal
from pbem.domain.states import TournamentStatus
from pbem.domain.tournaments.words import format_text, points_text, tie_break_name, tie_break_text
from pbem.i18n.speech import gettext as _, mark, render, translate
from pbem.service.play.rules import newest_rules, title_of
from pbem.service.tournaments import file, reading, sign_up
from pbem.service.tournaments.reading import TournamentPage, TournamentSummary
from pbem.web import client, form_time, phrases, site
from pbem.web.site import field, server
from pbem.web.tournaments.bracket import bracket

pages = Blueprint("tournaments", __name__)

SHOWN: Final = {
    "open": (TournamentStatus.OPEN, mark("Sign-up open")),
    "playing": (TournamentStatus.PLAYING, mark("In progress")),
    "over": (TournamentStatus.OVER, mark("Finished")),
}
"""The values of `show` in the address, with the words for them."""

_MOST_LISTED: Final = 50


@pages.get("/tournaments")
def show_all() -> Response:
    """The tournaments of a state. Raises NotFound for another state."""
    state = request.args.get("show", "open")
    if state not in SHOWN:
        raise NotFound(
            _("There's no such list of tournaments."), remedy=_("Choose one from the page of all tournaments.")
        )
    found = server().read(reading.listed, SHOWN[state][0], _MOST_LISTED)
    return site.page(
        "tournaments/all.html",
        state=state,
        states={name: translate(words) for name, (_status, words) in SHOWN.items()},
        tournaments=[summary_values(each) for each in found],
        kinds={name: title_of(name) for name in registry.names()},
    )


@pages.get("/tournaments/<key>")
def show(key: str, refused: Refusal | None = None) -> Response:
    """A tournament: what was agreed, who takes part, its rounds and standings."""
    found = server().read(reading.page, key)
    return site.page("tournaments/one.html", **page_values(found), given=field, refused=refused)


@pages.post("/tournaments/<key>")
@site.shows_refusals_on(show)
def ask(key: str) -> Response:
    """Email a typed address how to sign up."""
    form_time.check()
    server().run(sign_up.ask, key, field("address"), client.network())
    return site.go("front.sent")


@pages.get("/tournaments/<key>/file")
def download(key: str) -> Response:
    """The file from which anyone can make every pairing again."""
    return file_response(key, server().read(file.of_tournament, key))


def file_response(key: str, text: str) -> Response:
    """The file of a tournament as a download."""
    response = Response(text, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="tournament-{key}.json"'
    return response


def summary_values(summary: TournamentSummary) -> dict[str, Any]:
    """What pages show of a tournament in a few words."""
    row, now, zone = summary.row, server().now(), site.config().site.timezone
    return {
        "tournament": row,
        "state": summary.status,
        "host": summary.host,
        "rules": newest_rules(row.kind),
        "settings": summary.settings,
        "plan": summary.plan,
        "conditions": Conditions.of(row.conditions),
        "asked": condition_words(Conditions.of(row.conditions)),
        "tie_breaks": [(tie_break_name(each), tie_break_text(each)) for each in summary.plan.tie_breaks],
        "format": format_text(summary.plan, summary.rounds),
        "signed_up": summary.signed_up,
        "rounds_in_all": summary.rounds,
        "winners": summary.winners,
        "closes": phrases.moment(row.closes_at, zone, now),
        "due": "" if summary.late_at is None else phrases.moment(summary.late_at, zone, now),
    }


def page_values(found: TournamentPage) -> dict[str, Any]:
    """What the page of a tournament shows."""
    return summary_values(found.summary) | {
        "found": found,
        "points": points_text,
        "bracket": bracket(found.rounds) if found.rounds and found.summary.plan.format == "knockout" else None,
        "place_text": lambda place: render(ordinal(place)),
        "divisions": sorted({each.division for each in found.standings}),
    }
