"""Changing one's mind: choices taken back, standing orders set and dropped.

A sealed choice may be taken back while its turn is open; another while it has told nobody anything: no mail about it
has left, no number was drawn because of it, and no other player has answered what it led to. Either way only a choice of
the player's own, and only while the player has time left: otherwise the clock would decide in its place at once. Nothing is
deleted from a log: taking back is a row.
"""

import json
from collections.abc import Callable, Sequence

from engine import codec
from engine.decisions import Refused
from engine.facts import fold
from engine.table import Position
from pbem.domain.errors import Gone
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.play import move
from pbem.service.play.log import Kind, LogWriter, StandingEntry, latest_entries, standing_entries
from pbem.service.play.move import lock_seat
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import deadlines, games, ledger, log, outbox
from pbem.store import players as player_rows
from pbem.store import views as kept_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow


def take_back(tx: Tx, server: Server, game_id: int, turn: int, seat: int, person_id: int | None = None) -> None:
    """Take back the choice that a seat made in a turn, if it has told nobody anything yet."""
    row = lock_seat(tx, game_id, seat, person_id)
    if row.turn == turn:
        _withdraw(tx, server, row, seat)
    else:
        _undo(tx, server, row, turn, seat)


def may_withdraw(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether a seat could still take back its sealed choice, as long as the player has time left. Changes nothing."""
    return _goes_on(row) and _is_open(lambda: _withdrawable(tx, row, seat))


def may_undo(tx: Tx, row: GameRow, since: Sequence[StandingEntry], seat: int) -> bool:
    """The same of the choice that was carried out in the first of these entries, which are the log from there on."""
    return _goes_on(row) and _is_open(lambda: _undoable(tx, row, since, seat))


def _withdraw(tx: Tx, server: Server, row: GameRow, seat: int) -> None:
    move.must_be_playing(row)
    left = _withdrawable(tx, row, seat)
    _must_have_time(tx, server, row, row.turn, seat)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.WITHDRAWN, seat, move.By.PERSON, {"turn": row.turn})
    log.append(tx, row.id, record.rows)
    games.advance(tx, row, {"seq": record.seq, "head": record.head, "box": codec.dumps(sorted(left.box.items()))})
    _ask_again(tx, server, row, row.turn, seat, record.seq)


def _withdrawable(tx: Tx, row: GameRow, seat: int) -> Position:
    """Where the game stands without the sealed choice of a seat; refused unless it is the player's to take back."""
    try:
        left = move.position_of(row).withdraw(seat)
    except Refused as refused:
        raise Gone(speech.teller(rules_of(row))(refused.text)) from refused
    _must_be_own(_sealed_by(tx, row, seat))
    return left


def _sealed_by(tx: Tx, row: GameRow, seat: int) -> str:
    """Through whom the choice came that a seat has in the box."""
    sealed = log.chain_back(tx, row.id, row.key, [Kind.SEALED])
    return next(each.by for each in sealed if each.seat == seat)


def _undo(tx: Tx, server: Server, row: GameRow, turn: int, seat: int) -> None:
    """Undo the entries from a turn on, if they are one choice of this seat that is still nobody's news."""
    move.must_be_playing(row)
    undone = latest_entries(rules_of(row), log.chain_back(tx, row.id, row.key), turn)
    emails = _undoable(tx, row, undone, seat)
    _must_have_time(tx, server, row, turn, seat)
    now = server.now()
    for email in emails:
        outbox.change(tx, email.id, status="superseded")
        ledger.note(tx, email.id, now, "superseded", "the move was taken back")
    record = LogWriter(row, now, server.randomness)
    record.add(Kind.UNDONE, seat, move.By.PERSON, {"from": turn})
    start = rules_of(row).start(row.seats, json.loads(row.options))
    entries = standing_entries(rules_of(row), log.chain(tx, row.id, row.key))
    left = [each for standing in entries if standing.turn < turn for each in standing.entry.facts]
    log.append(tx, row.id, record.rows)
    games.advance(
        tx,
        row,
        {
            "seq": record.seq,
            "head": record.head,
            "entry_head": record.entry_head,
            "turn": turn,
            "state": codec.dumps(fold(start, left)),
            "box": "[]",
        },
    )
    deadlines.forget_after(tx, row.id, turn)
    _ask_again(tx, server, row, turn, seat, record.seq)
    kept_views.forget(tx, row.id, turn)


def _undoable(tx: Tx, row: GameRow, undone: Sequence[StandingEntry], seat: int) -> list[EmailRow]:
    """The mails about the last entries; refused unless these are one choice that told nobody anything."""
    made = [standing.entry for standing in undone]
    stands = not made or not move.may_be_undone(made) or seat not in made[0].choices or seat in made[0].alone
    if stands or _another_has_decided(tx, row, seat):
        raise Gone(
            _("This choice cannot be taken back any more."), why=_("Others have decided since, or chance has spoken.")
        )
    _must_be_own(undone[0].by)
    emails = outbox.of_game(tx, row.id, undone[0].seq - 1)
    if any(email.status == "sent" or email.attempts for email in emails):
        raise Gone(_("This choice cannot be taken back any more."), why=_("A mail about it is on its way."))
    return emails


def _another_has_decided(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether the present turn holds a choice that another player was told is in: taking back would lose it unseen."""
    return any(_sealed_by(tx, row, other) in move.IN_PERSON for other in move.box_of(row).keys() - {seat})


def _goes_on(row: GameRow) -> bool:
    return row.status == "playing" and not row.paused


def _is_open(way: Callable[[], object]) -> bool:
    try:
        way()
    except Gone:
        return False
    return True


def _must_be_own(by: str) -> None:
    if by in (move.By.CLOCK, move.By.BOT):
        raise Gone(
            _("This was decided without you, so it is not yours to take back."),
            remedy=_("As long as the turn is open, you can put a choice of your own in its place."),
        )


def _must_have_time(tx: Tx, server: Server, row: GameRow, turn: int, seat: int) -> None:
    asked = deadlines.read(tx, row.id, turn, seat)
    if asked is not None and asked.due_at is not None and asked.due_at <= server.now():
        raise Gone(
            _("Your time for this turn is over, so your choice stands."),
            why=_("Without it, the clock would decide for you at once."),
            remedy=_("As long as the turn is open, you can put another choice in its place."),
        )


def _ask_again(tx: Tx, server: Server, row: GameRow, turn: int, seat: int, seq: int) -> None:
    """The seat is asked as before. A clock that a mail was to start gets another mail, if that one was given up."""
    deadlines.reopen(tx, row.id, turn, seat)
    asked = deadlines.read(tx, row.id, turn, seat)
    if asked is None or asked.due_at is not None:
        return
    written = [each for each in outbox.of_game(tx, row.id) if (each.kind, each.seat, each.turn) == ("turn", seat, turn)]
    if any(each.status in ("queued", "sent") for each in written):
        return
    player = next(player for player in player_rows.of_game(tx, row.id) if player.seat == seat)
    if player.person_id is not None:
        now = server.now()
        outbox.queue(tx, [outbox.NewEmail(player.person_id, "turn", row.id, seq, seat, turn)], now, now)
