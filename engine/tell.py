"""Sentences for people, kept as data until someone reads them.

A `Text` is a template with values. A `Teller` turns it into a string for one reader: "You play the Forest" or "Ann plays
the Forest". Every template can be translated.


In a template
    {card}               a value by its name; a tuple is "a, b and c", hidden values are "a card" or "3 cards"
    {digits:or}          a tuple as "a, b or c"
    {seat} {rival:seat}  a player's name, or "you" (a field called `seat` needs no mark); {bidders:seats} several
    {seat's} {rival's}   "Ann's" or "your"
    {price:coin|coins}   a number with its noun: "1 coin", "3 coins"
    [pays|pay]           the first for another player, the second for the reader or for several, after the last seat named

This module must never decide what a reader may know: the facts it gets are already masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, Final

from engine.facts import Fact, fact, is_hidden

UNNAMED: Final = ("something hidden", "hidden things")
"""What one hidden value is called, and several, by default."""


@fact
class Text:
    """A template and its values, not yet in any language."""

    template: str
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return Teller()(self)


def say(template: str, **values: Any) -> Text:
    """Return a text: a template with its values.

    >>> str(say("{seat} [pays|pay] {price:coin|coins}.", seat=1, price=3))
    'Player 2 pays 3 coins.'
    """
    return Text(template, tuple(values.items()))


def sentence(happened: Fact[Any]) -> Text | None:
    """Return what a fact says: its docstring, or what its own `sentence()` returns; None if it is silent."""
    if happened.silent:
        return None
    own = getattr(happened, "sentence", None)
    if own is not None:
        spoken = own()
        assert spoken is None or isinstance(spoken, Text)
        return spoken
    kind: type = type(happened)
    return Text(_docstring(kind), tuple((name, getattr(happened, name)) for name in _field_names(kind)))


def common(texts: Sequence[Text]) -> Text | None:
    """Return what several texts say together, or None if that can't be put into words.

    Numbers that differ become about their median.

    >>> prices = [say("{seat} [pays|pay] {price:coin|coins} for {card}.", seat=1, price=n, card="Sea") for n in (3, 4, 9)]
    >>> str(common(prices))
    'Player 2 pays about 4 coins for Sea.'
    """
    template = texts[0].template
    if any(each.template != template for each in texts):
        return None
    marks = {name: mark for kind, name, mark in _parts(template) if kind == "value"}
    values = []
    for name, first in texts[0].values:
        column = [dict(each.values)[name] for each in texts]
        value = first if all(each == first for each in column) else _about(column, marks.get(name, ""))
        if value is None:
            return None
        values.append((name, value))
    return Text(template, tuple(values))


class Teller:
    """Turns texts into strings for one reader.

    A translation that names other values than its text, or uses them in another way, is left out.
    """

    def __init__(
        self,
        reader: int | None = None,
        names: Sequence[str] = (),
        word: Callable[[Any], str] = str,
        hidden: tuple[str, str] = UNNAMED,
        translate: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.reader = reader
        self.names = names
        self._word = word
        self._hidden = hidden
        self._translate = translate

    @property
    def voice(self) -> tuple[Any, ...]:
        """What its strings follow from, besides a text and the language: tellers of one voice tell alike."""
        return self.reader, tuple(self.names), self._word, self._hidden, self._translate

    def __call__(self, text: Text | str) -> str:
        """Return the text as this reader reads it."""
        return self._tell(text, begins=True)

    def tell(self, happened: Fact[Any]) -> str | None:
        """Return the sentence of a fact, or None if it has none. The fact must be masked for this reader."""
        text = sentence(happened)
        return None if text is None else self(text)

    def name(self, seat: int) -> str:
        """Return what a player is called: "you", a name, or "player 2" counted from one."""
        if seat == self.reader:
            return self._translate("you")
        if seat < len(self.names):
            return self.names[seat]
        return self._formatted("player {number}", number=seat + 1)

    def word(self, value: Any) -> str:
        """Return what a card, a suit or a number is called."""
        return self._value(value, "")

    def _tell(self, text: Text | str, *, begins: bool) -> str:
        """Return a text that begins a sentence, or one that is part of another text."""
        template = self._translate(text if isinstance(text, str) else text.template)
        if isinstance(text, str):
            return template
        try:
            return self._filled(template, text, begins=begins)
        except (KeyError, TypeError, ValueError):
            if template == text.template:
                raise
            return self._filled(text.template, text, begins=begins)

    def _filled(self, template: str, text: Text, *, begins: bool) -> str:
        """Return a template with the values of a text."""
        parts = _parts(template)
        if len(parts) == 1 and parts[0][0] == "text":
            # Most texts of a board are labels, words alone.
            return template
        values, sentence, you = dict(text.values), "", False
        for kind, name, mark in parts:
            if kind == "text":
                sentence += name
            elif kind == "either":
                sentence += mark if you else name
            else:
                if mark in ("seat", "'s"):
                    you = values[name] == self.reader
                    piece = self._whose(values[name]) if mark == "'s" else self.name(values[name])
                else:
                    piece = self._value(values[name], mark)
                    if mark == "seats":
                        you = len(values[name]) > 1 or values[name] == (self.reader,)
                starts = _ends_sentence(sentence) if sentence else begins
                sentence += _capital(piece) if starts else piece
        return sentence

    def _whose(self, seat: int) -> str:
        if seat == self.reader:
            return self._translate("your")
        return self._formatted("{name}'s", name=self.name(seat))

    def _value(self, value: Any, mark: str) -> str:
        if isinstance(value, Text):
            return self._tell(value, begins=False)
        if is_hidden(value):
            return self._translate(self._hidden[0])
        if isinstance(value, tuple):
            return self._listed(value, mark)
        if mark:
            forms = self._translate(mark).split("|")
            one, many = forms if len(forms) == _FORMS else mark.split("|")
            return f"{value} {one if value == 1 else many}"
        return self._translate(self._word(value))

    def _listed(self, values: tuple[Any, ...], mark: str) -> str:
        hidden = sum(map(is_hidden, values))
        open_ones = [value for value in values if not is_hidden(value)]
        spoken = [self.name(value) if mark == "seats" else self._value(value, "") for value in open_ones]
        if hidden == 1:
            spoken.append(self._translate(self._hidden[0]))
        elif hidden:
            spoken.append(f"{hidden} {self._translate(self._hidden[1])}")
        if not spoken:
            return self._translate("nothing")
        if len(spoken) == 1:
            return spoken[0]
        both = "{most} or {last}" if mark == "or" else "{most} and {last}"
        return self._formatted(both, most=", ".join(spoken[:-1]), last=spoken[-1])

    def _formatted(self, template: str, **values: object) -> str:
        """Return the translation of a template of our own with these values."""
        try:
            return self._translate(template).format(**values)
        except (AttributeError, LookupError, ValueError):
            return template.format(**values)


_FORMS = 2
"""The forms of a word that is counted: of one, and of more."""

_PART = re.compile(r"\{(\w+)('s)?(?::([^}]+))?\}|\[([^|\]]*)\|([^|\]]*)\]")


@cache
def _parts(template: str) -> tuple[tuple[str, str, str], ...]:
    """Split a template into plain text, values and alternatives."""
    parts, end = [], 0
    for match in _PART.finditer(template):
        if match.start() > end:
            parts.append(("text", template[end : match.start()], ""))
        name, whose, mark, other, you = match.groups()
        if name is None:
            parts.append(("either", other, you))
        else:
            parts.append(("value", name, whose or mark or ("seat" if name == "seat" else "")))
        end = match.end()
    if end < len(template):
        parts.append(("text", template[end:], ""))
    return tuple(parts)


@cache
def _docstring(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def _about(values: Sequence[Any], mark: str) -> Text | None:
    """Return values that differ as one; None if they are neither numbers nor texts of one kind."""
    if all(isinstance(each, Text) for each in values):
        return common(values)
    if (mark and "|" not in mark) or not all(type(each) is int for each in values):
        return None
    amount = Text(f"{{amount:{mark}}}" if mark else "{amount}", (("amount", sorted(values)[len(values) // 2]),))
    return say("about {amount}", amount=amount)


def _ends_sentence(sentence: str) -> bool:
    return sentence.endswith((". ", "! ", "? "))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
