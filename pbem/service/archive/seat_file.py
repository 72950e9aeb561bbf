"""The file of a seat: everything that one player has been told of a game so far, to keep or to give to a program.

It is made from the seat's own view, the facts that it saw, and the rows that are its player's own. Nothing in it depends on
what is hidden from the seat: no number or hash of a row, because those count the sealed choices of others. A seat's other
players are others too: what they sealed, and how long they had, is not in it. The format is described in
`pbem/handbook/seat-file.md`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from engine import codec, grammar
from engine.orders import write_order
from pbem.domain import hash_chain
from pbem.domain.causes import TurnFacts
from pbem.service.play import seat_view
from pbem.service.play.log import PUBLIC, Kind, StandingEntry, json_body_of, public_body_of, standing_entries
from pbem.service.play.seals import proof_of
from pbem.service.play.seat_cache import has_ended, turn_facts
from pbem.service.play.seat_view import SeatView
from pbem.service.server import Server
from pbem.store import deadlines, games, log, players as player_rows, talk
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.schema import FormerPlayerRow
from pbem.tokens import Purpose

FORMAT: Final = "pbem-seat"
VERSION: Final = 1


def by_link(tx: Tx, server: Server, token: str, purpose: Purpose = Purpose.SEAT) -> tuple[str, str]:
    """The name and the text of the file of a link's seat."""
    seat = seat_view.view_seat(tx, server, token, purpose)
    row = games.read(tx, seat.game_id)
    rows = tuple(log.chain(tx, row.id, row.key))
    entries = standing_entries(seat.rules, rows)
    former = [each for each in player_rows.former_of_game(tx, row.id) if each.seat == seat.seat]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "made_at": server.now().isoformat(),
        "game": _game(row),
        "seat": seat.seat,
        "names": list(seat.names),
        "people": list(seat.people),
        "fingerprint": seat.head,
        "now": _now(seat),
        "turns": [_turn(seat, standing, turn_facts(standing, seat.seat, ended=has_ended(row))) for standing in entries],
        "sealed": list(_sealed(seat, rows, former)),
        "deadlines": list(_deadlines(tx, seat, former)),
        "decided": [_public(each) for each in rows if each.kind in PUBLIC],
        "talk": list(_talk(tx, seat)),
    }
    name = f"{row.kind}-{row.key}-seat-{seat.seat + 1}.json"
    return name, json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _game(row: GameRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "kind": row.kind,
        "rules": row.rules,
        "title": row.title,
        "seats": row.seats,
        "options": json.loads(row.options),
        "pace": row.pace,
        "time_off": row.time_off,
        "missed_limit": row.missed_limit,
        "successor": row.successor,
        "stand_in": row.stand_in,
        "hints": row.hints,
        "rated": row.rated,
        "status": row.status,
        "paused": row.paused,
        "turn": row.turn,
        "started_at": _text(row.started_at),
        "ended_at": _text(row.ended_at),
        "commitment": row.commitment,
    }


def _now(seat: SeatView) -> dict[str, Any]:
    """What the seat knows and may do now."""
    asked = seat.decision
    return {
        "view": _plain(seat.view),
        "asked": asked is not None,
        "prompt": "" if asked is None else seat.teller(asked.prompt),
        "may_write": [] if asked is None else list(grammar.usages(asked)),
        "if_missed": seat.default_words,
        "sealed": seat.sealed_words,
        "order": "" if seat.order is None else write_order(seat.order),
        "due_at": _text(seat.due_at),
    }


def _turn(seat: SeatView, standing: StandingEntry, facts: TurnFacts) -> dict[str, Any]:
    """A turn that still counts, as this seat was told of it."""
    own, teller = standing.entry.choices.get(seat.seat), seat.teller_in(standing.turn)
    return {
        "turn": standing.turn,
        "choice": None if own is None else _plain(own),
        "by": {str(other): cause for other, cause in sorted(facts.causes.items())},
        "facts": [_plain(fact) for fact in facts.facts],
        "says": [sentence for fact in facts.facts if (sentence := teller.tell(fact)) is not None],
        "sealed": list(standing.sealed),
    }


def _sealed(
    seat: SeatView, rows: Sequence[hash_chain.Row], former: Sequence[FormerPlayerRow]
) -> Iterator[dict[str, Any]]:
    """The player's own sealed choices, those included that they took back or replaced, each with what proves it."""
    for row in rows:
        sealed_here = row.kind == Kind.SEALED and row.seat == seat.seat
        if not sealed_here or not _is_own(seat, [each for each in former if row.seq < each.seq]):
            continue
        body = json_body_of(row)
        sealed = {"turn": body["turn"], "at": row.at.isoformat(), "by": row.by, "choice": body["choice"]}
        # From before there were fingerprints: its hash names no game and seat.
        yield sealed | (proof_of(row)._asdict() if "game" in body else {})


def _deadlines(tx: Tx, seat: SeatView, former: Sequence[FormerPlayerRow]) -> Iterator[dict[str, Any]]:
    for row in deadlines.of_seat(tx, seat.game_id, seat.seat):
        if not _is_own(seat, [each for each in former if row.turn < each.turn]):
            continue
        yield {
            "turn": row.turn,
            "status": row.status,
            "asked_at": row.asked_at.isoformat(),
            "started_at": _text(row.accepted_at),
            "due_at": _text(row.due_at),
        }


def _is_own(seat: SeatView, later_left: Sequence[FormerPlayerRow]) -> bool:
    """Whether something is the present player's own, given the players of the seat who left it after that, in order."""
    return not later_left or later_left[0].person_id == seat.person_id


def _public(row: hash_chain.Row) -> Mapping[str, Any]:
    return {"kind": row.kind, "seat": row.seat, "by": row.by, "at": row.at.isoformat(), "body": public_body_of(row)}


def _talk(tx: Tx, seat: SeatView) -> Iterator[dict[str, Any]]:
    """What was said, without players that this seat has muted; a line that was taken away has no text."""
    for line in talk.unmuted(tx, seat.game_id, seat.key, seat.seat)[0]:
        yield {"seat": line.seat, "at": line.at.isoformat(), "text": line.text}


def _plain(value: Any) -> Any:
    """A value of the engine as plain JSON, in the form that the log has."""
    return json.loads(codec.dumps(value))


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
