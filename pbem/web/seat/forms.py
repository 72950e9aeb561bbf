"""A decision as forms, and a filled-in form as a choice.

There is one form for each act. Its fields come from the act's blanks: a number with its range, a choice of one, some of
several, an order of all, a total dealt out. Things are named by their place among those shown, so equal ones can stand
side by side. What comes back is checked against the same decision, and what does not fit says why; the form is shown
again with everything that was filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from werkzeug.datastructures import ImmutableMultiDict, MultiDict

from engine.board import Face
from engine.decisions import Act, Amount, Blank, Choice, Decision, OneOf, Ranking, Some, Split, Thing, Value
from engine.grammar import write
from engine.tell import Teller
from pbem.domain.errors import BadInput, Stale
from pbem.i18n.speech import gettext as _
from pbem.i18n.speech import told, translated
from pbem.web.phrases import capital
from pbem.web.seat import board
from pbem.web.site import read_number

MOST_LISTED: Final = 60
"""Numbers that are listed one by one where not every number of a range fits."""

MOST_BUTTONS: Final = 16
"""Things, or numbers, that are shown side by side; more are in a list that opens, or typed."""

Given = MultiDict[str, str]
"""What stands in the fields of a form: what somebody filled in, or what a choice means."""

EMPTY: Final[Given] = ImmutableMultiDict()


@dataclass(frozen=True, slots=True)
class Chance:
    """One of the things that a field offers, and how it looks if it lies on the table."""

    value: str
    thing: board.Thing
    given: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One blank of an act as a field, with the words of the act's phrase that stand before it.

    `kind` is number, numbers (side by side), list, buttons, boxes, order or split; `why` says why there is no other
    choice; `given` is what stands in it: one value, or one for each place or thing.
    """

    kind: str
    name: str
    label: str
    before: str
    why: str
    chances: tuple[Chance, ...] = ()
    low: int = 0
    high: int = 0
    many: int = 0
    given: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Form:
    """One act. An act with a single possible choice is a button, and `fixed` is what stands in its fields."""

    act: int
    title: str
    note: str
    fields: tuple[Field, ...]
    fixed: tuple[tuple[str, str], ...]
    after: str


def forms_of(
    decision: Decision, teller: Teller, faces: Mapping[str, Face] | None = None, given: Given = EMPTY
) -> list[Form]:
    """All acts of a decision, those with something to fill in first. `faces` are what lies on the table, by word."""
    forms = [
        _form(decision, number, _Looks(teller, faces or {}), given if given.get("act") == str(number) else EMPTY)
        for number in range(len(decision.acts))
    ]
    return sorted(forms, key=lambda form: not form.fields)


def choice_of(decision: Decision, given: Given) -> Choice:
    """The choice that a filled-in form means; refused if it is none of the decision's."""
    number = read_number(given.get("act", ""), _("the number of an act"))
    if number >= len(decision.acts):
        raise Stale(_("What this form offered cannot be done now."))
    act = decision.acts[number]
    values = tuple(_value(blank, f"b{place}", given) for place, blank in enumerate(act.blanks))
    choice = Choice(act.verb, values)
    if choice not in act:
        raise BadInput(_("These do not go together."))
    return choice


def chosen(decision: Decision, choice: Choice, teller: Teller, faces: Mapping[str, Face]) -> tuple[board.Thing, ...]:
    """The things that a choice names, as they look on the table."""
    looks = _Looks(teller, faces)
    act = next(act for act in decision.acts if choice in act)
    return tuple(
        looks.thing(next(thing for thing in blank.things if thing.value == each))
        for blank, value in zip(act.blanks, choice.values, strict=True)
        if isinstance(blank, OneOf | Some | Ranking)
        for each in (value if isinstance(value, tuple) else (value,))
    )


def given_of(decision: Decision, choice: Choice) -> Given:
    """How a form is filled in that means this choice."""
    number, act = next((number, act) for number, act in enumerate(decision.acts) if choice in act)
    return MultiDict([("act", str(number)), *_filled(act, choice)])


def _filled(act: Act, choice: Choice) -> list[tuple[str, str]]:
    return [
        pair
        for place, (blank, value) in enumerate(zip(act.blanks, choice.values, strict=True))
        for pair in _pairs(blank, f"b{place}", value)
    ]


def _pairs(blank: Blank, name: str, value: Value) -> list[tuple[str, str]]:
    """The fields of a blank that holds this value."""
    if isinstance(blank, Amount):
        return [(name, str(value))]
    values = value if isinstance(value, tuple) else (value,)
    if isinstance(blank, Split):
        return [(f"{name}.{place}", str(part)) for place, part in enumerate(values)]
    left: list[Value | None] = [thing.value for thing in blank.things]
    places = []
    for each in values:
        places.append(left.index(each))
        # Equal things may be shown twice, and each is taken once.
        left[places[-1]] = None
    if isinstance(blank, Ranking):
        return [(f"{name}.{rank}", str(place)) for rank, place in enumerate(places)]
    return [(name, str(place)) for place in places]


@dataclass(frozen=True, slots=True)
class _Looks:
    """How things are called, and how they look on the table."""

    teller: Teller
    faces: Mapping[str, Face]

    def thing(self, thing: Thing) -> board.Thing:
        face = self.faces.get(thing.word)
        note = thing.note or (face.note if face else "")
        return board.Thing(
            self.teller(thing.word), self.teller(note), face.kind if face else "", face.id if face else ""
        )


