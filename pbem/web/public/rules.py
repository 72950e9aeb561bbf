"""The rules of a game: in general, and as one table plays it.

They come from the game's module: its docstring, its examples, its options, its length and its credits. A passage of the docstring that
begins with a few words and a full stop has these as its heading. Lines of the form `Name: words` after a colon are a list.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response

from engine import registry
from engine.decisions import Refused
from engine.game import Game
from engine.options import Listed, Option, OptionValue
from engine.tell import Teller, say
from pbem.domain.errors import NotFound
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.play import seat_view
from pbem.web import site
from pbem.web.seat.board import draw_parts

pages = Blueprint("rules", __name__)

Items = tuple[tuple[str, str], ...]

_HEADING: Final = re.compile(r"([A-Z][^.:,]{2,29})\. (?=[A-Z])")
_ITEM: Final = re.compile(r"([A-Z][\w ]{1,25}): (.+)")
_LONGEST_HEADING: Final = 5
"""In words."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A few paragraphs and lists under one heading, if they have one."""

    heading: str
    blocks: tuple[str | Items, ...]


@dataclass(frozen=True, slots=True)
class OptionWords:
    """An option in words: what it can be, and what it is at one table."""

    called: str
    about: str
    default: str
    possible: str
    seats: str
    value: str
    usual: bool


@pages.get("/games/<kind>")
def of_game(kind: str) -> Response:
    """The rules of a game, and the options of a table."""
    rules = game_called(kind)
    return _page(
        rules, options=[_option_words(each, speech.teller(rules)) for each in rules.options], found=None, token=""
    )


@pages.get("/s/<token>/rules")
def of_table(token: str) -> Response:
    """The rules of a game as one table plays it."""
    found = site.server().read(seat_view.view_seat, token)
    rules, seats = found.rules, len(found.names)
    relevant = [each for each in rules.options if not each.seats or seats in each.seats]
    options = [_option_words(each, found.teller, found.options.get(each.name)) for each in relevant]
    return _page(rules, options=options, found=found, token=token)


def game_called(kind: str) -> Game[Any]:
    """The game of that name. Raises NotFound."""
    try:
        return registry.load(kind)
    except Refused as refused:
        raise NotFound(speech.render(refused.text), remedy=_("Choose one on the front page.")) from refused


def passages(rules: str) -> list[Passage]:
    """The passages of a rules text, without its first line, which is the title."""
    return [_passage(paragraph) for paragraph in rules.split("\n\n")[1:]]


def _page(rules: Game[Any], **values: Any) -> Response:
    teller = speech.teller(rules)
    return site.page(
        "rules.html",
        game=rules,
        players=teller(rules.players),
        length=teller(rules.length),
        credits=teller(rules.credits),
        passages=passages("\n\n".join(map(speech.translate, rules.rules.split("\n\n")))),
        examples=[(teller(each.heading), draw_parts(each.parts, teller)) for each in rules.examples],
        **values,
    )


def _passage(paragraph: str) -> Passage:
    heading = _HEADING.match(paragraph.replace("\n", " "))
    if heading is None or len(heading[1].split()) > _LONGEST_HEADING:
        return Passage("", tuple(_blocks(paragraph)))
    return Passage(heading[1], tuple(_blocks(paragraph[heading.end() :])))


def _blocks(paragraph: str) -> Iterator[str | Items]:
    """The paragraphs and lists of a passage."""
    text: list[str] = []
    items: list[list[str]] = []
    for line in paragraph.splitlines():
        item = _ITEM.fullmatch(line)
        if item is not None and (items or (text and text[-1].endswith(":"))):
            if text:
                yield " ".join(text)
                text = []
            items.append([item[1], item[2]])
        elif items and not items[-1][1].endswith("."):
            items[-1][1] += f" {line}"
        else:
            if items:
                yield tuple((name, words) for name, words in items)
                items = []
            text.append(line)
    if items:
        yield tuple((name, words) for name, words in items)
    if text:
        yield " ".join(text)


def _option_words(option: Option, teller: Teller, value: OptionValue | None = None) -> OptionWords:
    return OptionWords(
        called=teller(option.called),
        about=teller(option.about),
        default=teller(option.words(option.default)),
        possible=teller(say("{values:or}", values=tuple(spoken for _value, spoken in option.spoken)))
        if isinstance(option, Listed)
        else teller(option.possible()),
        seats=_(" or ").join(map(str, option.seats)),
        value="" if value is None else teller(option.words(value)),
        usual=value == option.default,
    )
