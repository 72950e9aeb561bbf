"""What a page or a program shows of one seat, made only from that seat's view and read in one transaction.

A `SeatView` holds no state, no secret of the table and no address, so nothing shown from it can leak. An `OfferedChoice`
holds less, because links get forwarded: the choice of the link and what everyone may know.

This module must never write, not even a saved view.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from engine import grammar, orders
from engine.board import Board
from engine.decisions import Choice, Decision, OneOf, Refused
from engine.facts import SPECTATOR
from engine.game import Game, Standing
from engine.options import OptionValue
from engine.records import record
from engine.tell import Teller, Text
from pbem import hints
from pbem.domain import hash_chain
from pbem.domain.causes import TurnFacts
from pbem.domain.choice_links import segment_text
from pbem.domain.extension import givers_of, read_extensions
from pbem.domain.former_players import FormerPlayer, teller_in_turn
from pbem.domain.localtime import stored_zone
from pbem.domain.missed_turns import warning
from pbem.domain.states import TableStatus
from pbem.domain.user_text import isolate
from pbem.domain.week import counting_text, read_week
from pbem.i18n import speech
from pbem.service.links import MoveLink, SeatLink, follow_move, open_seat, open_seat_with_view
from pbem.service.play import move, undo, views
from pbem.service.play.endings import Ending, ending_of
from pbem.service.play.log import StandingEntry, latest_entries
from pbem.service.play.move import agreement_of
from pbem.service.play.positions import box_of, orders_of, position_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seals import Proof, seals_of
from pbem.service.play.seat_cache import MOST_ENTRIES, decision_in, facts_by_turn, knowledge_of
from pbem.service.play.views import ReadSaved
from pbem.service.server import Server
from pbem.store import deadlines, games, log, people, seats, votes as vote_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.views import last_of
from pbem.tokens import Purpose


@record
class PastChoice:
    """A choice that a seat has made, or the clock for it, and whether it can be taken back."""

    turn: int
    choice: Choice
    written: str
    may_take_back: bool
    by_clock: bool = False


@record
class SeatView:
    """Everything that one seat may see of its game now.

    `asked` are the seats whose turn it is, whether or not they have sealed a choice, since the last entry.
    `sealed` is its choice in the box with
    its `proof`, `made` its last choice in an entry. `recent_facts` starts with the turn of that choice;
    `mark` changes with what everyone at the table is told, and with nothing else.
    `new_lines` counts the messages of players it has not muted since then and since its own last message. `due_at` is None
    while its clock is not running; `givers` are the seats that have given it more time for this turn; `mail_fails` says that no email reaches its player; `guest`, that this is a demo; `hints`,
    that the player may ask what the Expert bot would do now; `second_chance`, for how many hours a missed turn's move can be
    taken back; `back_votes` are the seats that agree to go back to turn `back_to`; `ending` is None until the game has ended. `levels`
    are those of bots, by seat, with None for a person. `order` are its standing orders, `order_notes` the latest of what they tell.
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
    asked: frozenset[int]
    asked_since: datetime | None
    sealed: Choice | None
    proof: Proof | None
    made: PastChoice | None
    recent_facts: tuple[TurnFacts, ...]
    new_lines: int | None
    order: orders.Order | None
    due_at: datetime | None
    promised_at: datetime | None
    zone: ZoneInfo
    mail_fails: bool
    guest: bool
    hints: bool
    warning: str
    standing: Standing
    ending: Ending | None
    votes: frozenset[int]
    head: str
    mark: str
    former: tuple[FormerPlayer, ...] = ()
    levels: tuple[str | None, ...] = ()
    givers: tuple[int, ...] = ()
    time_off: str = ""
    second_chance: int = 0
    going_back: bool = False
    back_to: int | None = None
    back_votes: frozenset[int] = frozenset()
    order_notes: tuple[Text, ...] = ()

    @property
    def form_turn(self) -> str:
        """The turn as a form names it: with the head, because an undo or a restored backup gives its number out again."""
        return f"{self.turn}.{self.head}"

    def is_at(self, form_turn: str) -> bool:
        """Whether the turn that a form names is the present one, with the position that it was made for."""
        return form_turn in (self.form_turn, f"{self.turn}")

    @property
    def teller(self) -> Teller:
        """The teller of facts to this seat's player."""
        return speech.teller(self.rules, self.seat, tuple(map(isolate, self.names)))

    def teller_in(self, turn: int | None) -> Teller:
        """The same for what happened in a turn, with the names of those who played then."""
        return teller_in_turn(turn, self.rules, self.seat, self.names, self.former)

    def caution(self, choice: Choice) -> str:
        """The price of a choice, in words, if its player may not have meant to pay it, or an empty text."""
        caution = self.rules.caution(self.view, self.seat, choice)
        return "" if caution is None else self.teller(caution)

    def is_costly(self, choice: Choice) -> bool:
        """Whether a choice has such a price."""
        return self.rules.caution(self.view, self.seat, choice) is not None

    @property
    def sealed_words(self) -> str:
        return "" if self.sealed is None or self.decision is None else grammar.write(self.decision, self.sealed)

    @property
    def default_words(self) -> str:
        return "" if self.decision is None else grammar.write(self.decision, self.decision.default)

    @property
    def default_spoken(self) -> str:
        """The choice made if the deadline is missed, as it reads after “you'll”."""
        return "" if self.decision is None else speech.translate(grammar.spoken(self.decision, self.decision.default))

    @property
    def default_note(self) -> str:
        """What that choice does, or which card it names, where its words alone don't say it."""
        if self.decision is None:
            return ""
        default = self.decision.default
        act = next(act for act in self.decision.acts if default in act)
        if act.spoken:
            return ""
        if act.note is not None:
            return self.teller(act.note)
        things = act.blanks[0].things if len(act.blanks) == 1 and isinstance(act.blanks[0], OneOf) else ()
        return next((self.teller(thing.note) for thing in things if (thing.value,) == default.values), "")


