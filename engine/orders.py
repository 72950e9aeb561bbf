"""Standing orders: what a player wants done while they are away.

    up to 14                            raise by the least that is legal while it is at most 14, then pass
    up to 14 or ask me                  ... then ask me
    pass this auction                   any choice, again and again until the auction, lot or hand is over
    play forest then sailor             one choice after the other
    always no unless points over 10     a choice every time, unless a number on the board says otherwise

An order is kept beside the table. When its seat is asked it reads its owner's view; its answer is checked and logged as an
ordinary choice. An order that no longer fits ends and says why, and a fuse ends one that has answered too often. This module must never see more than
one seat's view.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from engine import grammar
from engine.board import Amounts, Board
from engine.decisions import Amount, Choice, Decision, Refused
from engine.facts import fact
from engine.game import Game
from engine.records import replace
from engine.table import Table
from engine.tell import Text, say

FUSE: Final = 100
"""How often an order answers before it asks its owner to look again."""

MOST_STEPS: Final = 20
"""The most choices in one order."""


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


Order = UpTo | Again | Then


@fact
class Answer:
    """The choice, if any; the order as it continues; and a note to the owner if it has ended."""

    choice: Choice | None
    order: Order | None
    note: Text | None = None


_MEANINGS: Final[Mapping[str, Text]] = {
    "up to <number>": say("raise in the smallest steps up to that number, then pass"),
    "up to <number> or ask me": say("raise up to that number, then ask you"),
    "<choice> this auction": say("make this choice until the auction, lot or hand is over"),
    "<choice> then <choice>": say("make one choice after the other"),
    "always <choice>": say("make this choice every time"),
    "always <choice> unless <number on the board> over <number>": say(
        "make this choice every time, but ask you if the number on the board (such as your points) goes over your limit"
    ),
}
USAGES: Final = tuple(_MEANINGS)


def read_order(text: str, decision: Decision | None = None) -> Order:
    """Return the order that a text means. Raises Refused if it isn't one, or can't answer the decision."""
    words = " ".join(grammar.words_of(text[: grammar.LONGEST_LINE * 2]))
    if not words or len(text) > grammar.LONGEST_LINE:
        raise Refused(say("That isn't a standing order. You can write: {ways}.", ways="; ".join(USAGES)))
    order = _read(words)
    return order if decision is None else _begun(order, decision)


def write_order(order: Order) -> str:
    """Return the order as text that reads back as the same order."""
    match order:
        case UpTo():
            return f"up to {order.limit}" + (" or ask me" if order.ask else "")
        case Then():
            return " then ".join(order.texts)
        case Again(unless=None):
            return f"{order.text} this auction" if order.bound else f"always {order.text}"
        case Again(unless=unless):
            assert unless is not None
            words = f"{order.text} this auction" if order.bound else f"always {order.text}"
            return f"{words} unless {_write_unless(unless)}"


def usages(decision: Decision | None = None) -> Mapping[str, Text]:
    """Return the ways to write an order that can answer this decision, each with what it does; all without a decision."""
    if decision is None or raising(decision) is not None:
        return _MEANINGS
    return {usage: means for usage, means in _MEANINGS.items() if not usage.startswith("up to")}


def offered(decision: Decision) -> tuple[str, ...]:
    """Return the orders that make sense for this decision, as they may be written."""
    shown = []
    raised = raising(decision)
    if raised is not None and (idle := _idle(decision)) is not None:
        blank = raised[1]
        span = f"up to <{blank.name} {blank.low}-{blank.high}>"
        shown += [span, f"{span} or ask me", f"{grammar.write(decision, idle)} this auction"]
    else:
        shown += [f"always {grammar.write(decision, choice)}" for choice in (_idle(decision),) if choice is not None]
    return tuple(shown)


def raising(decision: Decision) -> tuple[str, Amount] | None:
    """Return the verb that raises, and its blank; None if there is none."""
    for act in decision.acts:
        for blank in act.blanks:
            if isinstance(blank, Amount) and blank.raising and len(act.blanks) == 1:
                return act.verb, blank
    return None


def answer(order: Order, game: Game[Any], view: Any, seat: int) -> Answer:
    """Return what an order answers when its owner is asked. Without a decision it waits."""
    decision = game.asks(view, seat)
    if decision is None:
        return Answer(None, order)
    if isinstance(order, Then):
        return _next_step(order, decision, game, view)
    if order.fuse == 0:
        return _off(order, say("It has played for you {times} times, the limit.", times=FUSE))
    if order.topic and order.topic != decision.topic:
        return _off(order, say("It no longer applies."))
    if isinstance(order, UpTo):
        return _raise(order, decision, game, view)
    if order.unless is not None and _holds(order.unless, game.board(view, seat), seat, game):
        return Answer(None, order)
    if not order.bound and not any(act.verb.startswith(order.text.split()[0]) for act in decision.acts):
        # The order is about another decision.
        return Answer(None, order)
    rest = replace(order, fuse=order.fuse - 1, topic=decision.topic if order.bound else "")
    try:
        return _checked(grammar.read(decision, order.text), rest, game, view, seat)
    except Refused as refused:
        return _off(order, refused.text)


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


def _read(words: str) -> Order:
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


_UNLESS: Final = re.compile(
    r"(.+?) (?:is |are )?(over|more than|under|less than|at least|at most|is|are|exactly) (\d{1,9})"
)


def _read_unless(words: str) -> Unless:
    match = _UNLESS.fullmatch(words)
    if match is None:
        raise Refused(say("“{words}” isn't a condition. For example, write: unless points over 10.", words=words))
    label, how, number = match[1], match[2], int(match[3])
    match how:
        case "over" | "more than":
            return Unless(label, number + 1, None)
        case "at least":
            return Unless(label, number, None)
        case "under" | "less than":
            return Unless(label, None, number - 1)
        case "at most":
            return Unless(label, None, number)
    return Unless(label, number, number)


def _write_unless(unless: Unless) -> str:
    if unless.low == unless.high:
        return f"{unless.label} exactly {unless.low}"
    if unless.high is None:
        return f"{unless.label} at least {unless.low}"
    return f"{unless.label} at most {unless.high}"


def _begun(order: Order, decision: Decision) -> Order:
    """Return the order bound to this decision's topic and with full words, so that later it cannot mean something else.

    Raises Refused if it cannot answer this decision.
    """
    match order:
        case UpTo():
            if raising(decision) is None:
                raise Refused(
                    say("There's nothing to raise here. You can write: {ways}.", ways="; ".join(usages(decision)))
                )
            return replace(order, topic=decision.topic)
        case Again():
            text = _in_full(decision, grammar.read(decision, order.text))
            return replace(order, text=text, topic=decision.topic if order.bound else "")
        case Then():
            choice = _read_step(decision, order)
            return Then((_in_full(decision, choice), *order.texts[1:]), choice.verb)


def _in_full(decision: Decision, choice: Choice) -> str:
    return " ".join(grammar.words_of(grammar.write(decision, choice)))


def _read_step(decision: Decision, order: Then) -> Choice:
    step = order.texts[0]
    try:
        return grammar.read(decision, step)
    except Refused:
        return grammar.read(decision, f"{order.verb} {step}")


def _raise(order: UpTo, decision: Decision, game: Game[Any], view: Any) -> Answer:
    rest = replace(order, fuse=order.fuse - 1, topic=decision.topic)
    raised = raising(decision)
    if raised is not None:
        verb, blank = raised
        least = next(iter(blank.values()))
        if isinstance(least, int) and least <= order.limit:
            return _checked(Choice(verb, (least,)), rest, game, view, decision.seat)
    idle = _idle(decision)
    # The default counts as a pass only in the auction that the order is for.
    if idle is None or (raised is None and order.topic != decision.topic):
        return _off(order, say("The question has changed."))
    if order.ask:
        return _off(order, say("The bidding has passed {limit}.", limit=order.limit))
    return _checked(idle, rest, game, view, decision.seat)


def _next_step(order: Then, decision: Decision, game: Game[Any], view: Any) -> Answer:
    try:
        choice = _read_step(decision, order)
    except Refused as refused:
        return _off(order, refused.text)
    rest = replace(order, texts=order.texts[1:]) if len(order.texts) > 1 else None
    return _checked(choice, rest, game, view, decision.seat)


def _checked(choice: Choice, rest: Order | None, game: Game[Any], view: Any, seat: int) -> Answer:
    if (objection := game.objects(view, seat, choice)) is not None:
        return Answer(None, None, say("Your standing order has ended. {reason}", reason=objection))
    return Answer(choice, rest)


def _off(order: Order, reason: Text) -> Answer:
    return Answer(
        None, None, say("Your standing order “{order}” has ended. {reason}", order=write_order(order), reason=reason)
    )


def _idle(decision: Decision) -> Choice | None:
    """Return the choice that does nothing: the default, if it has no blanks."""
    return decision.default if not decision.default.values else None


def _holds(unless: Unless, board: Board, seat: int, game: Game[Any]) -> bool:
    number = _numbers(board, seat, game).get(unless.label)
    # A number that is not on the board cannot be checked, so the owner is asked.
    if number is None:
        return True
    return (unless.low is None or number >= unless.low) and (unless.high is None or number <= unless.high)


def _numbers(board: Board, seat: int, game: Game[Any]) -> dict[str, int]:
    """Return the numbers on the owner's board by name: those of the table and the owner's own."""
    teller, shown = game.teller(), dict[str, int]()
    own = board.panel(seat)
    if own is not None:
        shown |= {teller(label).casefold(): number for label, number in own.numbers if number is not None}
    for part in (*board.mine, *board.centre):
        if isinstance(part, Amounts):
            shown |= {teller(label).casefold(): number for label, number in part.pairs}
    return shown
