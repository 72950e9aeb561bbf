"""The forms of a decision and their fields, as a page shows them: what each offers, and what is filled in."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup
from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from engine.board import Face
from engine.decisions import Thing
from engine.records import record
from engine.tell import Teller
from pbem.web.seat import board

Fields = MultiDict[str, str]
"""The values of a form's fields by name: as a player filled them in, or as a choice fills them in."""

EMPTY: Final[Fields] = ImmutableMultiDict()

MOST_NAMES: Final = 1000
"""Names of things on buttons that are kept as HTML."""


@record
class Alternative:
    """One of the things that a field offers, as it looks on the table, and whether it is chosen."""

    value: str
    thing: board.Thing
    chosen: bool = False


@record
class Field:
    """One blank of an act as a field, and the words before it where the act is a phrase.

    `kind` is number, list, buttons, boxes, order or split. `why` is why nothing else can be chosen.
    `values` is what the field holds: one value, or one for each place or thing.
    """

    kind: str
    name: str
    label: str
    before: str
    why: str
    alternatives: tuple[Alternative, ...] = ()
    low: int = 0
    high: int = 0
    most: int = 0
    """The highest number within one's means, or `high`; a field takes higher ones too."""
    many: int = 0
    """How many things there must be; where `low` is less, at most as many."""
    values: tuple[str, ...] = ("",)
    called: str = ""
    """The label as it stands within a sentence."""

    @property
    def names_on_button(self) -> Markup:
        """Its things as a button names them: what is chosen on the board is shown there by the style sheet."""
        one = " one" if self.kind == "boxes" else ""
        before = f"{self.before} " if self.before else ""
        items = (
            _name_on_button(one, f"{self.name}-{each.value}", before + each.thing.word) for each in self.alternatives
        )
        return Markup("").join(items)


@lru_cache(maxsize=MOST_NAMES)
def _name_on_button(one: str, name: str, words: str) -> Markup:
    return Markup(' <span class="said{} {}">{}</span>').format(one, name, words)


@record
class Form:
    """One act: its button, and the fields that it needs. An act with a single possible choice needs none.

    `quick` are choices of this act worth a button of their own: the number, the choice in words, as it is written, and what
    makes it worth one.
    """

    act: int
    title: str
    note: str
    fields: tuple[Field, ...]
    after: str
    quick: tuple[tuple[str, str, str, str], ...] = ()
    named: tuple[board.Thing, ...] = ()
    """The things that the title names."""

    @property
    def is_sentence(self) -> bool:
        """Whether there are words between or after its fields."""
        return bool(self.after) or any(field.before for field in self.fields)


class Display:
    """How things are shown: by their words, as they look on the table, and as they are filled in."""

    def __init__(self, teller: Teller, faces: Mapping[str, Face], values: Fields = EMPTY) -> None:
        self.teller = teller
        self.values = values
        self._faces = faces
        self._offered: dict[str, tuple[Alternative, ...]] = {}

    def thing(self, thing: Thing) -> board.Thing:
        """A thing with its word, its note and its drawing."""
        face = self._faces.get(thing.word)
        note = thing.note or (face.note if face else "")
        words = self.teller(thing.word), self.teller(note) if note else ""
        return board.Thing(*words, face.kind, face.id) if face else board.Thing(*words)

    def offered(self, name: str, things: Sequence[Thing]) -> tuple[Alternative, ...]:
        """The things that a field of this name offers, with those that are filled in. Acts that share a field share them."""
        known = self._offered.get(name)
        if known is None:
            chosen = self.values.getlist(name)
            known = self._offered[name] = tuple(
                Alternative(str(place), self.thing(thing), str(place) in chosen) for place, thing in enumerate(things)
            )
        return known
