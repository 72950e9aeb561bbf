"""The lobby: the open tables, a new table, joining by address, and what the links in those mails lead to.

Nobody signs in here. Whoever types an address gets a mail there, and the link in it does what was asked for; so these
pages never tell whether an address is known. Their forms count only if they come from a page of ours.
"""

import re
from typing import Final

from flask import Blueprint, Response, url_for

from engine import game
from engine.bots import BOTS
from engine.decisions import Refused
from engine.game import Game, Listed, Option, OptionValue, agreed
from pbem.domain.errors import BadInput, NotFound, Refusal, quoted
from pbem.domain.missed_turns import FEWEST, MOST, Successor
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.desk import calls
from pbem.service.people import send_links
from pbem.service.play.rules import rules_for
from pbem.service.tables import by_link, invite_link, joining, listing
from pbem.service.tables.listing import Announced
from pbem.service.tables.new import Wanted
from pbem.web import phrases, security, site
from pbem.web.errors import status_of
from pbem.web.site import field, server, ticked, whole_number

pages = Blueprint("lobby", __name__)

PACES: Final = ("12h", "1d", "2d", "3d", "7d")
"""Those that people choose; any other can be written."""

_BETWEEN: Final = re.compile(r"[\s,;]+")


@pages.get("/")
def front() -> Response:
    """The tables that wait for players, and the games of the house."""
    waiting = [_shown(table) for table in server().read(listing.waiting)]
    games = [game.load(name) for name in game.names()]
    return site.page("front.html", tables=waiting, games=[(each, speech.teller(each)(each.length)) for each in games])


@pages.get("/new/<kind>")
def new(kind: str) -> Response:
    """A form for a new table."""
    return _new(_rules(kind))


@pages.post("/new/<kind>")
def create(kind: str) -> Response:
    """Plan the table, and mail its host."""
    security.must_be_ours()
    rules = _rules(kind)
    try:
        server().run(joining.ask_to_create, field("address"), field("name"), _wanted(rules))
    except Refusal as refused:
        return _new(rules, refused)
    return site.go("lobby.sent")


@pages.get("/t/<key>")
def table(key: str) -> Response:
    """One table, and the form to join it."""
    return _table(_public(key))


@pages.post("/t/<key>")
def join(key: str) -> Response:
    """Ask for a place; it is taken by the link in the mail that goes to the address."""
    security.must_be_ours()
    found = _public(key)
    try:
        server().run(joining.ask_to_join, found.game_id, field("address"), field("name"), field("word"))
    except Refusal as refused:
        return _table(_public(key), refused)
    return site.go("lobby.sent")


@pages.get("/j/<token>")
def invited(token: str) -> Response:
    """A private table, by the link that its host has passed on."""
    return _invited(token)


@pages.post("/j/<token>")
def join_invited(token: str) -> Response:
    """Ask for a place there; it is taken by the link in the mail that goes to the address."""
    security.must_not_be_foreign()
    try:
        invite_link.ask_to_join(server(), token, field("address"), field("name"), field("word"))
    except Refusal as refused:
        return _invited(token, refused)
    return site.go("lobby.sent")


@pages.get("/c/<token>")
def doorstep_page(token: str) -> Response:
    """What a mail about a table leads to, before its game begins."""
    return _doorstep(token)


@pages.post("/c/<token>")
def come_in(token: str) -> Response:
    """Confirm the address, and take the place."""
    security.must_not_be_foreign()
    if not security.a_person_clicked():
        return _doorstep(token, ask_again=True)
    try:
        by_link.come_in(server(), token, field("name"), field("word"))
    except Refusal as refused:
        return _doorstep(token, refused=refused)
    return site.go("lobby.doorstep_page", token=token)


@pages.post("/c/<token>/decline")
def decline(token: str) -> Response:
    """Answer an invitation with no."""
    security.must_not_be_foreign()
    by_link.decline(server(), token)
    return site.go("lobby.doorstep_page", token=token)


@pages.post("/c/<token>/leave")
def leave(token: str) -> Response:
    """Leave a table that has not begun."""
    security.must_not_be_foreign()
    by_link.leave(server(), token)
    return site.go("lobby.doorstep_page", token=token)


@pages.post("/c/<token>/invite")
def invite(token: str) -> Response:
    """Offer one's own table to more people."""
    security.must_not_be_foreign()
    try:
        by_link.invite(server(), token, _addresses(field("invited")))
    except Refusal as refused:
        return _doorstep(token, refused=refused)
    return site.go("lobby.doorstep_page", token=token)


@pages.post("/c/<token>/seat")
def take_over(token: str) -> Response:
    """Take over a seat of a running game, or come back to one's own."""
    security.must_not_be_foreign()
    if field("offer"):
        by_link.take_over(server(), token, whole_number("offer", _("the number of an offer")), field("name"))
    else:
        by_link.come_back(server(), token, whole_number("seat", _("the number of a seat")))
    return site.go("lobby.doorstep_page", token=token)


