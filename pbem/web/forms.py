"""A decision as forms, and a filled-in form as a choice.

There is one form for each act. Its fields come from the act's blanks: a number with its range, a choice of one, some of
several, an order of all, a total dealt out. Things are named by their place among those shown, so equal ones can stand
side by side. What comes back is checked against the same decision, and what does not fit says why.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from werkzeug.datastructures import MultiDict

from engine.decisions import Act, Amount, Blank, Choice, Decision, OneOf, Ranking, Some, Split, Thing, Value
from engine.grammar import usage
from engine.tell import Teller
from pbem.domain.errors import BadInput, Stale
from pbem.web.site import read_number

MOST_LISTED: Final = 60
"""Numbers that are listed one by one where not every number of a range fits."""

MOST_BUTTONS: Final = 12
"""Things that are shown side by side; more are in a list that opens."""


@dataclass(frozen=True, slots=True)
class Chance:
    """One of the things that a field offers."""

    value: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """One blank of an act as a field, with the words of the act's phrase that stand before it.

    `kind` is number, list, buttons, boxes, order or split.
    """

    kind: str
    name: str
    label: str
    before: str
    hint: str
    chances: tuple[Chance, ...] = ()
    low: int = 0
    high: int = 0
    many: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """One act. `wording` shows how it is written by mail."""

    act: int
    title: str
    note: str
    wording: str
    fields: tuple[Field, ...]
    after: str


def forms_of(decision: Decision, teller: Teller) -> list[Form]:
    """All acts of a decision."""
    return [_form(number, act, teller) for number, act in enumerate(decision.acts)]


def choice_of(decision: Decision, given: MultiDict[str, str]) -> Choice:
    """The choice that a filled-in form means; refused if it is none of the decision's."""
    number = read_number(given.get("act", ""), "the number of an act")
    if number >= len(decision.acts):
        raise Stale("What this form offered cannot be done now.")
    act = decision.acts[number]
    values = tuple(_value(blank, f"b{place}", given) for place, blank in enumerate(act.blanks))
    choice = Choice(act.verb, values)
    if choice not in act:
        raise BadInput("These do not go together.")
    return choice


def _form(number: int, act: Act, teller: Teller) -> Form:
    pieces = _pieces(act)
    sentence = bool(act.phrase) and len(act.blanks) > 1
    fields = _hinted_once(
        _field(blank, f"b{place}", pieces[place], teller, in_sentence=sentence)
        for place, blank in enumerate(act.blanks)
    )
    title = usage(act) if not act.blanks else act.verb
    return Form(
        number,
        title[:1].upper() + title[1:],
        teller(act.note) if act.note else "",
        usage(act),
        fields,
        pieces[-1] if fields else "",
    )


def _hinted_once(fields: Iterable[Field]) -> tuple[Field, ...]:
    """The fields with a hint that several share below the last of them only."""
    found = tuple(fields)
    return tuple(
        replace(field, hint="") if any(later.hint == field.hint for later in found[place + 1 :]) else field
        for place, field in enumerate(found)
    )


def _pieces(act: Act) -> list[str]:
    """The little words before each blank and after the last, where the act's phrase has some."""
    if not act.phrase:
        return [""] * (len(act.blanks) + 1)
    pieces = [piece.strip(" ,") for piece in act.phrase.split("{}")]
    pieces[0] = pieces[0].removeprefix(act.verb).strip()
    return pieces


def _field(blank: Blank, name: str, before: str, teller: Teller, *, in_sentence: bool) -> Field:
    why = teller(blank.why) if blank.why is not None else ""
    label = blank.name[:1].upper() + blank.name[1:]
    if isinstance(blank, Amount):
        return _number_field(blank, name, label, before, why)
    chances = tuple(
        Chance(str(place), teller(thing.word), teller(thing.note)) for place, thing in enumerate(blank.things)
    )
    if isinstance(blank, Some):
        hint = f"Choose {blank.many}. {why}".strip()
        return Field("boxes", name, label, before, hint, chances, many=blank.many)
    if isinstance(blank, Ranking):
        hint = f"Put all {len(chances)} into your order. {why}".strip()
        return Field("order", name, label, before, hint, chances, many=len(chances))
    if isinstance(blank, Split):
        hint = f"Deal out {blank.total} in all. {why}".strip()
        return Field("split", name, label, before, hint, chances, high=blank.total)
    # Several blanks of one phrase read as a sentence only if each takes no more than a line.
    kind = "list" if in_sentence or len(chances) > MOST_BUTTONS else "buttons"
    return Field(kind, name, label, before, why, chances)


def _number_field(blank: Amount, name: str, label: str, before: str, why: str) -> Field:
    if len(blank.endings) < 10 and blank.count() <= MOST_LISTED:
        chances = tuple(Chance(str(number), str(number)) for number in blank.values())
        return Field("list", name, label, before, why, chances)
    hint = f"From {blank.low} to {blank.high}. {why}".strip()
    return Field("number", name, label, before, hint, low=blank.low, high=blank.high)


def _value(blank: Blank, name: str, given: MultiDict[str, str]) -> Value:
    if isinstance(blank, Amount):
        number = read_number(given.get(name, "").strip(), "a number of " + blank.name)
        return number if number in blank else _misfit(blank, str(number))
    if isinstance(blank, OneOf):
        return _thing(blank, given.get(name, "")).value
    if isinstance(blank, Some):
        return _some(blank, given.getlist(name))
    if isinstance(blank, Ranking):
        return _in_order(blank, [given.get(f"{name}.{place}", "") for place in range(len(blank.things))])
    parts = tuple(
        read_number(given.get(f"{name}.{place}", "").strip() or "0", "a number of " + thing.word)
        for place, thing in enumerate(blank.things)
    )
    if parts not in blank:
        raise BadInput(f"You have dealt out {sum(parts)}, and {blank.total} is what there is.")
    return parts


def _some(blank: Some, given: list[str]) -> Value:
    places = sorted({_place(blank.things, each, blank.name) for each in given})
    if len(places) != blank.many:
        raise BadInput(f"You have chosen {len(places)}, and it must be {blank.many}.")
    value = tuple(blank.things[place].value for place in places)
    return value if value in blank else _misfit(blank, ", ".join(blank.things[place].word for place in places))


def _in_order(blank: Ranking, given: list[str]) -> Value:
    places = [_place(blank.things, each, blank.name) for each in given]
    if len(set(places)) != len(blank.things):
        raise BadInput("Each must have a place of its own in your order.")
    return tuple(blank.things[place].value for place in places)


def _thing(blank: OneOf, given: str) -> Thing:
    return blank.things[_place(blank.things, given, blank.name)]


def _place(things: tuple[Thing, ...], given: str, called: str) -> int:
    if not given:
        raise BadInput(f"Nothing is chosen for “{called}”.")
    place = read_number(given, f"among what is shown for “{called}”")
    if place >= len(things):
        raise BadInput(f"That is not among what is shown for “{called}”.")
    return place


def _misfit(blank: Blank, given: str) -> Value:
    if isinstance(blank, Amount) and given.isdigit() and not blank.low <= int(given) <= blank.high:
        limit = f"at least {blank.low}" if int(given) < blank.low else f"at most {blank.high}"
        raise BadInput(f"{given} is not possible: {limit}.", why=str(blank.why) if blank.why else "")
    raise BadInput(f"{given} cannot be chosen here.", why=str(blank.why) if blank.why else "")
