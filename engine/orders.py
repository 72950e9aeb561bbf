"""Standing orders: what a player wants done while they are away.

    up to 14                              raise by the least that is legal while it is at most 14, then pass
    up to 14 or ask me                    ... then ask me
    pass this auction                     any choice, again and again until the auction, lot or hand is over
    play forest then sailor               one choice after the other
    always no unless points over 10       a choice every time, unless a number on the board says otherwise
    up to 9 if seat 2 is out              any of these, only while something on the board holds
    up to 9 if seat 2 is out; up to 5     a list: the first that fits answers

An order waits beside the table. When its seat is asked it reads its owner's view; its answer is checked and logged as an
ordinary choice. A fuse ends an order that has answered too often. One that no longer fits ends too, and says why; in a list, or
with a condition, it is passed over and stays. This module must never see more than one seat's view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from engine import grammar
from engine.conditions import Condition, Sight, sight, unmet
from engine.decisions import Choice, Decision, Refused
from engine.facts import fact
from engine.game import Game
from engine.order_words import (
    FUSE,
    MOST_ORDERS,
    MOST_STEPS,
    USAGES,
    Again,
    Conditional,
    Order,
    OrderList,
    Single,
    Then,
    Unless,
    UpTo,
    as_list,
    as_order,
    idle_choice,
    in_words,
    offered,
    raising,
    read_order,
    read_step,
    tell_one,
    usages,
    write_one,
    write_order,
)
from engine.records import replace
from engine.table import Table
from engine.tell import Text, say

__all__ = [
    "FUSE",
    "KINDS",
    "MOST_ORDERS",
    "MOST_STEPS",
    "USAGES",
    "Again",
    "Answer",
    "Conditional",
    "Order",
    "OrderList",
    "Then",
    "Unless",
    "UpTo",
    "Verdict",
    "answer",
    "as_list",
    "as_order",
    "in_words",
    "obey",
    "offered",
    "raising",
    "read_order",
    "tell_one",
    "usages",
    "verdicts",
    "write_one",
    "write_order",
]


KINDS: Final = (UpTo, Again, Unless, Then, Conditional, OrderList, Condition)
"""The kinds of value in a stored order."""


@fact
class Answer:
    """The choice, if any; the order as it continues; and a note to the owner if one has ended, or one of a list has answered.

    `rank` is where in the list the order was that answered.
    """

    choice: Choice | None
    order: Order | None
    note: Text | None = None
    rank: int = 0


class Outcome(Enum):
    """What an order does when its owner is asked."""

    ANSWERS = "answers"
    WAITS = "waits"
    """It is about something else, or its condition doesn't hold."""
    MISFITS = "misfits"
    """Its choice isn't possible now. Alone it ends."""
    ASKS = "asks"
    """Its owner wants to be asked now. Alone it ends."""
    ENDS = "ends"


@fact
class Verdict:
    """What one order says to a decision: its choice with the order as it continues, or why it makes none."""

    outcome: Outcome
    why: Text | None = None
    choice: Choice | None = None
    rest: Single | None = None


def answer(order: Order, game: Game[Any], view: Any, seat: int) -> Answer:
    """Return what an order answers when its owner is asked. Without a decision it waits."""
    decision = game.asks(view, seat)
    if decision is None:
        return Answer(None, order)
    if isinstance(order, OrderList):
        return _first_that_fits(order, decision, game, view)
    verdict = _judge(order, decision, game, view)
    if verdict.outcome is Outcome.ANSWERS:
        return Answer(verdict.choice, verdict.rest)
    if verdict.outcome is Outcome.WAITS:
        return Answer(None, order)
    return Answer(None, None, _ended(Conditional(order), verdict))


def verdicts(order: Order, game: Game[Any], view: Any, seat: int) -> tuple[tuple[Conditional, Verdict], ...]:
    """Return what each order says, in turn, to what its owner is asked, up to the one that answers or asks; nothing if they aren't asked."""
    decision = game.asks(view, seat)
    return () if decision is None else tuple(_judged(as_list(order), decision, game, view))


def obey(table: Table, orders: Mapping[int, Order]) -> tuple[Table, dict[int, Order], dict[int, Text]]:
    """Let all orders answer as long as they can. Return the table, the orders that continue, and notes to their owners."""
    left: dict[int, Order] = dict(orders)
    notes: dict[int, Text] = {}
    while True:
        asked = [seat for seat in table.position.open() if seat in left and seat not in table.position.box]
        answers = {seat: answer(left[seat], table.position.game, table.view(seat), seat) for seat in asked}
        answered = {
            seat: given for seat, given in answers.items() if given.choice is not None or given.note is not None
        }
        if not answered:
            return table, left, notes
        seat, given = next(iter(answered.items()))
        if given.order is None:
            del left[seat]
        else:
            left[seat] = given.order
        if given.note is not None:
            notes[seat] = given.note
        if given.choice is not None:
            table = table.submit(seat, given.choice)


