"""Acts on many tables at once: a preview lists what would happen, and its button begins a job, whose page shows progress."""

from typing import Any

from flask import Blueprint, Response, request

from pbem.domain.acts import Act
from pbem.domain.errors import Readers, Refusal, read_fields
from pbem.domain.user_text import parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.desk import jobs, marks
from pbem.service.desk.jobs import ACTS, LISTED, What
from pbem.web import site
from pbem.web.desk import permissions
from pbem.web.desk.overview import live
from pbem.web.site import field, server

pages = Blueprint("desk_jobs", __name__)


@pages.get("/desk/jobs/<int:job_id>")
@permissions.needs(Act.OVERVIEW)
def job(job_id: int) -> Response:
    return _job(job_id)


def _job(job_id: int, refused: Refusal | None = None) -> Response:
    found = server().read(jobs.read, permissions.actor(), job_id)
    mark = server().read(marks.mark, {"job_id": job_id})
    return live(site.page("desk/job.html", job=found, mark=mark, refused=refused))


def _form(what: What, refused: Refusal | None = None) -> Response:
    return site.page("desk/bulk.html", what=what, refused=refused, given=request.form)


def _facts(what: What) -> dict[str, Any]:
    """What the job is given, from the fields. Raises BadInput, for the reason too."""

    def read() -> dict[str, Any]:
        days = site.whole_number("days", _("a number of days")) if what is What.RESEND else 0
        return jobs.facts_of(server(), what, field("text"), days)

    readers: Readers[Any] = {"text": read, "reason": lambda: parse_reason(field("reason"))}
    facts: dict[str, Any] = read_fields(readers)["text"]
    return facts


def _answer(what: What) -> Response:
    """Show what would happen, or begin the job."""
    try:
        facts = _facts(what)
        if field("step") == "do":
            job_id = server().run(jobs.begin, permissions.actor(), what, facts, field("reason"), field("form"))
            return site.go("desk_jobs.job", job_id=job_id)
        plan = server().read(jobs.plan, permissions.actor(), what, facts)
    except Refusal as refused:
        return _form(what, refused)
    typed = [pair for pair in request.form.items() if pair[0] not in ("step", "form")]
    return site.page("desk/bulk_plan.html", plan=plan, typed=typed, key=permissions.form_key(), most=LISTED)


@site.shows_refusals_on(_job)
def _stop(job_id: int) -> Response:
    server().read(marks.must_fit, field("of"), {"job_id": job_id})
    server().run(jobs.stop, permissions.actor(), job_id, field("reason"))
    return site.go("desk_jobs.job", job_id=job_id)


def _register(what: What) -> None:
    needs = permissions.needs(ACTS[what])
    pages.add_url_rule(f"/desk/all/{what}", what, needs(lambda: _form(what)), methods=["GET"])
    pages.add_url_rule(f"/desk/all/{what}", f"{what}_sent", needs(lambda: _answer(what)), methods=["POST"])
    stopping = needs(_stop)
    pages.add_url_rule(f"/desk/all/{what}/<int:job_id>/stop", f"{what}_stopped", stopping, methods=["POST"])


for _what in What:
    _register(_what)
