"""The forms of all acts of moderation: the form, a preview of what the act would do, and what it did.

Each act has one address. Its form leads to the preview, for which the act is done and rolled back. The preview has a second
button, whose form has a key that works once. Nothing typed is lost: a refusal shows it again, and so does signing in.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from flask import Blueprint, Response, request, url_for

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Refusal, quoted
from pbem.i18n.speech import gettext as _
from pbem.service.desk import overview, table
from pbem.service.desk.acts.clocks import Close, DeclareOutage, Extend, Freeze, Pause, Resume, Unfreeze
from pbem.service.desk.acts.correct import WHAT, Correct, Redact
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable, RetryDeadline, RetryIncoming
from pbem.service.desk.acts.people import Ban, ChangeAddress, Delete, Merge, Release, SendExport, Unban
from pbem.service.desk.acts.perform import DeskAct, Outcome, perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.people import addresses
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.errors import status_of
from pbem.web.site import field, server

pages = Blueprint("desk_acts", __name__)

Values = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Form:
    """One form: the act it is for, its address, the fields beside the reason, and the function that reads them."""

    act: Act
    path: str
    fields: tuple[str, ...]
    read: Callable[[Values], DeskAct]

    @property
    def name(self) -> str:
        """The name of the form's endpoint."""
        return self.path.rpartition("/")[2]


def _seat() -> int:
    return site.whole_number("seat", _("the number of a seat")) - 1


def _seat_or_all() -> int | None:
    return None if field("seat") in ("", "all", "none") else _seat()


def _other_person() -> int:
    """The number of another person, typed as a number or as their address."""
    if "@" not in field("other"):
        return site.whole_number("other", _("the number of a person"))
    found = server().read(overview.person_with, field("other"))
    if found is None:
        raise BadInput(
            _("Nobody here has this address."), remedy=_("Please look whether it is written as it is used here.")
        )
    return found


def _moment(name: str, meaning: str) -> datetime:
    try:
        return datetime.fromisoformat(field(name)).replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(
            _("%(field)s is not %(called)s.", field=quoted(field(name)), called=meaning),
            remedy=_("Write it as 2026-11-21 20:00, in UTC."),
        ) from None


def _day_or_never() -> date | None:
    try:
        return date.fromisoformat(field("until")) if field("until") else None
    except ValueError:
        raise BadInput(
            _("%(field)s is not a day.", field=quoted(field("until"))), remedy=_("Write it as 2026-12-31.")
        ) from None


_TABLE: Final = "/desk/tables/<int:game_id>"
_PERSON: Final = "/desk/people/<int:person_id>"

FORMS: Final = {
    form.name: form
    for form in (
        Form(Act.PAUSE, f"{_TABLE}/pause", (), lambda at: Pause(at["game_id"])),
        Form(Act.RESUME, f"{_TABLE}/resume", (), lambda at: Resume(at["game_id"])),
        Form(
            Act.EXTEND,
            f"{_TABLE}/extend",
            ("more", "seat_or_all"),
            lambda at: Extend(at["game_id"], field("more"), _seat_or_all()),
        ),
        Form(Act.FREEZE, f"{_TABLE}/freeze", (), lambda at: Freeze(at["game_id"])),
        Form(Act.UNFREEZE, f"{_TABLE}/unfreeze", (), lambda at: Unfreeze(at["game_id"])),
        Form(Act.CLOSE, f"{_TABLE}/close", (), lambda at: Close(at["game_id"])),
        Form(
            Act.REWIND,
            f"{_TABLE}/rewind",
            ("turn",),
            lambda at: Rewind(at["game_id"], site.whole_number("turn", _("the number of a turn"))),
        ),
        Form(
            Act.SUBSTITUTE,
            f"{_TABLE}/substitute",
            ("seat", "address_or_bot"),
            lambda at: Substitute(at["game_id"], _seat(), field("address")),
        ),
        Form(Act.SUBSTITUTE, f"{_TABLE}/offer", ("seat",), lambda at: Offer(at["game_id"], _seat())),
        Form(
            Act.CORRECT,
            f"{_TABLE}/correct",
            ("what", "to", "seat_or_none"),
            lambda at: Correct(at["game_id"], field("what"), field("to"), _seat_or_all()),
        ),
        Form(
            Act.REDACT,
            f"{_TABLE}/redact",
            ("line",),
            lambda at: Redact(at["game_id"], site.whole_number("line", _("the number of a line"))),
        ),
        Form(
            Act.RESEND,
            f"{_TABLE}/resend",
            ("mail",),
            lambda at: Resend(at["game_id"], site.whole_number("mail", _("the number of a mail"))),
        ),
        Form(
            Act.RETRY_DEADLINE, f"{_TABLE}/retry-deadline", ("seat",), lambda at: RetryDeadline(at["game_id"], _seat())
        ),
        Form(
            Act.ADDRESS, f"{_PERSON}/address", ("address",), lambda at: ChangeAddress(at["person_id"], field("address"))
        ),
        Form(Act.MERGE, f"{_PERSON}/merge", ("other",), lambda at: Merge(at["person_id"], _other_person())),
        Form(Act.BAN, f"{_PERSON}/ban", ("until",), lambda at: Ban(at["person_id"], _day_or_never())),
        Form(Act.UNBAN, f"{_PERSON}/unban", (), lambda at: Unban(at["person_id"])),
        Form(Act.RELEASE, f"{_PERSON}/release", (), lambda at: Release(at["person_id"])),
        Form(Act.EXPORT, f"{_PERSON}/export", (), lambda at: SendExport(at["person_id"])),
        Form(Act.DELETE, f"{_PERSON}/delete", (), lambda at: Delete(at["person_id"])),
        Form(
            Act.OUTAGE,
            "/desk/outage",
            ("start", "end"),
            lambda _ids: DeclareOutage(_moment("start", _("a moment")), _moment("end", _("a moment"))),
        ),
        Form(
            Act.RETRY,
            "/desk/resend-mail",
            ("mail",),
            lambda _ids: ResendOfNoTable(site.whole_number("mail", _("the number of a mail"))),
        ),
        Form(
            Act.RETRY,
            "/desk/retry-mail",
            ("mail",),
            lambda _ids: RetryIncoming(site.whole_number("mail", _("the number of a mail"))),
        ),
    )
}
"""All forms, by their names."""


