"""Tournaments for who is signed in: open one, take part, and run one's own."""

from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response

from engine.options import Listed
from engine.search import LEVELS, USUAL
from pbem.domain.errors import BadInput, Refusal
from pbem.domain.tournaments.plan import FORMATS
from pbem.domain.tournaments.words import format_name
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.desk import tournament_hosts
from pbem.service.tournaments import new, reading, sign_up
from pbem.service.tournaments.new import TournamentSettings
from pbem.web import client, site
from pbem.web.people import my_page
from pbem.web.people.my_page import person_id
from pbem.web.public.rules import game_called
from pbem.web.site import field, server, ticked, whole_number
from pbem.web.tables.invitations import addresses_in
from pbem.web.tables.new import PACES, option_values
from pbem.web.tournaments.public import page_values

pages = Blueprint("own_tournaments", __name__, url_prefix="/my/tournaments")
pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)

_USUAL_SIGN_UP = timedelta(days=7)


@pages.get("/new/<kind>")
def show_new(kind: str, refused: Refusal | None = None) -> Response:
    rules = game_called(kind)
    zone = site.config().site.timezone
    return site.page(
        "tournaments/new.html",
        rules=rules,
        teller=speech.teller(rules),
        listed=Listed,
        formats={each: format_name(each) for each in FORMATS},
        levels=list(LEVELS),
        usual=USUAL,
        paces=PACES,
        usual_pace=str(site.config().site.pace),
        zone=zone.key,
        closes_at=(server().now() + _USUAL_SIGN_UP).astimezone(zone).strftime("%Y-%m-%dT20:00"),
        most=new.MOST_ENTRANTS,
        most_rounds=new.MOST_ROUNDS,
        given=field,
        refused=refused,
    )


@pages.post("/new/<kind>")
@site.shows_refusals_on(show_new)
def create(kind: str) -> Response:
    """Open a tournament for sign-up."""
    rules = game_called(kind)
    key = server().run(new.open_tournament, person_id(), _settings(rules.slug, option_values(rules)))
    return site.go("own_tournaments.show", key=key, done="tournament opened")


@pages.get("/<key>")
def show(key: str, refused: Refusal | None = None) -> Response:
    """One's own part in a tournament, and what its host can do."""
    found = server().read(reading.page, key)
    return site.page(
        "tournaments/own.html",
        **page_values(found),
        entry=found.entry_of(person_id()),
        hosts=found.summary.row.host_id == person_id(),
        given=field,
        refused=refused,
    )


@pages.post("/<key>/sign-up")
@site.shows_refusals_on(show)
def enter(key: str) -> Response:
    """Sign up."""
    entrant = server().run(sign_up.sign_up, _id(key), person_id(), field("name"), field("word"))
    if isinstance(entrant, Refusal):
        raise entrant
    return site.go("own_tournaments.show", key=key, done="signed up")


@pages.post("/<key>/leave")
@site.shows_refusals_on(show)
def leave(key: str) -> Response:
    server().run(sign_up.decline, _id(key), person_id())
    return site.go("own_tournaments.show", key=key, done="left tournament")


@pages.post("/<key>/invite")
@site.shows_refusals_on(show, about="invited")
def invite(key: str) -> Response:
    """Invite people by their addresses."""
    server().run(sign_up.invite, _id(key), person_id(), addresses_in(field("invited")), client.network())
    return site.go("own_tournaments.show", key=key, done="invited")


@pages.post("/<key>/pause")
@site.shows_refusals_on(show)
def pause(key: str) -> Response:
    """Pause, or go on."""
    _changes("resume" if field("on") else "pause", key)
    return site.go("own_tournaments.show", key=key, done="tournament changed")


@pages.post("/<key>/extend")
@site.shows_refusals_on(show, about="days")
def extend(key: str) -> Response:
    """Give more time."""
    _changes("extend", key, whole_number("days", _("a number of days")))
    return site.go("own_tournaments.show", key=key, done="tournament changed")


@pages.post("/<key>/correct")
@site.shows_refusals_on(show, about="places")
def correct(key: str) -> Response:
    """Correct the places at a table."""
    at = (whole_number("round", _("a round")), whole_number("table", _("a table")))
    places = tuple(site.read_number(each, _("a place")) for each in field("places").replace(",", " ").split())
    _changes("correct", key, *at, places, field("reason"))
    return site.go("own_tournaments.show", key=key, done="tournament changed")


@pages.post("/<key>/remove")
@site.shows_refusals_on(show, about="number")
def remove(key: str) -> Response:
    """Take someone out."""
    _changes("remove", key, whole_number("number", _("a player")), field("reason"))
    return site.go("own_tournaments.show", key=key, done="tournament changed")


@pages.post("/<key>/call-off")
@site.shows_refusals_on(show, about="reason")
def call_off(key: str) -> Response:
    """End it without a winner."""
    _changes("call off", key, field("reason"))
    return site.go("own_tournaments.show", key=key, done="tournament changed")


def _changes(what: str, key: str, *given: object) -> None:
    """Change something as the host."""
    server().run(tournament_hosts.change, what, _id(key), person_id(), *given)


def _settings(kind: str, options: dict[str, str | int]) -> TournamentSettings:
    """The settings that were chosen."""
    size = whole_number("size", _("a number of players"))
    return TournamentSettings(
        name=field("title"),
        kind=kind,
        closes_at=_closing(field("closes_at")),
        form=field("format"),
        rounds=whole_number("rounds", _("a number of rounds")),
        size=size,
        least=min(size, whole_number("least", _("a number of players"))),
        advance=min(size - 1, whole_number("advance", _("a number of players"))),
        options=options,
        pace=field("pace"),
        level=field("bot") or USUAL,
        rated=ticked("rated"),
        seeding=field("seeding"),
        fewest=whole_number("fewest", _("a number of players")),
        most=whole_number("most", _("a number of players")),
        late=field("late"),
        round_days=whole_number("round_days", _("a number of days")),
    )


def _closing(typed: str) -> datetime:
    """A moment in the zone of the site, as a browser sends it."""
    try:
        return datetime.fromisoformat(typed).replace(tzinfo=site.config().site.timezone).astimezone(UTC)
    except (ValueError, OverflowError):
        wrong = BadInput(_("That isn't a date and time."), remedy=_("Write it like 2026-12-24 20:00."))
        wrong.fields = {"closes_at": wrong}
        raise wrong from None


def _id(key: str) -> int:
    return server().read(reading.page, key).summary.row.id
