"""One choice by one link: the page shows it in words with one button, and the button makes it.

The page shows no hand, because links get forwarded: the choice, the table's name, until when, and, once the turn is over,
what everybody at the table knows of it. What it cannot show it can have mailed to the address on file.
"""

from flask import Blueprint, Response

from pbem.domain.errors import BadInput, Gone, Stale
from pbem.service.people import send_links as people_send_links
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import Offered
from pbem.tokens import Purpose
from pbem.web import phrases, security, site
from pbem.web.errors import status_of

pages = Blueprint("move", __name__)

NO_OPTION = "-"
"""Stands where the last part of a link got lost. What else a page does stands behind the option, which can be any word."""


@pages.get("/m/<token>/<option>")
def show(token: str, option: str) -> Response:
    """The one choice in words, and a button."""
    return _page(site.server().read(seat_view.offered, token, option), token, option)


@pages.get("/m/<token>")
def bare(token: str) -> Response:
    """The same where the choice got lost on the way."""
    return _page(site.server().read(seat_view.offered, token, NO_OPTION), token, NO_OPTION)


@pages.post("/m/<token>/<option>")
def play(token: str, option: str) -> Response:
    """Make the choice."""
    security.must_not_be_foreign()
    if not security.a_person_clicked():
        return _page(site.server().read(seat_view.offered, token, option), token, option, ask_again=True)
    try:
        site.server().run(by_link.move, token, option)
    except (BadInput, Stale, Gone) as refused:
        # The page says which turn this was and leads on. The rules' own words might name cards of a hand.
        found = site.server().read(seat_view.offered, token, option)
        return _page(found, token, option, status=status_of(refused))
    return site.lead_to(site.by_token("move.receipt", token, option))


@pages.get("/m/<token>/<option>/receipt")
def receipt(token: str, option: str) -> Response:
    """What has been made of the choice."""
    return _page(site.server().read(seat_view.offered, token, option), token, option, receipt=True)


@pages.post("/m/<token>/<option>/back")
def take_back(token: str, option: str) -> Response:
    """Take the choice back."""
    security.must_not_be_foreign()
    site.server().run(by_link.take_back, token, Purpose.MOVE)
    return site.go("move.show", token=token, option=option)


@pages.post("/m/<token>/<option>/links")
def send_links(token: str, option: str) -> Response:
    """Send the player a mail with links to all their games."""
    security.must_not_be_foreign()
    site.server().run(people_send_links.send_by_link, token, Purpose.MOVE)
    return site.go("front.sent")


def _page(
    found: Offered, token: str, option: str, *, status: int = 200, receipt: bool = False, ask_again: bool = False
) -> Response:
    teller = found.teller
    return site.page(
        "move.html",
        status,
        found=found,
        token=token,
        option=option,
        player=teller.name(found.seat),
        prompt=teller(found.prompt) if found.prompt is not None else "",
        note=teller(found.note) if found.note is not None else "",
        deadline=phrases.deadline(found, site.server().now()),
        story=phrases.story(found.told, teller),
        receipt=receipt,
        ask_again=ask_again,
    )
