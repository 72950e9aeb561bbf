"""Every picture on one page, in development: side by side, large and small."""

from collections import defaultdict
from typing import Final

from flask import Blueprint, Response

from engine import registry
from pbem.web import site
from pbem.web.art.drawings import DRAWINGS

pages = Blueprint("gallery", __name__)

WIDTHS: Final = (24, 40, 96)
"""In pixels: within a line, among others on a phone, and alone."""


@pages.get("/art")
def show() -> Response:
    kinds: dict[str, list[str]] = defaultdict(list)
    for kind, each in DRAWINGS:
        kinds[kind].append(each)
    return site.page("gallery.html", kinds=kinds, widths=WIDTHS, games=map(registry.load, registry.names()))
