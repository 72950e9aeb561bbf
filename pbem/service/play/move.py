"""The move: one choice of one seat, in one transaction.

    lock the game -> is the choice still possible? -> rules -> rows of the log -> snapshot -> deadlines -> emails -> commit

Every choice is made here: by people through links, replies and the API, by the clock, bots and standing orders. A choice
made before returns its receipt again, so a double click, a reload and a repeated email are one move. This module must
never wait, send or render anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from engine import codec, game, grammar, orders
from engine.decisions import Choice, Decision, Refused, check_shape
from engine.facts import fold, seen
from engine.table import Entry, Position
from pbem.domain import hash_chain
from pbem.domain.choice_links import choice_segment, segment_text, text_segment
from pbem.domain.errors import BadInput, Forbidden, Gone, Stale, TimedOut
from pbem.domain.missed_turns import Agreement
from pbem.domain.states import EmailKind, TableStatus, TurnStatus
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.plugins.foreign import Foreign
from pbem.service import links
from pbem.service.play import changes, positions, seals, views
from pbem.service.play.log import Kind, LogWriter, latest_entries
from pbem.service.play.positions import box_of, orders_of, position_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seals import Proof, seals_of
from pbem.service.server import Server
from pbem.store import deadlines, games, log, outbox, players as player_rows, reviews, turns
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import SeatRow


class Actor(StrEnum):
    """Who or what makes a choice."""

    PERSON = "person"
    REPLY = "reply"
    API = "api"
    CLOCK = "clock"
    BOT = "bot"
    ORDER = "order"


IN_PERSON: Final = frozenset({Actor.PERSON, Actor.REPLY, Actor.API})
"""Choices that players make themselves."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a choice. `sealed`: it waits for others and can be changed. `again`: it was made before.

    `proof` is that of a sealed choice.
    """

    game_id: int
    turn: int
    seat: int
    choice: Choice
    written: str
    sealed: bool
    again: bool
    over: bool
    proof: Proof | None = None


@dataclass(slots=True)
class _Move:
    """A move in progress."""

    row: GameRow
    position: Position
    orders: dict[int, orders.Order]
    record: LogWriter
    entries: list[Entry]


def play(
    tx: Tx, server: Server, game_id: int, turn: int, seat: int, request: str | Choice, by: Actor, bot: str | None = None
) -> Receipt:
    """Make a choice for a seat in a turn; the same choice again returns the same receipt. `bot` is the signature of its bot."""
    return play_locked(tx, server, games.lock(tx, game_id), turn, seat, request, by, bot=bot)


def play_locked(
    tx: Tx,
    server: Server,
    row: GameRow,
    turn: int,
    seat: int,
    request: str | Choice,
    by: Actor,
    person_id: int | None = None,
    player: SeatRow | None = None,
    bot: str | None = None,
    head: str = "",
) -> Receipt:
    """Make a choice in a game that is locked; with `person_id`, only while that person plays the seat.

    `player` is the seat's player, where it was read with the lock. With the `head` that was seen, only in that position.
    """
    player = player or player_rows.at_seat(tx, row.id, seat)
    # Checked first: a former player of the seat must not learn even that the new one chose the same.
    _must_speak_for(player, by, person_id)
    if row.turn != turn and (receipt := _made_before(tx, row, turn, seat, request)) is not None:
        return receipt
    must_be_playing(row)
    if row.turn != turn or head not in ("", hash_chain.fingerprint(row.entry_head)):
        raise Stale(_("The game has moved on since that email."), why=_("This link or form was for an earlier turn."))
    position = position_of(tx, row)
    decision = _decision(position, seat)
    choice = _choice(position, decision, request)
    written = grammar.write(decision, choice)
    if position.box.get(seat) == choice:
        proof = seals_of(row).of(seat)
        return Receipt(row.id, turn, seat, choice, written, sealed=True, again=True, over=False, proof=proof)
    if seat in position.box and by in (Actor.CLOCK, Actor.BOT):
        raise Stale(_("This seat has already answered."))
    if seat in position.box and by in IN_PERSON:
        changes.must_be_few(tx, row, seat)
    assert player is not None, "a seat with a decision has a player"
    now = server.now()
    move = _Move(row, position, orders_of(row), LogWriter(row, now, server.randomness), [])
    sealed = not _submit(move, seat, choice, by, bot)
    proof = seals.proof_of(move.record.rows[-1]) if sealed else None
    _obey_orders(tx, move)
    if by is Actor.CLOCK:
        _count_missed(tx, row, turn, seat)
    elif seat in position.box and _is_clocks(tx, row, seat):
        player_rows.set_missed(tx, row.id, seat, 0)
    over = _write(tx, server, move, now)
    if by is Actor.CLOCK:
        deadlines.set_status(tx, row.id, turn, seat, TurnStatus.MISSED, now)
    if not move.entries and by in IN_PERSON:
        _tell_of_sealed(tx, server, move, player, written, proof, now)
    return Receipt(row.id, turn, seat, choice, written, sealed=sealed, again=False, over=over, proof=proof)


def uncount_missed(tx: Tx, row: GameRow, turn: int, seat: int) -> None:
    """Take a turn back out of those that a seat has missed in a row: it's counted again if its second chance is missed."""
    if not _is_graced(tx, row, turn, seat):
        player_rows.set_missed(tx, row.id, seat, player_rows.in_a_row(tx, row.id, seat) - 1)


