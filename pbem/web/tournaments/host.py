"""What the host of a tournament does: each form leads to a preview of what it would do, and a second button does it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, request

from pbem.i18n.speech import gettext as _, mark, translate
from pbem.service.desk import tournament_hosts
from pbem.service.tournaments import preview, reading, sign_up
from pbem.service.tournaments.preview import HostAct
from pbem.web import client, phrases, site
from pbem.web.people import my_page
from pbem.web.people.my_page import person_id
from pbem.web.site import field, server, whole_number
from pbem.web.tables.invitations import addresses_in
from pbem.web.tournaments.public import page_values
from pbem.web.tournaments.signed_in import show

pages = Blueprint("tournament_host", __name__, url_prefix="/my/tournaments")
pages.before_request(my_page.must_be_signed_in)
pages.after_request(my_page.allow_script)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of the host: its words, what it does, what it was given, and the field that errors without a name are about."""

    words: str
    act: Callable[[], HostAct]
    read: Callable[[], tuple[object, ...]] = tuple
    about: str = ""
    done: str = "tournament changed"


def _invited() -> tuple[object, ...]:
    return addresses_in(field("invited")), client.network()


def _corrected() -> tuple[object, ...]:
    """The corrected places at a table, and why."""
    at = (whole_number("round", _("a round")), whole_number("table", _("a table")))
    places = tuple(site.read_number(each, _("a place")) for each in field("places").replace(",", " ").split())
    return *at, places, field("reason")


def _seeded() -> tuple[object, ...]:
    """The number typed for each entrant; an empty one puts them last."""
    typed = {name.removeprefix("seed_"): value for name, value in request.form.items() if name.startswith("seed_")}
    read = site.read_number
    return ({read(name, _("a player")): read(value, _("a number")) for name, value in typed.items() if value.strip()},)


def _change(what: str) -> HostAct:
    """A change of the tournament, for a preview of it and for doing it."""
    return lambda tx, of_server, number, host_id, *given: tournament_hosts.change(
        tx, of_server, what, number, host_id, *given
    )


FORMS: Final = {
    "invite": Form(mark("Send invitations"), lambda: sign_up.invite, _invited, "invited", "invited"),
    "pause": Form(mark("Pause or resume"), lambda: _change("resume" if field("on") else "pause")),
    "extend": Form(
        mark("Extend"), lambda: _change("extend"), lambda: (whole_number("days", _("a number of days")),), "days"
    ),
    "correct": Form(mark("Correct"), lambda: _change("correct"), _corrected, "places"),
    "remove": Form(
        mark("Take out"),
        lambda: _change("remove"),
        lambda: (whole_number("number", _("a player")), field("reason")),
        "number",
    ),
    "seed": Form(mark("Save order"), lambda: _change("seed"), _seeded, "seeds"),
    "call-off": Form(mark("Call off"), lambda: _change("call off"), lambda: (field("reason"),), "reason"),
}
"""The forms by the last part of their addresses."""


def _register(path: str, form: Form) -> None:
    @site.shows_refusals_on(show, about=form.about)
    def send(key: str) -> Response:
        return _answer(path, form, key)

    pages.add_url_rule(f"/<key>/{path}", path.replace("-", "_"), send, methods=["POST"])


for _path, _form in FORMS.items():
    _register(_path, _form)


def _answer(path: str, form: Form, key: str) -> Response:
    """A preview of the act, or the act."""
    found = server().read(reading.page, key, person_id())
    given = form.read()
    at = form.act(), found.summary.row.id, person_id()
    if field("step") == "do":
        server().run(preview.perform, *at, field("of"), *given)
        return site.go("own_tournaments.show", key=key, done=form.done)
    would = server().dry_run(preview.preview, *at, *given)
    now, zone = server().now(), site.config().site.timezone
    return site.page(
        "tournaments/preview.html",
        **page_values(found),
        refused=None,
        words=translate(form.words),
        path=path,
        would=would,
        typed=[pair for pair in request.form.items() if pair[0] not in ("step", "of")],
        addresses=len(set(addresses_in(field("invited")))) if path == "invite" else 0,
        moment=lambda at: "–" if at is None else phrases.moment(at, zone, now),
        tally=sorted({name: would.readers.count(name) for name in would.readers}),
    )
