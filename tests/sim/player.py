"""People in a simulation: they read their emails, and do what the texts and links let them do.

A player knows nothing but the emails that arrived and the pages behind their links. Some answer within minutes and some
within days; some press twice, use old links, change their minds, let a scanner open everything first, or disappear.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import unescape
from random import Random
from typing import Any, Final, Protocol

from tests.sim.browser import Browser, Form, Page
from tests.sim.far_end import Arrived, BrokenError

_SILENCE: Final = re.compile(r"we'll\s+play\s+“([^”]+)”\s+for\s+you")
_SILENCE_OF_PAGE: Final = re.compile(r"If you miss this deadline, we(?:'|&#39;)ll play “([^”<(]+)”")
_TRIES: Final = 12
_WAYS: Final = ("at once", "after", "daily", "reminders")
"""Ways to be emailed; a player who wants no email is as good as gone."""
_PRESSED_BY_SCANNER: Final = 0.05


@dataclass(frozen=True, slots=True)
class Manners:
    """Habits of a player. `usually` is their mean time to answer; after `gone_from` they never do."""

    usually: timedelta = timedelta(hours=1)
    gone_from: datetime | None = None
    scanned: bool = False
    twice: float = 0.1
    old_links: float = 0.05
    regrets: float = 0.1
    preferences: float = 0.03
    orders: float = 0.2
    new_links: float = 0.03
    quiet_hours: float = 0.05
    time_off: bool = False
    going_back: float = 0.2
    leaves: float = 0.05


@dataclass(frozen=True, slots=True)
class Answered:
    """A choice a page acknowledged: the token of its link, and the turn of the form, if there was one."""

    purpose: str
    token: str
    turn: int | None


class Witness(Protocol):
    """Someone who hears what a player was shown and told, and knows whether it may be so."""

    def about_to_choose(self, answer: Answered) -> None:
        """A player is about to press the button of a choice."""

    def acknowledge(self, answer: Answered) -> None:
        """A page has acknowledged a choice."""

    def note_undo(self, answer: Answered) -> None:
        """A page has acknowledged that a choice was revoked."""

    def note_new_links(self, token: str) -> None:
        """A page has acknowledged that the links of a seat are replaced."""


@dataclass(slots=True)
class Player:
    """One person with an address."""

    address: str
    luck: Random
    manners: Manners
    browser: Browser
    scanner: Browser
    witness: Witness
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
            self._take_over([path for path in links if path.startswith("/c/")])
            seat = next((path for path in links if path.startswith("/s/") and path.count("/") == 2), "")
            if "You can take it back" in email.text:
                self._take_back_missed(seat)
            if "wants to go back to turn" in email.subject:
                self._go_back(seat, "yes")
            for path in links:
                if path.startswith("/e/"):
                    self._enters_or_leaves(path)
            return False
        if self.links_had and self.luck.random() < self.manners.old_links:
            self._use_an_old_link()
        if self.luck.random() < self.manners.preferences:
            self._chooses_delivery(self.luck.choice([path for path in links if path.startswith("/u/")]))
        if self.luck.random() < self.manners.quiet_hours:
            self._chooses_quiet_hours(next(path for path in links if path.startswith("/u/")))
        moves = [path for path in links if path.startswith("/m/") and path.count("/") == 3]
        seats = [path for path in links if path.startswith("/s/") and path.count("/") == 2]
        self.links_had += moves
        # Luck of its own, so that a seed's faults stay what they are.
        if seats and Random(f"{self.address} {email.at}").random() < self.manners.going_back:
            self._go_back(seats[0], "propose")
        if moves and self.luck.random() < 0.8:
            return self._by_link(self.luck.choice(moves))
        silence = meant_by_silence(email.text)
        if not seats or silence is None:
            raise BrokenError(f"a turn mail cannot be played from: {email.subject}")
        return self._by_page(seats[0], silence)

    def _take_over(self, paths: list[str]) -> None:
        """Ask for a seat that an email offers to a substitute."""
        for path in paths:
            offers = [form for form in _no_fault(self.browser.get(path)).forms() if form.action == f"{path}/seat"]
            if offers and _no_fault(self.browser.post(offers[0].action, offers[0].fixed)).status == 303:
                self.seen["substitute asked for a seat"] += 1

    def _enters_or_leaves(self, path: str) -> None:
        """Sign up for the tournament of an email, or leave it now and then."""
        forms = {form.action: form.fixed for form in _no_fault(self.browser.get(path)).forms()}
        if path in forms:
            button, event = path, "signed up for a tournament"
        elif (button := f"{path}/leave") in forms and self.luck.random() < self.manners.leaves:
            event = "left a tournament"
        else:
            return
        if _no_fault(self.browser.post(button, forms[button])).status == 303:
            self.seen[event] += 1

    def _take_back_missed(self, path: str) -> None:
        """Take back the move that the clock made, if that's still possible; an email asks for another one."""
        back = next((form for form in _no_fault(self.browser.get(path)).forms() if form.action.endswith("/back")), None)
        if back is not None and _no_fault(self.browser.post(back.action, back.fixed)).status == 303:
            self.seen["second chance"] += 1

    def _go_back(self, path: str, answer: str) -> None:
        """Propose on the page of a seat to go back, or agree to that, if it's still possible."""
        for form in _no_fault(self.browser.get(path)).forms():
            if ("agree", answer) in form.buttons and form.action.endswith("/go-back"):
                page = _no_fault(self.browser.post(form.action, form.fixed | {"agree": answer}))
                if page.status == 303:
                    self.seen["gone back" if "gone" in page.leads_to else f"going back: {answer}"] += 1

    def _chooses_delivery(self, path: str) -> None:
        """Choose how to be emailed, about one table or all, by the link at the end of an email."""
        way = self.luck.choice(_WAYS)
        page = _no_fault(self.browser.post(path.removesuffix("/call"), {"delivery": way, "minutes": "90"}))
        if page.status == 303:
            self.seen[f"mails wanted {way}"] += 1

    def _chooses_quiet_hours(self, path: str) -> None:
        """Choose eight hours of the day in which no turn may end, and how often to be reminded."""
        start = self.luck.randrange(24)
        quiet, cadence = f"{start:02}:00-{(start + 8) % 24:02}:00", self.luck.choice(("none", "50%,80%,2h"))
        address = "/".join((*path.split("/")[:3], "settings"))
        if _no_fault(self.browser.post(address, {"quiet": quiet, "cadence": cadence})).status == 303:
            self.seen["quiet hours chosen"] += 1

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
        """Open the page of the seat, choose something and press its button, or write what a missed deadline means."""
        page = _no_fault(self.browser.get(path))
        forms = page.forms()
        bar = next((form for form in forms if "bar" in form.kind.split()), None)
        if bar is None:
            self.seen["turn was over before it was read"] += 1
            return False
        if self.luck.random() < self.manners.orders and self._gives_an_order(forms):
            # It may have answered; if not, this player does so now.
            return True
        if self.luck.random() < self.manners.new_links and self._asks_for_new_links(forms, path.split("/")[2]):
            return False
        answer = Answered("s", path.split("/")[2], int(bar.fixed["turn"].partition(".")[0]))
        for _ in range(_TRIES):
            name, value = self.luck.choice(bar.buttons)
            fields = (bar.fixed if name == "choice" else bar.filled(self.luck)) | {name: value}
            sure = self._made_sure(bar.action, fields)
            if sure is not None:
                break
        else:
            # A digest can be older than the question that the page asks by now; the page says what a missed deadline does.
            if (of_page := _SILENCE_OF_PAGE.search(page.source)) is not None:
                silence = unescape(of_page[1])
            sure = bar.fixed | {"choice": silence}
            self.seen["choice written in words"] += 1
        self.seen["played on the page of the seat"] += 1
        return self._press(bar.action, sure, answer)

    def _gives_an_order(self, forms: list[Form]) -> bool:
        """Set one of the standing orders that a page offers, or drop the one there is."""
        ready = [
            form
            for form in forms
            if form.action.endswith("/order") and ("order" in form.fixed or "limit" in form.numbers)
        ]
        dropped = [form for form in forms if form.action.endswith("/order/drop")]
        if not ready and not dropped:
            return False
        form = self.luck.choice(ready + dropped)
        if _no_fault(self.browser.post(form.action, form.filled(self.luck))).status != 303:
            return False
        self.seen["order dropped" if form in dropped else "order set"] += 1
        return True

    def _asks_for_new_links(self, forms: list[Form], token: str) -> bool:
        """Ask for new links to a seat, which come by email."""
        for form in forms:
            if form.action.endswith("/new-links"):
                asked = _no_fault(self.browser.post(form.action, form.fixed)).forms()
                sure = next((each for each in asked if "sure" in each.fixed), None)
                if sure is not None and _no_fault(self.browser.post(sure.action, sure.fixed)).status == 303:
                    self.seen["new links"] += 1
                    self.witness.note_new_links(token)
                    return True
        return False

    def _made_sure(self, action: str, fields: dict[str, Any]) -> dict[str, Any] | None:
        """What to send so that a choice is made: the same, unless the page asks first. None if the choice is refused."""
        # Without the mark of our button a page asks, and nothing is made.
        asked = _no_fault(self.browser.post(action, {k: v for k, v in fields.items() if k != "press"}))
        sure = next((form.fixed for form in asked.forms() if "sure" in form.fixed), None)
        return fields | {"sure": "yes"} if sure is not None else None

    def _press(self, action: str, fields: dict[str, str], answer: Answered) -> bool:
        self.witness.about_to_choose(answer)
        page = _no_fault(self.browser.post(action, fields))
        if page.status != 303:
            self.seen["choice refused"] += 1
            return False
        self.witness.acknowledge(answer)
        if self.luck.random() < self.manners.twice:
            self.seen["double click"] += 1
            if _no_fault(self.browser.post(action, fields)).status == 303:
                self.witness.acknowledge(answer)
        receipt = _no_fault(self.browser.get(page.leads_to))
        back = next((form for form in receipt.forms() if form.action.endswith("/back")), None)
        if back is None or self.luck.random() >= self.manners.regrets:
            return False
        if _no_fault(self.browser.post(back.action, back.fixed)).status != 303:
            return False
        self.seen["choice taken back"] += 1
        self.witness.note_undo(answer)
        return True

    def _use_an_old_link(self) -> None:
        path = self.luck.choice(self.links_had)
        self.seen["old link"] += 1
        _no_fault(self.browser.get(path))
        if _no_fault(self.browser.post(path, {"press": "yes"})).status == 303:
            # Still open, or the very choice that was made: either way it is said to be there.
            self.witness.acknowledge(Answered("m", path.split("/")[2], None))
        else:
            self.seen["choice refused"] += 1


def asks(text: str) -> bool:
    """Whether an email asks for a move: a turn or a reminder."""
    return meant_by_silence(text) is not None


def meant_by_silence(text: str) -> str | None:
    """The choice that an email says will be played at the deadline, on one line; None if it asks for no move."""
    found = _SILENCE.search(text)
    return " ".join(found[1].split()) if found else None


def _links(text: str, site: str) -> list[str]:
    """The paths of the site's links in a text, in order."""
    return list(dict.fromkeys(found[len(site) :] for found in re.findall(rf"{re.escape(site)}/\S+", text)))


def _no_fault(page: Page) -> Page:
    if page.status >= 500:
        raise BrokenError(f"a page answered {page.status}: {page.source[:300]}")
    return page