def _register(form: Form) -> None:
    def show(**values: int) -> Response:
        return _page(form, values)

    def send(**values: int) -> Response:
        return _answer(form, values)

    pages.add_url_rule(form.path, form.name, permissions.needs(form.act)(show), methods=["GET"])
    pages.add_url_rule(form.path, f"{form.name}_sent", permissions.needs(form.act)(send), methods=["POST"])


for _form in FORMS.values():
    _register(_form)


def _answer(form: Form, values: Values) -> Response:
    # Read before the act: organisers who take a seat may not see the table afterwards, and a deleted person has no name.
    about = _about(values)
    try:
        act, reason = form.read(values), field("reason")
        if field("step") == "do":
            call_id = site.whole_number("call", _("the number of a call")) if field("call") else None
            outcome = server().run(perform, permissions.actor(), act, reason, field("form") or None, call_id)
            return _done(form, values, about, outcome)
        outcome = server().dry_run(perform, permissions.actor(), act, reason)
    except Refusal as refused:
        return _page(form, values, refused=refused)
    typed = [pair for pair in request.form.items() if pair[0] not in ("step", "form")]
    return site.page(
        "desk/preview.html",
        form=form,
        **about,
        outcome=outcome,
        typed=typed,
        reason=reason,
        key=permissions.form_key(),
        action=request.path,
        back=_back(values),
    )


def _page(form: Form, values: Values, refused: Refusal | None = None) -> Response:
    """The form, filled in with what was typed, or from the query of its address."""
    given = request.form if request.method == "POST" else request.args
    return site.page(
        "desk/act.html",
        status_of(refused),
        form=form,
        **_about(values),
        given=given,
        corrects=WHAT,
        refused=refused,
        action=request.path,
        back=_back(values),
    )


def _done(form: Form, values: Values, about: Mapping[str, Any], outcome: Outcome) -> Response:
    undo = None if outcome.undo is None else _undo(outcome.undo)
    return site.page(
        "desk/done.html", form=form, **about, outcome=outcome, undo=undo, back=_back(values), reason=field("reason")
    )


def _undo(act: DeskAct) -> tuple[str, list[tuple[str, str]]]:
    """The form that would undo an act: its address and its fields."""
    name = next(name for name, form in FORMS.items() if form.act is act.kind and name not in ("offer", "resend-mail"))
    at = {key: value for key in ("game_id", "person_id") if (value := getattr(act, key)) is not None}
    fields = [(key, "" if value is None else str(value)) for key, value in asdict(act).items() if key not in at]  # type: ignore[call-overload]  # all are dataclasses
    fields = [(key, str(int(value) + 1) if key == "seat" and value else value) for key, value in fields]
    return url_for(f"desk_acts.{name}_sent", **at), fields


def _about(values: Values) -> dict[str, Any]:
    """The table or the person that an act is about, for its page."""
    return {
        "found": server().read(table.table, permissions.actor(), values["game_id"]) if "game_id" in values else None,
        "person": server().read(addresses.read, values["person_id"]) if "person_id" in values else None,
    }


def _back(values: Values) -> str:
    """The page that an act belongs to."""
    if "game_id" in values:
        return url_for("desk_table.show", game_id=values["game_id"])
    if "person_id" in values:
        return url_for("desk_people.show_person", person_id=values["person_id"])
    return url_for("desk_audit.show")