def may_be_undone(entries: Sequence[Entry]) -> bool:
    """Whether entries can be undone: one seat's choices, and nothing drawn because of them."""
    deciders = {seat for entry in entries for seat in entry.choices.keys() - entry.alone}
    return len(deciders) == 1 and not any(entry.drawn for entry in entries)


def set_orders(tx: Tx, server: Server, row: GameRow, standing: dict[int, orders.Order], record: LogWriter) -> None:
    """Save changed standing orders, and let them answer the open decisions."""
    move = _Move(row, position_of(tx, row), standing, record, [])
    _obey_orders(tx, move)
    _write(tx, server, move, server.now())


def refusal(refused: Refused, rules: game.Game[Any]) -> BadInput:
    """The refusal of the rules, as an error for people."""
    return BadInput(speech.teller(rules)(refused.text), remedy=_("Nothing changed."))


def _made_before(tx: Tx, row: GameRow, turn: int, seat: int, request: str | Choice) -> Receipt | None:
    """The receipt of the same choice made in an earlier turn, or None. Raises TimedOut if the clock made the choice."""
    rules = rules_of(row)
    for standing in latest_entries(rules, log.chain_back(tx, row.id, row.key), turn):
        choice = standing.entry.choices.get(seat)
        if standing.turn == turn and choice is not None and seat not in standing.entry.alone:
            written, over = choice_words(choice, rules), row.status != TableStatus.PLAYING
            if standing.is_clocks(seat):
                what = _("Time ran out on turn %(turn)s, so we played “%(choice)s” for you.", turn=turn, choice=written)
                raise TimedOut(what, remedy=_("Nothing changed."))
            same = choice == request if isinstance(request, Choice) else choice_segment(choice) == text_segment(request)
            if same:
                return Receipt(row.id, turn, seat, choice, written, sealed=False, again=True, over=over)
    return None


def must_be_playing(row: GameRow) -> None:
    """Raise unless the game is running."""
    if row.status in (TableStatus.OVER, TableStatus.VOID):
        raise Gone(_("This game is over."), remedy=_("Its result is in your last email about it."))
    must_not_be_frozen(row)
    if row.status != TableStatus.PLAYING:
        raise Gone(_("This game hasn't started."), remedy=_("We'll email you when it does."))
    if row.paused:
        raise Forbidden(_("This table is paused."), remedy=_("Nothing is lost. We'll email you when it resumes."))


