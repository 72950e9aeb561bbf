"""Replies: the lines that a player wrote are carried out one by one, and a receipt gives the outcome of each.

A reply is one transaction, together with its receipt and the note in its row, so a reply that comes twice or broke off
half-way is carried out once. Lines are done in their order up to the first that is refused: earlier ones stay done, later
ones are not tried.

A line is read against what was asked in the turn of the email that it answers, and a choice counts for that turn only, so
late replies do no harm. `order` and `drop order` count whenever they arrive, but an order only for the first question since
that email: once its lot or auction is over, it is refused. If a choice leads straight to the next question for the same
player, with nothing new to know in between, the next line answers that one.

Whether the reply is from its player was decided before. This module must never guess what a line means.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from engine import orders
from engine.decisions import Decision
from pbem.domain import reply_pieces
from pbem.domain.delivery import Delivery, Way
from pbem.domain.errors import BadInput, Gone, Refusal, Stale, TimedOut
from pbem.domain.localtime import local_day, stored_zone
from pbem.domain.reply_commands import Command, Move, Slip, StandingOrder, Word, WordCommand
from pbem.domain.reply_pieces import Piece
from pbem.domain.states import EmailKind, ReceivedStatus, TableStatus
from pbem.domain.topics import Topic
from pbem.domain.vacation import parse_vacation
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.mail.read.reply import Reply
from pbem.service.absence import second_chance
from pbem.service.clocks import more_time, vacations
from pbem.service.incoming import answers, dropped_orders
from pbem.service.incoming.reply_lines import (
    CHANGE_NOTHING,
    CHANGE_THE_TABLE,
    LONGEST_SHOWN,
    MOST_SHOWN,
    Done,
    Line,
    Outcome,
    summary,
)
from pbem.service.links import MoveLink
from pbem.service.outgoing import ledger, new_links, preferences
from pbem.service.play import move as play_move, notes, order_notes, standing_orders as play_orders, views
from pbem.service.play.log import entries_back, latest_entries
from pbem.service.play.move import Actor
from pbem.service.play.positions import position_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seals import Proof
from pbem.service.play.seat_cache import decision_in
from pbem.service.server import Server
from pbem.service.tables import going_back, talk
from pbem.store import deadlines, games, log, people, received as rows, seats
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import NewEmail

MOST_COMMANDS: Final = 20
"""Commands of one reply that are read; nobody plays more turns ahead."""

_OF_ALL_GAMES: Final = frozenset({Word.VACATION, Word.NEW_LINKS})

_OF_ANYONE: Final = _OF_ALL_GAMES | {Word.HELP, Word.RULES, Word.NOTE, Word.STOP, Word.START}
"""Words that say and change nothing of a seat, so that they count for a former player of it, too."""


@dataclass(slots=True)
class _Acting:
    """A reply while it is carried out. `turn` is the turn that the next choice is for.

    `question` is the decision that the player was asked to make in that turn, in a tuple once it has been read. The next
    line that is applied may change it. `proof` is that of the choice that the reply has sealed. `doubtful` is the first line
    that may be a command with a typo: it counts if there is no other.
    """

    tx: Tx
    server: Server
    game_id: int
    seat: int
    person_id: int
    turn: int
    lines: list[Line] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    shown: set[Word] = field(default_factory=set)
    doubtful: Slip | None = None
    stopped: bool = False
    late: bool = False
    question: tuple[Decision | None] | None = None
    proof: Proof | None = None
    numbered: dropped_orders.Numbered | None = None

    def game(self) -> GameRow:
        """The game as it is now."""
        return games.read(self.tx, self.game_id)


def carry_out(tx: Tx, server: Server, received_id: int, link: MoveLink, reply: Reply) -> str | None:
    """Carry out a stored reply and queue its receipt; returns the outcome in a few words. Doing it again changes nothing.

    Returns None if the reply is done already, because its player rejected it or was deleted.
    """
    row = rows.lock(tx, received_id)
    assert row is not None, "an email is stored until it is processed"
    if done := json.loads(row.acts):
        return summary([Outcome(line["outcome"]) for line in done if line["said"]])
    if row.status == ReceivedStatus.DONE:
        return None
    acting = _Acting(tx, server, link.game_id, link.seat, link.person_id, link.turn)
    pieces = reply_pieces.pieces(reply.lines)
    _lock(acting, pieces)
    acting.numbered = dropped_orders.before_reply(acting.game(), acting.seat, acting.turn)
    lines_read = 0
    for piece in pieces:
        if len(acting.lines) >= MOST_COMMANDS:
            break
        _read(acting, piece)
        lines_read += len(piece.lines)
    if acting.doubtful is not None and not acting.lines:
        _carry_out(acting, acting.doubtful)
    _queue_receipt(acting, link.turn, reply, unread=lines_read < len(reply.lines))
    # A reply without a command has a line too, so that it is not taken for one that was never read.
    lines = acting.lines or [Line("", Outcome.NOT_TRIED)]
    rows.change(tx, received_id, acts=json.dumps([line.facts() for line in lines]))
    return summary([line.outcome for line in acting.lines])


def _lock(acting: _Acting, pieces: Sequence[Piece]) -> None:
    """Lock the game, and all others that a command would change, in the order of their ids."""
    game_ids = {acting.game_id}
    if any(isinstance(piece.word, WordCommand) and piece.word.word in _OF_ALL_GAMES for piece in pieces):
        game_ids |= {row.game_id for row in deadlines.of_person(acting.tx, acting.person_id)}
    for game_id in sorted(game_ids):
        games.lock(acting.tx, game_id)


def _read(acting: _Acting, piece: Piece) -> None:
    """Read a line, or a message of several, and carry it out if it is a command."""
    if acting.question is None:
        acting.question = (_question(acting),)
    command = piece.read(acting.question[0])
    if isinstance(command, Slip) and command.doubtful:
        acting.doubtful = acting.doubtful or command
    if command is None or (isinstance(command, Slip) and command.doubtful):
        acting.prose += [line[:LONGEST_SHOWN] for line in piece.lines]
        return
    _carry_out(acting, command)


def _carry_out(acting: _Acting, command: Command) -> None:
    """Carry out a command, unless one before it was refused."""
    quoted = command.text[:LONGEST_SHOWN]
    if acting.stopped:
        acting.lines.append(Line(quoted, Outcome.NOT_TRIED))
        return
    try:
        # A refusal leaves nothing to take back: every use case checks first and writes afterwards.
        done, text = _do(acting, command)
    except Refusal as refusal:
        acting.stopped = True
        acting.late = acting.late or isinstance(refusal, Stale)
        acting.lines.append(Line(quoted, Outcome.REFUSED, text=str(refusal)))
    else:
        acting.question = None
        acting.lines.append(Line(quoted, Outcome.APPLIED, done, text))


def _question(acting: _Acting) -> Decision | None:
    """The decision that the player was asked to make in the turn that the next line is for."""
    game = acting.game()
    if game.seed is None:
        return None
    # What was asked in a turn that was undone is gone; the present question is likest to it.
    view = views.view_before(acting.tx, game, acting.seat, acting.turn or game.turn)
    return decision_in(rules_of(game), view, acting.seat)


def _do(acting: _Acting, command: Command) -> tuple[Done, str]:
    """Carry out a command; returns its effect, and words for the receipt. Raises Gone for a seat that someone else plays."""
    if not (isinstance(command, WordCommand) and command.word in _OF_ANYONE):
        # First of all: even a refusal would tell a former player of the seat something of it.
        play_move.lock_seat(acting.tx, acting.game_id, acting.seat, acting.person_id)
    match command:
        case Move():
            return _play(acting, command)
        case StandingOrder():
            return _leave_order(acting, command)
        case WordCommand():
            return _do_word(acting, command)
        case Slip():
            teller = speech.teller(rules_of(acting.game()))
            raise BadInput(teller(command.why), remedy=_("This line changed nothing."))


def _play(acting: _Acting, move: Move) -> tuple[Done, str]:
    before = acting.turn
    try:
        receipt = play_move.play_locked(
            acting.tx, acting.server, acting.game(), before, acting.seat, move.choice, Actor.REPLY, acting.person_id
        )
    except TimedOut:
        raise
    except Stale as stale:
        raise _moved_on(acting) if acting.game().turn != before else stale from stale
    acting.proof = receipt.proof
    if receipt.again:
        return Done.AGAIN, receipt.written
    if receipt.sealed:
        return Done.SEALED, receipt.written
    acting.turn = _next_turn(acting)
    return Done.PLAYED, receipt.written


def _next_turn(acting: _Acting) -> int:
    """The turn for the next choice: the present one, if the player is asked there and learnt nothing new in between."""
    game = acting.game()
    rules = rules_of(game)
    if game.status != TableStatus.PLAYING:
        return acting.turn
    entries = latest_entries(rules, log.chain_back(acting.tx, game.id, game.key), acting.turn)
    nothing_new = play_move.may_be_undone([standing.entry for standing in entries])
    question = decision_in(rules, views.view(acting.tx, game, acting.seat), acting.seat)
    return game.turn if nothing_new and question is not None else acting.turn


def _leave_order(acting: _Acting, standing: StandingOrder) -> tuple[Done, str]:
    if acting.game().turn != acting.turn:
        # An order names no turn: a late one could bid for something that nobody had seen when it was written.
        raise _moved_on(acting)
    return Done.ORDERED, _set_order(acting, standing.text)


def _set_order(acting: _Acting, text: str, turn: int | None = None, *, add: bool = False) -> str:
    """Set a standing order. Returns it for the receipt, with the players' names, and which one of a list has answered at once."""
    tx, game_id, seat, seq = acting.tx, acting.game_id, acting.seat, acting.game().seq
    order = play_orders.set_order(tx, acting.server, game_id, seat, text, acting.person_id, turn, add=add)
    teller = speech.teller(rules_of(acting.game()), seat, tuple(each.name for each in seats.taken(tx, game_id)))
    notes_now = [teller(note) for note in order_notes.since(tx, acting.game(), seat, seq)]
    return " ".join([f"{orders.in_words(order, teller)}.", *notes_now]).rstrip(".")


