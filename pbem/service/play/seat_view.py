"""What a page or a program shows of one seat: read in one transaction, made from that seat's view and from nothing else.

A `Look` holds no state, no secret of the table and nobody's address, so whatever is done with it tells the seat nothing
that it may not know. `Offered` is less: the one choice of a link, which gets forwarded, and what everybody may know.

Nothing in here changes anything, not even a kept view.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from engine import grammar, orders
from engine.board import Board
from engine.decisions import Choice, Decision, Refused
from engine.facts import SPECTATOR
from engine.game import Game, OptionValue, StandingEntry
from engine.tell import Teller, Text
from pbem.domain import hash_chain
from pbem.domain.choice_links import segment_text
from pbem.domain.missed_turns import warning
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.service.links import Link, follow, open_with_game
from pbem.service.play import move, undo, views
from pbem.service.play.log import StandingEntry as StandingEntry
from pbem.service.play.log import latest_entries
from pbem.service.play.move import agreement_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import MOST_ENTRIES, TurnFacts, decision_in, facts_by_turn, knowledge_of
from pbem.service.server import Server
from pbem.store import deadlines, games, log, people, seats
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow
from pbem.tokens import Purpose


@dataclass(frozen=True, slots=True)
class PastChoice:
    """A choice that a seat made, and whether it can still be taken back."""

    turn: int
    choice: Choice
    written: str
    may_take_back: bool


@dataclass(frozen=True, slots=True)
class SeatView:
    """Everything that one seat may see of its game now.

    `decision` is what it is asked, `sealed` its choice in the box, `made` its last choice that was carried out. `told`
    begins with the turn of that choice; `new_lines` is how much the others have said since then and since it spoke itself,
    without those it does not hear. `due_at` is until when it may decide, if its clock runs; `mail_fails`, whether mail to its
    player does not arrive at present; `guest`, whether this is a demo.
    """

    game_id: int
    key: str
    title: str
    status: str
    paused: bool
    turn: int
    pace: str
    seat: int
    person_id: int
    rules: Game[Any]
    options: Mapping[str, OptionValue]
    names: tuple[str, ...]
    people: tuple[int, ...]
    view: Any
    board: Board
    decision: Decision | None
    sealed: Choice | None
    made: PastChoice | None
    facts_by_turn: tuple[TurnFacts, ...]
    new_lines: int | None
    order: orders.Order | None
    due_at: datetime | None
    promised_at: datetime | None
    zone: ZoneInfo
    mail_fails: bool
    guest: bool
    warning: str
    standing: StandingEntry
    votes: frozenset[int]
    head: str

    @property
    def teller(self) -> Teller:
        """Whoever tells this seat's player what happened."""
        return speech.teller(self.rules, self.seat, tuple(map(isolate, self.names)))

    @property
    def sealed_words(self) -> str:
        """The choice in the box, as it is written."""
        return "" if self.sealed is None or self.decision is None else grammar.write(self.decision, self.sealed)

    @property
    def default_words(self) -> str:
        """What silence means, as it is written."""
        return "" if self.decision is None else grammar.write(self.decision, self.decision.default)

    @property
    def default_note(self) -> str:
        """What there is to say about what silence means, where its words alone say little."""
        if self.decision is None:
            return ""
        note = next(act for act in self.decision.acts if self.decision.default in act).note
        return "" if note is None else self.teller(note)


@dataclass(frozen=True, slots=True)
class OfferedChoice:
    """The one choice of a link, with what anybody may know of its game.

    `choice` is None where the link's last part is no choice of that turn, or the turn is over. `mine` is what the seat has
    chosen in that turn, if it has: sealed, or carried out. `told` is what everybody was told since.
    """

    game_id: int
    title: str
    rules: Game[Any]
    names: tuple[str, ...]
    seat: int
    person_id: int
    turn: int
    current_turn: int
    status: str
    paused: bool
    choice: Choice | None
    written: str
    note: Text | None
    closes: bool
    prompt: Text | None
    mine: PastChoice | None
    facts_by_turn: tuple[TurnFacts, ...]
    due_at: datetime | None
    promised_at: datetime | None
    zone: ZoneInfo

    @property
    def teller(self) -> Teller:
        """Whoever tells what everybody may know; the reader is called by name, because links get forwarded."""
        return speech.teller(self.rules, None, tuple(map(isolate, self.names)))


def view_seat(tx: Tx, server: Server, token: str) -> SeatView:
    """What the holder of a seat's link sees."""
    return _look(tx, *open_with_game(tx, server, token, Purpose.SEAT))


def view_for_program(tx: Tx, server: Server, token: str) -> SeatView:
    """What the holder of a seat's token for programs sees."""
    return _look(tx, *open_with_game(tx, server, token, Purpose.API))


def offered_choice(tx: Tx, server: Server, token: str, option: str) -> OfferedChoice:
    """What the link of one choice offers, or what has become of its turn."""
    return _offered(tx, follow(tx, server, token, Purpose.MOVE), option)


