"""Cards, tiles and dice as an email draws them: a large index and a sign for each suit, in the colours of the pages.

The signs are characters that every mail program has, and suits differ by sign as well as by colour. A thing of a kind that is
unknown here is shown by its words alone, so a new game needs none. This module must know nothing of a game's state.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from markupsafe import Markup

from engine.board import Face
from engine.decks import decktet, piecepack
from engine.tell import Teller

INK: Final = "#221d16"
_AS_TEXT: Final = "\N{VARIATION SELECTOR-15}"
"""After a sign that would otherwise be drawn as an emoji, which has colours of its own."""

SUITS: Final = {
    "M": ("\N{LAST QUARTER MOON}", "#4f5b76"),
    "S": ("\N{BLACK SUN WITH RAYS}" + _AS_TEXT, "#8f5200"),
    "W": ("\N{ALMOST EQUAL TO}", "#1b6ca8"),
    "L": ("\N{ROTATED FLORAL HEART BULLET}", "#2c7a3f"),
    "Y": ("\N{SECTION SIGN}", "#b3282d"),
    "K": ("\N{PLACE OF INTEREST SIGN}", "#7d4296"),
}
"""The sign and the colour of each suit of the Decktet."""

SHIELDS: Final = {
    "R": ("\N{HEAVY GREEK CROSS}", "#b3282d"),
    "B": ("\N{ANCHOR}" + _AS_TEXT, "#1f5fa8"),
    "G": ("\N{BLACK CLUB SUIT}" + _AS_TEXT, "#2c7a3f"),
    "Y": ("\N{CHIRON}", "#8a5f00"),
    "P": ("\N{FUNERAL URN}" + _AS_TEXT, "#7d4296"),
    "W": ("\N{BLACK CHESS ROOK}", "#625848"),
}
"""The sign and the colour of each colour of shields."""

PIECES: Final = {
    "S": (SUITS["S"][0], "#b3282d"),
    "M": (SUITS["M"][0], INK),
    "C": ("\N{BLACK CHESS QUEEN}", "#8a5f00"),
    "A": ("\N{FLEUR-DE-LIS}" + _AS_TEXT, "#1f5fa8"),
}
"""The sign and the colour of each suit of the piecepack."""

_RANKS: Final = {"P": "P", "T": "C", "X": "\N{BLACK CHESS QUEEN}"}
"""The index of a Pawn, a Court and a Crown; other ranks are their own."""


_MOST_KEPT: Final = 2000
"""Pieces kept as they were drawn, less than a kilobyte each: all decks, in several languages."""

_PLAIN: Final = Markup('<span class=card style="display:inline-block;padding:0 7px;border:1px solid">{}</span>')
_SIGN: Final = Markup('<span style="color:{};font-size:{}px"> {}</span>')
_DRAWN: Final = Markup(
    '<span class=face {} style="display:inline-block;margin:1px;padding:0 {}px;border:solid {};border-width:4px 1px 1px;'
    'background:#fffdf8;color:#221d16;font-size:12px;text-align:center;vertical-align:{}">'
    "<b style=font-size:{}px>{}</b>{}{}</span>"
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A thing as it is drawn: its index, and each sign with its colour. `says` is the note that need not be written beside it."""

    index: str
    signs: tuple[tuple[str, str], ...] = ()
    says: str = ""

    @property
    def edge(self) -> str:
        """The colour of its edge."""
        return self.signs[0][1] if self.signs else "#877a63"


@dataclass(frozen=True, slots=True)
class Piece:
    """A card, tile or die: its word, its note, and how it is drawn, if it can be."""

    word: str
    note: str
    drawn: Drawn | None = None

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        return f"{self.word} ({self.note})" if self.note else self.word

    @property
    def shown(self) -> str:
        """The words that are shown beside the drawing: those that it does not say."""
        says = "" if self.drawn is None else self.drawn.says
        return " ".join(each for each in (self.word, self.note) if each and each != says)


def piece(face: Face, teller: Teller) -> Piece:
    """The piece that a face is."""
    look = drawn(face.kind, face.id)
    if look is not None and look.says and (says := teller(look.says)) != look.says:
        look = replace(look, says=says)
    return Piece(teller(face.word), teller(face.note) if face.note else "", look)


@lru_cache(maxsize=_MOST_KEPT)
def html(face: Piece, size: int, *, beside: bool = False) -> Markup:
    """A piece as HTML, its index and signs of this size. One that stands `beside` its words is hidden from screen readers.

    Its face is light in dark mode too.
    """
    if face.drawn is None:
        return Markup() if beside else _PLAIN.format(face.spoken)
    signs = Markup("").join(_SIGN.format(colour, size, sign) for sign, colour in face.drawn.signs)
    spoken = Markup("aria-hidden=true") if beside else Markup('role=img aria-label="{}"').format(face.spoken)
    # The second break is for programs that put no box around a card: its name is not followed by the next index.
    below = Markup("<br>{}<br>").format(face.shown) if face.shown and not beside else Markup()
    place = "middle" if beside else "top"
    return _DRAWN.format(spoken, size // 4, face.drawn.edge, place, size, face.drawn.index, signs, below)


@lru_cache(maxsize=_MOST_KEPT)
def drawn(kind: str, id: str) -> Drawn | None:  # noqa: A002 - as a `Face` calls it
    """The drawing of a thing, by the kind and the id of its `Face`, or None if there is none."""
    if kind == "decktet" and id in decktet.FACES:
        rank = _RANKS.get(id[0], id[0]) if id != decktet.EXCUSE else "\N{WHITE STAR}"
        return Drawn(rank, tuple(SUITS[suit] for suit in decktet.suits(id)), decktet.FACES[id].note)
    if (kind, id) == (decktet.BACK.kind, decktet.BACK.id):
        return Drawn("?")
    if kind == "shield" and id[:1] in SHIELDS:
        return Drawn(id[1:], (SHIELDS[id[0]],))
    if kind == "tile" and id.isdigit():
        return Drawn(id, says=id)
    if kind == "die" and id[:1] in PIECES:
        value = int(id[1:])
        index = {piecepack.NULL: "\N{EMPTY SET}", piecepack.ACE: "A"}.get(value, str(value))
        return Drawn(index, (PIECES[id[0]],), piecepack.VALUE_NAMES[value])
    return None
