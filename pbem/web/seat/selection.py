"""A decision whose blanks limit each other, as one field in which the things that fill them are chosen together."""

from collections import Counter
from collections.abc import Mapping

from werkzeug.datastructures import MultiDict

from engine.board import Face
from engine.decisions import Choice, Decision, Refused, Selection
from engine.tell import Teller
from pbem.domain.errors import BadInput
from pbem.i18n.speech import capital, translate
from pbem.service.play.seat_view import SeatView
from pbem.web.seat.fields import Display, Field, Fields, Form
from pbem.web.seat.forms import places_of

_NAME = "b0"


def form_of_selection(
    decision: Decision, selection: Selection, teller: Teller, faces: Mapping[str, Face], values: Fields
) -> Form:
    """The form of such a decision, with what is filled in."""
    (act,) = decision.acts
    called = translate(selection.name)
    things = Display(teller, faces, values).offered(_NAME, selection.things)
    field = Field(
        "boxes", _NAME, capital(called), "", "", things, low=selection.fewest, many=selection.most, called=called
    )
    return Form(0, capital(translate(act.label or act.verb)), "", (field,), "")


def choice_of_selection(seat: SeatView, decision: Decision, selection: Selection, fields: Fields) -> Choice:
    """The choice that a filled-in form means. Raises BadInput if its things make none."""
    selected = [str(selection.things[place].value) for place in places_of(selection, fields.getlist(_NAME))]
    try:
        return seat.rules.choice_of(seat.view, decision, selected)
    except Refused as refused:
        raise BadInput(seat.teller(refused.text)) from refused


def fields_of_selection(selection: Selection, choice: Choice) -> Fields:
    """The form as it is filled in for this choice."""
    left = Counter(choice.every_text())
    places = []
    for place, thing in enumerate(selection.things):
        if left[str(thing.value)]:
            left[str(thing.value)] -= 1
            places.append(str(place))
    return MultiDict([("act", "0"), *((_NAME, place) for place in places)])
