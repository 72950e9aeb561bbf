"""The page that verifies the file of a finished game, and shows how its luck came about."""

from collections.abc import Sequence

from flask import Blueprint, Response, request

from engine import registry
from engine.chance import Derived
from pbem.domain.errors import BadInput, Refusal
from pbem.i18n.speech import gettext as _
from pbem.service.archive import verify_upload
from pbem.service.archive.verify_upload import Luck, UploadReport
from pbem.web import site

pages = Blueprint("verify", __name__)


@pages.get("/verify")
def ask(refused: Refusal | None = None) -> Response:
    """The form for a file, or for its text."""
    return site.page("verify.html", refused=refused)


@pages.post("/verify")
@site.shows_refusals_on(ask)
def check() -> Response:
    """Verify a file, and show the result. Nothing is kept."""
    found = verify_upload.inspect(_text(), site.field("sealed"))
    return site.page(
        "verified.html",
        found=found,
        rules=registry.load(found.kind),
        seating=_seating(found),
        luck=[(each.entry, _shuffles(each)) for each in found.luck if each.entry is not None],
    )


def _text() -> str:
    file = request.files.get("file")
    if file is None:
        data = b""
    else:
        with file.stream as stream:
            data = stream.read()
    if not data:
        # Not by `site.field`, which allows no text as long as a whole game.
        data = request.form.get("text", "").strip().encode()
    if not data:
        raise BadInput(_("Please choose a file."), remedy=_("Choose a game file, or paste its text."))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(_("This isn't a game file."), why=_("It isn't in UTF-8.")) from None


def _seating(found: UploadReport) -> list[tuple[Derived, tuple[int, ...]]]:
    """The steps by which the seats were shuffled, each with the order after it."""
    order, steps = list(range(found.seats)), []
    for step in next((each.steps for each in found.luck if each.entry is None), ()):
        if step.number is not None:
            last = step.bound - 1
            order[last], order[step.number] = order[step.number], order[last]
        steps.append((step, tuple(order)))
    return steps


def _shuffles(luck: Luck) -> list[tuple[int, list[Derived]]]:
    """The steps of an entry, grouped: the steps of a shuffle with the number of things shuffled, other steps with 0.

    A shuffle of n things draws below n, n - 1 and so on down to 2.
    """
    groups: list[tuple[int, list[Derived]]] = []
    for run in _falling(luck.steps):
        things = run[0].bound if run[-1].bound == 2 and run[0].bound > 2 else 0
        if things or not groups or groups[-1][0]:
            groups.append((things, run))
        else:
            groups[-1][1].extend(run)
    return groups


def _falling(steps: Sequence[Derived]) -> list[list[Derived]]:
    """The steps in runs. Within a run, each bound is one less than the bound before it."""
    runs: list[list[Derived]] = []
    for step in steps:
        expected = None
        if runs:
            last = runs[-1][-1]
            # Where a word was rejected, the next one is for the same number.
            expected = last.bound if last.number is None else last.bound - 1
        if step.bound == expected:
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs
