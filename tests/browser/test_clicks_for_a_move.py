"""Clicks for a move: one press on the page of a seat, one more for each blank, and two from a link in an email.

Every kind of decision of all games is met in bot games. The pages are those of its player; what the browser sends is read as
the server reads it, and nothing is played.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route
from werkzeug.datastructures import MultiDict

from engine import grammar, registry
from engine.decisions import Choice, Decision
from engine.table import Table
from pbem.domain.choice_links import segment_text
from pbem.mail.write import compose
from pbem.web.seat.forms import choice_of, fields_of
from pbem.web.seat.selection import choice_of_selection, fields_of_selection
from tests.bot_games import decider, played
from tests.browser.conftest import PATIENCE, PHONE
from tests.browser.player import Player
from tests.browser.seat_pages import choice_page, seat_page, seat_view_of
from tests.conftest import some
from tests.mail.turns import TOKEN, turn_email
from tests.service.outgoing.test_deliver import HEAD

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.needs("chromium")]

on_one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""The pages are made without it."""

SEEDS = range(11)
"""Bot games of each number of players, in which every kind of decision comes up."""

ACTS = {
    "bid": {"bid OneOf", "bid Some", "pawn", "pay Amount"},
    "sorcerous-futures": {"bid Amount", "closed OneOf", "open OneOf", "pass"},
    "sun-bid": {"bid OneOf", "call", "discard OneOf", "discard OneOf OneOf", "flip", "pass", "use OneOf OneOf"},
    "sunset-poker": {"fold", "pick OneOf", "play OneOf", "take"},
    "templari": {"bid Amount", "discard OneOf", "no", "pass", "sell OneOf"},
}
"""What can be done in each game, with the blanks to fill in."""


class Clicks(Player):
    """A player who counts the clicks, or with the keyboard what Space, Enter and a typed number do."""

    def __init__(self, page: Page, *, keyboard: bool = False) -> None:
        super().__init__(page, random.Random(1), keyboard)
        self.count = 0

    def press(self, target: Locator) -> None:
        self.count += 1
        super().press(target)

    def fill(self, name: str, value: str) -> None:
        """Fill in one field."""
        self.count += 1
        main = self.page.locator("main")
        if main.locator(f"select[name='{name}']").count():
            self._select(main.locator(f"select[name='{name}']"), value)
        elif (inputs := main.locator(f"input[name='{name}']")).first.get_attribute("type") == "number":
            self._write(inputs, value)
        else:
            boxes = inputs.first.get_attribute("type") == "checkbox"
            self._tick(main, name, value, [value] if boxes else ["any", "of", "several"])


class Site:
    """The pages of one position in a browser: the email about it, the seat, and the choices of the email's links."""

    def __init__(self, app: Any, page: Page, *, keyboard: bool) -> None:
        self.app, self.page, self.keyboard = app, page, keyboard
        self.sent: list[Request] = []
        self.table: Table | None = None
        page.route("**/*", self._answer)

    def open(self, table: Table, path: str) -> Clicks:
        """Open a page of this position; the clicks to come."""
        self.table, self.sent = table, []
        self.page.goto(f"{HEAD.base_url}{path}")
        return Clicks(self.page, keyboard=self.keyboard)

    def choice(self, decision: Decision) -> Choice:
        """What the browser has sent, as the server reads it."""
        (request,) = self.sent
        if (path := urlsplit(request.url).path).startswith("/m/"):
            return grammar.read(decision, segment_text(path.rpartition("/")[2]))
        assert self.table is not None
        seat, fields = seat_view_of(self.table, decision.seat), MultiDict(parse_qsl(request.post_data or ""))
        if "choice" in fields:
            return grammar.read(decision, fields["choice"])
        if selection := seat.rules.selection(seat.view, decision):
            return choice_of_selection(seat, decision, selection, fields)
        return choice_of(decision, fields)

    def _answer(self, route: Route) -> None:
        request, path = route.request, urlsplit(route.request.url).path
        assert self.table is not None
        if request.method == "POST":
            self.sent.append(request)
            route.fulfill(body="<main>done</main>", content_type="text/html")
        elif path == "/email":
            route.fulfill(body=compose.render(HEAD, turn_email(self.table)).html, content_type="text/html")
        elif path.startswith("/m/"):
            option = path.rpartition("/")[2]
            route.fulfill(body=choice_page(self.app, self.table, option), content_type="text/html")
        elif path.startswith("/s/"):
            route.fulfill(body=seat_page(self.app, self.table), content_type="text/html")
        else:
            answer = self.app.test_client().get(path)
            route.fulfill(status=answer.status_code, body=answer.data, content_type=answer.mimetype)