def _moved_on(acting: _Acting) -> Stale:
    turn, present = acting.turn, acting.game().turn
    if not turn:
        return Stale(_("That was for a turn that was undone."), remedy=_("This line changed nothing."))
    what = _("That was for turn %(turn)s, and the game is now on turn %(present)s.", turn=turn, present=present)
    return Stale(what, remedy=_("This line changed nothing."))


def _do_word(acting: _Acting, command: WordCommand) -> tuple[Done, str]:
    tx, server, person_id = acting.tx, acting.server, acting.person_id
    match command.word:
        case Word.HELP | Word.BOARD | Word.RULES:
            acting.shown.add(command.word)
            return Done.SHOWN, command.word
        case Word.UNDO:
            return Done.TAKEN_BACK, _take_back(acting)
        case Word.GO_BACK:
            return Done.BACK_PROPOSED, str(going_back.propose(tx, server, acting.game_id, acting.seat, person_id))
        case Word.AGREE_BACK:
            return _agree_to_go_back(acting)
        case Word.TALK:
            return Done.TALKED, talk.say(tx, server, acting.game_id, acting.seat, person_id, command.rest)
        case Word.NOTE:
            notes.add(tx, server, acting.game_id, acting.seat, person_id, command.rest)
            return Done.NOTED, ""
        case Word.MORE_TIME:
            who = more_time.give_by_name(tx, server, acting.game_id, acting.seat, person_id, command.rest, acting.turn)
            return Done.GIVEN, who
        case Word.ORDER | Word.ADD_ORDER:
            # An order names no turn: it belongs to what its writer was asked, however late it arrives.
            return Done.ORDERED, _set_order(acting, command.rest, acting.turn, add=command.word is Word.ADD_ORDER)
        case Word.DROP_ORDER:
            assert acting.numbered is not None, "the orders have their numbers before the first line"
            dropped = dropped_orders.drop(tx, server, acting.game(), person_id, acting.numbered, command.rest)
            return Done.ORDER_DROPPED, dropped
        case Word.VACATION:
            vacation = parse_vacation(
                command.rest, local_day(server.now(), stored_zone(people.read(tx, person_id).zone))
            )
            vacations.book(tx, server, person_id, vacation)
            return Done.AWAY, str(vacation)
        case Word.RESEND:
            ledger.resend_turn(tx, server, person_id, acting.game().id, acting.seat)
            return Done.RESENT, ""
        case Word.NEW_LINKS:
            new_links.send(tx, server, person_id)
            return Done.NEW_LINKS, ""
        case Word.NEW_SEAT_LINKS:
            new_links.send_for_seat(tx, server, acting.game_id, acting.seat, person_id)
            return Done.NEW_SEAT_LINKS, ""
        case Word.STOP | Word.START if command.rest:
            on = command.word is Word.START
            preferences.switch_topic(tx, server, person_id, Topic(command.rest), on=on)
            return Done.SWITCHED_ON if on else Done.SWITCHED_OFF, command.rest
        case Word.STOP | Word.START:
            preferences.choose(tx, server, person_id, Delivery(Way.NOTHING), acting.game().key)
            return Done.STOPPED, ""
        case Word.RESIGN:
            play_move.must_not_be_frozen(acting.game())
            if acting.game().status != TableStatus.PLAYING:
                raise Gone(_("This game is over."), why=_("There's no need to leave it."))
            return Done.TO_CONFIRM, ""


