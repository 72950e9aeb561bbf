"""Standing orders on the page of a seat: the list, what its forms offer, and what they send."""

from functools import lru_cache
from typing import Any, Final

from engine import conditions, grammar, orders
from engine.decisions import Decision
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.service.play.seat_view import SeatView
from pbem.web import site
from pbem.web.site import field

MOST_LISTS: Final = 500
"""Lists of conditions that are kept, each as long as nothing but numbers changes on a board: about a kilobyte each."""

_CONDITIONS: Final[LRU[tuple[tuple[str, str, bool], ...]]] = LRU(MOST_LISTS)


def of_seat(seat: SeatView) -> dict[str, Any]:
    """The variables of the template."""
    decision = seat.decision
    raising = orders.raising(decision) if decision else None
    ready = orders.offered(decision) if decision else ()
    return {
        "standing": _standing(seat),
        "order_notes": [seat.teller(note) for note in seat.order_notes],
        "full": len(orders.as_list(seat.order)) >= orders.MOST_ORDERS,
        "raising": raising[1] if raising else None,
        "ready_orders": [each for each in ready if "<" not in each],
        "orders": _examples(seat, decision),
        "conditions": _conditions(seat, decision),
    }


def text_of_form() -> str:
    """The order that a form sends, with its condition. Raises BadInput if a number isn't one."""
    order = field("order")
    if field("limit"):
        order = f"up to {site.whole_number('limit', 'a limit')}" + (" or ask me" if site.ticked("ask") else "")
    condition = field("condition")
    if condition.startswith("#"):
        condition = f"{condition[1:]} {field('how')} {site.whole_number('number', 'a number')}"
    return f"{order} if {condition}" if condition else order


def rank_of_form() -> tuple[int, str]:
    """The rank of the order that a form is about, and the order that the player has seen there. Raises BadInput."""
    return site.read_number(field("rank") or "0", _("a place in the list")), field("expected")


def _standing(seat: SeatView) -> list[dict[str, Any]]:
    """The orders, each with why it hasn't made the move that its player is asked for now."""
    if seat.order is None:
        return []
    judged = orders.verdicts(seat.order, seat.rules, seat.view, seat.seat) if seat.decision else ()
    whys = [None if verdict.why is None else seat.teller(verdict.why) for _one, verdict in judged]
    return [
        {
            "says": orders.in_words(one, seat.teller),
            "written": orders.write_one(one),
            "why": whys[rank] if rank < len(whys) else None,
        }
        for rank, one in enumerate(orders.as_list(seat.order))
    ]


def _conditions(seat: SeatView, decision: Decision | None) -> tuple[tuple[str, str, bool], ...]:
    # While nothing is asked, an auction may be next.
    bidding = decision is None or orders.raising(decision) is not None
    about = conditions.subjects(seat.board, seat.seat, seat.rules, bidding=bidding)
    key, teller = (about, seat.rules, seat.names, speech.language()), seat.teller
    return _CONDITIONS.get(key) or _CONDITIONS.put(
        key, tuple((each.text, teller(each.says), each.number) for each in conditions.offered(about))
    )


def _examples(seat: SeatView, decision: Decision | None) -> tuple[tuple[str, str], ...]:
    """Standing orders that this game can use, each with its meaning. While nothing is asked, they have blanks."""
    one, another, most = "<choice>", "<choice>", "<number>"
    repeats = topic = True
    if decision is not None:
        one = grammar.write(decision, decision.default)
        another = next(
            (written for each in decision.choices(3) if (written := grammar.write(decision, each)) != one), one
        )
        raising = orders.raising(decision)
        most = str(raising[1].high) if raising else most
        # Nobody plays the same card again and again.
        repeats, topic = all(isinstance(value, int) for value in decision.default.values), bool(decision.topic)
    usages = tuple(orders.usages(decision))
    return _written_out(
        usages, one, another, most, _label_on_board(seat), speech.language(), repeats=repeats, topic=topic
    )


@lru_cache(maxsize=MOST_LISTS)
def _written_out(
    usages: tuple[str, ...],
    one: str,
    another: str,
    most: str,
    label: str,
    _language: object,
    *,
    repeats: bool,
    topic: bool,
) -> tuple[tuple[str, str], ...]:
    """The ways to write an order, with these choices in them, and what each does. In many turns they are the same."""
    meanings, examples = orders.usages(), []
    for usage in usages:
        again = usage.startswith("always") or ("auction" in usage and topic)
        if usage.startswith("up to") or " then " in usage or (repeats and again and ("board" not in usage or label)):
            written = usage.replace("then <choice>", f"then {another}").replace("<choice>", one)
            written = written.replace("<number on the board> over <number>", f"{label} over 10")
            examples.append((written.replace("<number>", most), speech.render(meanings[usage])))
    return tuple(examples)


def _label_on_board(seat: SeatView) -> str:
    """The name of a number on the board's panel of the seat, as an order may have it; empty without one."""
    panel = seat.board.panel(seat.seat)
    labels = () if panel is None else tuple(label for label, number in panel.numbers if number is not None)
    return seat.rules.teller()(labels[0]).casefold() if labels else ""
