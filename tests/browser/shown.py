"""The way to each page: its address, who looks at it, and the forms sent on the way.

`ALSO` has the pages of the same route at different times, and `SENT` the pages that only a form leads to. Names in braces stand
for things in a showroom. Every way can be used again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Route

from engine import registry
from pbem import paths
from pbem.web import form_time
from tests.web import browser

SAFARI: Final = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/604.1"
)
"""A browser that does not report whether a person clicked."""

WHY: Final = "A player asked for this by phone, and the others agreed."


HELP: Final = sorted(page.stem for page in paths.handbook().glob("*.md"))
"""Every page of the handbook."""


class Eyes(StrEnum):
    """The person who looks at a page."""

    EVERYTHING = "signed in as a player and as an organiser"
    PLAYER = "signed in as a player alone, who hosts a table"
    NEWCOMER = "signed in as a player who has never played"
    TIRED = "signed in as an organiser whose passphrase was given an hour ago"
    CAREFUL = "signed in as an organiser who is asked for codes"
    STRANGER = "signed in as nobody"


@dataclass(frozen=True)
class Sent:
    """A form to fill in and send."""

    button: str
    filled: Mapping[str, str] = field(default_factory=dict)
    unreported: bool = False
    """Whether it is sent by a browser that does not report clicks."""


@dataclass(frozen=True)
class Way:
    """A way to a page: the first address, the forms to send there, the person who looks, and the status of the page."""

    path: str
    sent: tuple[Sent, ...] = ()
    eyes: Eyes = Eyes.EVERYTHING
    status: int = 200


@dataclass(frozen=True)
class Shown:
    """One page: its name, and the way to it."""

    name: str
    way: Way

    def open(self, page: Page, take_time: Callable[[], object]) -> None:
        """Open the page in Chromium; `take_time` passes where someone fills in a form that asks who they are."""
        page.goto(self.way.path)
        for each in self.way.sent:
            _send(page, each, take_time)

    def read(self, reader: browser.Browser) -> browser.Page:
        """Read the page without a real browser."""
        page = reader.open(self.way.path)
        for each in self.way.sent:
            clicks = reader.says
            reader.says = {
                name: value for name, value in clicks.items() if not each.unreported or name != "Sec-Fetch-User"
            }
            page = page.form(each.button).press(**each.filled)
            reader.says = clicks
        return page


def _send(page: Page, sent: Sent, take_time: Callable[[], object]) -> None:
    # The form may be folded.
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    button = page.get_by_role("button", name=sent.button, exact=True)
    form = page.locator("form").filter(has=button).first
    for name, value in sent.filled.items():
        _fill(form.locator(f"[name='{name}']"), value)
    if form.locator(f"[name='{form_time.FIELD}']").count():
        take_time()
    if sent.unreported:
        page.route(lambda address: urlsplit(address).hostname == "localhost", _without_click_headers)
    form.get_by_role("button", name=sent.button, exact=True).click()
    page.wait_for_load_state()
    page.unroute_all()


def _fill(places: Locator, value: str) -> None:
    match places.first.evaluate("each => each.type"):
        case "select-one":
            places.select_option(value)
        case "radio" | "checkbox":
            places.and_(places.page.locator(f"[value='{value}']")).check()
        case _:
            places.fill(value)


def _without_click_headers(route: Route) -> None:
    if route.request.method == "GET":
        route.continue_()
        return
    headers = {name: value for name, value in route.request.headers.items() if not name.startswith("sec-")}
    headers |= {"user-agent": SAFARI, "sec-fetch-mode": "navigate", "sec-fetch-site": "same-origin"}
    route.fulfill(response=route.fetch(headers=headers, max_redirects=0))


def _act(path: str, *, do: str = "", eyes: Eyes = Eyes.EVERYTHING, status: int = 200, **filled: str) -> Way:
    """The way to the preview of an act at the desk; with `do`, the words of its button, to the act that was done."""
    look = Sent("Preview…", {**filled, "reason": WHY})
    return Way(path, (look, Sent(do)) if do else (look,), eyes, status)


ALSO: Final[dict[str, dict[str, Way]]] = {
    "seat.show": {
        **{f"of {kind}": Way(f"/s/{{seat_of_{kind}}}") for kind in registry.names()},
        "sealed": Way("/s/{sealed}"),
        "not asked": Way("/s/{idle}"),
        "with an order": Way("/s/{ordered}"),
        "paused": Way("/s/{paused}"),
        "stopped": Way("/s/{stopped_table}"),
        "mail fails": Way("/s/{out_of_reach}"),
        "moved on": Way("/s/{seat}/sure?turn=1&choice=pass", status=409),
        "asked again": Way("/s/{seat}/sure?turn={turn}&choice=pass"),
        "asked again about a bid": Way("/s/{bidding}/sure?turn={turn_of_bidding}&choice={bid}"),
        "refused": Way("/s/{seat}/sure?turn={turn}&choice=pass+99", status=400),
        "over": Way("/s/{over}"),
        "void": Way("/s/{void}"),
        "stale token": Way("/s/{wrong}", status=404),
        "renewed token": Way("/l/{gone}", status=410),
    },
    "interventions.show": {"something": Way("/s/{paused}/decided")},
    "move.show": {
        "sealed": Way("/m/{move_of_sealed}/{choice_of_sealed}/receipt"),
        "over": Way("/m/{move_of_past}/pass"),
        "no choice": Way("/m/{move_of_sealed}/everything"),
    },
    "front.show": {
        "not found": Way("/nowhere", status=404),
        "not like that": Way("/my/leave", status=405),
        "broken": Way("/broken", status=500),
    },
    "joining.show": {"begun": Way("/t/{game}"), "finished": Way("/t/{finished}")},
    "invitation.show": {
        name: Way(f"/c/{{doorstep_of_{name.replace(' ', '_')}}}")
        for name in ("invited", "declined", "guest", "begun", "offered", "gone", "closed", "address", "confirmed")
    },
    "rules.of_game": {kind: Way(f"/games/{kind}") for kind in registry.names()},
    "new_table.show": {kind: Way(f"/new/{kind}") for kind in registry.names()},
    "handbook.show": {name: Way(f"/help/{name}") for name in HELP},
    "sandbox.show": {
        **{f"of {kind}": Way(f"/s/{{seat_of_{kind}}}/imagine") for kind in registry.names()},
        "a step ahead": Way("/s/{ordered}/imagine", (Sent("Imagine it"),)),
        "over": Way("/s/{over}/imagine", status=410),
    },
    "replay.seat_whole": {
        **{f"of {kind}": Way(f"/s/{{seat_of_{kind}}}/replay") for kind in registry.names()},
        "over": Way("/s/{over}/replay"),
    },
    "replay.seat_moment": {"with the coach": Way("/s/{over}/replay/2")},
    "review.of_other": {"of someone else": Way("/s/{over}/review/1")},
    "review.show": {
        "during the game": Way("/s/{seat}/review", status=403),
        "without one": Way("/s/{void}/review", status=403),
    },
    "unsubscribe.show": {"of all": Way("/u/{stop}"), "stopped": Way("/u/{stopped}")},
    "consent.show": {"address": Way("/y/{moving}")},
    "unverified_reply.show": {"carried out": Way("/w/{written_by_me}"), "dropped": Way("/w/{written_by_somebody}")},
    "talk.show": {"nothing": Way("/s/{sealed}/talk")},
    "my_page.show": {"nothing": Way("/my", eyes=Eyes.NEWCOMER)},
    "my_page.emails": {"nothing": Way("/my/mails", eyes=Eyes.NEWCOMER)},
    "desk_table.show": {
        "waiting": Way("/desk/tables/{id_of_waiting}"),
        "paused": Way("/desk/tables/{id_of_paused}"),
        "over": Way("/desk/tables/{id_of_finished}"),
        "for a call": Way("/desk/tables/{game id}?call=1"),
        "of a host": Way("/desk/tables/{game id}", eyes=Eyes.PLAYER),
    },
    "desk_account.show": {"with codes": Way("/desk/account", eyes=Eyes.CAREFUL)},
    "contact.show": {"not signed in": Way("/call", eyes=Eyes.STRANGER)},
    "desk_calls.show": {"closed": Way("/desk/calls?status=closed")},
    "desk_calls.show_call": {"closed": Way("/desk/calls/{answered_call}")},
    "desk_people.show": {"found": Way("/desk/people?q=ann"), "not found": Way("/desk/people?q=zzz")},
    "desk_people.show_person": {
        "banned": Way("/desk/people/{banned}"),
        "left alone": Way("/desk/people/{out of reach id}"),
    },
    "desk_overview.show": {"not found": Way("/desk?q=zzz"), "paused": Way("/desk?trouble=paused")},
    "desk_overview.activity": {"by hour": Way("/desk/activity?by=hour")},
}
"""Pages of the same routes at other times, by name."""

SENT: Final = {
    "leaving": Way("/s/{seat}", (Sent("Leave table…"),)),
    "what a host would do": Way("/my/tournaments/{key of own_tournaments}", (Sent("Pause"),)),
    "new links": Way("/s/{seat}", (Sent("Get new links…"),)),
    "a token for programs": Way("/s/{seat}", (Sent("Show token"),)),
    "why not": Way("/s/{seat}", (Sent("Check command", {"wanted": "pass 99"}),)),
    "why, if it can be done": Way("/s/{seat}", (Sent("Check command", {"wanted": "pass"}),)),
    "an order that is none": Way("/s/{seat}", (Sent("Set order", {"order": "up to the moon"}),), status=400),
    "a choice in words, no click reported": Way(
        "/s/{seat}", (Sent("Make this move", {"choice": "pass"}, unreported=True),)
    ),
    "talk refused": Way("/s/{seat}/talk", (Sent("Send", {"text": " "}),), status=400),
    "the demo": Way("/", (Sent("Play now Sunset Poker against bots"),)),
    "a call refused": Way(
        "/call", (Sent("Send message", {"address": "a..b@example.org", "text": "Help!"}),), Eyes.STRANGER, status=400
    ),
    "my games refused": Way("/mine", (Sent("Send links", {"address": "a..b@example.org"}),), status=400),
    "a new table refused": Way(
        "/new/bid",
        (Sent("Open table", {"address": "a..b@example.org", "name": "Ann", "invited": "nobody"}),),
        status=400,
    ),
    "a place refused": Way("/t/{waiting}", (Sent("Join", {"address": "a..b@example.org", "name": "Ann"}),), status=400),
    "an invitation refused": Way("/c/{c}", (Sent("Send invitations", {"invited": "nobody"}),), status=400),
    "a place, no click reported": Way(
        "/c/{doorstep_of_invited}", (Sent("Take seat", {"name": "Ben", "word": "cards"}, unreported=True),)
    ),
    "a move, no click reported": Way("/m/{m}/pass", (Sent("Pass", unreported=True),)),
    "fewer mails, no click reported": Way("/u/{u}", (Sent("Stop all emails", unreported=True),)),
    "leaving for good, no click reported": Way("/y/{y}", (Sent("Delete account", unreported=True),)),
    "a reply, no click reported": Way("/w/{w}", (Sent("I wrote this", unreported=True),)),
    "fewer mails refused": Way("/u/{u}", (Sent("Save settings", {"cadence": "often"}),), status=400),
    "settings refused": Way("/my/settings", (Sent("Save settings", {"quiet": "at night"}),), status=400),
    "a channel": Way("/my/channels", (Sent("Add channel", {"address": "https://example.org/hook"}),)),
    "a channel refused": Way("/my/channels", (Sent("Add channel", {"address": "https://10.0.0.1:25/x"}),), status=400),
    "a vacation refused": Way(
        "/my/settings", (Sent("Book", {"first": "2026-12-20", "last": "2026-12-01"}),), status=400
    ),
    "time off": Way(
        "/my/settings", (Sent("Save time off", {"days_off": "Sun", "workdays": "Mon", "hours": "09:00-17:00"}),)
    ),
    "time off refused": Way("/my/settings", (Sent("Save time off", {"workdays": "Mon", "hours": "late"}),), status=400),
    "another address refused": Way("/my/account", (Sent("Send email", {"address": "a..b@example.org"}),), status=400),
    "a file": Way("/verify", (Sent("Check", {"text": "{file}"}),)),
    "a file that was changed": Way("/verify", (Sent("Check", {"text": "{changed file}"}),)),
    "a file that is none": Way("/verify", (Sent("Check", {"text": "It was a good game."}),), status=400),
    "a table as a seat sees it": Way("/desk/tables/{game id}", (Sent("View", {"seat": "2", "reason": WHY}),)),
    "a look refused": Way("/desk/tables/{game id}", (Sent("View", {"seat": "2", "reason": "   "}),), status=400),
    "a mail of a table": Way("/desk/tables/{game id}", (Sent("Read", {"reason": WHY}),)),
    "a mail to a person": Way("/desk/people/{person id}", (Sent("Read", {"reason": WHY}),)),
    "a mail refused": Way("/desk/people/{person id}", (Sent("Read", {"reason": "   "}),), status=400),
    "nobody at the desk": Way("/desk", (Sent("Search", {"q": "nobody@example.org"}),), status=404),
    "an act refused": Way(
        "/desk/tables/{game id}/extend", (Sent("Preview…", {"more": "a while", "reason": WHY}),), status=400
    ),
    "to pause": _act("/desk/tables/{game id}/pause"),
    "to resume": _act("/desk/tables/{id_of_paused}/resume"),
    "to extend": _act("/desk/tables/{game id}/extend", more="2d"),
    "extended": _act("/desk/tables/{game id}/extend", do="Give more time", more="2d"),
    "to rewind": _act("/desk/tables/{game id}/rewind"),
    "to substitute": _act("/desk/tables/{game id}/substitute", seat="2", address=""),
    "to send new links": _act("/desk/tables/{game id}/seat-links", seat="2"),
    "to correct": _act("/desk/tables/{game id}/correct", what="title", to="A table with a longer title than before"),
    "to redact": _act("/desk/tables/{game id}/redact", line="1"),
    "to close": _act("/desk/tables/{game id}/close"),
    "to ban": _act("/desk/people/{person id}/ban", until="2027-01-31"),
    "to release": _act("/desk/people/{out of reach id}/release"),
    "to delete": _act("/desk/people/{person id}/delete"),
    "to merge": _act("/desk/people/{banned}/merge", other="gina@example.org"),
    "to merge, refused": _act("/desk/people/{person id}/merge", other="ben@example.org", status=400),
    "to stop all mail": _act("/desk/pause-mail"),
    "to declare an outage": _act("/desk/outage", start="2026-11-20T08:00", end="2026-11-20T09:30"),
    "the passphrase again": _act("/desk/tables/{game id}/close", eyes=Eyes.TIRED, status=403),
    "to pause all": Way("/desk/all/pause", (Sent("Preview", {"reason": WHY}),)),
    "to announce": Way("/desk/all/announce", (Sent("Preview", {"text": WHY, "reason": WHY}),)),
    "to announce, refused": Way("/desk/all/announce", (Sent("Preview", {"text": " ", "reason": WHY}),), status=400),
    "a secret for codes": Way("/desk/account", (Sent("Set it up"),)),
    "a code that is wrong": Way(
        "/desk/account", (Sent("Set it up"), Sent("Turn it on", {"code": "000000"})), status=400
    ),
    "an answer refused": Way("/desk/calls/1", (Sent("Send reply", {"text": " "}),), status=400),
    "a sign-in refused": Way(
        "/desk/sign-in",
        (Sent("Sign in", {"desk-name": "Otto", "desk-passphrase": "open sesame"}),),
        Eyes.STRANGER,
        status=403,
    ),
}
"""Pages that only a form leads to."""
