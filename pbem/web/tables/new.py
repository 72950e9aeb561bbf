"""The form for a new table. The link in the email to its host opens the table."""

from datetime import datetime, timedelta
from typing import Any, Final

from flask import Blueprint, Response, url_for

from engine.game import Game
from engine.options import Listed, Option, OptionValue
from engine.search import LEVELS, USUAL
from pbem.domain.conditions import MOST_FINISHED, MOST_RATING, Conditions
from pbem.domain.errors import BadInput, Refusal, read_fields
from pbem.domain.localtime import parse_moment
from pbem.domain.missed_turns import FEWEST, MOST, MOST_GRACE, SECOND_CHANCES, USUAL_SECOND_CHANCE, Successor
from pbem.domain.pace import PerDecision, parse_pace
from pbem.domain.week import BOUNDS
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.web import client, form_time, site
from pbem.web.public.rules import game_called
from pbem.web.site import field, server, ticked, whole_number
from pbem.web.tables.invitations import addresses_in

pages = Blueprint("new_table", __name__)

PACES: Final = ("12h", "1d", "2d", "3d", "7d")
"""The usual paces. Any other can be typed."""

SHARES: Final = (0, 50, 70, 80, 90, 95)
"""Shares of turns on time, in percent, that a table can ask for."""

USUAL_LIMIT: Final = 3
"""Missed turns before a seat changes hands, where nothing else was chosen."""

FILL: Final = "rest"
"""The choice of a bot for every seat that nobody is invited to."""


@pages.get("/new/<kind>")
def show(kind: str, refused: Refusal | None = None) -> Response:
    return form(kind, url_for(".create", kind=kind), refused)


def form(kind: str, open_at: str, refused: Refusal | None = None, group: str = "") -> Response:
    """The page with the form that goes to `open_at`, for a table that anyone can open, or for one of the group of this name."""
    rules, usual_pace = game_called(kind), str(site.config().site.pace)
    return site.page(
        "new.html",
        rules=rules,
        group=group,
        open_at=open_at,
        teller=speech.teller(rules),
        listed=Listed,
        levels=list(LEVELS),
        usual=USUAL,
        fill=FILL,
        paces=sorted({usual_pace, *PACES}, key=_speed),
        usual_pace=usual_pace,
        limits=range(FEWEST, MOST + 1),
        usual_limit=USUAL_LIMIT,
        graces=range(MOST_GRACE + 1),
        zone=site.config().site.timezone.key,
        second_chances=SECOND_CHANCES,
        usual_second_chance=USUAL_SECOND_CHANCE,
        time_off_choices=BOUNDS,
        successors=list(Successor),
        **condition_values(),
        given=field,
        refused=refused,
    )


@pages.post("/new/<kind>")
@site.shows_refusals_on(show)
def create(kind: str) -> Response:
    """Plan the table, and email its host."""
    form_time.check()
    settings = settings_of(game_called(kind))
    server().run(joining.ask_to_create, field("address"), field("name"), settings, client.network())
    return site.go("front.sent")


def settings_of(rules: Game[object]) -> TableSettings:
    """The settings that were chosen; without any, as from the front page, the usual ones with a bot in every other seat."""
    seats = whole_number("seats", _("a number of players")) if field("seats") else rules.seats[0]
    invited = addresses_in(field("invited"))
    level, starts_at = field("bot") or USUAL, read_fields({"starts_at": _start})["starts_at"]
    bots = _bots(seats, len(invited))
    if bots > rules.seats[1]:
        raise BadInput(_("%(bots)s bots are too many.", bots=bots))
    return TableSettings(
        kind=rules.slug,
        seats=seats,
        options=option_values(rules),
        pace=field("other_pace") or field("pace") or str(site.config().site.pace),
        title=field("title"),
        bots=(level,) * bots,
        invited=invited,
        private=ticked("private"),
        doubles=ticked("doubles"),
        missed_limit=whole_number("missed_limit", _("a number of missed turns"))
        if field("missed_limit")
        else USUAL_LIMIT,
        grace=whole_number("grace", _("a number of missed turns")) if field("grace") else 0,
        second_chance=whole_number("second_chance", _("a number of hours"))
        if field("second_chance")
        else USUAL_SECOND_CHANCE,
        time_off=whole_number("time_off", _("a number of hours")) if field("time_off") else None,
        going_back=ticked("going_back"),
        successor=field("successor") or Successor.BOT,
        stand_in=level,
        hints=ticked("hints"),
        rated=ticked("rated"),
        fewest=whole_number("fewest", _("a number of players")) if field("fewest") else 0,
        starts_at=starts_at,
        conditions=asked_conditions(),
    )


def condition_values() -> dict[str, Any]:
    """What the fields for conditions need."""
    return {"shares": SHARES, "most_finished": MOST_FINISHED, "most_rating": MOST_RATING}


def asked_conditions() -> Conditions:
    """What the table asks of those who join; an empty field asks for nothing."""
    called = {
        "in_time": _("a share of turns on time"),
        "finished": _("a number of finished games"),
        "lowest": _("a rating"),
        "highest": _("a rating"),
    }
    numbers = {name: whole_number(name, words) if field(name) else 0 for name, words in called.items()}
    return Conditions(**numbers, friends=ticked("friends"))


def _start() -> datetime | None:
    """The start that was chosen, in the zone of the site, if any."""
    typed = field("starts_at")
    return parse_moment(typed, site.config().site.timezone) if typed else None


def _bots(seats: int, invited: int) -> int:
    """The number of bots: as typed, or one for each seat but those of the host and the people invited."""
    return max(seats - 1 - invited, 0) if field("bots") in ("", FILL) else whole_number("bots", _("a number of bots"))


def _speed(pace: str) -> tuple[bool, timedelta]:
    """The order of paces: the fastest first, and fixed days of the week last."""
    parsed = parse_pace(pace)
    return (False, parsed.allowed) if isinstance(parsed, PerDecision) else (True, timedelta())


def option_values(rules: Game[object]) -> dict[str, OptionValue]:
    """The variants that were chosen."""
    return {option.name: _option(option) for option in rules.options if field(f"option_{option.name}")}


def _option(option: Option) -> OptionValue:
    text = field(f"option_{option.name}")
    if isinstance(option, Listed):
        return text
    return site.read_number(text, _("a value of “%(option)s”", option=speech.render(option.called)))
