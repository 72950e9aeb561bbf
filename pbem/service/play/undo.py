"""Undo: choices taken back by the players who made them.

A sealed choice can be taken back while its turn is open; a choice in an entry, while nothing has followed: no email
about it was sent, nothing was drawn because of it, no other player has decided since, and no seat has changed hands. Either
way only the player's own choice, and only while the player has time left, since otherwise the clock would decide at once.
Nothing is deleted from a log: undo adds rows.

Whether a choice can be taken back depends on nothing that is hidden from its player: not on the orders of others, which
come back with the undo, not on emails that they got because they wrote some, and not on sealed choices, so never once several
seats are asked at the same time.
"""

from collections.abc import Callable, Sequence
from typing import Any

from engine import codec
from engine.decisions import Choice, Refused
from engine.facts import HIDDEN, SPECTATOR, Fact, fold, secrets_of
from engine.table import Position
from pbem.domain.choice_links import choice_segment, text_segment
from pbem.domain.errors import Gone, Stale
from pbem.domain.states import EmailKind, EmailStatus, TableStatus, TurnStatus
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.play import changes, move, standing_orders, views
from pbem.service.play.log import Kind, LogWriter, StandingEntry, latest_entries, standing_entries, write
from pbem.service.play.move import lock_seat
from pbem.service.play.positions import box_of, fold_state, position_of
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, ledger, links, log, outbox, players as player_rows, views as saved_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow


def take_back(
    tx: Tx, server: Server, game_id: int, turn: int, seat: int, person_id: int | None = None, chosen: str = ""
) -> None:
    """Take back a seat's choice in a turn; with the words of `chosen`, no other one. Raises Gone if others have learnt of it.

    Raises Stale if the seat has chosen something else since, for instance in another tab.
    """
    row = lock_seat(tx, game_id, seat, person_id)
    if row.turn == turn:
        _withdraw(tx, server, row, seat, chosen)
    else:
        _undo(tx, server, row, turn, seat, chosen)