def history(tx: Tx, server: Server, token: str, since: int, most: int) -> tuple[SeatView, tuple[TurnFacts, ...], bool]:
    """What a seat was told in the turns from this one on, the first of them first, and whether there are more."""
    link, row = open_with_game(tx, server, token, Purpose.API)
    found = _look(tx, link, row)
    entries = latest_entries(found.rules, log.chain_back(tx, row.id, row.key), since)
    return found, facts_by_turn(entries[:most], found.seat), len(entries) > most


def seat_of(link: Link) -> tuple[int, int, int]:
    """The game, the seat and the person of a link that is for a seat."""
    game_id, seat, person_id = link.game_id, link.seat, link.person_id
    assert game_id is not None
    assert seat is not None
    assert person_id is not None
    return game_id, seat, person_id


def _look(tx: Tx, link: Link, row: GameRow) -> SeatView:
    game_id, seat, person_id = seat_of(link)
    rules = rules_of(row)
    known = knowledge_of(tx, row, rules, seat)
    decision = known.decision if row.status == "playing" else None
    since = known.lately[0].seq if known.lately else 0
    taken, clock = seats.taken_with_clock(tx, game_id, row.turn, seat, person_id, since)
    return SeatView(
        game_id=game_id,
        key=row.key,
        title=row.title,
        status=row.status,
        paused=row.paused,
        turn=row.turn,
        pace=row.pace,
        seat=seat,
        person_id=person_id,
        rules=rules,
        options=json.loads(row.options),
        names=tuple(each.name for each in taken),
        people=tuple(each.seat for each in taken if each.person_id is not None),
        view=known.view,
        board=known.board,
        decision=decision,
        sealed=None if decision is None else move.box_of(row).get(seat),
        made=_made_since(tx, row, rules, seat, known.lately) if known.lately else None,
        told=known.told,
        new_lines=clock.new_lines,
        order=move.orders_of(row).get(seat),
        due_at=clock.due_at,
        promised_at=clock.promised_at,
        zone=ZoneInfo(clock.zone),
        mail_fails=clock.mail_fails,
        guest=clock.guest,
        warning=warning(taken[seat].missed, agreement_of(row)),
        standing=known.standing,
        votes=frozenset(each.seat for each in taken if each.agrees),
        head=hash_chain.fingerprint(row.entry_head),
    )


def _offered(tx: Tx, link: Link, option: str) -> OfferedChoice:
    game_id, seat, person_id = seat_of(link)
    turn = link.turn
    assert turn is not None, "one choice is for one turn"
    row = games.read(tx, game_id)
    rules = rules_of(row)
    decision = None
    if row.status == "playing" and row.turn == turn:
        decision = decision_in(rules, views.view(tx, row, seat).view, seat)
    choice = None if decision is None else _choice(decision, option)
    act = None if decision is None or choice is None else next(act for act in decision.acts if choice in act)
    since = latest_entries(rules, log.chain_back(tx, row.id, row.key), turn) if row.turn != turn else []
    deadline = deadlines.read(tx, game_id, turn, seat)
    return OfferedChoice(
        game_id=game_id,
        title=row.title,
        rules=rules,
        names=_names(player_rows.of_game(tx, game_id)),
        seat=seat,
        person_id=person_id,
        turn=turn,
        current_turn=row.turn,
        status=row.status,
        paused=row.paused,
        choice=choice,
        written="" if decision is None or choice is None else grammar.write(decision, choice),
        note=None if act is None else act.note,
        closes=decision is not None and choice is not None and choice.verb in decision.closes,
        prompt=None if decision is None else decision.prompt,
        mine=_made(tx, row, rules, seat, turn, decision, since),
        told=facts_by_turn(since[-MOST_ENTRIES:], SPECTATOR),
        due_at=None if deadline is None else deadline.due_at,
        promised_at=None if deadline is None else deadline.promised_at,
        zone=ZoneInfo(people.read(tx, person_id).zone),
    )


def _choice(decision: Decision, option: str) -> Choice | None:
    try:
        return grammar.read(decision, segment_text(option))
    except Refused:
        return None


def _made(
    tx: Tx,
    row: GameRow,
    rules: Game[Any],
    seat: int,
    turn: int,
    decision: Decision | None,
    since: list[StandingEntry],
) -> PastChoice | None:
    """What the seat has chosen in that turn."""
    if decision is not None:
        sealed = move.box_of(row).get(seat)
        written = "" if sealed is None else grammar.write(decision, sealed)
        may = sealed is not None and undo.may_withdraw(tx, row, seat)
        return None if sealed is None else PastChoice(turn, sealed, written, may)
    if since and since[0].turn == turn:
        return _made_since(tx, row, rules, seat, since)
    return None


def _made_since(tx: Tx, row: GameRow, rules: Game[Any], seat: int, since: Sequence[StandingEntry]) -> PastChoice | None:
    """What the seat has chosen in the first of these entries, which are the log from there on."""
    standing = since[0]
    choice = standing.entry.choices.get(seat)
    if choice is None or seat in standing.entry.alone:
        return None
    may = undo.may_undo(tx, row, since, seat)
    return PastChoice(standing.turn, choice, move.choice_words(choice, rules), may)


def _names(players: list[PlayerRow]) -> tuple[str, ...]:
    """What the players are called, by seat."""
    return tuple(player.name for player in sorted(players, key=lambda player: player.seat or 0))
