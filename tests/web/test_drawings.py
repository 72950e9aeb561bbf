"""Drawings: everything in the decks has one, and no drawing fetches or runs anything."""

import gzip
import re
import struct
from dataclasses import replace
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pbem
from engine import registry
from engine.board import Row
from engine.decks import decktet, piecepack
from engine.testing.bench import play
from engine.testing.plans import plans
from pbem.web.art.drawings import DRAWINGS, PIECES, PREFIX, SHIELDS, SIGNS, SUITS

STATIC = Path(pbem.__file__).parent / "web" / "static"
STYLE = (STATIC / "pbem.css").read_text()

ELEMENTS = {"symbol", "path", "circle", "rect", "use"}
FIGURE, SIGN, CARD = (32, 48), (48, 48), (60, 84)


def faces():
    """Everything in the decks."""
    yield from decktet.faces(decktet.EXTENDED)
    yield decktet.BACK
    for value in piecepack.VALUES:
        yield piecepack.tile(value)
        yield from (piecepack.die(suit, value) for suit in piecepack.DICE)


def test_everything_in_the_decks_has_a_drawing():
    assert {(face.kind, face.id) for face in faces()} - set(DRAWINGS) == set()


def test_tiles_coins_and_pawns_of_the_piecepack_have_drawings_with_their_suits():
    assert {("tile", each) for each in piecepack.TILES} < set(DRAWINGS)
    assert {("coin", each) for each in piecepack.COINS} < set(DRAWINGS)
    assert {("pawn", each) for each in piecepack.PAWNS} < set(DRAWINGS)


def test_every_suit_and_every_colour_has_its_own_sign():
    assert set(PIECES) == set(piecepack.SUITS)
    for family in (list(SUITS.values()), [sign for sign, _ in PIECES.values()], [sign for sign, _ in SHIELDS.values()]):
        assert len(set(family)) == len(family)
        assert set(family) <= set(SIGNS)


@pytest.mark.parametrize("kind", registry.names())
def test_every_game_has_a_cover_and_drawings_for_everything_on_its_table(kind):
    rules = registry.load(kind)
    assert rules.cover
    laid = {(face.kind, face.id) for face in (*rules.cover, *on_boards(rules))}
    assert laid - set(DRAWINGS) == set()


def on_boards(rules):
    """The faces on the boards of a few games."""
    for plan in islice(plans(rules), 4):
        for table in play(rules, replace(plan, most=60)).tables:
            board = rules.board(table.view(0), 0)
            for part in (*board.centre, *board.mine, *(part for panel in board.players for part in panel.parts)):
                yield from part.faces if isinstance(part, Row) else ()


def test_no_two_drawings_are_the_same():
    drawings = {drawing.name: drawing.symbol for drawing in DRAWINGS.values()}
    looks = {re.sub(r'^<symbol id="[^"]*"', "", symbol) for symbol in drawings.values()}
    assert len(looks) == len(drawings)
    # The back of a card is a sign, and is shown on tables too.
    assert len(drawings) == len(DRAWINGS) - 1


def test_drawings_are_plain_shapes_that_fetch_nothing_run_nothing_and_style_nothing():
    for drawing in DRAWINGS.values():
        symbol = ElementTree.fromstring(drawing.symbol)
        assert {each.tag for each in symbol.iter()} <= ELEMENTS
        attributes = {name for each in symbol.iter() for name in each.attrib}
        assert {name for name in attributes if name.startswith("on")} | (attributes & {"style", "class"}) == set()
        assert "url(" not in drawing.symbol
        assert {each.attrib["href"] for each in symbol.iter("use")} == {f"#{PREFIX}{sign}" for sign in drawing.uses}
        assert [each.attrib["id"] for each in symbol.iter() if "id" in each.attrib] == [PREFIX + drawing.name]


def test_all_signs_have_one_of_a_few_sizes():
    assert {(sign.width, sign.height) for sign in SIGNS.values()} == {FIGURE, SIGN, CARD}


def test_all_drawings_together_are_smaller_than_a_small_photograph():
    text = "".join({drawing.name: drawing.symbol for drawing in DRAWINGS.values()}.values()).encode()
    assert len("".join(sign.symbol for sign in SIGNS.values())) < 14_000
    assert len(text) < 70_000
    assert len(gzip.compress(text)) < 8_000


def test_a_whole_deck_fits_on_a_page_of_60_kilobytes_and_leaves_half_of_it():
    deck = [drawing for (kind, _), drawing in DRAWINGS.items() if kind == "decktet"]
    signs = {sign for drawing in deck for sign in drawing.uses}
    assert sum(len(each.symbol) for each in (*deck, *(SIGNS[sign] for sign in signs))) < 30_000


def test_the_icon_of_the_site_fetches_nothing_and_runs_nothing():
    icon = ElementTree.parse(STATIC / "favicon.svg").getroot()
    assert {each.tag.rpartition("}")[2] for each in icon.iter()} <= {"svg", "g", "path", "circle", "rect"}


@pytest.mark.parametrize("name, width, height", [("icon.png", 180, 180), ("social.png", 1200, 630)])
def test_pictures_for_other_sites_and_screens_have_the_right_size_and_no_metadata(name, width, height):
    content = (STATIC / name).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (width, height)
    assert len(content) < 100_000
    assert not [chunk for chunk in (b"tEXt", b"iTXt", b"zTXt", b"eXIf") if chunk in content]


def properties(within):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", within))


def schemes():
    """The colours of the style sheet as they are in the light, and in the dark."""
    dark = re.findall(
        r"@media screen and \(prefers-color-scheme: dark\) \{\n  :root \{(.*?)\n  \}\n\}", STYLE, re.DOTALL
    )
    light = re.findall(r"^:root \{(.*?)^\}", STYLE, re.DOTALL | re.MULTILINE)
    base = properties("".join(light))
    return {"light": base, "dark": base | properties("".join(dark))}


def brightness(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    darker, lighter = sorted((brightness(one), brightness(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_a_drawing_stands_out_from_the_card_in_the_light_and_in_the_dark(scheme):
    colours = schemes()[scheme]
    used = {name for drawing in DRAWINGS.values() for name in re.findall(r"var\(--([\w-]+)\)", drawing.symbol)}
    assert used <= set(colours)
    on_card = used - {"card", "white", "on-white"}
    assert {name for name in on_card if contrast(colours[name], colours["card"]) < 3} == set()
    assert contrast(colours["on-white"], colours["white"]) > 7