@cache
def acts_of(kind: str) -> dict[str, tuple[Table, Choice]]:
    """A position for each thing that can be done in a game, with a choice that costs no more than it seems to."""
    found: dict[str, tuple[Table, Choice]] = {}
    rules = registry.load(kind)
    for seats in dict.fromkeys((rules.seats[0], 3)):
        for seed in SEEDS:
            for table in played(kind, seats, seed):
                for name, choice in _choices(table):
                    found.setdefault(name, (table, choice))
                if found.keys() >= ACTS[kind]:
                    return found
    return found


def _choices(table: Table) -> Iterator[tuple[str, Choice]]:
    seat, rules = decider(table), table.position.game
    view = table.view(seat)
    # An act with a single possible choice is one button, whatever it is made of.
    for act in (each for each in table.asks()[seat].acts if not each.blanks or each.count() > 1):
        for choice in act.choices():
            if rules.objects(view, seat, choice) is None and rules.caution(view, seat, choice) is None:
                yield " ".join([act.verb, *(type(blank).__name__ for blank in act.blanks)]), choice
                break


@pytest.fixture(params=["touch", "touch without script", "keyboard"])
def site(app: Any, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Site]:
    """The pages, in the hands of someone with a phone or without a mouse."""
    context = chromium.new_context(viewport=PHONE, has_touch=True, java_script_enabled=request.param == "touch")
    context.set_default_timeout(PATIENCE)
    yield Site(app, context.new_page(), keyboard=request.param == "keyboard")
    context.close()


@pytest.mark.parametrize("kind", registry.names())
def test_bot_games_meet_everything_that_can_be_done(kind: str) -> None:
    assert acts_of(kind).keys() == ACTS[kind]


@on_one_database
def test_a_choice_is_one_press_and_one_more_for_each_blank(site: Site) -> None:
    for kind in some(registry.names(), 2 / 5):
        for name, (table, choice) in acts_of(kind).items():
            decision = table.asks()[decider(table)]
            clicks = site.open(table, f"/s/{TOKEN}")
            selection = table.position.game.selection(table.view(decision.seat), decision)
            fields = fields_of(decision, choice)
            if selection:
                # Whichever of the cards goes for which Ace.
                fields = fields_of_selection(selection, choice)
                choice = choice_of_selection(seat_view_of(table, decision.seat), decision, selection, fields)
            act = fields.pop("act")
            button = site.page.locator(f"button[name=act][value='{act}']")
            if button.count():
                for field, value in fields.items(multi=True) if choice.values else ():
                    clicks.fill(field, value)
                clicks.press(button)
            else:
                clicks.press(site.page.locator(f"button[name=choice][value='{grammar.write(decision, choice)}']"))
            assert site.choice(decision) == choice, (kind, name)
            blanks = sum(len(each) if isinstance(each, tuple) else 1 for each in choice.values)
            assert clicks.count <= 1 + blanks, (kind, name)


@on_one_database
def test_a_useful_number_is_one_press(site: Site) -> None:
    for kind, name in (("bid", "pay Amount"), ("sorcerous-futures", "bid Amount"), ("templari", "bid Amount")):
        table, _choice = acts_of(kind)[name]
        clicks, decision = site.open(table, f"/s/{TOKEN}"), table.asks()[decider(table)]
        button = site.page.locator("button.quick").first
        written = button.get_attribute("value") or ""
        clicks.press(button)
        assert (clicks.count, site.choice(decision)) == (1, grammar.read(decision, written)), kind


# Neither the email nor the page of a choice has a script.
@pytest.mark.parametrize("site", ["touch without script", "keyboard"], indirect=True)
@on_one_database
def test_a_choice_from_an_email_is_two_clicks(site: Site) -> None:
    for kind in some(registry.names(), 2 / 5):
        for name, (table, _choice) in acts_of(kind).items():
            verb = name.partition(" ")[0]
            clicks, decision = site.open(table, "/email"), table.asks()[decider(table)]
            links = site.page.locator("a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
            href = next(each for each in links if re.search(rf"/m/{TOKEN}/{verb}(-|$)", each))
            clicks.press(site.page.locator(f"a[href='{href}']").first)
            clicks.press(site.page.locator("main button.main"))
            assert (clicks.count, site.choice(decision).verb) == (2, verb), (kind, name)
