"""A player who uses the pages of a seat as people do: by touch, or with the keyboard alone.

The player sees what the page shows and nothing else, fills in its forms at random, and tries again where a form is refused.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

TRIES = 30

ACTS = """
() => [...document.querySelectorAll("form.bar button[name=act], form.bar button[name=choice]")].map((button, at) => ({
    at,
    shown: button.checkVisibility(),
    quick: button.name == "choice",
    hint: button.form.innerText,
    fields: Object.values([...button.form.elements].filter(each => each.name && each.type != "hidden" && each.tagName != "BUTTON")
        .reduce((all, each) => {
        const field = all[each.name] ||= {name: each.name, type: each.type, values: [], low: each.min, high: each.max};
        if (each.tagName == "SELECT") field.values = [...each.options].map(option => option.value).filter(Boolean);
        else field.values.push(each.value);
        return all;
    }, {})),
})).filter(act => act.shown)
"""
"""The acts that a page shows, each with the fields of their form, those on the board among them."""


@dataclass
class Player:
    """A person in a seat."""

    page: Page
    luck: random.Random
    keyboard: bool = False

    def may_decide(self) -> bool:
        """Whether the page asks for a choice that has not been made yet."""
        return (
            self.page.locator("form.bar").count() > 0
            and self.page.locator(".sealed", has_text="You chose").count() == 0
        )

    def decide(self) -> str:
        """Choose something, sure of what it costs; the words that say it is done."""
        for _ in range(TRIES):
            self._choose()
            sure = self.page.locator("form:has(input[name=sure]) button")
            if sure.count():
                self.press(sure.first)
            if "placed=" in self.page.url:
                return self.page.locator("main").inner_text()
        raise AssertionError(f"nothing of this can be done: {self.page.locator('main').inner_text()}")

    def press(self, target: Locator) -> None:
        """Press a button or follow a link."""
        if self.keyboard:
            self._go_to(target)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter") if self.keyboard else target.click()

    def _choose(self) -> None:
        acts = self.page.evaluate(ACTS)
        assert acts, self.page.locator("main").inner_text()
        act = self.luck.choice(acts)
        for field in () if act["quick"] else act["fields"]:
            self._fill(self.page.locator("main"), field, act)
        self.press(self.page.locator("form.bar button[name=act], form.bar button[name=choice]").nth(act["at"]))

    def _fill(self, form: Locator, field: dict[str, Any], whole: dict[str, Any]) -> None:
        name, values = field["name"], field["values"]
        if field["type"] == "radio":
            self._tick(form, name, self.luck.choice(values), values)
        elif field["type"] == "checkbox":
            least, many = self._how_many(whole["hint"])
            for value in self.luck.sample(values, self.luck.randint(least, many)):
                self._tick(form, name, value, [value])
        elif field["type"] == "select-one":
            self._select(form.locator(f"select[name='{name}']"), self._of_list(name, values, whole))
        else:
            self._write(form.locator(f"input[name='{name}']"), self._number(field, whole))

    def _how_many(self, hint: str) -> tuple[int, int]:
        """How many things the page asks for, at least and at most."""
        found = re.search(r"Choose (up to )?([0-9]+)\.", hint)
        assert found, hint
        return 1 if found[1] else int(found[2]), int(found[2])

    def _of_list(self, name: str, values: list[str], whole: dict[str, Any]) -> str:
        """Choose from a list; from lists for the places of an order, each time another value."""
        if "." not in name:
            return self.luck.choice(values)
        order = whole.setdefault("order", self.luck.sample(values, len(values)))
        return str(order[int(name.rpartition(".")[2])])

    def _number(self, field: dict[str, Any], whole: dict[str, Any]) -> str:
        """Fill in a number; of numbers that share a total, the first gets all."""
        if "." not in field["name"]:
            return str(self.luck.randint(int(field["low"]), int(field["high"])))
        return field["high"] if field["name"].endswith(".0") else "0"

    def _tick(self, form: Locator, name: str, value: str, group: list[str]) -> None:
        box = f"input[name='{name}'][value='{value}']"
        if not self.keyboard:
            # Of things just alike that lie on the board, each can be chosen, and all mean the same.
            self.luck.choice(form.locator(f"label:has({box})").all()).click()
        elif len(group) == 1:
            self._go_to(form.locator(box))
            self.page.keyboard.press("Space")
        else:
            # Tab leads into a group of buttons; the arrow keys go round in it, and choose.
            self._go_to(form.locator(f"input[name='{name}']"))
            self.page.keyboard.press("Space")
            while not form.locator(f"{box}:checked").count():
                self.page.keyboard.press("ArrowDown")

    def _select(self, field: Locator, value: str) -> None:
        if not self.keyboard:
            field.select_option(value)
            return
        self._go_to(field)
        while field.input_value() != value:
            self.page.keyboard.press("ArrowDown")

    def _write(self, field: Locator, text: str) -> None:
        if not self.keyboard:
            field.fill(text)
            return
        self._go_to(field)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def _go_to(self, target: Locator) -> None:
        """Press Tab until the target, or one of the targets, has the focus."""
        handles = [each.element_handle() for each in target.all()]
        assert handles
        for _ in range(300):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("wanted => wanted.includes(document.activeElement)", handles):
                return
        raise AssertionError(f"Tab does not lead to {target}")