def may_withdraw(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether a seat can take back its sealed choice, its clock aside."""
    return _is_running(row) and _is_allowed(lambda: _withdrawable(tx, row, seat))


def may_undo(tx: Tx, row: GameRow, since: Sequence[StandingEntry], seat: int) -> bool:
    """Whether a seat can undo its choice in the first of these entries, which run to the end of the log, its clock aside.

    That is its own choice, or one that the clock made if the table has second chances.
    """
    if row.second_chance and since and since[0].is_clocks(seat):
        return _is_running(row) and _is_allowed(lambda: must_have_shown_nothing(tx, row, since, seat))
    return _is_running(row) and _is_allowed(lambda: _undoable(tx, row, since, seat))


def must_have_shown_nothing(tx: Tx, row: GameRow, undone: Sequence[StandingEntry], seat: int) -> None:
    """Raise Gone unless the clock's choice for a seat, in the first of these entries, has led to no decision and no luck,
    and has shown nobody anything hidden. Emails about it may have gone out."""
    entries = [standing.entry for standing in undone]
    seated = {each.seat for each in log.chain(tx, row.id, row.key, undone[0].seq) if each.kind == Kind.SEATED}
    _must_be_own(move.Actor.PERSON, changed_hands=seat in seated)
    if not move.may_be_undone(entries):
        raise too_late(_("Others have decided since then, or luck was involved."))
    if deadlines.asked_together(tx, row.id, undone[0].turn):
        raise too_late(_("Several players choose at the same time now, and some may have chosen already."))
    if not undone[0].makers[seat].public or _has_shown_hidden(tx, row, undone):
        raise too_late(_("Something hidden has been seen since then."))


def must_have_shown_nothing_hidden(tx: Tx, row: GameRow, undone: Sequence[StandingEntry]) -> None:
    """Raise Gone if someone has seen something hidden in these entries, which run to the end of the log, or choices that were sealed."""
    sealed = any(len(standing.entry.choices.keys() - standing.entry.alone) > 1 for standing in undone)
    if sealed or _has_shown_hidden(tx, row, undone):
        raise Gone(
            _("The game can't go back to turn %(turn)s.", turn=undone[0].turn),
            why=_("Something hidden has been seen since then, and nobody can unsee it."),
            remedy=_("Nothing changed."),
        )


def too_late(why: str) -> Gone:
    """The refusal to take back a move that the clock made."""
    return Gone(
        _("The move made for you can no longer be taken back."),
        why=why,
        remedy=_(
            "If everyone agrees, the game can still go back: under “More options”, where the table allows it, or by the organiser."
        ),
    )


def _withdraw(tx: Tx, server: Server, row: GameRow, seat: int, chosen: str) -> None:
    move.must_be_playing(row)
    position = _withdrawable(tx, row, seat)
    _must_be_chosen(box_of(row)[seat], chosen)
    changes.must_be_few(tx, row, seat)
    _must_have_time(tx, server, row, row.turn, seat)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.WITHDRAWN, seat, move.Actor.PERSON, {"turn": row.turn})
    orders = standing_orders.after_undo(tx, row, seat, record)
    write(tx, row, record, box=codec.dumps(sorted(position.box.items())), orders=orders)
    _reopen(tx, server, row, row.turn, seat, record.seq)


def _withdrawable(tx: Tx, row: GameRow, seat: int) -> Position:
    """The position without a seat's sealed choice. Raises Gone unless the player can take it back."""
    try:
        position = position_of(tx, row).withdraw(seat)
    except Refused as refused:
        raise Gone(speech.teller(rules_of(row))(refused.text)) from refused
    # A seat that has changed hands since was given with its choice.
    last = next(each for each in log.chain_back(tx, row.id, row.key, [Kind.SEALED, Kind.SEATED]) if each.seat == seat)
    _must_be_own(last.by, changed_hands=last.kind == Kind.SEATED)
    return position


def _undo(tx: Tx, server: Server, row: GameRow, turn: int, seat: int, chosen: str) -> None:
    """Undo the entries from a turn on, if they are one choice of this seat that nobody has learnt of."""
    move.must_be_playing(row)
    undone = latest_entries(rules_of(row), log.chain_back(tx, row.id, row.key), turn)
    if undone and undone[0].turn != turn:
        # After a rewind it is no turn of the game any more, and its luck is known.
        raise _final(_("That turn has been taken back already."))
    emails = _undoable(tx, row, undone, seat)
    _must_be_chosen(undone[0].entry.choices[seat], chosen)
    changes.must_be_few(tx, row, seat, undone_from=turn)
    _must_have_time(tx, server, row, turn, seat)
    now = server.now()
    for email in emails:
        outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED)
        ledger.note(tx, email.id, now, "superseded", "the move was taken back")
    record = LogWriter(row, now, server.randomness)
    record.add(Kind.UNDONE, seat, move.Actor.PERSON, {"from": turn})
    orders = standing_orders.after_undo(tx, row, seat, record, undone[0])
    entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    state = fold_state(row, (standing for standing in entries if standing.turn < turn))
    write(tx, row, record, turn=turn, state=codec.dumps(state), box="[]", orders=orders)
    deadlines.forget_after(tx, row.id, turn)
    links.end_turns_after(tx, row.id, turn)
    _reopen(tx, server, row, turn, seat, record.seq)
    saved_views.forget(tx, row.id, turn)