def must_not_be_frozen(row: GameRow) -> None:
    """Raise while the log of the game is being checked, or its rules can't be used. Unlike a pause, this also stops players from leaving."""
    if row.status == TableStatus.FROZEN and row.halted is not None:
        raise Forbidden(
            _("This game has been stopped because its rules are missing, have failed or have changed."),
            why=_("Until it resumes, nothing in it can change."),
            remedy=_("Nothing is lost. The organiser can resume or close it."),
        )
    if row.status == TableStatus.FROZEN:
        raise Forbidden(
            _("This game has been stopped so that its log can be checked."),
            why=_("Until then, nothing in it can change."),
            remedy=_("Nothing is lost. We'll email you when it resumes, and you can do this then."),
        )


def _must_speak_for(player: SeatRow | None, by: Actor, person_id: int | None) -> None:
    """Raise unless the person, or a bot, still plays the seat."""
    if person_id is not None and (player is None or player.person_id != person_id):
        raise links.changed_hands()
    if by is Actor.BOT and (player is None or player.bot is None):
        raise Stale(_("A person plays this seat now."))


def _decision(position: Position, seat: int) -> Decision:
    decision = position.open().get(seat)
    if decision is None:
        raise Stale(_("It's not your turn."), remedy=_("We'll email you when it is."))
    return decision


def _choice(position: Position, decision: Decision, request: str | Choice) -> Choice:
    try:
        if isinstance(request, Choice):
            return check_shape(decision, request)
        return grammar.read(decision, segment_text(request))
    except Refused as refused:
        raise refusal(refused, position.game) from refused


def choice_words(choice: Choice, rules: game.Game[Any]) -> str:
    """A choice in words, where its decision is gone."""
    teller = speech.teller(rules)
    return " ".join([choice.verb, *(teller.word(value) for value in choice.values)])


def _submit(move: _Move, seat: int, choice: Choice, by: str, bot: str | None = None) -> bool:
    """Submit a choice; returns whether it closed the turn."""
    try:
        position, entries = move.position.submit(seat, choice)
    except Refused as refused:
        raise refusal(refused, move.position.game) from refused
    public = by == Actor.CLOCK and move.position.asks()[seat].public
    maker = ({"public": True} if public else {}) | ({} if bot is None else {"bot": bot})
    if entries:
        move.record.entries(move.position.turn, entries, seat, by, maker)
    else:
        body = seals.body(move.row.key, move.position.turn, seat, choice)
        move.record.add(Kind.SEALED, seat, by, body | maker)
    move.position = position
    move.entries += entries
    return bool(entries)


def _obey_orders(tx: Tx, move: _Move) -> None:
    """Let standing orders answer while they can; each sees only its seat's view."""
    while move.orders:
        asked = [seat for seat in move.position.open() if seat in move.orders and seat not in move.position.box]
        answers = ((seat, _by_order(tx, move, seat)) for seat in asked)
        effective = ((seat, answer) for seat, answer in answers if answer.choice is not None or answer.note is not None)
        first = next(effective, None)
        if first is None:
            return
        seat, answer = first
        before = move.orders.pop(seat)
        if answer.order is not None:
            move.orders[seat] = answer.order
        if answer.note is not None:
            move.record.add(Kind.ORDER, seat, Actor.ORDER, _note_body(move, before, answer))
        if answer.choice is not None and _submit(move, seat, answer.choice, Actor.ORDER):
            # A turn that an order answers at once has no deadline that would show it.
            player_rows.set_missed(tx, move.row.id, seat, 0)


def _note_body(move: _Move, before: orders.Order, answer: orders.Answer) -> dict[str, Any]:
    """What a row says of an order that has ended, or of a list that answers with the next row."""
    body = {"order": answer.order, "note": answer.note}
    if answer.choice is not None:
        return body | {"turn": move.position.turn}
    # With the order itself, because an undo brings it back.
    return body | {"ended": before}


def _by_order(tx: Tx, move: _Move, seat: int) -> orders.Answer:
    facts = (seen(fact, seat) for entry in move.entries for fact in entry.facts)
    view = fold(views.view(tx, move.row, seat), facts)
    return orders.answer(move.orders[seat], move.position.game, view, seat)


