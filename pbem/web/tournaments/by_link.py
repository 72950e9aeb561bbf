"""The page behind the link of an email about a tournament: sign up, decline, or leave. Opening it changes nothing."""

from flask import Blueprint, Response

from pbem.domain.errors import Refusal
from pbem.service.tournaments import by_link
from pbem.web import csrf, site
from pbem.web.site import field, server
from pbem.web.tournaments.public import page_values

pages = Blueprint("tournament_link", __name__)


@pages.get("/e/<token>")
def show(token: str, *, refused: Refusal | None = None, ask_again: bool = False) -> Response:
    """The tournament, and what the reader of the email can do."""
    found = server().read(by_link.entry_page, token)
    return site.page(
        "tournaments/entry.html",
        **page_values(found.page),
        entry=found.entry,
        may_enter=found.may_enter,
        name=found.name,
        token=token,
        given=field,
        refused=refused,
        ask_again=ask_again,
    )


@pages.post("/e/<token>")
@site.shows_refusals_on(show)
def enter(token: str) -> Response:
    """Sign up."""
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    by_link.enter(server(), token, field("name"), field("word"))
    return site.go("tournament_link.show", token=token, done="signed up")


@pages.post("/e/<token>/leave")
@site.shows_refusals_on(show)
def leave(token: str) -> Response:
    """Decline, or leave the tournament."""
    if not csrf.a_person_clicked():
        return show(token, ask_again=True)
    if key := by_link.leave(server(), token):
        return site.go("tournaments.show", key=key, done="left tournament")
    return site.go("tournament_link.show", token=token, done="left tournament")