@record
class OfferedChoice:
    """The choice of a move's link, with what everyone may know of its game.

    `public_key` is the key of a public table, else empty. `choice` is None where the link's option fits no act of the turn, or
    the turn is over. `made` is the seat's choice in
    that turn, sealed with a `proof` or in an entry. `recent_facts` has the public facts since. Once there is such a choice,
    `board` is the table as everyone sees it, and `asked` are the seats whose turn it is.
    """

    game_id: int
    public_key: str
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
    made: PastChoice | None
    proof: Proof | None
    recent_facts: tuple[TurnFacts, ...]
    due_at: datetime | None
    promised_at: datetime | None
    zone: ZoneInfo
    former: tuple[FormerPlayer, ...] = ()
    board: Board | None = None
    asked: frozenset[int] = frozenset()

    @property
    def teller(self) -> Teller:
        """The teller of public facts; it names the reader too, because links get forwarded."""
        return speech.teller(self.rules, None, tuple(map(isolate, self.names)))

    def teller_in(self, turn: int | None) -> Teller:
        """The same for what happened in a turn, with the names of those who played then."""
        return teller_in_turn(turn, self.rules, None, self.names, self.former)


def view_seat(tx: Tx, server: Server, token: str, purpose: Purpose = Purpose.SEAT) -> SeatView:
    """The view behind a SEAT or API token."""
    link, row, saved = open_seat_with_view(tx, server, token, purpose)
    return _view(tx, link, row, lambda *_: saved)


def read_mark(tx: Tx, server: Server, token: str) -> str:
    """The mark of what the table of a SEAT token has been told, in one statement."""
    return _mark(open_seat(tx, server, token, Purpose.SEAT)[1])


def offered_choice(tx: Tx, server: Server, token: str, option: str) -> OfferedChoice:
    """The choice behind a move's link, or what became of its turn."""
    return _offered(tx, follow_move(tx, server, token), option)


def history(tx: Tx, server: Server, token: str, since: int, most: int) -> tuple[SeatView, tuple[TurnFacts, ...], bool]:
    """A seat's view, the facts of up to `most` turns from one on, and whether there are more."""
    link, row = open_seat(tx, server, token, Purpose.API)
    view = _view(tx, link, row)
    entries = latest_entries(view.rules, log.chain_back(tx, row.id, row.key), since)
    return view, facts_by_turn(row, entries[:most], view.seat), len(entries) > most


