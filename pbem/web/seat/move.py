"""One choice by one link: the page says it in words, and its button makes it.

Links get forwarded, so the page shows no hand: only the choice, the name of the table, the deadline, and once the turn is
over what everyone at the table knows of it. Everything else it can only email to the player, unless the browser is signed in
as that player: then it leads on to the seat and to the next table that waits.
"""

from typing import Any

from flask import Blueprint, Response

from pbem.domain.errors import BadInput, Gone, Refusal, Stale
from pbem.service.absence import second_chance
from pbem.service.account import my_page
from pbem.service.people import sign_in as link_email
from pbem.service.play import by_link, seat_view
from pbem.service.play.seat_view import OfferedChoice
from pbem.store.deadlines import NextTurn
from pbem.tokens import Purpose
from pbem.web import csrf, page_cache, phrases, site
from pbem.web.people import session_cookie
from pbem.web.seat.board import draw

pages = Blueprint("move", __name__)

NO_OPTION = "-"
"""Stands for the last part of a link that was lost. Every address of a choice has one, because an option can be any word."""


@pages.get("/m/<token>/<option>")
def show(token: str, option: str) -> Response:
    """The one choice in words, and a button."""
    return _page(token, option)


@pages.get("/m/<token>")
def bare(token: str) -> Response:
    """The page of a link that has lost its choice."""
    return _page(token, NO_OPTION)


@pages.post("/m/<token>/<option>")
def play(token: str, option: str) -> Response:
    if not csrf.our_button_was_pressed():
        return _page(token, option, ask_again=True)
    try:
        site.server().run(by_link.move, token, option)
    except (BadInput, Stale, Gone) as refused:
        # The page says which turn this was and leads on. It keeps back the words of the rules, which might name a hand.
        return _page(token, option, status=site.status_of(refused))
    return site.go_to(page_cache.by_token("move.receipt", token, option))


@pages.get("/m/<token>/<option>/receipt")
def receipt(token: str, option: str) -> Response:
    """What became of the choice."""
    return _page(token, option, receipt=True)


@pages.post("/m/<token>/<option>/back")
def take_back(token: str, option: str) -> Response:
    try:
        site.server().run(second_chance.by_link, token, Purpose.MOVE, chosen=site.field("choice"))
    except (Gone, Stale) as refused:
        return _page(token, option, status=site.status_of(refused), refused=refused)
    return site.go("move.show", token=token, option=option, done="taken back")


@pages.post("/m/<token>/<option>/links")
def send_links(token: str, option: str) -> Response:
    """Email the player links to all their games."""
    site.server().run(link_email.send_by_link, token, Purpose.MOVE)
    return site.go("front.sent")


def _page(token: str, option: str, **given: Any) -> Response:
    return page(site.server().read(seat_view.offered_choice, token, option), token, option, **given)


def page(
    found: OfferedChoice,
    token: str,
    option: str,
    *,
    status: int = 200,
    receipt: bool = False,
    ask_again: bool = False,
    refused: Refusal | None = None,
) -> Response:
    """The page of one choice: what it is, or what became of it."""
    teller = found.teller
    here = found.board is not None and session_cookie.is_of(found.person_id)
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
        story=phrases.story(found.recent_facts, found.teller_in),
        receipt=receipt,
        ask_again=ask_again,
        refused=refused,
        board=None if found.board is None else draw(found.board, teller, None, found.asked),
        is_here=here,
        next_turn=_next_turn(found) if here else None,
    )


def _next_turn(found: OfferedChoice) -> NextTurn | None:
    return site.server().read(my_page.next_turn, found.person_id, found.game_id)
