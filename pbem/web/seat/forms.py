"""A decision as a form, and a filled-in form as a choice.

There is one form with a button for each act. Its fields come from the blanks of the acts: a number in a range, one of
several things, some of them, all of them in an order, a total to divide. Acts with the same blank share its field. A field
names a thing by its place among those shown, so equal things can be shown side by side. What comes back is checked against
the same decision, and a refusal says why.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Final

from werkzeug.datastructures import MultiDict

from engine.board import Face
from engine.decisions import Act, Amount, Blank, Choice, Decision, OneOf, Ranking, Selection, Some, Split, Thing, Value
from engine.grammar import write
from engine.records import replace
from engine.tell import Teller
from pbem.domain.errors import BadInput, Stale
from pbem.domain.quick_choices import quick, within_means
from pbem.i18n.speech import capital, gettext as _, render, translate
from pbem.web.seat import board
from pbem.web.seat.fields import EMPTY, Alternative, Display, Field, Fields, Form
from pbem.web.site import read_number

MOST_BUTTONS: Final = 16
"""Things or numbers shown side by side; where there are more, they are in a list that opens, or typed."""

_TO_A_PLAYER: Final = re.compile(r"(?<=\{\} )to ([0-9]+)\b")
"""A player in the phrase of an act, by the number of the seat: `give {} to 2`. Other numbers, as in `up to 14`, stay numbers."""


def forms_of(
    decision: Decision,
    teller: Teller,
    faces: Mapping[str, Face] | None = None,
    fields: Fields = EMPTY,
    costly: Callable[[Choice], bool] = lambda choice: False,
) -> list[Form]:
    """All acts of a decision, those with something to fill in first.

    `faces` is what is on the table, by word; a number that is `costly` gets no button of its own.
    """
    display, shown = Display(teller, faces or {}, fields), _shown(decision)
    forms = [_form(decision, number, shown[number], display, costly) for number in range(len(decision.acts))]
    return sorted(forms, key=lambda form: not form.fields)


def choosable(forms: Sequence[Form]) -> tuple[board.Choosable, ...]:
    """The fields whose things may be chosen on the board, where they are. A sentence with several fields stays together."""
    fields = {
        field.name: field
        for form in forms
        for field in form.fields
        if field.kind in ("buttons", "boxes", "list") and not (form.is_sentence and len(form.fields) > 1)
    }
    return tuple(
        board.Choosable(name, tuple((each.thing.word, _pick(field, each)) for each in field.alternatives))
        for name, field in fields.items()
        if all(each.thing.id for each in field.alternatives)
    )


def _pick(field: Field, each: Alternative) -> board.Pick:
    return board.Pick(field.name, each.value, field.kind == "boxes", each.chosen)


def choice_of(decision: Decision, fields: Fields) -> Choice:
    """The choice that a filled-in form means. Raises BadInput or Stale where the decision has no such choice."""
    number = read_number(fields.get("act", ""), _("an act number"))
    if number >= len(decision.acts):
        raise Stale(_("This is no longer possible."))
    act = decision.acts[number]
    if act.count() == 1:
        return next(act.choices())
    values = tuple(
        _value(blank, shown, name, fields)
        for blank, (name, shown) in zip(act.blanks, _shown(decision)[number], strict=True)
    )
    choice = Choice(act.verb, values)
    if choice not in act:
        raise BadInput(_("These do not go together."))
    return choice


def things_of(decision: Decision, choice: Choice, teller: Teller, faces: Mapping[str, Face]) -> tuple[board.Thing, ...]:
    """The things that a choice names, as they look on the table."""
    display = Display(teller, faces)
    act = next(act for act in decision.acts if choice in act)
    return tuple(
        display.thing(next(thing for thing in blank.things if thing.value == each))
        for blank, value in zip(act.blanks, choice.values, strict=True)
        if isinstance(blank, OneOf | Some | Ranking)
        for each in (value if isinstance(value, tuple) else (value,))
    )


def fields_of(decision: Decision, choice: Choice) -> Fields:
    """The fields of the form as they are filled in for this choice."""
    number = next(number for number, act in enumerate(decision.acts) if choice in act)
    shown = _shown(decision)[number]
    filled = list(zip(shown, choice.values, strict=True))[_in_title(shown) :]
    pairs = (pair for (name, blank), value in filled for pair in _pairs(blank, name, value))
    return MultiDict([("act", str(number)), *pairs])


def _shown(decision: Decision) -> list[tuple[tuple[str, Blank], ...]]:
    """For each act the names of its fields, with the blanks that they show. Equal blanks of different acts share a field."""
    known: list[tuple[Blank, int]] = []

    def name(blank: Blank, many: int) -> str:
        # Looked up by comparing: most blanks are the very same object, and hashing one means hashing all its things.
        if (blank, many) not in known:
            known.append((blank, many))
        return f"b{known.index((blank, many))}"

    shown = [tuple(_widest(blank, decision) for blank in act.blanks) for act in decision.acts]
    # Equal blanks of one act are different fields.
    return [
        tuple((name(blank, blanks[:place].count(blank)), blank) for place, blank in enumerate(blanks))
        for blanks in shown
    ]


def _widest(blank: Blank, decision: Decision) -> Blank:
    """The blank itself, or one of another act that is called so too, and shows all of its things and more."""
    if not isinstance(blank, OneOf):
        return blank
    needed = blank.things
    alike = (each for act in decision.acts for each in act.blanks if each.name == blank.name)
    others = (each for each in alike if isinstance(each, OneOf))
    fitting = (each for each in others if each.things == needed or Counter(needed) <= Counter(each.things))
    return max(fitting, key=lambda each: len(each.things))


def _pairs(blank: Blank, name: str, value: Value) -> list[tuple[str, str]]:
    """The names and values of the fields of a blank that holds this value."""
    if isinstance(blank, Amount):
        return [(name, str(value))]
    values = value if isinstance(value, tuple) else (value,)
    if isinstance(blank, Split):
        return [(f"{name}.{place}", str(part)) for place, part in enumerate(values)]
    left: list[Value | None] = [thing.value for thing in blank.things]
    places = []
    for each in values:
        places.append(left.index(each))
        # Equal things may be shown twice, and each place is used once.
        left[places[-1]] = None
    if isinstance(blank, Ranking):
        return [(f"{name}.{rank}", str(place)) for rank, place in enumerate(places)]
    return [(name, str(place)) for place in places]


def _form(
    decision: Decision,
    number: int,
    shown: tuple[tuple[str, Blank], ...],
    display: Display,
    costly: Callable[[Choice], bool],
) -> Form:
    act = decision.acts[number]
    note = display.teller(act.note) if act.note else ""
    if act.count() == 1:
        only = next(act.choices())
        title = capital(translate(act.label or write(decision, only)))
        named = tuple(display.thing(blank.things[0]) for blank in act.blanks if isinstance(blank, OneOf))
        return Form(number, title, note, (), "", named=named)
    pieces = _pieces(act, display.teller)
    in_title = _in_title(shown)
    title = _title(act, [blank for _name, blank in shown[:in_title]], pieces, display)
    in_sentence = bool(act.phrase) and len(act.blanks) - in_title > 1
    fields = tuple(
        _field(blank, name, pieces[place], display, in_sentence=in_sentence)
        for place, (name, blank) in enumerate(shown)
        if place >= in_title
    )
    if (most := within_means(act, costly)) is not None:
        fields = tuple(replace(field, most=most) for field in fields)
    buttons = tuple(
        (str(each.choice.number()), capital(translate(written)), written, each.why)
        for each, written in ((each, write(decision, each.choice)) for each in quick(act, costly))
    )
    needed = () if len(buttons) == act.count() else _without_repetition(fields)
    named = tuple(display.thing(blank.things[0]) for _name, blank in shown[:in_title] if isinstance(blank, OneOf))
    return Form(number, title, note, needed, pieces[-1], buttons, named)


def _title(act: Act, only: Sequence[Blank], pieces: Sequence[str], display: Display) -> str:
    """The words of the act's button: its label or verb, and the things that leave no choice."""
    words = [capital(translate(act.label or act.verb))]
    for blank, before in zip(only, pieces, strict=False):
        assert isinstance(blank, OneOf)
        words += [before, display.thing(blank.things[0]).word]
    return " ".join(word for word in words if word)


