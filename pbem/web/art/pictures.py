"""Pictures on a page: each is a reference to a drawing, and the page has the drawings it needs, once, at its end.

A picture beside its words is hidden from screen readers; a picture that stands alone has to be given words.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from flask import Flask, g
from markupsafe import Markup

from engine.game import Game
from pbem.i18n import speech
from pbem.i18n.speech import translate
from pbem.web.art.drawings import DRAWINGS, LEGENDS, PREFIX, RULES_LEGENDS, SIGNS, Drawing, Explained
from pbem.web.seat.board import BoardPart, Pick, Thing

Drawings = dict[str, Drawing]
"""Drawings by name."""

_NEEDED: Final = "drawings_on_this_page"

MOST_THINGS: Final = 2000
"""Things kept as HTML, about a kilobyte each: enough for all decks in several languages."""


def set_up(app: Flask) -> None:
    """Give all templates of an application the functions of this module."""
    app.jinja_env.globals.update(
        picture=picture, thing=thing, things=things, picks=picks, legend=legend, cover=cover, drawings=drawings
    )


def picture(kind: str, id: str, words: str = "") -> Markup:  # noqa: A002 - as a `Face` calls it
    """The picture of a thing, or nothing where there is none. Screen readers read `words` instead."""
    drawing = DRAWINGS.get((kind, id))
    if drawing is None:
        return Markup()
    _needed()[drawing.name] = drawing
    return _reference(kind, drawing.name, drawing.width, drawing.height, words)


def thing(each: Thing, tag: str = "span") -> Markup:
    """A thing as it is on a table: its picture, if it has one, beside its words.

    The words that the picture shows are hidden, but for screen readers.
    """
    return _thing(each, tag, _needed(), speech.language())


def things(row: Iterable[Thing]) -> Markup:
    """A row of things as the items of a list."""
    needed, language = _needed(), speech.language()
    return Markup("\n".join([_thing(each, "li", needed, language) for each in row]))  # noqa: S704 - each is escaped


def picks(row: BoardPart, form: str) -> Markup:
    """A row of things as the items of a list. Those that can be chosen are fields of the form with this id."""
    needed, language = _needed(), speech.language()
    items = [_pick_html(_thing(each, "span", needed, language), *pick, form) for each, *pick in row.choices()]
    return Markup("\n".join(items))  # noqa: S704 - each is escaped


def legend(*, rules: bool = False) -> tuple[Explained, ...]:
    """The signs on this page so far that need an explanation: on a page with rules, all of them."""
    kinds = {drawing.name.partition("-")[0] for drawing in _needed().values()}
    legends = RULES_LEGENDS if rules else LEGENDS
    return tuple(sign for kind, signs in legends.items() if kind in kinds for sign in signs)


def cover(game: Game[Any]) -> Markup:
    """A few things of a game in a fan, or nothing for a game that has no cover."""
    fan = Markup("").join(picture(face.kind, face.id) for face in game.cover)
    return Markup('<span class="cover" aria-hidden="true">{}</span>').format(fan) if fan else fan


def drawings() -> Markup:
    """The drawings of all pictures on this page so far: for the end of the page."""
    needed = _needed()
    signs = {sign: SIGNS[sign] for drawing in needed.values() for sign in drawing.uses}
    symbols = "".join([drawing.symbol for drawing in (signs | needed).values()])
    if not symbols:
        return Markup()
    svg = f'<svg class="drawings" width="0" height="0" aria-hidden="true">{symbols}</svg>'
    return Markup(svg)  # noqa: S704 - all of it is from this package


@contextmanager
def drawings_of_part() -> Iterator[Drawings]:
    """The drawings that what is drawn meanwhile needs, apart from those of the rest of the page."""
    of_page = _needed()
    of_part: Drawings = {}
    setattr(g, _NEEDED, of_part)
    try:
        yield of_part
    finally:
        setattr(g, _NEEDED, of_page)


def need(drawings: Drawings) -> None:
    """Draw these at the end of the page, too."""
    _needed().update(drawings)


def _thing(each: Thing, tag: str, needed: Drawings, language: object) -> Markup:
    drawing = DRAWINGS.get((each.kind, each.id))
    if drawing is not None:
        needed[drawing.name] = drawing
    return _thing_html(each, tag, language)


@lru_cache(maxsize=MOST_THINGS)
def _thing_html(each: Thing, tag: str, _language: object) -> Markup:
    """The HTML of a thing. It depends on nothing else, so it is made once for all tables in a language."""
    drawing = DRAWINGS.get((each.kind, each.id))
    art = Markup() if drawing is None else _reference(each.kind, drawing.name, drawing.width, drawing.height, "")
    says = translate(drawing.says) if drawing is not None and drawing.says else ""
    words = _word("word", each.word, says)
    if each.note:
        words += " " + _word("note", each.note, says)
    return Markup('<{} class="thing{}">{}{}</{}>').format(tag, " drawn" if art else "", art, words, tag)


@lru_cache(maxsize=MOST_THINGS)
def _pick_html(shown: Markup, pick: Pick | None, barred: bool, form: str) -> Markup:
    if pick is None:
        item = Markup('<li class="barred">{}</li>') if barred else Markup("<li>{}</li>")
        return item.format(shown)
    field = Markup('type="{}" name="{}" value="{}" form="{}"').format(
        "checkbox" if pick.many else "radio", pick.name, pick.value, form
    )
    if not pick.again:
        field += Markup(' id="{}-{}"').format(pick.name, pick.value)
    if pick.chosen:
        field += Markup(" checked")
    return Markup('<li><label class="pick"><input {}>{}</label></li>').format(field, shown)


def _word(name: str, words: str, says: str) -> Markup:
    return Markup('<span class="{}{}">{}</span>').format(name, " unseen" if words == says else "", words)


@lru_cache(maxsize=1000)
def _reference(kind: str, name: str, width: int, height: int, words: str) -> Markup:
    spoken = Markup('role="img" aria-label="{}"').format(words) if words else Markup('aria-hidden="true"')
    return Markup('<svg class="art {}" width="{}" height="{}" {}><use href="#{}{}"/></svg>').format(
        kind, width, height, spoken, PREFIX, name
    )


def _needed() -> Drawings:
    """The drawings that this page needs so far, by name."""
    drawings: Drawings = g.setdefault(_NEEDED, {})
    return drawings
