"""Pictures as a real browser paints them: all are visible in light and dark mode, and signs differ in shape.

The folder of the test keeps the pictures of all drawings, light and dark.
"""

from itertools import combinations

import pytest

from pbem.web.art.drawings import PIECES, SHIELDS, SIGNS, SUITS

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]

SMALL = 24
"""Pixels: as small as a sign ever is."""

DIFFERENT = 0.4
"""Of the pixels that two signs cover together, the share that only one of them covers."""

FAMILIES = {
    "Decktet": tuple(SUITS.values()),
    "ranks": ("crown", "pawn", "court", "excuse", "ace"),
    "piecepack": tuple(sign for sign, _ in PIECES.values()),
    "shields": tuple(sign for sign, _ in SHIELDS.values()),
}

COVERED = """
async ([text, size]) => {
  const picture = new Image();
  picture.src = "data:image/svg+xml," + encodeURIComponent(text);
  await picture.decode();
  const canvas = new OffscreenCanvas(size, size).getContext("2d");
  canvas.drawImage(picture, 0, 0, size, size);
  const pixels = canvas.getImageData(0, 0, size, size).data;
  return [...Array(size * size).keys()].filter(place => pixels[4 * place + 3] > 127);
}
"""

EMPTY = """
pictures => pictures.filter(picture => {
  const box = picture.getBBox(), place = picture.getBoundingClientRect();
  return !(box.width && box.height && place.width && place.height);
}).map(picture => picture.getAttribute("aria-label"))
"""


# Pictures are the same on any database.
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_every_picture_is_visible_in_light_and_in_dark_mode(site, chromium, tmp_path):
    for scheme in ("light", "dark"):
        complaints = []
        page = chromium.new_page(color_scheme=scheme)
        page.on("console", lambda message, heard=complaints: heard.append(message.text))
        page.goto(f"{site}/art")
        assert page.locator("svg.art").count() > 600
        assert page.locator("svg.art").evaluate_all(EMPTY) == []
        assert not [each for each in complaints if "Content Security Policy" in each]
        page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)


def test_signs_differ_in_shape_even_small_and_without_colour(chromium):
    page = chromium.new_page()
    for family, names in FAMILIES.items():
        shapes = {name: set(page.evaluate(COVERED, [alone(name), SMALL])) for name in names}
        assert all(shapes.values()), family
        alike = [
            (one, other)
            for one, other in combinations(names, 2)
            if len(shapes[one] ^ shapes[other]) < DIFFERENT * len(shapes[one] | shapes[other])
        ]
        assert alike == [], family


def alone(name):
    """A sign as a picture of its own."""
    sign = str(SIGNS[name].symbol).replace("<symbol", f'<svg xmlns="http://www.w3.org/2000/svg" width="{SMALL}"')
    return sign.replace("</symbol>", "</svg>")
