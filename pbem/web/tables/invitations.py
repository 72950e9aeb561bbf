"""The page behind the link of an email about a table that has not begun, or a seat on offer.

Here a player confirms an address, accepts or declines an invitation, leaves the table, invites others as its host, takes
over a seat, withdraws a request for one, or returns to one.
"""

import re
from typing import Final

from flask import Blueprint, Response, request

from pbem.domain.errors import Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.absence import substitutes
from pbem.service.tables import by_link, invitations, leaving
from pbem.web import client, csrf, site
from pbem.web.site import field, server, whole_number
from pbem.web.tables.joining import table_values

pages = Blueprint("invitation", __name__)

_SEPARATORS: Final = re.compile(r"[\s,;]+")


@pages.get("/c/<token>")
def show(token: str, *, refused: Refusal | None = None, ask_again: bool = False) -> Response:
    """The table, and what its reader can do there now."""
    found = server().read(by_link.table_page, token)
    return site.page(
        "doorstep.html",
        found=found,
        token=token,
        refused=refused,
        ask_again=ask_again,
        withdrawn=request.args.get("withdrawn") == "yes",
        given=field,
        **({} if found.table is None else table_values(found.table, found.week)),
    )


@pages.post("/c/<token>")
@site.shows_refusals_on(show)
def accept(token: str) -> Response:
    """Confirm the address, take the seat, and lead to it if the game has begun."""
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    joined = by_link.confirm_and_join(server(), token, field("name"), field("word"), client.network())
    if joined is not None and joined.begun:
        return site.go("seat.show", token=by_link.to_seat(server(), token))
    return site.go("invitation.show", token=token)


@pages.post("/c/<token>/decline")
def decline(token: str) -> Response:
    """Decline an invitation."""
    server().run(invitations.decline, *_table_and_person(token))
    return site.go("invitation.show", token=token)


@pages.post("/c/<token>/leave")
def leave(token: str) -> Response:
    """Leave a table that has not begun."""
    server().run(leaving.leave, *_table_and_person(token))
    return site.go("invitation.show", token=token, done="left")


@pages.post("/c/<token>/invite")
@site.shows_refusals_on(show, about="invited")
def invite(token: str) -> Response:
    """Invite more people to one's own table."""
    server().run(invitations.invite, *_table_and_person(token), addresses_in(field("invited")), client.network())
    return site.go("invitation.show", token=token, done="invited")


@pages.post("/c/<token>/seat")
@site.shows_refusals_on(show, about="name")
def take_over(token: str) -> Response:
    """Take over a seat of a running game, or return to one's own."""
    seat = whole_number("seat", _("a seat number"))
    if field("offer"):
        by_link.take_over(server(), token, site.row("offer", _("an offer number")), seat, field("name"))
    else:
        game_id, person_id = _table_and_person(token)
        server().run(substitutes.come_back, game_id, seat, person_id)
    return site.go("invitation.show", token=token)


@pages.post("/c/<token>/withdraw")
@site.shows_refusals_on(show)
def withdraw(token: str) -> Response:
    """Withdraw one's request for a seat of a running game."""
    seat = whole_number("seat", _("a seat number"))
    withdrawn = by_link.withdraw(server(), token, site.row("offer", _("an offer number")), seat)
    return site.go("invitation.show", token=token, withdrawn="yes" if withdrawn else None)


def addresses_in(text: str) -> tuple[str, ...]:
    """The addresses in a list that someone typed, each of them once."""
    return tuple(dict.fromkeys(word for word in _SEPARATORS.split(text) if word))


def _table_and_person(token: str) -> tuple[int, int]:
    return server().read(by_link.table_and_person, token)
