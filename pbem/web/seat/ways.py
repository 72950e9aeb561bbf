"""Whole choices in one list, for a decision whose blanks limit each other."""

from collections.abc import Sequence

from engine.decisions import Choice, Decision
from engine.grammar import write
from engine.tell import Teller, Text
from pbem.i18n.speech import capital, gettext as _, translate
from pbem.web.seat.board import Thing
from pbem.web.seat.forms import Alternative, Field, Fields, Form, fields_of


def list_of_ways(decision: Decision, ways: Sequence[tuple[Choice, Text]], teller: Teller, values: Fields) -> Form:
    """One act with a list of `ways`, choices with their words; what is filled in is sent as a choice in writing."""
    act, label = decision.acts[0], _("Cards")
    alternatives = tuple(
        Alternative(write(decision, choice), Thing(capital(teller(words))), _is_filled_in(decision, choice, values))
        for choice, words in ways
    )
    field = Field("list", "choice", label, "", "", alternatives, called=label)
    return Form(0, capital(translate(act.label or act.verb)), "", (field,), "")


def _is_filled_in(decision: Decision, choice: Choice, values: Fields) -> bool:
    filled = set(fields_of(decision, choice).items(multi=True))
    return values.get("choice") == write(decision, choice) or filled <= set(values.items(multi=True))