def _take_back(acting: _Acting) -> str:
    """Take back the choice of the email's turn; if that turn is still open and has none, the last choice before it."""
    game = acting.game()
    rules = rules_of(game)
    turn, choice = acting.turn, None
    if game.turn == turn:
        choice = position_of(acting.tx, game).box.get(acting.seat)
        if choice is None:
            entries = entries_back(rules, log.chain_back(acting.tx, game.id, game.key))
            own = (row for row in entries if acting.seat in row.entry.choices.keys() - row.entry.alone)
            last = next(own, None)
            if last is None:
                raise Gone(_("You have no choice to take back."), remedy=_("Nothing changed."))
            turn, choice = last.turn, last.entry.choices[acting.seat]
    second_chance.take_back(acting.tx, acting.server, game.id, turn, acting.seat, acting.person_id)
    acting.proof = None
    acting.turn = acting.game().turn
    return "" if choice is None else play_move.choice_words(choice, rules)


def _agree_to_go_back(acting: _Acting) -> tuple[Done, str]:
    """Agree to what was proposed in the turn of the email."""
    tx, server = acting.tx, acting.server
    back_to, done = going_back.agree(tx, server, acting.game_id, acting.seat, acting.person_id, acting.turn)
    if done:
        acting.proof = None
        acting.turn = acting.game().turn
    return Done.GONE_BACK if done else Done.BACK_AGREED, str(back_to)


