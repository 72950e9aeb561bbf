"""The language of standing orders: what they are, and how they are read and written. What they mean is in `engine.orders`.

Numbers, cards and verbs are written as in a choice. This module must never see a view.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine import grammar
from engine.conditions import Condition, read_conditions, read_range, tell_condition, write_condition, write_range
from engine.decisions import Amount, Choice, Decision, Refused
from engine.facts import fact
from engine.records import replace
from engine.tell import Teller, Text, say

FUSE: Final = 100
"""How often an order answers before it asks its owner to look again."""

MOST_STEPS: Final = 20
"""The most choices in one order."""

MOST_ORDERS: Final = 5
"""The most orders of one seat at a time."""

LONGEST: Final = MOST_ORDERS * grammar.LONGEST_LINE
"""The most characters of a list of orders."""


@fact
class UpTo:
    """Raise by the smallest legal step up to a limit; beyond it pass, or ask the owner."""

    limit: int
    ask: bool = False
    topic: str = ""
    fuse: int = FUSE


@fact
class Unless:
    """A number on the owner's board, and the range in which the order doesn't answer."""

    label: str
    low: int | None
    high: int | None


@fact
class Again:
    """The same choice every time, for one topic or always, unless the exception holds."""

    text: str
    bound: bool
    unless: Unless | None = None
    topic: str = ""
    fuse: int = FUSE


@fact
class Then:
    """Choices one after the other. A step without a verb takes that of the first."""

    texts: tuple[str, ...]
    verb: str


Single = UpTo | Again | Then


@fact
class Conditional:
    """An order of a list, and what must hold for it to answer."""

    order: Single
    when: tuple[Condition, ...] = ()

    @property
    def is_for_any_lot(self) -> bool:
        """Whether its own condition, instead of the open lot, says what it is for."""
        return any(condition.about == "lot" for condition in self.when)


@fact
class OrderList:
    """Orders by precedence: the first whose conditions hold and whose choice is possible answers."""

    orders: tuple[Conditional, ...]


Order = Single | OrderList

_MEANINGS: Final[Mapping[str, Text]] = {
    "up to <number>": say("raise in the smallest steps up to that number, then pass"),
    "up to <number> or ask me": say("raise up to that number, then ask you"),
    "<choice> this auction": say("make this choice until the auction, lot or hand is over"),
    "<choice> then <choice>": say("make one choice after the other"),
    "always <choice>": say("make this choice every time"),
    "always <choice> unless <number on the board> over <number>": say(
        "make this choice every time, but ask you if the number on the board (such as your points) goes over your limit"
    ),
    "<order> if <condition>": say(
        "only while that's true: “high bid at most 7”, “Ben is out”, “Ben leads”, “Ben's points over 10”, “lot has Blue”; join several with “and”"
    ),
    "<order>; <order>": say("try these in turn: the first that fits makes the move"),
}
USAGES: Final = tuple(_MEANINGS)


def read_order(text: str, decision: Decision | None = None, names: Sequence[str] | None = None) -> Order:
    """Return the order, or the list of orders, that a text means.

    `names` are those of the players, by seat; without them, any name will do in a condition. Raises Refused if the text isn't
    an order, or can't answer the decision.
    """
    if len(text) > LONGEST:
        raise Refused(say("That isn't a standing order. You can write: {ways}.", ways="; ".join(USAGES)))
    pieces = [piece for piece in text.split(";") if piece.strip()] or [text]
    _must_be_few(len(pieces))
    return as_order(tuple(_read_one(piece, decision, names) for piece in pieces))


def as_list(order: Order | None) -> tuple[Conditional, ...]:
    """Return the orders by precedence; none for None."""
    if order is None:
        return ()
    return order.orders if isinstance(order, OrderList) else (Conditional(order),)


def as_order(orders: tuple[Conditional, ...]) -> Order:
    """Return these orders as one. A single one without conditions isn't a list. Raises Refused if there are too many."""
    _must_be_few(len(orders))
    alone = orders[0] if len(orders) == 1 else None
    return alone.order if alone is not None and not alone.when else OrderList(orders)


def _must_be_few(number: int) -> None:
    if number > MOST_ORDERS:
        raise Refused(say("You can have up to {most} standing orders at a time. Drop one first.", most=MOST_ORDERS))


def write_order(order: Order) -> str:
    """Return the order as text that reads back as the same order."""
    match order:
        case OrderList():
            return "; ".join(map(write_one, order.orders))
        case UpTo():
            return f"up to {order.limit}" + (" or ask me" if order.ask else "")
        case Then():
            return " then ".join(order.texts)
        case Again():
            words = f"{order.text} this auction" if order.bound else f"always {order.text}"
            unless = order.unless
            return words if unless is None else f"{words} unless {write_range(unless.label, unless.low, unless.high)}"


def write_one(one: Conditional) -> str:
    """Return an order of a list as text that reads back as the same."""
    words = write_order(one.order)
    return f"{words} if {' and '.join(map(write_condition, one.when))}" if one.when else words