def _form(decision: Decision, number: int, looks: _Looks, given: Given) -> Form:
    act = decision.acts[number]
    note = looks.teller(act.note) if act.note else ""
    if act.count() == 1:
        only = next(act.choices())
        title = capital(translated(write(decision, only)))
        return Form(number, title, note, (), tuple(_filled(act, only)), "")
    pieces = _pieces(act)
    sentence = bool(act.phrase) and len(act.blanks) > 1
    fields = tuple(
        _field(blank, f"b{place}", pieces[place], looks, given, in_sentence=sentence)
        for place, blank in enumerate(act.blanks)
    )
    return Form(number, capital(translated(act.verb)), note, _told_once(fields), (), pieces[-1])


def _told_once(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields with a reason that several share below the last of them only."""
    return tuple(
        replace(field, why="") if any(later.why == field.why for later in fields[place + 1 :]) else field
        for place, field in enumerate(fields)
    )


def _pieces(act: Act) -> list[str]:
    """The little words before each blank and after the last, where the act's phrase has some."""
    if not act.phrase:
        return [""] * (len(act.blanks) + 1)
    # The verb is the title of the form.
    phrase = act.phrase.removeprefix(act.verb).strip()
    return [piece.strip(" ,") for piece in translated(phrase).split("{}")]


def _field(blank: Blank, name: str, before: str, looks: _Looks, given: Given, *, in_sentence: bool) -> Field:
    why = looks.teller(blank.why) if blank.why is not None else ""
    label = capital(translated(blank.name))
    if isinstance(blank, Amount):
        return _number_field(blank, name, label, before, why, given.get(name, ""))
    chances = tuple(
        Chance(str(place), looks.thing(thing), str(place) in given.getlist(name))
        for place, thing in enumerate(blank.things)
    )
    if isinstance(blank, Some):
        return Field("boxes", name, label, before, why, chances, many=blank.many)
    each = tuple(given.get(f"{name}.{place}", "") for place in range(len(chances)))
    if isinstance(blank, Ranking):
        return Field("order", name, label, before, why, chances, many=len(chances), given=each)
    if isinstance(blank, Split):
        return Field("split", name, label, before, why, chances, high=blank.total, given=each)
    # Several blanks of one phrase read as a sentence only if each takes no more than a line.
    kind = "list" if in_sentence or len(chances) > MOST_BUTTONS else "buttons"
    return Field(kind, name, label, before, why, chances)


def _number_field(blank: Amount, name: str, label: str, before: str, why: str, given: str) -> Field:
    numbers = blank.count()
    if numbers <= MOST_BUTTONS or (len(blank.endings) < 10 and numbers <= MOST_LISTED):
        chances = tuple(
            Chance(str(number), board.Thing(str(number)), str(number) == given) for number in blank.values()
        )
        return Field("numbers" if numbers <= MOST_BUTTONS else "list", name, label, before, why, chances)
    return Field("number", name, label, before, why, low=blank.low, high=blank.high, given=(given,))


def _value(blank: Blank, name: str, given: Given) -> Value:
    if isinstance(blank, Amount):
        number = read_number(given.get(name, "").strip(), _("a number of %(things)s", things=blank.name))
        return number if number in blank else _misfit(blank, str(number))
    if isinstance(blank, OneOf):
        return _thing(blank, given.get(name, "")).value
    if isinstance(blank, Some):
        return _some(blank, given.getlist(name))
    if isinstance(blank, Ranking):
        return _in_order(blank, [given.get(f"{name}.{place}", "") for place in range(len(blank.things))])
    parts = tuple(
        read_number(given.get(f"{name}.{place}", "").strip() or "0", _("a number of %(things)s", things=thing.word))
        for place, thing in enumerate(blank.things)
    )
    if parts not in blank:
        raise BadInput(
            _("You have dealt out %(sum)s, and %(total)s is what there is.", sum=sum(parts), total=blank.total)
        )
    return parts


def _some(blank: Some, given: list[str]) -> Value:
    places = sorted({_place(blank.things, each, blank.name) for each in given})
    if len(places) != blank.many:
        raise BadInput(_("You have chosen %(many)s, and it must be %(many_2)s.", many=len(places), many_2=blank.many))
    value = tuple(blank.things[place].value for place in places)
    return value if value in blank else _misfit(blank, ", ".join(blank.things[place].word for place in places))


def _in_order(blank: Ranking, given: list[str]) -> Value:
    places = [_place(blank.things, each, blank.name) for each in given]
    if len(set(places)) != len(blank.things):
        raise BadInput(_("Each must have a place of its own in your order."))
    return tuple(blank.things[place].value for place in places)


def _thing(blank: OneOf, given: str) -> Thing:
    return blank.things[_place(blank.things, given, blank.name)]


def _place(things: tuple[Thing, ...], given: str, called: str) -> int:
    if not given:
        raise BadInput(_("Nothing is chosen for “%(called)s”.", called=called))
    place = read_number(given, _("among what is shown for “%(called)s”", called=called))
    if place >= len(things):
        raise BadInput(_("That is not among what is shown for “%(called)s”.", called=called))
    return place


def _misfit(blank: Blank, given: str) -> Value:
    if isinstance(blank, Amount) and given.isdigit() and not blank.low <= int(given) <= blank.high:
        low = int(given) < blank.low
        limit = _("at least %(number)s", number=blank.low) if low else _("at most %(number)s", number=blank.high)
        raise BadInput(
            _("%(given)s is not possible: %(limit)s.", given=given, limit=limit),
            why=told(blank.why) if blank.why else "",
        )
    raise BadInput(_("%(given)s cannot be chosen here.", given=given), why=told(blank.why) if blank.why else "")