def _count_missed(tx: Tx, row: GameRow, turn: int, seat: int) -> None:
    asked = deadlines.read(tx, row.id, turn, seat) if row.second_chance else None
    first = turn if asked is None or asked.missed_turn is None else asked.missed_turn
    if not _is_graced(tx, row, first, seat):
        player_rows.set_missed(tx, row.id, seat, player_rows.in_a_row(tx, row.id, seat) + 1)


def _is_graced(tx: Tx, row: GameRow, turn: int, seat: int) -> bool:
    """Whether a missed turn of a seat is one of those that the table lets it off."""
    return row.grace > 0 and deadlines.count_missed(tx, row.id, seat, before=turn) < row.grace


def _is_clocks(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether the clock has decided a seat's open turn. Then a choice of its player's own ends the count of missed turns; one
    in time does so by itself, once its turn is over."""
    asked = deadlines.read(tx, row.id, row.turn, seat)
    return asked is not None and asked.status == TurnStatus.MISSED


def _write(tx: Tx, server: Server, move: _Move, now: datetime) -> bool:
    """Write the rows, snapshot, deadlines and emails of a move; returns whether it ended the game."""
    row, position = move.row, move.position
    over = position.game.standing(position.state).over
    if over:
        move.record.add(Kind.REVEALED, None, "table", {"secret": row.secret.hex()})
    log.append(tx, row.id, move.record.rows)
    new = _snapshot(move, over, now)
    if move.entries:
        turns.close(tx, row, new, _next(server, move, over, now), now)
        if over and not isinstance(position.game, Foreign):
            reviews.ask(tx, row.id, now)
    else:
        for seat in position.box.keys() - box_of(row).keys():
            deadlines.set_status(tx, row.id, row.turn, seat, TurnStatus.CLOSED, now)
        games.advance(tx, row, new)
    positions.keep(row._replace(**new), position)
    return over


def _next(server: Server, move: _Move, over: bool, now: datetime) -> turns.NextTurn:
    """The seats to decide next, and the emails due: the result to all after the end, else a turn to those who decide."""
    position = move.position
    if over:
        return turns.NextTurn(position.turn, (), (), "result", range(position.seats), now)
    asked, answered = position.open().keys(), position.box.keys()
    # Undo, so also waiting for it, is out of the question once several seats are asked.
    hold = server.hold if may_be_undone(move.entries) and len(asked) == 1 else timedelta(0)
    return turns.NextTurn(position.turn, asked, answered, "turn", asked - answered, now + hold)


def _snapshot(move: _Move, over: bool, now: datetime) -> dict[str, Any]:
    """The changed columns of the game; the state changes only when the turn closes."""
    position = move.position
    new = move.record.snapshot()
    new |= {"box": codec.dumps(sorted(position.box.items())), "orders": codec.dumps(sorted(move.orders.items()))}
    if move.entries:
        new |= {"turn": position.turn, "state": codec.dumps(position.state)}
    return new | {"status": "over", "ended_at": now} if over else new


def _tell_of_sealed(
    tx: Tx, server: Server, move: _Move, player: SeatRow, written: str, proof: Proof | None, now: datetime
) -> None:
    """Queue a confirmation of a sealed choice, for players who want one, once the time to change it is over."""
    if player.person_id is not None and player.sealed:
        game_id, seq, turn = move.row.id, move.record.seq, move.position.turn
        facts = {"choice": written, "proof": None if proof is None else proof._asdict()}
        email = outbox.NewEmail(player.person_id, EmailKind.SEALED, game_id, seq, player.seat, turn, facts)
        outbox.queue(tx, [email], now, now + server.hold)


def lock_seat(tx: Tx, game_id: int, seat: int, person_id: int | None) -> GameRow:
    """Lock the game. Raises Gone unless the person, if given, still plays the seat."""
    row = games.lock(tx, game_id)
    _must_speak_for(player_rows.at_seat(tx, game_id, seat), Actor.PERSON, person_id)
    return row


def agreement_of(row: GameRow) -> Agreement:
    """The table's agreement on missed turns. A private table never gets a stranger as a substitute."""
    return Agreement.of_table(row.missed_limit, row.successor, private=row.private)