def _in_title(shown: tuple[tuple[str, Blank], ...]) -> int:
    """How many of the first blanks have only one thing each. They need no field: the button says them."""
    return sum(1 for _ in takewhile(_leaves_no_choice, (blank for _name, blank in shown)))


def _leaves_no_choice(blank: Blank) -> bool:
    return isinstance(blank, OneOf) and len(blank.things) == 1


def _without_repetition(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields; where several have the same reason, only the last of them keeps it."""
    return tuple(
        replace(field, why="") if any(later.why == field.why for later in fields[place + 1 :]) else field
        for place, field in enumerate(fields)
    )


def _pieces(act: Act, teller: Teller) -> list[str]:
    """The words of the act's phrase before each blank and after the last, without its verb, with players for the numbers."""
    if not act.phrase:
        return [""] * (len(act.blanks) + 1)
    # The verb is the title of the form.
    phrase = act.phrase.removeprefix(act.verb).strip()
    named = _TO_A_PLAYER.sub(lambda to: f"to {teller.name(int(to[1]) - 1)}", translate(phrase))
    return [piece.strip(" ,") for piece in named.split("{}")]


def _field(blank: Blank, name: str, before: str, display: Display, *, in_sentence: bool) -> Field:
    field = _field_of_kind(blank, name, before, display, in_sentence=in_sentence)
    return replace(field, called=translate(blank.name))


def _field_of_kind(blank: Blank, name: str, before: str, display: Display, *, in_sentence: bool) -> Field:
    why = display.teller(blank.why) if blank.why is not None else ""
    label = capital(translate(blank.name))
    if isinstance(blank, Amount):
        return _number_field(blank, name, label, before, why, display.values.get(name, ""))
    alternatives = display.offered(name, blank.things)
    if isinstance(blank, Some):
        return Field("boxes", name, label, before, why, alternatives, low=blank.many, many=blank.many)
    each = tuple(display.values.get(f"{name}.{place}", "") for place in range(len(alternatives)))
    if isinstance(blank, Ranking):
        return Field("order", name, label, before, why, alternatives, many=len(alternatives), values=each)
    if isinstance(blank, Split):
        return Field("split", name, label, before, why, alternatives, high=blank.total, values=each)
    # Several blanks of one phrase read as a sentence only if each takes no more than a line.
    kind = "list" if in_sentence or len(alternatives) > MOST_BUTTONS else "buttons"
    return Field(kind, name, label, before, why, alternatives)


def _number_field(blank: Amount, name: str, label: str, before: str, why: str, value: str) -> Field:
    low = next(number for number in range(blank.low, blank.high + 1) if number in blank)
    high = next(number for number in range(blank.high, blank.low - 1, -1) if number in blank)
    return Field("number", name, label, before, why, low=low, high=high, most=high, values=(value,))


def _value(blank: Blank, shown: Blank, name: str, fields: Fields) -> Value:
    """The value that the fields of a blank mean, which show the things of `shown`. Raises BadInput."""
    if isinstance(blank, Amount):
        if not (given := fields.get(name, "").strip()):
            raise BadInput(_("Choose a number of %(things)s first.", things=translate(blank.name)))
        number = read_number(given, _("a number of %(things)s", things=blank.name))
        return number if number in blank else _misfit(blank, str(number))
    if isinstance(blank, OneOf):
        assert isinstance(shown, OneOf)
        if _leaves_no_choice(shown):
            return shown.things[0].value
        thing = shown.things[_place(shown.things, fields.get(name, ""), blank.name)]
        return thing.value if thing.value in blank else _misfit(blank, thing.word)
    if isinstance(blank, Some):
        return _some(blank, fields.getlist(name))
    if isinstance(blank, Ranking):
        return _in_order(blank, [fields.get(f"{name}.{place}", "") for place in range(len(blank.things))])
    parts = tuple(
        read_number(fields.get(f"{name}.{place}", "").strip() or "0", _("a number of %(things)s", things=thing.word))
        for place, thing in enumerate(blank.things)
    )
    if parts not in blank:
        raise BadInput(_("You've given out %(sum)s, but there are %(total)s.", sum=sum(parts), total=blank.total))
    return parts


def _some(blank: Some, values: list[str]) -> Value:
    places = places_of(blank, values)
    if len(places) != blank.many:
        raise BadInput(_("You've chosen %(many)s. Choose %(many_2)s.", many=len(places), many_2=blank.many))
    value = tuple(blank.things[place].value for place in places)
    return value if value in blank else _misfit(blank, ", ".join(blank.things[place].word for place in places))


def places_of(blank: Some | Selection, values: list[str]) -> list[int]:
    """The places of the chosen things among all that are shown. Raises BadInput."""
    return sorted({_place(blank.things, value, blank.name) for value in values})


def _in_order(blank: Ranking, values: list[str]) -> Value:
    places = [_place(blank.things, value, blank.name) for value in values]
    if len(set(places)) != len(blank.things):
        raise BadInput(_("Give each one a different position."))
    return tuple(blank.things[place].value for place in places)


def _place(things: tuple[Thing, ...], value: str, called: str) -> int:
    """The place of a chosen thing in a field that is called so. Raises BadInput."""
    if not value:
        raise BadInput(_("Choose something for “%(called)s”.", called=called))
    place = read_number(value, _("one of the choices for “%(called)s”", called=called))
    if place >= len(things):
        raise BadInput(_("Choose one of those shown for “%(called)s”.", called=called))
    return place


def _misfit(blank: Blank, given: str) -> Value:
    if isinstance(blank, Amount) and given.isdigit() and not blank.low <= int(given) <= blank.high:
        low = int(given) < blank.low
        limit = _("at least %(number)s", number=blank.low) if low else _("at most %(number)s", number=blank.high)
        raise BadInput(
            _("%(given)s isn't possible: %(limit)s.", given=given, limit=limit),
            why=render(blank.why) if blank.why else "",
        )
    raise BadInput(_("You can't choose %(given)s here.", given=given), why=render(blank.why) if blank.why else "")
