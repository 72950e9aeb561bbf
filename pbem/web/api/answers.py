"""The API's answers as JSON values, made from what the seat may see and from nothing else. `openapi.json` describes each."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from engine import codec, grammar, orders
from engine.board import Amounts, Board, Face, Grid, Line, Panel, Part, Row, state_of
from engine.decisions import Act, Amount, Blank, Choice, Decision, Some, Split
from engine.tell import Teller, Text
from pbem.domain.causes import TurnFacts
from pbem.domain.states import TableStatus
from pbem.service.play.move import Receipt
from pbem.service.play.seat_view import SeatView

Json = dict[str, Any]


def decision(seat: SeatView, bank: timedelta | None) -> Json:
    """The table, what the seat is asked, what it has answered so far, and what is left in its bank."""
    return _table(seat) | {
        "decision": None if seat.decision is None else _decision(seat.decision, seat.teller),
        "sealed": None if seat.sealed is None else _choice(seat.sealed, seat.sealed_words),
        "proof": None if seat.proof is None else seat.proof._asdict(),
        "due_at": None if seat.due_at is None else seat.due_at.isoformat(),
        "bank": None if bank is None else bank // timedelta(seconds=1),
        "order": None if seat.order is None else orders.write_order(seat.order),
        "second_chance": seat.second_chance,
        "going_back": seat.going_back,
    }


def view(seat: SeatView) -> Json:
    """The table, and the seat's view as the game writes it down."""
    return _table(seat) | {"view": codec.plain(seat.view)}


def board(seat: SeatView) -> Json:
    """The table and its board."""
    return _table(seat) | {"board": _board(seat.board, seat.teller)}


def history(seat: SeatView, entries: Sequence[TurnFacts], *, more: bool) -> Json:
    """The table, and what the seat was told in these turns; `more` if others follow them."""
    following = entries[-1].turn + 1 if more else None
    return _table(seat) | {
        "entries": [_entry(entry, seat.teller_in(entry.turn)) for entry in entries],
        "next": following,
    }


def receipt(made: Receipt) -> Json:
    """A choice that was made."""
    return {
        "turn": made.turn,
        "seat": made.seat,
        "choice": _choice(made.choice, made.written),
        "sealed": made.sealed,
        "proof": None if made.proof is None else made.proof._asdict(),
        "again": made.again,
        "over": made.over,
    }


def blank(each: Blank, teller: Teller) -> Json:
    """A blank of an act: which values it can hold."""
    shared = {
        "kind": type(each).__name__.lower(),
        "name": each.name,
        "why": None if each.why is None else teller(each.why),
    }
    if isinstance(each, Amount):
        return shared | {"low": each.low, "high": each.high, "endings": sorted(each.endings), "raising": each.raising}
    things = [{"value": thing.value, "word": teller(thing.word), "note": teller(thing.note)} for thing in each.things]
    if isinstance(each, Some):
        return shared | {"things": things, "many": each.many}
    if isinstance(each, Split):
        return shared | {"things": things, "total": each.total}
    return shared | {"things": things}


def _table(seat: SeatView) -> Json:
    return {
        "game": seat.key,
        "kind": seat.rules.slug,
        "title": seat.title,
        "status": "paused" if seat.paused and seat.status == TableStatus.PLAYING else seat.status,
        "turn": seat.turn,
        "seat": seat.seat,
        "players": list(seat.names),
        "head": seat.head,
    }


def _decision(asked: Decision, teller: Teller) -> Json:
    return {
        "prompt": teller(asked.prompt),
        "topic": asked.topic,
        "acts": [_act(act, teller) for act in asked.acts],
        "default": _choice(asked.default, grammar.write(asked, asked.default)),
        "closes": sorted(asked.closes),
    }


def _act(act: Act, teller: Teller) -> Json:
    return {
        "verb": act.verb,
        "usage": grammar.usage(act),
        "note": None if act.note is None else teller(act.note),
        "blanks": [blank(each, teller) for each in act.blanks],
    }


def _choice(choice: Choice, text: str) -> Json:
    return {"verb": choice.verb, "values": codec.plain(choice)["values"], "text": text}


def _entry(entry: TurnFacts, teller: Teller) -> Json:
    return {
        "turn": entry.turn,
        "facts": [codec.plain(fact) for fact in entry.facts],
        "sealed": list(entry.sealed),
        "sentences": [sentence for fact in entry.facts if (sentence := teller.tell(fact)) is not None],
    }


def _board(board: Board, teller: Teller) -> Json:
    return {
        "title": teller(board.title),
        "turn": teller(board.turn),
        "centre": [_part(part, teller) for part in board.centre],
        "mine": [_part(part, teller) for part in board.mine],
        "players": [_panel(panel, teller) for panel in board.players],
        "notes": [teller(note.text) for note in board.notes],
        "folds": [
            {"label": teller(fold.label), "parts": [_part(part, teller) for part in fold.parts]} for fold in board.folds
        ],
    }


def _panel(panel: Panel, teller: Teller) -> Json:
    return {
        "seat": panel.seat,
        "numbers": [{"label": teller(label), "number": number} for label, number in panel.numbers],
        "state": _state(panel, teller),
        "chip": panel.chip if isinstance(panel.chip, int) else None,
        "out": panel.out,
        "parts": [_part(part, teller) for part in panel.parts],
    }


def _state(panel: Panel, teller: Teller) -> str | None:
    if isinstance(panel.chip, Face):
        return state_of(panel, teller)
    return None if panel.state is None else teller(panel.state)


def _part(part: Part, teller: Teller) -> Json:
    if isinstance(part, Line):
        return {"kind": "line", "text": teller(part.text)}
    if isinstance(part, Row):
        faces = [
            {"kind": face.kind, "id": face.id, "word": teller(face.word), "note": teller(face.note)}
            for face in part.faces
        ]
        return {"kind": "row", "label": teller(part.label), "laid": part.laid, "faces": faces}
    if isinstance(part, Amounts):
        pairs = [{"label": teller(label), "number": number} for label, number in part.pairs]
        return {"kind": "amounts", "pairs": pairs}
    assert isinstance(part, Grid)
    rows = [
        {"seat": seat, "numbers": [teller(cell) if isinstance(cell, Text) else cell for cell in cells]}
        for seat, cells in part.rows
    ]
    return {"kind": "grid", "columns": [teller(column) for column in part.columns], "rows": rows}
