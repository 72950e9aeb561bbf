"""A browser for tests: it opens pages, reads their forms and links, fills in forms and sends them.

A form is what its HTML says, so a test that uses it plays as a person does: it can send nothing that no page offers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urljoin

from flask import Flask
from lxml import html
from werkzeug.test import TestResponse

from pbem.service import links as service_links
from pbem.service.server import Server
from pbem.store import links as link_rows
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from pbem.web import form_time
from tests.service.running_game import RunningGame

HOST = "http://localhost:8000"

FILLED_IN = timedelta(seconds=3)
"""How long someone takes to fill in a form that asks who they are."""


@dataclass
class Form:
    """One form of a page: its address, its button and its fields."""

    page: Page
    action: str
    button: str
    fixed: list[tuple[str, str]] = field(default_factory=list)
    numbers: dict[str, tuple[int, int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    picks: dict[str, list[str]] = field(default_factory=dict)
    boxes: dict[str, list[str]] = field(default_factory=dict)

    def press(self, **filled: object) -> Page:
        """Fill in fields by name and press the button; a list ticks several boxes."""
        if form_time.FIELD in dict(self.fixed):
            self.page.browser.fill_in()
        sent = list(self.fixed)
        for name, value in filled.items():
            many = value if isinstance(value, list) else [value]
            sent = [(n, v) for n, v in sent if n != name] + [(name, str(each)) for each in many]
        return self.page.browser.post(self.action, sent)

    def press_anyhow(self, luck: random.Random) -> Page:
        """Fill in every field with a random value that it allows."""
        filled: dict[str, object] = {name: luck.randint(low, high) for name, (low, high) in self.numbers.items()}
        filled |= {name: luck.choice(values) for name, values in self.picks.items()}
        for name, values in self.boxes.items():
            filled[name] = luck.sample(values, luck.randint(1, len(values)))
        return self.press(**filled)


class Page:
    """A page in the browser."""

    def __init__(self, browser: Browser, response: TestResponse, url: str) -> None:
        self.browser = browser
        self.response = response
        self.status = response.status_code
        self.url = url
        self.source = response.get_data(as_text=True)
        is_html = response.mimetype == "text/html" and bool(self.source)
        self._tree = html.fromstring(self.source) if is_html else html.fromstring("<p>")

    @property
    def text(self) -> str:
        """All words of the page."""
        return " ".join(self._tree.text_content().split())

    @property
    def heading(self) -> str:
        """The heading of the page."""
        return " ".join("".join(each.text_content() for each in self._tree.findall(".//h1")).split())

    def mistakes(self) -> dict[str, str]:
        """What is said beside each field that has to be corrected, by its name."""
        return {
            each.get("name"): " ".join(
                self._tree.get_element_by_id(each.get("aria-describedby")).text_content().split()
            )
            for each in self._tree.xpath("//*[@aria-invalid='true']")
        }

    def links(self) -> dict[str, str]:
        """The addresses of links, by their words."""
        return {" ".join(a.text_content().split()): a.get("href") for a in self._tree.iter("a")}

    def hrefs(self) -> list[str]:
        """The addresses of all links, in the order of the page."""
        return [a.get("href") for a in self._tree.iter("a")]

    def follow(self, words: str) -> Page:
        """Open the link with these words."""
        return self.browser.open(self.links()[words])

    def forms(self) -> list[Form]:
        """The forms that send something, in the order of the page. Forms that only lead to another address are left out."""
        return [self._form(each) for each in self._tree.iter("form") if each.get("method") != "get"]

    def form(self, button: str, number: int = 0) -> Form:
        """The form with this button; of several, that of a number."""
        every = [
            self._form(each, pressed)
            for each in self._tree.iter("form")
            if each.get("method") != "get"
            for pressed in each.iter("button")
        ]
        found = [form for form in every if form.button == button]
        assert found, f"no button {button!r} among {[form.button for form in every]}"
        return found[number]

    def acts(self) -> list[Form]:
        """The acts of the game and quick choices: for each the form with its button, what is chosen on the board included."""
        found = []
        for element in self._tree.iter("form"):
            if "bar" in element.get("class", "").split():
                buttons = [each for each in element.iter("button") if each.get("name") in ("act", "choice")]
                found += [self._form(element, button) for button in buttons]
        return found

    def act(self, words: str) -> Form:
        """The act whose button says these words."""
        found = [form for form in self.acts() if form.button == words]
        assert found, f"no act {words!r} among {[form.button for form in self.acts()]}"
        return found[0]

    def _form(self, element: html.HtmlElement, button: html.HtmlElement | None = None) -> Form:
        assert element.get("method") == "post"
        button = element.find(".//button") if button is None else button
        form = Form(self, button.get("formaction", element.get("action")), _shown(button))
        if button.get("name"):
            form.fixed.append((button.get("name"), button.get("value")))
        beside = self._tree.xpath("//input[@form=$name]", name=element.get("id", "-"))
        for each in (*element.iter("input", "select", "textarea"), *beside):
            self._field(form, each)
        return form

    @staticmethod
    def _field(form: Form, each: html.HtmlElement) -> None:
        name, kind, value = each.get("name"), each.get("type", each.tag), each.get("value", "")
        if kind == "hidden":
            form.fixed.append((name, value))
        elif kind == "number":
            form.numbers[name] = (int(each.get("min")), int(each.get("max")))
        elif kind == "radio":
            form.picks.setdefault(name, []).append(value)
        elif kind == "checkbox":
            form.boxes.setdefault(name, []).append(value)
        elif kind == "select":
            form.picks[name] = [o.get("value", o.text) for o in each.iter("option") if o.get("value") != ""]
            chosen = [o.get("value", o.text) for o in each.iter("option") if o.get("selected") is not None]
            assert form.picks[name], (form.page.url, form.action, name)
            if each.get("required") is None:
                form.fixed.append((name, (chosen or form.picks[name])[0]))
        else:
            form.texts.append(name)
            if value:
                form.fixed.append((name, value))


def _shown(button: html.HtmlElement) -> str:
    """The words of a button, but for those that depend on what is chosen."""
    chosen = {
        each for span in button.iter("span") if "said" in span.get("class", "").split() for each in span.itertext()
    }
    return " ".join("".join(words for words in button.itertext() if words not in chosen).split())


class Browser:
    """Opens addresses, sends forms and follows redirects."""

    def __init__(self, app: Flask) -> None:
        self.client = app.test_client()
        self.clock = app.extensions["pbem"][0].clock
        # The headers that a browser sends after a click.
        self.says = {
            "Origin": HOST,
            "Sec-Fetch-Site": "same-origin",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-User": "?1",
        }

    def fill_in(self) -> None:
        """Take as long as a person needs to fill in a form that asks who they are."""
        self.clock.advance(FILLED_IN)

    def open(self, url: str) -> Page:
        """Open an address."""
        return Page(self, self.client.get(url, base_url=HOST), url)

    def post(self, url: str, fields: list[tuple[str, str]], follow: bool = True) -> Page:
        """Send a form, and follow the redirect."""
        grouped: dict[str, list[str]] = {}
        for name, value in fields:
            grouped.setdefault(name, []).append(value)
        response = self.client.post(url, data=grouped, headers=self.says, base_url=HOST)
        if response.status_code == 303 and follow:
            return self.open(urljoin(url, response.headers["Location"]))
        return Page(self, response, url)


class Links:
    """The links that emails would have."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def token(self, purpose: Purpose, row: int) -> str:
        """The token of a link, by its row."""
        with self.server.store.read() as tx:
            from pbem.store import links

            link = links.read(tx, row)
        assert link is not None
        return service_links.token(self.server, link)

    def of(self, game: RunningGame, seat: int, turn: int | None = None) -> tuple[str, str]:
        """The tokens of a choice and of the seat."""
        of_turn = game.row().turn if turn is None else turn
        person = game.person_at(seat)
        rows = self.server.store.write(
            lambda tx: service_links.make_for_seat(tx, self.server, person, game.id, of_turn, seat)
        )
        return self.token(Purpose.MOVE, rows.move), self.token(Purpose.SEAT, rows.seat)

    def made(self, purpose: Purpose, person: int, game: int | None = None) -> str:
        """The token of a person's link."""
        row = self.server.store.write(lambda tx: service_links.make(tx, self.server, LinkKey(purpose, person, game)))
        if purpose is Purpose.SIGN_IN:
            # Each email has one of its own, which works once.
            self.server.store.write(lambda tx: link_rows.expire(tx, row, self.server.now() + timedelta(days=1)))
        return self.token(purpose, row)