def tell_one(one: Conditional) -> Text:
    """Return an order of a list for its owner, with the players' names, to be part of a sentence."""
    order = write_order(one.order)
    return say("{order} {when}", order=order, when=_when(one)) if one.when else say("{order}", order=order)


def in_words(order: Order | Conditional, teller: Teller) -> str:
    """Return all the orders, or one, as their owner reads them, with the players' names."""
    several = (order,) if isinstance(order, Conditional) else as_list(order)
    return "; ".join(f"{write_order(one.order)} {teller(_when(one)) if one.when else ''}".rstrip() for one in several)


def _when(one: Conditional) -> Text:
    text, *more = map(tell_condition, one.when)
    for condition in more:
        text = say("{condition} and {more}", condition=text, more=condition)
    return say("if {condition}", condition=text)


def usages(decision: Decision | None = None) -> Mapping[str, Text]:
    """Return the ways to write an order that can answer this decision, each with what it does; all without a decision."""
    if decision is None or raising(decision) is not None:
        return _MEANINGS
    return {usage: means for usage, means in _MEANINGS.items() if not usage.startswith("up to")}


def offered(decision: Decision) -> tuple[str, ...]:
    """Return the orders that make sense for this decision, as they may be written."""
    shown = []
    raised = raising(decision)
    if raised is not None and (idle := idle_choice(decision)) is not None:
        blank = raised[1]
        span = f"up to <{blank.name} {blank.low}-{blank.high}>"
        shown += [span, f"{span} or ask me", f"{grammar.write(decision, idle)} this auction"]
    else:
        shown += [
            f"always {grammar.write(decision, choice)}" for choice in (idle_choice(decision),) if choice is not None
        ]
    return tuple(shown)


def raising(decision: Decision) -> tuple[str, Amount] | None:
    """Return the verb that raises, and its blank; None if there is none."""
    for act in decision.acts:
        for blank in act.blanks:
            if isinstance(blank, Amount) and blank.raising and len(act.blanks) == 1:
                return act.verb, blank
    return None


def idle_choice(decision: Decision) -> Choice | None:
    """Return the choice that does nothing: the default, if it has no blanks."""
    return decision.default if not decision.default.values else None


def read_step(decision: Decision, order: Then) -> Choice:
    """Return the next choice of an order. Raises Refused if it isn't possible."""
    step = order.texts[0]
    try:
        return grammar.read(decision, step)
    except Refused as refused:
        if step.split()[0] == order.verb:
            raise refused from None
        return grammar.read(decision, f"{order.verb} {step}")


def _read_one(text: str, decision: Decision | None, names: Sequence[str] | None) -> Conditional:
    words = " ".join(grammar.words_of(text[: grammar.LONGEST_LINE * 2]))
    if not words or len(text) > grammar.LONGEST_LINE:
        raise Refused(say("That isn't a standing order. You can write: {ways}.", ways="; ".join(USAGES)))
    order, _if, conditions = words.partition(" if ")
    one = Conditional(_read(order), read_conditions(conditions, names) if conditions else ())
    return one if decision is None else replace(one, order=_begun(one, decision))


def _read(words: str) -> Single:
    if match := re.fullmatch(r"up to (\d{1,9})( or (?:stop and )?ask(?: me)?)?", words):
        return UpTo(int(match[1]), bool(match[2]))
    if match := re.fullmatch(r"(?:(always) )?(.+?)( this \w+)?(?: unless (.+))?", words):
        always, text, this, unless = match.groups()
        if always or this or unless:
            return Again(text, bool(this), None if unless is None else _read_unless(unless))
    steps = tuple(step.strip() for step in re.split(r"\bthen\b", words))
    if 2 <= len(steps) <= MOST_STEPS and all(steps):
        return Then(steps, steps[0].split()[0])
    raise Refused(say("“{words}” isn't a standing order. You can write: {ways}.", words=words, ways="; ".join(USAGES)))


def _read_unless(words: str) -> Unless:
    found = read_range(words)
    if found is None:
        raise Refused(say("“{words}” isn't a condition. For example, write: unless points over 10.", words=words))
    return Unless(*found)


def _begun(one: Conditional, decision: Decision) -> Single:
    """Return the order bound to this decision's topic and with full words, so that later it cannot mean something else.

    One whose condition names what is in the lot is bound once it has answered. Raises Refused if it cannot answer this decision.
    """
    topic = "" if one.is_for_any_lot else decision.topic
    match one.order:
        case UpTo() as order:
            if raising(decision) is None:
                raise Refused(
                    say("There's nothing to raise here. You can write: {ways}.", ways="; ".join(usages(decision)))
                )
            return replace(order, topic=topic)
        case Again() as order:
            text = _in_full(decision, grammar.read(decision, order.text))
            return replace(order, text=text, topic=topic if order.bound else "")
        case Then() as order:
            choice = read_step(decision, order)
            return Then((_in_full(decision, choice), *order.texts[1:]), choice.verb)


def _in_full(decision: Decision, choice: Choice) -> str:
    return " ".join(grammar.words_of(grammar.write(decision, choice)))