def _view(tx: Tx, link: SeatLink, row: GameRow, read_saved: ReadSaved = last_of) -> SeatView:
    game_id, seat, person_id = link.game_id, link.seat, link.person_id
    rules = rules_of(row)
    knowledge = knowledge_of(tx, row, rules, seat, read_saved)
    sealed = box_of(row).get(seat)
    decision, recent = knowledge.decision if row.status == TableStatus.PLAYING else None, knowledge.recent_entries
    since = recent[0].seq if recent else 0
    taken, clock = seats.taken_with_clock(tx, game_id, row.turn, seat, person_id, since)
    back_votes = vote_rows.back_votes(tx, row) if row.going_back and row.status == TableStatus.PLAYING else {}
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
        view=knowledge.view,
        board=knowledge.board,
        decision=decision,
        asked=_asked(tx, row),
        asked_since=recent[-1].at if recent else None,
        sealed=None if decision is None else sealed,
        proof=None if decision is None or sealed is None else seals_of(row).of(seat),
        made=_made_since(tx, row, rules, seat, recent) if recent else None,
        recent_facts=knowledge.recent_facts,
        new_lines=clock.new_lines,
        order=orders_of(row).get(seat),
        due_at=clock.due_at,
        promised_at=clock.promised_at,
        givers=givers_of(read_extensions(clock.extensions or "[]")),
        zone=stored_zone(clock.zone),
        mail_fails=clock.mail_fails,
        guest=clock.guest,
        hints=row.hints and decision is not None and decision.only() is None and hints.is_possible(rules),
        warning=warning(taken[seat].missed, agreement_of(row)),
        standing=knowledge.standing,
        ending=ending_of(tx, row),
        votes=frozenset(each.seat for each in taken if each.agrees),
        head=hash_chain.fingerprint(row.entry_head),
        mark=_mark(row),
        former=seats.former(taken),
        levels=tuple(each.bot for each in taken),
        time_off=counting_text(read_week(clock.week), row.time_off) if clock.week and decision else "",
        second_chance=row.second_chance,
        going_back=row.going_back,
        back_to=next(iter(back_votes.values()), None),
        back_votes=frozenset(back_votes),
        order_notes=knowledge.order_notes,
    )


def _mark(row: GameRow) -> str:
    return f"{row.turn}.{row.status}.{int(row.paused)}.{hash_chain.fingerprint(row.entry_head)}"


def _offered(tx: Tx, link: MoveLink, option: str) -> OfferedChoice:
    game_id, seat, person_id, turn = link.game_id, link.seat, link.person_id, link.turn
    row = games.read(tx, game_id)
    rules = rules_of(row)
    decision = None
    if row.status == TableStatus.PLAYING and row.turn == turn:
        decision = decision_in(rules, views.view(tx, row, seat), seat)
    choice = None if decision is None else _choice(decision, option)
    act = None if decision is None or choice is None else next(act for act in decision.acts if choice in act)
    since = latest_entries(rules, log.chain_back(tx, row.id, row.key), turn) if row.turn != turn else []
    made = _made(tx, row, rules, seat, turn, decision, since)
    deadline, taken = deadlines.read(tx, game_id, turn, seat), seats.taken(tx, game_id)
    return OfferedChoice(
        game_id=game_id,
        public_key="" if row.private else row.key,
        title=row.title,
        rules=rules,
        names=tuple(each.name for each in taken),
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
        made=made,
        proof=None if decision is None or made is None else seals_of(row).of(seat),
        recent_facts=facts_by_turn(row, since[-MOST_ENTRIES:], SPECTATOR),
        due_at=None if deadline is None else deadline.due_at,
        promised_at=None if deadline is None else deadline.promised_at,
        zone=stored_zone(people.read(tx, person_id).zone),
        former=seats.former(taken),
        board=None if made is None else rules.board(views.view(tx, row, SPECTATOR), SPECTATOR),
        asked=_asked(tx, row),
    )


def _asked(tx: Tx, row: GameRow) -> frozenset[int]:
    return frozenset(position_of(tx, row).open()) if row.status == TableStatus.PLAYING else frozenset()


def _choice(decision: Decision, option: str) -> Choice | None:
    try:
        return grammar.read(decision, segment_text(option))
    except Refused:
        return None


def _made(
    tx: Tx, row: GameRow, rules: Game[Any], seat: int, turn: int, decision: Decision | None, since: list[StandingEntry]
) -> PastChoice | None:
    if decision is not None:
        sealed = box_of(row).get(seat)
        if sealed is None:
            return None
        return PastChoice(turn, sealed, grammar.write(decision, sealed), undo.may_withdraw(tx, row, seat))
    if since and since[0].turn == turn:
        return _made_since(tx, row, rules, seat, since)
    return None


def _made_since(tx: Tx, row: GameRow, rules: Game[Any], seat: int, since: Sequence[StandingEntry]) -> PastChoice | None:
    """The seat's choice in the first of these entries, which run to the end of the log."""
    standing = since[0]
    choice = standing.entry.choices.get(seat)
    if choice is None or seat in standing.entry.alone:
        return None
    written, by_clock = move.choice_words(choice, rules), standing.is_clocks(seat)
    return PastChoice(standing.turn, choice, written, undo.may_undo(tx, row, since, seat), by_clock)
