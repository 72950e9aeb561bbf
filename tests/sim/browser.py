"""A browser in a simulation: it opens pages, finds their forms and presses buttons, and knows nothing else.

What no page offers cannot be sent. It looks as a person's browser does; a scanner's looks are told apart by `person`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from random import Random
from typing import Any, Protocol

_PERSON = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"}
_SCANNER = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "no-cors"}


class Client(Protocol):
    """A client that takes requests, such as the application's test client."""

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Make a request."""


@dataclass(slots=True)
class Form:
    """A form of a page: its target, its values and the values it allows."""

    action: str
    kind: str
    fixed: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, tuple[int, int]] = field(default_factory=dict)
    picks: dict[str, list[str]] = field(default_factory=dict)
    boxes: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    """The buttons that say something, by name and value."""

    def filled(self, luck: Random) -> dict[str, Any]:
        """The fields, each with a value it allows."""
        put: dict[str, Any] = dict(self.fixed)
        put |= {name: str(luck.randint(low, high)) for name, (low, high) in self.numbers.items()}
        taken: set[tuple[str, str]] = set()
        for name, values in self.picks.items():
            # Lists of one order stand side by side, `order.0`, `order.1`: each thing is chosen once.
            group = name.partition(".")[0]
            free = [value for value in values if (group, value) not in taken] or values
            put[name] = luck.choice(free)
            taken.add((group, put[name]))
        for name, values in self.boxes.items():
            put[name] = luck.sample(values, luck.randint(1, len(values)))
        return put


@dataclass(frozen=True, slots=True)
class Page:
    """An answer."""

    status: int
    leads_to: str
    source: str = field(repr=False)

    def forms(self) -> list[Form]:
        """The forms, in the order of the page."""
        reader = _Forms()
        reader.feed(self.source)
        return reader.found


class _Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._open = False
        self._list = ""
        self._beside: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", ""), given.get("class", "")))
            self._open = True
            self._board_of(given.get("id", ""), self.found[-1])
        elif self._open and tag == "select":
            self._list = given["name"]
        elif self._open and tag == "option" and given.get("value"):
            self.found[-1].picks.setdefault(self._list, []).append(given["value"])
        elif self._open and tag == "button" and "value" in given:
            self.found[-1].buttons.append((given["name"], given["value"]))
        elif self._open and tag == "input":
            self._input(self.found[-1], given)
        elif tag == "input" and "form" in given:
            self._beside.append(given)

    def _board_of(self, name: str, form: Form) -> None:
        """Fill in what lies on the board, which stands before its form."""
        for given in self._beside:
            if given["form"] == name:
                self._input(form, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = False

    @staticmethod
    def _input(form: Form, given: dict[str, str]) -> None:
        name, value = given.get("name", ""), given.get("value", "")
        match given.get("type", "text"):
            case "hidden":
                form.fixed[name] = value
            case "number":
                form.numbers[name] = (int(given["min"]), int(given["max"]))
            case "radio":
                form.picks.setdefault(name, []).append(value)
            case "checkbox":
                form.boxes.setdefault(name, []).append(value)


@dataclass(frozen=True, slots=True)
class Browser:
    """A player's browser, at one site."""

    client: Client
    site: str
    person: bool = True
    shown: Callable[[str, str], None] = lambda _path, _source: None
    """Called with the path and the source of each page."""

    def get(self, path: str) -> Page:
        """Open an address of the site."""
        return self._ask("GET", path, {})

    def post(self, path: str, fields: dict[str, Any]) -> Page:
        """Send a form, without following a redirect."""
        return self._ask("POST", path, fields)

    def _ask(self, method: str, path: str, fields: dict[str, Any]) -> Page:
        says = (_PERSON if self.person else _SCANNER) | ({"Origin": self.site} if method == "POST" else {})
        data = fields if method == "POST" else None
        answer = self.client.open(path, method=method, data=data, headers=says, base_url=self.site)
        source = answer.get_data(as_text=True)
        self.shown(path, source)
        return Page(answer.status_code, answer.headers.get("Location", ""), source)
