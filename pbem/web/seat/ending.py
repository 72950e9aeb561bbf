"""What a player seldom does: giving others more time, going back or ending a game by consent, resigning, new links, a rematch, and the files of the seat and the game."""

from flask import Blueprint, Response

from pbem.domain.errors import BadInput, Gone, Stale
from pbem.i18n.speech import gettext as _
from pbem.service.archive import export, seat_file
from pbem.service.clocks import more_time
from pbem.service.links import follow_seat
from pbem.service.outgoing import new_links as links_of_seat
from pbem.service.play import seat_view
from pbem.service.tables import going_back, leaving, rematch
from pbem.tokens import Purpose
from pbem.web import site
from pbem.web.seat.page import form_turn, page
from pbem.web.site import field, server

pages = Blueprint("ending", __name__)


@pages.post("/s/<token>/more-time")
def give_time(token: str) -> Response:
    """Give another player a day more for the open turn."""
    link = server().read(follow_seat, token)
    turn, seat = site.whole_number("turn", _("a turn number")), site.whole_number("seat", _("a seat"))
    try:
        server().run(more_time.give, link.game_id, link.seat, link.person_id, seat, turn)
    except (BadInput, Gone, Stale) as refused:
        return page(server().read(seat_view.view_seat, token), token, refused=refused)
    return site.go("seat.show", token=token, done="gave time")


@pages.post("/s/<token>/go-back")
def go_back(token: str) -> Response:
    """Propose to go back, agree to that, or play on."""
    link = server().read(follow_seat, token)
    seat = link.game_id, link.seat, link.person_id
    try:
        match field("agree"):
            case "propose":
                server().run(going_back.propose, *seat)
                done = "proposed to go back"
            case "yes":
                _turn, agreed_by_all = server().run(going_back.agree, *seat, *form_turn())
                done = "agreed to go back"
                if agreed_by_all:
                    done = "gone back"
            case _:
                server().run(going_back.play_on, *seat)
                done = "playing on"
    except (Gone, Stale) as refused:
        return page(server().read(seat_view.view_seat, token), token, refused=refused)
    return site.go("seat.show", token=token, done=done)


@pages.post("/s/<token>/end")
def agree_to_end(token: str) -> Response:
    """Agree to end the game without a result, or take that back."""
    link = server().read(follow_seat, token)
    agrees = field("agree") == "yes"
    server().run(leaving.agree_to_end if agrees else leaving.play_on, link.game_id, link.person_id)
    if agrees:
        return site.go("seat.show", token=token, done="agreed to end")
    return site.go("seat.show", token=token, done="playing on")


@pages.post("/s/<token>/resign")
def resign(token: str) -> Response:
    """Resign, once that was confirmed on a page of its own."""
    if field("sure") != "yes":
        return site.page("resign.html", found=server().read(seat_view.view_seat, token), token=token)
    link = server().read(follow_seat, token)
    server().run(leaving.resign, link.game_id, link.seat, link.person_id)
    return site.go("ending.resigned")


@pages.post("/s/<token>/new-links")
def new_links(token: str) -> Response:
    """Replace the links of this seat, once that was confirmed. The fresh ones are emailed and not shown here."""
    if field("sure") != "yes":
        return site.page("new_links.html", found=server().read(seat_view.view_seat, token), token=token)
    server().run(links_of_seat.by_link, token)
    return site.go("front.sent")


@pages.get("/resigned")
def resigned() -> Response:
    """The confirmation that someone has resigned."""
    return site.page("resigned.html")


@pages.post("/s/<token>/rematch")
def open_rematch(token: str) -> Response:
    """Open a table like this one for the same people, or go to the one that another of them has opened."""
    return site.go("invitation.show", token=server().run(rematch.rematch, token))


@pages.get("/s/<token>/seat.json")
def file_of_seat(token: str) -> Response:
    """Everything that this seat has been told so far."""
    return _download(*server().read(seat_file.by_link, token))


@pages.get("/s/<token>/game.json")
def game_file(token: str) -> Response:
    game = server().read(export.by_link, token, Purpose.SEAT)
    return _download(f"{game.kind}-{game.key}.json", export.write(game))


def _download(name: str, text: str) -> Response:
    response = Response(text, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
