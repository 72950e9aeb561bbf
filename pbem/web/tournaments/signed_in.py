"""Tournaments for who is signed in: open one, take part, and run one's own."""

from datetime import datetime, timedelta

from flask import Blueprint, Response

from engine.options import Listed
from engine.search import LEVELS, USUAL
from pbem.domain.errors import Refusal, read_fields
from pbem.domain.localtime import parse_moment
from pbem.domain.tournaments.pairing import TIE_BREAKS
from pbem.domain.tournaments.plan import FORMATS, USUAL_TIE_BREAKS
from pbem.domain.tournaments.words import format_name, tie_break_name
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.tables import groups
from pbem.service.tournaments import file, latecomers, new, reading, sign_up
from pbem.service.tournaments.new import TournamentSettings
from pbem.web import site
from pbem.web.people import my_page
from pbem.web.people.my_page import person_id
from pbem.web.public.rules import game_called
from pbem.web.site import field, server, ticked, whole_number
from pbem.web.tables.new import PACES, asked_conditions, condition_values, option_values
from pbem.web.tournaments.public import file_response, page_values

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
        tie_breaks={each: tie_break_name(each) for each in TIE_BREAKS},
        usual_tie_breaks=_usual_tie_breaks(),
        levels=list(LEVELS),
        usual=USUAL,
        paces=PACES,
        usual_pace=str(site.config().site.pace),
        zone=zone.key,
        closes_at=(server().now() + _USUAL_SIGN_UP).astimezone(zone).strftime("%Y-%m-%dT20:00"),
        **condition_values(),
        groups=server().read(groups.organised, person_id()),
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
    found = server().read(reading.page, key, person_id())
    return site.page(
        "tournaments/own.html",
        **page_values(found),
        entry=found.entry_of(person_id()),
        may_enter=server().query(sign_up.may_enter, found.summary.row, person_id()),
        takes_latecomers=latecomers.takes_some(found.summary.row),
        hosts=found.summary.row.host_id == person_id(),
        given=field,
        refused=refused,
    )


@pages.get("/<key>/file")
def download(key: str) -> Response:
    """The file from which anyone can make every pairing again, also of a tournament of a group."""
    return file_response(key, server().read(file.of_tournament, key, person_id()))


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


def _settings(kind: str, options: dict[str, str | int]) -> TournamentSettings:
    """The settings that were chosen."""
    size = whole_number("size", _("a number of players"))
    return TournamentSettings(
        name=field("title"),
        kind=kind,
        closes_at=read_fields({"closes_at": _closing})["closes_at"],
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
        tie_breaks=_tie_breaks(),
        fewest=whole_number("fewest", _("a number of players")),
        most=whole_number("most", _("a number of players")),
        late=field("late"),
        round_days=whole_number("round_days", _("a number of days")),
        conditions=asked_conditions(),
        group=field("group"),
    )


def _closing() -> datetime:
    """When sign-up ends, in the zone of the site."""
    return parse_moment(field("closes_at"), site.config().site.timezone)


def _usual_tie_breaks() -> tuple[str, ...]:
    """The tie-breaks chosen unless others are, one for each that there is."""
    return (*USUAL_TIE_BREAKS, *["none"] * (len(TIE_BREAKS) - len(USUAL_TIE_BREAKS)))


def _tie_breaks() -> tuple[str, ...]:
    """The tie-breaks that were chosen, in their order."""
    chosen = (field(f"tie_break_{at}") or usual for at, usual in enumerate(_usual_tie_breaks(), start=1))
    return tuple(each for each in chosen if each != "none")


def _id(key: str) -> int:
    return server().read(reading.page, key, person_id()).summary.row.id
