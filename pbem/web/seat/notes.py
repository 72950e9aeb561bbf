"""Private notes about a table, by the link of a seat."""

from flask import Blueprint, Response

from pbem.domain.errors import BadInput, Refusal, Stale
from pbem.service.play import notes
from pbem.web import site
from pbem.web.site import field, server

pages = Blueprint("notes", __name__)


@pages.get("/s/<token>/notes")
def show(token: str, refused: Refusal | None = None) -> Response:
    """The notes, in the form that changes them."""
    found = server().read(notes.read, token)
    return site.page(
        "notes.html",
        found=found,
        token=token,
        text=field("text") if refused else found.text,
        # A text that was refused for its length is still about the notes that its writer has seen.
        mark=field("of") if isinstance(refused, BadInput) else found.mark,
        changed=isinstance(refused, Stale),
        refused=refused,
    )


@pages.post("/s/<token>/notes")
@site.shows_refusals_on(show, about="text")
def save(token: str) -> Response:
    """Replace the notes that the form was made of."""
    server().run(notes.save, token, field("text"), field("of"))
    return site.go("notes.show", token=token, done="notes")
