"""One's own page, by the link that is mailed on request: tables, settings, vacation."""

from flask import Blueprint, Response

from engine import game
from pbem.domain.errors import Refusal
from pbem.service import own
from pbem.web import guard, said, site
from pbem.web.errors import status_of
from pbem.web.site import field, house, ticked, whole_number

pages = Blueprint("own", __name__)


@pages.get("/l/<token>")
def show(token: str) -> Response:
    """One's tables, those first that wait, and one's settings."""
    return _page(token)


@pages.post("/l/<token>/seat")
def seat(token: str) -> Response:
    """Lead on to a seat of one's own."""
    guard.must_not_be_foreign()
    game_id, number = whole_number("game", "the number of a table"), whole_number("seat", "the number of a seat")
    return site.go("seat.show", token=own.seat_token(house(), token, game_id, number))


@pages.post("/l/<token>/settings")
def settle(token: str) -> Response:
    """Change one's settings."""
    guard.must_not_be_foreign()
    try:
        own.settle(
            house(),
            token,
            name=field("name"),
            zone=field("zone"),
            quiet=field("quiet"),
            cadence=field("cadence"),
            willing=ticked("willing"),
        )
    except Refusal as refused:
        return _page(token, refused)
    return site.go("own.show", token=token)


@pages.post("/l/<token>/vacation")
def vacation(token: str) -> Response:
    """Book a vacation, or cancel one."""
    guard.must_not_be_foreign()
    try:
        if field("cancel"):
            own.cancel_vacation(house(), token, whole_number("cancel", "the number of a vacation"))
        else:
            own.book_vacation(house(), token, f"{field('first')} to {field('last') or field('first')}")
    except Refusal as refused:
        return _page(token, refused)
    return site.go("own.show", token=token)


@pages.post("/l/<token>/again")
def turn_again(token: str) -> Response:
    """Mail a turn anew."""
    guard.must_not_be_foreign()
    try:
        own.turn_again(
            house(), token, whole_number("game", "the number of a table"), whole_number("seat", "the number of a seat")
        )
    except Refusal as refused:
        return _page(token, refused)
    return site.go("own.show", token=token)


@pages.post("/l/<token>/reached")
def reached(token: str) -> Response:
    """Note that mails arrive again."""
    guard.must_not_be_foreign()
    own.reached(house(), token)
    return site.go("own.show", token=token)


def _page(token: str, refused: Refusal | None = None) -> Response:
    found, now = own.at(house(), token), house().now()
    played = [
        (each, game.load(each.kind).title, said.moment(each.due_at, found.zone, now) if each.due_at else "")
        for each in found.played
    ]
    mails = [(each, said.moment(each.accepted_at or each.queued_at, found.zone, now)) for each in found.mails]
    status = 200 if refused is None else status_of(refused)
    return site.page("own.html", status, found=found, played=played, mails=mails, token=token, refused=refused)
