"""The forms of all acts of moderation: the form, a preview of what the act would do, and what it did.

Each act has one address. Its form leads to the preview, for which the act is done and rolled back. The preview has a second
button, whose form has a key that works once. Nothing typed is lost: a refusal shows it again, and so does signing in.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, request, url_for

from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Refusal, quoted, read_fields
from pbem.domain.localtime import parse_moment
from pbem.domain.user_text import parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.desk import marks, overview, table
from pbem.service.desk.acts.clocks import (
    Close,
    DeclareOutage,
    Extend,
    Freeze,
    Pause,
    PauseMail,
    Resume,
    ResumeMail,
    Unfreeze,
)
from pbem.service.desk.acts.correct import WHAT, Correct, Redact
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable, ResendTurn, RetryDeadline, RetryIncoming
from pbem.service.desk.acts.people import Ban, ChangeAddress, Delete, Merge, NewLinks, Release, SendExport, Unban
from pbem.service.desk.acts.perform import DeskAct, Outcome, perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import NewSeatLinks, Offer, Substitute
from pbem.service.people import addresses
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.site import field, server, whole_number

pages = Blueprint("desk_acts", __name__)

Values = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its address, the act that it makes, and the fields with the data of the act, beside the reason."""

    path: str
    make: type[DeskAct]
    fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def act(self) -> Act:
        return self.make.kind

    def read(self, values: Values) -> DeskAct:
        """The act, from the numbers in the address and the fields. Raises BadInput, for the reason too."""
        readers = {name: _READERS[name] for name in self.fields} | {"reason": lambda: parse_reason(field("reason"))}
        given = read_fields(readers)
        return self.make(*values.values(), *(given[name] for name in self.fields))


def _seat() -> int:
    return whole_number("seat", _("a seat number")) - 1


def _seat_or_all() -> int | None:
    return None if field("seat") in ("", "all", "none") else _seat()


def _other_person() -> int:
    """The number of another person, typed as a number or as their address."""
    if "@" not in field("other"):
        return whole_number("other", _("a person number"))
    person_id = server().read(overview.person_with, field("other"))
    if person_id is None:
        raise BadInput(_("Nobody here uses this address."), remedy=_("Check its spelling."))
    return person_id


def _moment(name: str) -> datetime:
    return parse_moment(field(name), ZoneInfo("UTC"))


def _day_or_never() -> date | None:
    try:
        return date.fromisoformat(field("until")) if field("until") else None
    except ValueError:
        raise BadInput(
            _("%(field)s isn't a date.", field=quoted(field("until"))), remedy=_("Use the format 2026-12-31.")
        ) from None


_READERS: Final[Mapping[str, Callable[[], object]]] = {
    "address": lambda: field("address"),
    "address_or_bot": lambda: field("address"),
    "end": lambda: _moment("end"),
    "former": lambda: field("former"),
    "line": lambda: whole_number("line", _("a line number")),
    "mail": lambda: whole_number("mail", _("an email number")),
    "more": lambda: field("more"),
    "other": _other_person,
    "seat": _seat,
    "seat_or_all": _seat_or_all,
    "seat_or_none": _seat_or_all,
    "start": lambda: _moment("start"),
    "to": lambda: field("to"),
    "turn": lambda: whole_number("turn", _("a turn number")),
    "until": _day_or_never,
    "what": lambda: field("what"),
}
"""The functions that read a field, by its name in the template."""

_TABLE: Final = "/desk/tables/<int:game_id>"
_PERSON: Final = "/desk/people/<int:person_id>"

FORMS: Final = {
    form.name: form
    for form in (
        Form(f"{_TABLE}/pause", Pause),
        Form(f"{_TABLE}/resume", Resume),
        Form(f"{_TABLE}/extend", Extend, ("more", "seat_or_all")),
        Form(f"{_TABLE}/freeze", Freeze),
        Form(f"{_TABLE}/unfreeze", Unfreeze),
        Form(f"{_TABLE}/close", Close),
        Form(f"{_TABLE}/rewind", Rewind, ("turn",)),
        Form(f"{_TABLE}/substitute", Substitute, ("seat", "address_or_bot")),
        Form(f"{_TABLE}/offer", Offer, ("seat",)),
        Form(f"{_TABLE}/seat-links", NewSeatLinks, ("seat",)),
        Form(f"{_TABLE}/correct", Correct, ("what", "to", "seat_or_none", "former")),
        Form(f"{_TABLE}/redact", Redact, ("line",)),
        Form(f"{_TABLE}/resend", Resend, ("mail",)),
        Form(f"{_TABLE}/resend-turn", ResendTurn, ("seat",)),
        Form(f"{_TABLE}/retry-deadline", RetryDeadline, ("seat",)),
        Form(f"{_PERSON}/address", ChangeAddress, ("address",)),
        Form(f"{_PERSON}/new-links", NewLinks),
        Form(f"{_PERSON}/merge", Merge, ("other",)),
        Form(f"{_PERSON}/ban", Ban, ("until",)),
        Form(f"{_PERSON}/unban", Unban),
        Form(f"{_PERSON}/release", Release),
        Form(f"{_PERSON}/export", SendExport),
        Form(f"{_PERSON}/delete", Delete),
        Form("/desk/outage", DeclareOutage, ("start", "end")),
        Form("/desk/pause-mail", PauseMail),
        Form("/desk/resume-mail", ResumeMail),
        Form("/desk/resend-mail", ResendOfNoTable, ("mail",)),
        Form("/desk/retry-mail", RetryIncoming, ("mail",)),
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
        call_id = whole_number("call", _("a message number")) if field("call") else None
        about_rows = {**vars(act), "call_id": call_id}
        if field("step") == "do":
            server().read(marks.must_fit, field("of"), about_rows)
            outcome = server().run(perform, permissions.actor(), act, reason, field("form") or None, call_id)
            return _done(form, values, about, outcome)
        outcome = server().dry_run(perform, permissions.actor(), act, reason)
        mark = server().read(marks.mark, about_rows)
    except Refusal as refused:
        return _page(form, values, refused=refused)
    typed = [pair for pair in request.form.items() if pair[0] not in ("step", "form", "of")]
    return site.page(
        "desk/preview.html",
        form=form,
        **about,
        outcome=outcome,
        typed=typed,
        reason=reason,
        key=permissions.form_key(),
        mark=mark,
        action=request.path,
        back=_back(values),
    )


def _page(form: Form, values: Values, refused: Refusal | None = None) -> Response:
    """The form, filled in with what was typed, or from the query of its address."""
    given = request.form if request.method == "POST" else request.args
    return site.page(
        "desk/act.html",
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
    if "game_id" in values:
        return url_for("desk_table.show", game_id=values["game_id"])
    if "person_id" in values:
        return url_for("desk_people.show_person", person_id=values["person_id"])
    return url_for("desk_audit.show")