def _undoable(tx: Tx, row: GameRow, undone: Sequence[StandingEntry], seat: int) -> list[EmailRow]:
    """The emails about these entries. Raises Gone unless they are one choice that nobody has learnt of."""
    entries = [standing.entry for standing in undone]
    if not entries or not move.may_be_undone(entries) or seat not in entries[0].choices or seat in entries[0].alone:
        raise _final(_("Others have decided since then, or luck was involved."))
    seated = {each.seat for each in log.chain(tx, row.id, row.key, undone[0].seq) if each.kind == Kind.SEATED}
    _must_be_own(undone[0].by, changed_hands=seat in seated)
    if seated:
        raise _final(_("A seat has changed hands since, and its player has seen this choice."))
    emails = outbox.of_game(tx, row.id, undone[0].seq - 1) + outbox.asked_for_again(tx, row.id, undone[0].turn)
    if any(email.status == EmailStatus.SENT or email.attempts for email in emails):
        raise _final(_("An email about it is on its way."))
    if deadlines.asked_together(tx, row.id, undone[0].turn):
        # Refused before anyone has sealed a choice too, because only that keeps secret who has.
        raise _final(_("Several players choose at the same time now, and some may have chosen already."))
    return emails


def _has_shown_hidden(tx: Tx, row: GameRow, undone: Sequence[StandingEntry]) -> bool:
    """Whether entries tell someone what not everyone knew: they have secrets, or leave fewer values hidden from spectators."""
    before = views.view_before(tx, row, SPECTATOR, undone[0].turn)
    facts: list[Fact[Any]] = [fact for standing in undone for fact in standing.entry.facts]
    kinds: set[type] = {type(fact) for fact in facts}
    if any(map(secrets_of, kinds)):
        return True
    return _count_hidden(fold(before, facts)) < _count_hidden(before)


def _count_hidden(view: Any) -> int:
    return codec.dumps(view).count(codec.dumps(HIDDEN))


def _final(why: str) -> Gone:
    return Gone(_("This choice can no longer be taken back."), why=why)


def _is_running(row: GameRow) -> bool:
    return row.status == TableStatus.PLAYING and not row.paused


def _is_allowed(check: Callable[[], object]) -> bool:
    try:
        check()
    except Gone:
        return False
    return True


def _must_be_own(by: str, *, changed_hands: bool) -> None:
    """Raise unless the player who has the seat now made the choice: a former player's is not theirs to take back."""
    if changed_hands or by in (move.Actor.CLOCK, move.Actor.BOT):
        raise Gone(
            _("This was played for you, so you can't take it back."),
            remedy=_("While the turn is open, you can replace it with a choice of your own."),
        )


def _must_be_chosen(choice: Choice, chosen: str) -> None:
    if chosen and text_segment(chosen) != choice_segment(choice):
        raise Stale(_("You've made another choice since."), remedy=_("It still stands: nothing was undone."))


def _must_have_time(tx: Tx, server: Server, row: GameRow, turn: int, seat: int) -> None:
    deadline = deadlines.read(tx, row.id, turn, seat)
    if deadline is not None and deadline.due_at is not None and deadline.due_at <= server.now():
        raise Gone(
            _("Your time for this turn is over, so your choice is final."),
            why=_("Without it, the missed deadline would decide for you at once."),
            remedy=_("While the turn is open, you can replace it with another choice."),
        )


def _reopen(tx: Tx, server: Server, row: GameRow, turn: int, seat: int, seq: int) -> None:
    """Reopen the seat's deadline; queue its turn email again if the clock waits for one that was given up."""
    deadline = deadlines.read(tx, row.id, turn, seat)
    if deadline is None:
        # A standing order answered this turn as soon as it began, so its player was never asked.
        deadlines.ask(tx, row.id, turn, [seat], server.now())
    else:
        deadlines.set_status(tx, row.id, turn, seat, TurnStatus.OPEN, server.now())
    if deadline is not None and deadline.due_at is not None:
        return
    for email in outbox.of_game(tx, row.id):
        about = email.kind, email.turn, email.seat
        if (
            not email.channel_id
            and about == (EmailKind.TURN, turn, seat)
            and email.status in (EmailStatus.QUEUED, EmailStatus.SENT)
        ):
            return
    player = player_rows.at_seat(tx, row.id, seat)
    if player is not None and player.person_id is not None:
        outbox.queue(tx, [outbox.NewEmail(player.person_id, EmailKind.TURN, row.id, seq, seat, turn)], server.now())
