"""People in a simulation: they read their emails, and do what the texts and links let them do.

A player knows nothing but the emails that arrived and the pages behind their links. Some answer within minutes and some
within days; some press twice, use old links, change their minds, let a scanner open everything first, or disappear.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import unescape
from random import Random
from typing import Any, Final

from tests.sim.browser import Browser, Page
from tests.sim.far_end import Arrived, BrokenError

_SILENCE: Final = re.compile(r"“([^”]+)” is\s+played\s+for\s+you")
_SILENCE_OF_PAGE: Final = re.compile(r"this happens: <strong>([^<]+)</strong>")
_TRIES: Final = 12
_WAYS: Final = ("at once", "after", "daily", "reminders")
"""Ways to be emailed; a player who wants no email is as good as gone."""
_PRESSED_BY_SCANNER: Final = 0.05


@dataclass(frozen=True, slots=True)
class Manners:
    """Habits of a player. `usually` is their mean time to answer; after `gone_from` they never do."""

    usually: timedelta
    gone_from: datetime | None = None
    scanned: bool = False
    twice: float = 0.1
    old_links: float = 0.05
    regrets: float = 0.04
    preferences: float = 0.03


@dataclass(frozen=True, slots=True)
class Answered:
    """A choice a page acknowledged: the token of its link, and the turn of the form, if there was one."""

    purpose: str
    token: str
    turn: int | None


@dataclass(slots=True)
class Player:
    """One person with an address."""

    address: str
    luck: Random
    manners: Manners
    browser: Browser
    scanner: Browser
    acknowledge: Callable[[Answered], None]
    """Called with every acknowledged choice."""
    note_undo: Callable[[Answered], None]
    seen: Counter[str]
    links_had: list[str] = field(default_factory=list)

    def delay(self) -> timedelta:
        """The time until the next email is read."""
        return timedelta(minutes=1) + self.manners.usually * self.luck.expovariate(1.0)

    def reads(self, email: Arrived, now: datetime) -> bool:
        """Read an email and act on it. Returns whether an answer failed and is worth another try."""
        links = _links(email.text, self.browser.site)
        if self.manners.scanned:
            self.seen["scanner opened everything"] += 1
            for path in links:
                _no_fault(self.scanner.get(path))
        if self.manners.gone_from is not None and now >= self.manners.gone_from:
            self.seen["mail to somebody who is gone"] += 1
            return False
        if not asks(email.text):
            return False
        if self.links_had and self.luck.random() < self.manners.old_links:
            self._use_an_old_link()
        if self.luck.random() < self.manners.preferences:
            self._chooses_delivery(self.luck.choice([path for path in links if path.startswith("/u/")]))
        moves = [path for path in links if path.startswith("/m/") and path.count("/") == 3]
        seats = [path for path in links if path.startswith("/s/") and path.count("/") == 2]
        self.links_had += moves
        if moves and self.luck.random() < 0.9:
            return self._by_link(self.luck.choice(moves))
        silence = _SILENCE.search(email.text)
        if not seats or silence is None:
            raise BrokenError(f"a turn mail cannot be played from: {email.subject}")
        return self._by_page(seats[0], " ".join(silence[1].split()))

    def _chooses_delivery(self, path: str) -> None:
        """Choose how to be emailed, about one table or all, by the link at the end of an email."""
        way = self.luck.choice(_WAYS)
        page = _no_fault(self.browser.post(path.removesuffix("/call"), {"delivery": way, "minutes": "90"}))
        if page.status == 303:
            self.seen[f"mails wanted {way}"] += 1

    def _by_link(self, path: str) -> bool:
        """Open the link of one choice and press its button. Returns True if the choice was then undone."""
        page = _no_fault(self.browser.get(path))
        button = next((form for form in page.forms() if form.action == path), None)
        if button is None:
            self.seen["turn was over before it was read"] += 1
            return False
        if self.luck.random() < _PRESSED_BY_SCANNER:
            # A scanner that presses buttons gets a second page and changes nothing.
            self.seen["scanner pressed a button"] += 1
            if self.scanner.post(path, dict(button.fixed)).status == 303:
                raise BrokenError("a scanner's press was taken for a person's")
        return self._press(path, button.fixed, Answered("m", path.split("/")[2], None))

    def _by_page(self, path: str, silence: str) -> bool:
        """Open the page of the seat, fill in a form, look at the preview and confirm."""
        page = _no_fault(self.browser.get(path))
        acts = [form for form in page.forms() if "act" in form.kind.split()]
        if not acts:
            self.seen["turn was over before it was read"] += 1
            return False
        for _ in range(_TRIES):
            act = self.luck.choice(acts)
            confirm = self._previewed(act.action, act.filled(self.luck))
            if confirm is not None:
                break
        else:
            turn = acts[0].fixed["turn"]
            # A digest can be older than the question that the page asks by now; the page says what a missed deadline does.
            if (of_page := _SILENCE_OF_PAGE.search(page.source)) is not None:
                silence = unescape(of_page[1])
            confirm = self._previewed(acts[0].action, {"turn": turn, "written": silence})
            if confirm is None:
                raise BrokenError(f"what silence means is refused: {silence}")
            self.seen["choice written in words"] += 1
        self.seen["played on the page of the seat"] += 1
        token = path.split("/")[2]
        return self._press(f"{path}/play", confirm, Answered("s", token, int(confirm["turn"])))

    def _previewed(self, action: str, fields: dict[str, Any]) -> dict[str, str] | None:
        page = _no_fault(self.browser.post(action, fields))
        if page.status == 303:
            page = _no_fault(self.browser.get(page.leads_to))
        found = [form for form in page.forms() if form.action.endswith("/play") and "choice" in form.fixed]
        return found[0].fixed if page.status == 200 and found else None

    def _press(self, action: str, fields: dict[str, str], answer: Answered) -> bool:
        page = _no_fault(self.browser.post(action, fields))
        if page.status != 303:
            self.seen["choice refused"] += 1
            return False
        self.acknowledge(answer)
        if self.luck.random() < self.manners.twice:
            self.seen["double click"] += 1
            if _no_fault(self.browser.post(action, fields)).status == 303:
                self.acknowledge(answer)
        receipt = _no_fault(self.browser.get(page.leads_to))
        back = next((form for form in receipt.forms() if form.action.endswith("/back")), None)
        if back is None or self.luck.random() >= self.manners.regrets:
            return False
        if _no_fault(self.browser.post(back.action, back.fixed)).status != 303:
            return False
        self.seen["choice taken back"] += 1
        self.note_undo(answer)
        return True

    def _use_an_old_link(self) -> None:
        path = self.luck.choice(self.links_had)
        self.seen["old link"] += 1
        _no_fault(self.browser.get(path))
        if _no_fault(self.browser.post(path, {"press": "yes"})).status == 303:
            # Still open, or the very choice that was made: either way it is said to be there.
            self.acknowledge(Answered("m", path.split("/")[2], None))
        else:
            self.seen["choice refused"] += 1


def asks(text: str) -> bool:
    """Whether an email asks for a move: a turn or a reminder."""
    return _SILENCE.search(text) is not None


def _links(text: str, site: str) -> list[str]:
    """The paths of the site's links in a text, in order."""
    return list(dict.fromkeys(found[len(site) :] for found in re.findall(rf"{re.escape(site)}/\S+", text)))


def _no_fault(page: Page) -> Page:
    if page.status >= 500:
        raise BrokenError(f"a page answered {page.status}: {page.source[:300]}")
    return page
