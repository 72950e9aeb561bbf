"""People at the desk: a search by name, and one person with everything that an organiser needs to help them."""

from flask import Blueprint, Response, request, url_for

from engine import registry
from pbem.domain.acts import Act
from pbem.domain.errors import Refusal
from pbem.domain.moments import relative_text
from pbem.i18n.speech import gettext as _
from pbem.service.desk import email, marks, person
from pbem.web import site
from pbem.web.desk import emails, permissions
from pbem.web.site import field, server

pages = Blueprint("desk_people", __name__)


def _page(person_id: int, refused: Refusal | None = None) -> Response:
    found = server().read(person.profile, permissions.actor(), person_id)
    return site.page(
        "desk/person.html",
        found=found,
        person=found.person,
        mark=marks.of_person(found.person),
        titles={name: registry.load(name).title for name in registry.names()},
        from_now=relative_text,
        refused=refused,
        given=request.form,
    )


@pages.get("/desk/people")
@permissions.needs(Act.PEOPLE)
def show() -> Response:
    """People whose names match the words of `?q=`."""
    text = request.args.get("q", "")[:100].strip()
    found = server().read(person.search_people, text, request.args.get("after", ""))
    return site.page("desk/people.html", found=found, text=text)


@pages.get("/desk/people/<int:person_id>")
@permissions.needs(Act.PERSON)
def show_person(person_id: int) -> Response:
    return _page(person_id)


@pages.post("/desk/people/<int:person_id>/mail")
@permissions.needs(Act.READ_MAIL)
@site.shows_refusals_on(_page)
def read_mail(person_id: int) -> Response:
    """An email to a person as they have it. The look is recorded."""
    number = site.whole_number("mail", _("an email number"))
    server().read(marks.must_fit, field("of"), {"person_id": person_id})
    email_view = server().run(email.read, permissions.actor(), number, field("reason"), person_id=person_id)
    return emails.opened(email_view, url_for("desk_people.show_person", person_id=person_id))
