"""A table at the desk: seats and deadlines, what happened and why, emails, the record, and every act on it."""

from flask import Blueprint, Response, request, url_for

from pbem.domain.acts import PERMISSIONS, Act
from pbem.domain.errors import Refusal
from pbem.domain.states import TableStatus
from pbem.i18n.speech import gettext as _
from pbem.service.desk import calls, email, export_table, marks, table
from pbem.store.calls import CallDetails
from pbem.web import site
from pbem.web.desk import emails, permissions
from pbem.web.desk.acts import FORMS
from pbem.web.seat import board
from pbem.web.site import field, server

pages = Blueprint("desk_table", __name__)


def _page(game_id: int, refused: Refusal | None = None) -> Response:
    found = server().read(table.table, permissions.actor(), game_id)
    return site.page(
        "desk/table.html",
        found=found,
        game=found.game,
        mark=server().read(marks.mark, {"game_id": game_id}),
        acts=[form for form in FORMS.values() if _fits(form.name, found)],
        refused=refused,
        given=request.form,
        call=_call(game_id),
    )


@pages.get("/desk/tables/<int:game_id>")
@permissions.needs(Act.TABLE)
def show(game_id: int) -> Response:
    return _page(game_id)


@pages.get("/desk/tables/<int:game_id>/clocks")
@permissions.needs(Act.TABLE)
def clocks(game_id: int) -> Response:
    """How each deadline of a table was worked out."""
    game, found = server().read(table.clocks, permissions.actor(), game_id)
    return site.page("desk/clocks.html", game=game, clocks=found)


@pages.post("/desk/tables/<int:game_id>/see-as")
@permissions.needs(Act.SEE_AS)
@site.shows_refusals_on(_page)
def see_as(game_id: int) -> Response:
    """The table as a seat sees it, or saw it in a turn that the form names. The look is recorded."""
    seat = site.whole_number("seat", _("a seat number")) - 1
    server().read(marks.must_fit, field("of"), {"game_id": game_id})
    turn = site.whole_number("turn", _("a turn number")) if field("turn") else None
    eyes = server().run(table.see_as, permissions.actor(), game_id, seat, field("reason"), turn)
    return site.page("desk/eyes.html", eyes=eyes, board=board.draw(eyes.board, eyes.teller, eyes.seat))


@pages.post("/desk/tables/<int:game_id>/export")
@permissions.needs(Act.EXPORT_TABLE)
@site.shows_refusals_on(_page)
def export(game_id: int) -> Response:
    """The file of the whole table. Each export is recorded."""
    server().read(marks.must_fit, field("of"), {"game_id": game_id})
    name, text = server().run(export_table.export, permissions.actor(), game_id, field("reason"))
    response = Response(text, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@pages.post("/desk/tables/<int:game_id>/mail")
@permissions.needs(Act.READ_MAIL)
@site.shows_refusals_on(_page)
def read_mail(game_id: int) -> Response:
    """An email about the table as its reader has it. The look is recorded."""
    number = site.whole_number("mail", _("an email number"))
    server().read(marks.must_fit, field("of"), {"game_id": game_id})
    email_view = server().run(email.read, permissions.actor(), number, field("reason"), game_id=game_id)
    return emails.opened(email_view, url_for("desk_table.show", game_id=game_id))


def _call(game_id: int) -> CallDetails | None:
    """The call that led the organiser to this table, if there is one."""
    number = request.args.get("call", "")
    if not number:
        return None
    found = server().read(calls.details, permissions.actor(), site.read_number(number, _("a message number")))
    return found if found.row.game_id == game_id else None


def _fits(name: str, found: table.DeskTable) -> bool:
    """Whether a form is shown for this table as it is now. The act itself decides whether it is possible."""
    form = FORMS[name]
    if "game_id" not in form.path or form.act not in PERMISSIONS[permissions.actor().role]:
        return False
    playing = found.game.status == TableStatus.PLAYING
    fits = {
        "pause": playing and not found.game.paused,
        "resume": playing and found.game.paused,
        "extend": playing,
        "freeze": playing,
        "unfreeze": found.game.status == TableStatus.FROZEN,
        "close": found.game.status in (TableStatus.PLANNED, TableStatus.OPEN, TableStatus.PLAYING, TableStatus.FROZEN),
        "rewind": bool(found.turns),
        "substitute": playing,
        "offer": playing and not found.game.private,
        "seat-links": playing,
        "correct": found.game.status in (TableStatus.OPEN, TableStatus.PLAYING),
        "redact": any(line.text is not None for line in found.talk),
        "resend": bool(found.emails),
        # Organisers choose among the emails.
        "resend-turn": playing and found.for_host,
        "retry-deadline": any(each.due is not None and each.due.attempts for each in found.seats),
    }
    return fits[name]
