"""The drawings of cards, tiles, dice and coins, each put together from signs.

A thing without a drawing is shown by its words alone, so a new game needs none. For a new kind of thing, draw its signs in
`signs.svg` and put them together here. This module knows nothing of a game's state or its reader.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from markupsafe import Markup

from engine.decks import decktet, piecepack
from engine.tell import Text
from pbem.i18n.speech import mark

_SVG: Final = "http://www.w3.org/2000/svg"
_SIGNS: Final = Path(__file__).with_name("signs.svg")

PREFIX: Final = "art-"
"""The prefix of all ids of drawings, so that they collide with no other id on a page."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing and its size. `uses` are the signs in it; `says` is the word that need not be written beside it."""

    name: str
    width: int
    height: int
    symbol: Markup
    uses: tuple[str, ...] = ()
    says: str = ""


@dataclass(frozen=True, slots=True)
class _At:
    """A sign, its place on a drawing, and its colour: a property of the style sheet, or empty for that of the text."""

    sign: str
    x: float
    y: float
    width: float
    colour: str = ""


def _signs() -> Iterator[tuple[str, Drawing]]:
    ElementTree.register_namespace("", _SVG)
    for symbol in ElementTree.parse(_SIGNS).getroot().iter(f"{{{_SVG}}}symbol"):  # noqa: S314 - a file of this package
        name = symbol.attrib.pop("id")
        width, height = map(int, symbol.attrib["viewBox"].split()[2:])
        symbol.attrib = {"id": PREFIX + name, **symbol.attrib}
        symbol.tail = None
        text = ElementTree.tostring(symbol, encoding="unicode").replace(f' xmlns="{_SVG}"', "").replace(" />", "/>")
        yield name, Drawing(name, width, height, Markup(text.replace("\n", "")))  # noqa: S704 - a file of this package


SIGNS: Final = dict(_signs())
"""The signs drawn by hand, by name."""

SUITS: Final = {letter: name.lower() for letter, name in decktet.SUITS.items()}
"""The sign of each suit of the Decktet; its colour has the same name."""

_RANKS: Final = {"A": "ace", "P": "pawn", "T": "court", "X": "crown"} | {str(n): str(n) for n in range(2, 10)}

PIECES: Final = {"S": ("suns", "red"), "M": ("moons", "ink"), "C": ("crown", "yellow"), "A": ("arms", "blue")}
"""The sign and the colour of each suit of the piecepack."""

SHIELDS: Final = {
    "R": ("cross", "red"),
    "B": ("ship", "blue"),
    "G": ("tree", "green"),
    "Y": ("key", "yellow"),
    "P": ("cup", "purple"),
    "W": ("tower", "white"),
}
"""The sign that stands for each colour of shields: colours alone are not for every eye."""

_COUNTED: Final = {"coins": "coins", "gold": "coins", "Pawns": "pawn", "come": "stack", "deck": "stack"}
"""The sign of something counted, by the word for it."""


def sign_of(label: Text) -> str:
    """The sign for the label of a number, as its game wrote it; empty where there is none."""
    return next((_COUNTED[word] for word in label.template.split() if word in _COUNTED), "")


def _drawing(name: str, frame: str, *placed: _At, says: str = "") -> Drawing:
    """Signs in a frame, which gives the drawing its size."""
    width, height = SIGNS[frame].width, SIGNS[frame].height
    content = Markup("").join(map(_use, (_At(frame, 0, 0, width), *placed)))
    symbol = Markup('<symbol id="{}{}" viewBox="0 0 {} {}">{}</symbol>')
    symbol = symbol.format(PREFIX, name, width, height, content)
    return Drawing(name, width, height, symbol, tuple(dict.fromkeys((frame, *(at.sign for at in placed)))), says)


def _use(at: _At) -> Markup:
    sign = SIGNS[at.sign]
    numbers = {"x": at.x, "y": at.y, "width": at.width, "height": at.width * sign.height / sign.width}
    place = Markup("").join(Markup(' {}="{:g}"').format(name, number) for name, number in numbers.items() if number)
    colour = Markup(' color="var(--{})"').format(at.colour) if at.colour else ""
    return Markup('<use href="#{}{}"{}{}/>').format(PREFIX, at.sign, place, colour)


# The places of the one, two or three suits on a card of the Decktet, below or beside its rank: x, y and width.
_PLACES: Final = {1: ((9, 33, 42),), 2: ((25, 8, 30), (5, 46, 30)), 3: ((31, 9, 24), (5, 48, 24), (31, 48, 24))}


def _decktet(card: str) -> Drawing:
    says = decktet.FACES[card].note
    if card == decktet.EXCUSE:
        return _drawing("decktet-E", "card", _At("excuse", 9, 21, 42), says=says)
    rank = _RANKS[card[0]]
    emblem = rank in ("pawn", "court", "crown")
    suits = [SUITS[letter] for letter in card[1:]]
    placed = [_At(rank, 6, 7, 22 if emblem else 15)]
    placed += [_At(suit, *place, colour=suit) for suit, place in zip(suits, _PLACES[len(suits)], strict=True)]
    if rank.isdigit():
        placed.append(_At(rank, 39, 55, 15))
    return _drawing(f"decktet-{card}", "card", *placed, says=says)


def _shield(colour: str, number: int) -> Drawing:
    sign, name = SHIELDS[colour]
    charge = "on-white" if name == "white" else "card"
    return _drawing(
        f"shield-{colour}{number}",
        "card",
        _At(str(number), 6, 7, 15),
        _At("shield", 9, 34, 42, name),
        _At(sign, 19, 40, 22, charge),
    )


def _die(suit: str, value: int) -> Drawing:
    sign, colour = PIECES[suit]
    word = piecepack.VALUE_NAMES[value]
    if value == piecepack.ACE:
        return _drawing(f"die-{suit}{value}", "die", _At(sign, 7, 7, 34, colour), says=word)
    figure = _At("null" if value == piecepack.NULL else word, 23, 15, 17)
    return _drawing(f"die-{suit}{value}", "die", _At(sign, 5, 5, 18, colour), figure, says=word)


def _tile(value: int) -> Drawing:
    """A tile that only has a value."""
    return _drawing(f"tile-{value}", "tile", _At(str(value), 14, 9, 20), says=str(value))


def _piece(frame: str, kind: str, suit: str, value: int) -> Drawing:
    """A tile or a coin with its suit and its value."""
    sign, colour = PIECES[suit]
    figure = {piecepack.NULL: "null", piecepack.ACE: "ace"}.get(value, str(value))
    return _drawing(f"{kind}-{suit}{value}", frame, _At(sign, 8, 16, 16, colour), _At(figure, 25.5, 13.5, 14))


def _pawn(suit: str) -> Drawing:
    sign, colour = PIECES[suit]
    return _drawing(f"pawn-{suit}", "disc", _At("pawn", 8, 10, 28, colour), _At(sign, 27, 8, 14, colour))


def _all() -> Iterator[tuple[tuple[str, str], Drawing]]:
    for name, sign in SIGNS.items():
        yield ("sign", name), sign
    for card in decktet.EXTENDED:
        yield ("decktet", card), _decktet(card)
    yield ("decktet", decktet.BACK.id), SIGNS["back"]
    for colour in SHIELDS:
        for number in range(10):
            yield ("shield", f"{colour}{number}"), _shield(colour, number)
    for value in piecepack.VALUES:
        yield ("tile", str(value)), _tile(value)
        for suit in PIECES:
            yield ("die", f"{suit}{value}"), _die(suit, value)
            yield ("tile", f"{suit}{value}"), _piece("tile", "tile", suit, value)
            yield ("coin", f"{suit}{value}"), _piece("disc", "coin", suit, value)
    for suit in PIECES:
        yield ("pawn", suit), _pawn(suit)


DRAWINGS: Final = dict(_all())
"""Every drawing there is, by the kind and the id of a `Face`; signs are of the kind `sign`."""

Explained = tuple[str, str, str, str]
"""The kind and the id of a picture, its colour if it has none of its own, and its name."""

LEGENDS: Final[Mapping[str, tuple[Explained, ...]]] = {
    "decktet": (
        *(("sign", sign, sign, decktet.SUITS[letter]) for letter, sign in SUITS.items()),
        *(("sign", sign, sign, decktet.RANK_NAMES[letter]) for letter, sign in _RANKS.items() if letter in "PTX"),
    )
}
"""The names of the signs on a kind of thing, where the words beside it do not say them."""

RULES_LEGENDS: Final[Mapping[str, tuple[Explained, ...]]] = {
    **LEGENDS,
    "die": (
        ("die", f"S{piecepack.ACE}", "", mark("Ace of Suns")),
        ("die", f"M{piecepack.ACE}", "", mark("Ace of Moons")),
        ("die", f"C{piecepack.ACE}", "", mark("Ace of Crowns")),
        ("die", f"A{piecepack.ACE}", "", mark("Ace of Arms")),
        ("die", f"S{piecepack.NULL}", "", mark("Blank")),
    ),
    "shield": (
        ("sign", "cross", "red", mark("Red")),
        ("sign", "ship", "blue", mark("Blue")),
        ("sign", "tree", "green", mark("Green")),
        ("sign", "key", "yellow", mark("Yellow")),
        ("sign", "cup", "purple", mark("Purple")),
        ("sign", "tower", "white", mark("White")),
    ),
}
"""The same for a page with rules, which explains all signs once, at its top."""
