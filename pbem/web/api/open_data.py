"""Open data: what is public, for programs, without a token. Nothing here depends on who asks.

Lists come page by page. A page names the next one in a `Link` header, from the last thing on it, so a game that ends
meanwhile moves nothing to another page.
"""

import json
from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from pbem.domain.errors import BadInput, NotFound
from pbem.domain.ratings import OVERALL
from pbem.domain.states import TournamentStatus
from pbem.i18n.speech import gettext as _
from pbem.service.archive import game_statistics, public_games
from pbem.service.tournaments import reading
from pbem.store import ratings
from pbem.web import conditional
from pbem.web.api import public_answers
from pbem.web.public.rules import game_called
from pbem.web.site import config, read_number, server

routes = Blueprint("open_data", __name__, url_prefix="/api/v1")

USUAL: Final = 50
MOST: Final = 100
"""Things on one page of a list."""

_STATUSES: Final = {status.value.replace(" ", "-"): status for status in TournamentStatus}


@routes.get("/games")
def games() -> Response:
    """Finished games at public tables, the latest first."""
    kind = request.args.get("kind", "")
    slug, limit = game_called(kind).slug if kind else "", _limit()
    try:
        found = server().read(public_games.listed, slug, _after(), limit)
    except NotFound as missing:
        raise _no_such_place(missing) from None
    listed = [public_answers.game(each, config().base_url) for each in found.games]
    return _list("games", listed, found.last, kind=kind)


@routes.get("/ratings")
def overall_ratings() -> Response:
    """Ratings for all games together, of people who show them to everyone."""
    return _ratings(OVERALL)


@routes.get("/ratings/<kind>")
def ratings_of_kind(kind: str) -> Response:
    """Ratings for one game, of people who show them to everyone."""
    return _ratings(game_called(kind).slug, kind=kind)


@routes.get("/tournaments")
def tournaments() -> Response:
    """Tournaments, the newest first."""
    name, limit = request.args.get("status", ""), _limit()
    if name and name not in _STATUSES:
        raise BadInput(
            _("There's no such list of tournaments."), why=_("“status” can be: %(words)s.", words=", ".join(_STATUSES))
        )
    try:
        found = server().read(reading.listed, _STATUSES.get(name), limit + 1, _after())
    except NotFound as missing:
        raise _no_such_place(missing) from None
    listed = [public_answers.tournament(each, config().base_url) for each in found[:limit]]
    last = found[limit - 1].row.key if len(found) > limit else ""
    return _list("tournaments", listed, last, status=name)


@routes.get("/tournaments/<key>")
def tournament(key: str) -> Response:
    """A tournament with its entrants, rounds and standings."""
    return _answer(public_answers.whole_tournament(server().read(reading.page, key), config().base_url))


@routes.get("/statistics/<kind>")
def statistics(kind: str) -> Response:
    """What finished public games say about a game."""
    slug = game_called(kind).slug
    return _answer(public_answers.statistics(slug, server().read(game_statistics.sums_of, slug)))


def _ratings(slug: str, **part: str) -> Response:
    found, last = server().query(ratings.shown_to_everyone, slug, _after(), _limit())
    return _list("ratings", [public_answers.rating(*each) for each in found], last, **part)


def _list(name: str, listed: list[public_answers.Json], last: str, **part: str) -> Response:
    """A page of a list; `last` is where the next one begins, if there is one."""
    response = _answer({name: listed, "next": last or None})
    if last:
        query: dict[str, Any] = part | {"after": last, "limit": request.args.get("limit")}
        following = url_for(request.endpoint or "", **{name: value for name, value in query.items() if value})
        response.headers["Link"] = f'<{config().base_url}{following}>; rel="next"'
    return response


def _answer(document: public_answers.Json) -> Response:
    return conditional.answer(json.dumps(document, ensure_ascii=False) + "\n", "application/json")


def _after() -> str:
    """Where this page begins: the name of the last thing on the page before it, or nothing."""
    return request.args.get("after", "")


def _limit() -> int:
    """How many things this page may have. Raises BadInput."""
    limit = read_number(request.args.get("limit", f"{USUAL}"), _("a number of results"))
    if not 1 <= limit <= MOST:
        raise BadInput(_("A page has 1 to %(most)s results.", most=MOST))
    return limit


def _no_such_place(missing: NotFound) -> BadInput:
    return BadInput(missing.what, remedy=_("Begin again at the start of the list."))