def _queue_receipt(acting: _Acting, turn: int, reply: Reply, *, unread: bool) -> None:
    done = {line.done for line in acting.lines if line.done is not None}
    refused = next((line.text for line in acting.lines if line.outcome is Outcome.REFUSED), "")
    facts = {
        "subject": reply.subject[:LONGEST_SHOWN],
        "answers": reply.message_id,
        "turn": turn,
        "quoted": reply.turn,
        "lines": [line.facts() for line in acting.lines],
        # Quoted only without a command; the rest of a private note may be among it.
        "prose": [] if acting.lines else acting.prose[:MOST_SHOWN],
        "below": bool(acting.prose),
        "read_only": [MOST_COMMANDS, reply_pieces.MOST_LINES] if unread else None,
        "nothing": reply.nothing,
        "nothing_changed": not done - CHANGE_NOTHING,
        "late": acting.late,
        "board": bool(done & CHANGE_THE_TABLE) or acting.stopped or not acting.lines or Word.BOARD in acting.shown,
        "help": Word.HELP in acting.shown or not acting.lines,
        "rules": Word.RULES in acting.shown,
        "proof": None if acting.proof is None else acting.proof._asdict(),
    }
    email = NewEmail(acting.person_id, EmailKind.RECEIPT, acting.game_id, None, acting.seat, turn, facts)
    error = refused or ("" if done else answers.NO_COMMAND)
    answers.queue(acting.tx, acting.server, email, error)