def _first_that_fits(several: OrderList, decision: Decision, game: Game[Any], view: Any) -> Answer:
    staying, ended, passed_over = list[Conditional](), list[Text](), list[Text]()
    judged = tuple(_judged(several.orders, decision, game, view))
    unread = several.orders[len(judged) :]
    for rank, (one, verdict) in enumerate(judged):
        if verdict.outcome is Outcome.ANSWERS:
            assert verdict.choice is not None
            rest = () if verdict.rest is None else (replace(one, order=verdict.rest),)
            played = say(
                "Your standing order “{order}” played {choice}.",
                order=tell_one(one),
                choice=grammar.write(decision, verdict.choice),
            )
            left = (*staying, *rest, *unread)
            return Answer(verdict.choice, _list_of(left), _together(ended, [played], passed_over), rank)
        if verdict.outcome is Outcome.ENDS:
            ended.append(_ended(one, verdict))
            continue
        staying.append(one)
        if verdict.why is not None:
            passed_over.append(say("“{order}” was passed over. {why}", order=tell_one(one), why=verdict.why))
    if not ended:
        return Answer(None, several)
    return Answer(None, _list_of((*staying, *unread)), _together(ended))


def _judged(
    several: tuple[Conditional, ...], decision: Decision, game: Game[Any], view: Any
) -> Iterator[tuple[Conditional, Verdict]]:
    seen: Sight | None = None
    for one in several:
        verdict = _over(one.order, decision)
        if verdict is None and one.when:
            if seen is None:
                seen = _sight(decision, game, view)
            whys = (unmet(condition, seen) for condition in one.when)
            why = next((why for why in whys if why is not None), None)
            verdict = None if why is None else Verdict(Outcome.WAITS, why)
        verdict = verdict or _judge(one.order, decision, game, view)
        yield one, verdict
        if verdict.outcome in (Outcome.ANSWERS, Outcome.ASKS):
            return


def _over(order: Single, decision: Decision) -> Verdict | None:
    """The verdict on an order that can answer no more, or None."""
    if isinstance(order, Then):
        return None
    if order.fuse == 0:
        return Verdict(Outcome.ENDS, say("It has played for you {times} times, the limit.", times=FUSE))
    if order.topic and order.topic != decision.topic:
        return Verdict(Outcome.ENDS, say("It no longer applies."))
    return None


def _judge(order: Single, decision: Decision, game: Game[Any], view: Any) -> Verdict:
    if isinstance(order, Then):
        return _next_step(order, decision, game, view)
    if (over := _over(order, decision)) is not None:
        return over
    if isinstance(order, UpTo):
        return _raise(order, decision, game, view)
    if order.unless is not None and _holds(order.unless, decision, game, view):
        return Verdict(Outcome.WAITS, say("Its exception holds."))
    if not order.bound and not any(act.verb.startswith(order.text.split()[0]) for act in decision.acts):
        return Verdict(Outcome.WAITS, say("It is about another decision."))
    rest = replace(order, fuse=order.fuse - 1, topic=decision.topic if order.bound else "")
    try:
        return _checked(grammar.read(decision, order.text), rest, game, view, decision.seat)
    except Refused as refused:
        return Verdict(Outcome.MISFITS, refused.text)


def _raise(order: UpTo, decision: Decision, game: Game[Any], view: Any) -> Verdict:
    rest = replace(order, fuse=order.fuse - 1, topic=decision.topic)
    raised = raising(decision)
    if raised is not None:
        verb, blank = raised
        least = next(iter(blank.values()))
        if isinstance(least, int) and least <= order.limit:
            return _checked(Choice(verb, (least,)), rest, game, view, decision.seat)
    idle = idle_choice(decision)
    # The default counts as a pass only in the auction that the order is for.
    if idle is None or (raised is None and order.topic != decision.topic):
        return Verdict(Outcome.MISFITS, say("The question has changed."))
    if order.ask:
        return Verdict(Outcome.ASKS, say("The bidding has passed {limit}.", limit=order.limit))
    return _checked(idle, rest, game, view, decision.seat)


def _next_step(order: Then, decision: Decision, game: Game[Any], view: Any) -> Verdict:
    try:
        choice = read_step(decision, order)
    except Refused as refused:
        return Verdict(Outcome.MISFITS, refused.text)
    rest = replace(order, texts=order.texts[1:]) if len(order.texts) > 1 else None
    return _checked(choice, rest, game, view, decision.seat)


def _checked(choice: Choice, rest: Single | None, game: Game[Any], view: Any, seat: int) -> Verdict:
    if (objection := game.objects(view, seat, choice)) is not None:
        return Verdict(Outcome.MISFITS, objection)
    return Verdict(Outcome.ANSWERS, None, choice, rest)


def _ended(one: Conditional, verdict: Verdict) -> Text:
    return say("Your standing order “{order}” has ended. {reason}", order=tell_one(one), reason=verdict.why)


def _list_of(left: tuple[Conditional, ...]) -> OrderList | None:
    return OrderList(left) if left else None


def _together(*groups: list[Text]) -> Text:
    first, *others = [text for group in groups for text in group]
    for other in others:
        first = say("{text} {more}", text=first, more=other)
    return first


def _holds(unless: Unless, decision: Decision, game: Game[Any], view: Any) -> bool:
    number = _sight(decision, game, view).numbers.get((None, unless.label))
    # A number that is not on the board cannot be checked, so the owner is asked.
    if number is None:
        return True
    return (unless.low is None or number >= unless.low) and (unless.high is None or number <= unless.high)


def _sight(decision: Decision, game: Game[Any], view: Any) -> Sight:
    seat, bidding = decision.seat, raising(decision) is not None
    return sight(game.board(view, seat), seat, game, bidding=bidding)