@pages.get("/mine")
def mine_page() -> Response:
    """The form by which somebody gets links to all their games."""
    return site.page("mine.html", refused=None)


@pages.post("/mine")
def send_mine() -> Response:
    """Mail somebody their games; the answer is the same for every address."""
    security.must_be_ours()
    try:
        server().run(send_links.send, field("address"))
    except BadInput as refused:
        return site.page("mine.html", 400, refused=refused)
    return site.go("lobby.sent")


@pages.get("/call")
def call_page() -> Response:
    """The form by which somebody without a link calls the organiser."""
    return site.page("call.html", refused=None, action="lobby.call", token="")


@pages.post("/call")
def call() -> Response:
    """Call the organiser, leaving an address for the answer."""
    security.must_be_ours()
    try:
        server().run(calls.call_from, field("address"), field("text"))
    except Refusal as refused:
        return site.page("call.html", status_of(refused), refused=refused, action="lobby.call", token="")
    return site.go("lobby.called")


@pages.get("/sent")
def sent() -> Response:
    """What was asked for goes on by mail."""
    return site.page("sent.html")


@pages.get("/called")
def called() -> Response:
    """The organiser was called."""
    return site.page("called.html")


def _rules(kind: str) -> Game[object]:
    try:
        return game.load(kind)
    except Refused as refused:
        raise NotFound(
            speech.render(refused.text), remedy=_("Please choose one of them on our front page.")
        ) from refused


def _public(key: str) -> Announced:
    found = server().read(listing.by_key, key)
    # A private table is nobody's business who was not asked, and a planned one is not there yet.
    if found.private or found.status == "planned":
        raise NotFound(
            _("There is no such table in the lobby."), remedy=_("To a private table its host invites by mail.")
        )
    return found


def _wanted(rules: Game[object]) -> Wanted:
    bots = whole_number("bots", _("a number of bots"))
    if bots > rules.seats[1]:
        raise BadInput(_("%(bots)s bots are too many.", bots=bots))
    return Wanted(
        kind=rules.slug,
        seats=whole_number("seats", _("a number of players")),
        options={option.name: _option(option) for option in rules.options if field(f"option_{option.name}")},
        pace=field("other_pace") or field("pace") or str(site.config().site.pace),
        title=field("title"),
        bots=(field("bot") or sorted(BOTS)[0],) * bots,
        invited=_addresses(field("invited")),
        private=ticked("private"),
        doubles=ticked("doubles"),
        missed_limit=whole_number("missed_limit", _("a number of silent turns")),
        successor=field("successor"),
    )


def _option(option: Option) -> OptionValue:
    text = field(f"option_{option.name}")
    return (
        text
        if isinstance(option, Listed)
        else site.read_number(text, _("a value of “%(option)s”", option=speech.render(option.called)))
    )


def _addresses(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each for each in _BETWEEN.split(text) if each))
    for each in found:
        if "@" not in each:
            raise BadInput(
                _("%(each)s is not a mail address.", each=quoted(each)), remedy=_("Please write one address a line.")
            )
    return found


def _new(rules: Game[object], refused: Refusal | None = None) -> Response:
    return site.page(
        "new.html",
        200 if refused is None else status_of(refused),
        rules=rules,
        teller=speech.teller(rules),
        listed=Listed,
        bots=sorted(BOTS),
        paces=dict.fromkeys((str(site.config().site.pace), *PACES)),
        usual_pace=str(site.config().site.pace),
        limits=range(FEWEST, MOST + 1),
        successors=list(Successor),
        given=field,
        refused=refused,
    )


def _shown(found: Announced) -> dict[str, object]:
    rules = rules_for(found.kind, found.game_id)
    teller = speech.teller(rules)
    changed = [
        teller(agreed(option, found.options[option.name]))
        for option in rules.options
        if found.options[option.name] != option.default and found.seats in (option.seats or (found.seats,))
    ]
    return {
        "table": found,
        "seated": list(zip(found.players, found.reliability, strict=True)),
        "rules": rules,
        "teller": teller,
        "changed": changed,
        "until": phrases.moment(found.expires_at, site.config().site.timezone, server().now()),
    }


def _table(found: Announced, refused: Refusal | None = None) -> Response:
    return _announced(found, url_for(".join", key=found.key), refused)


def _invited(token: str, refused: Refusal | None = None) -> Response:
    return _announced(invite_link.at(server(), token), url_for(".join_invited", token=token), refused)


def _announced(found: Announced, join_at: str, refused: Refusal | None) -> Response:
    status = 200 if refused is None else status_of(refused)
    return site.page("table.html", status, **_shown(found), given=field, refused=refused, join_at=join_at)


def _doorstep(token: str, *, refused: Refusal | None = None, ask_again: bool = False) -> Response:
    found = server().read(by_link.at, token)
    status = 200 if refused is None else status_of(refused)
    shown = {} if found.table is None else _shown(found.table)
    return site.page(
        "doorstep.html", status, found=found, token=token, refused=refused, ask_again=ask_again, given=field, **shown
    )
