"""People at the desk: found by name or by their whole address, and one of them with everything that helps to help them."""

from flask import Blueprint, Response, request

from engine import game
from pbem.domain.acts import Act
from pbem.domain.phrase import from_now
from pbem.service import profile
from pbem.web import site
from pbem.web.desk import door
from pbem.web.site import house

pages = Blueprint("desk_people", __name__)


@pages.get("/desk/people")
@door.needs(Act.PEOPLE)
def show() -> Response:
    """People whose name has the words of `?q=`."""
    text = request.args.get("q", "")[:100].strip()
    found = profile.named(house(), text, request.args.get("after", ""))
    return site.page("desk/people.html", found=found, text=text)


@pages.get("/desk/people/<int:person_id>")
@door.needs(Act.PERSON)
def one(person_id: int) -> Response:
    """One person."""
    found = profile.of(house(), person_id)
    titles = {name: game.load(name).title for name in game.names()}
    return site.page("desk/person.html", found=found, person=found.person, titles=titles, from_now=from_now)
