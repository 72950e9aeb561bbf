"""Second chances: the move made for a missed turn is taken back by the player it was made for, who then plays.

A table agrees at its start for how long. The chance is one turn with the missed one: its clock goes on from the deadline that
was missed, so taking the move back late, or not moving then, gains nobody any time. The turn stays missed, once, and nobody has a
second chance twice. It ends early once anyone has decided, or has seen something hidden; whether someone has, follows from
what everyone knows, so neither a button nor a refusal tells who has answered in secret.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pbem.domain.deadline import Deadline
from pbem.domain.extension import SecondChance, with_extension
from pbem.domain.missed_turns import second_chance
from pbem.domain.pace import read_pace
from pbem.domain.states import EmailKind, EmailStatus, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.clocks import deadlines as clocks_deadlines, rewind
from pbem.service.links import MoveLink, SeatLink, open_seat
from pbem.service.play import move, standing_orders, undo
from pbem.service.play.log import Kind, LogWriter, StandingEntry, latest_entries, standing_entries, unopened_turn, write
from pbem.service.play.move import Actor, lock_seat
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import channels, deadlines, ledger, log, outbox, players as player_rows, views
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.tokens import Purpose

_OUTDATED = (EmailKind.TURN, EmailKind.REMINDER, EmailKind.AUTO_PASSED)


def by_link(tx: Tx, server: Server, token: str, purpose: Purpose, turn: int | None = None, chosen: str = "") -> None:
    """Take back the choice of a MOVE, SEAT or API token in a turn, by default the link's; if it's named, no other one.

    Raises Gone or Stale.
    """
    row = links.follow(tx, server, token, purpose)
    link = SeatLink.of(row)
    turn = MoveLink.of(row).turn if turn is None else turn
    take_back(tx, server, link.game_id, turn, link.seat, link.person_id, chosen)


def take_back(
    tx: Tx, server: Server, game_id: int, turn: int, seat: int, person_id: int | None = None, chosen: str = ""
) -> None:
    """Take back a seat's choice in a turn: its own, or one that the clock made for it. Raises Gone where that's too late.

    With the words of `chosen`, no other choice of its own: raises Stale.
    """
    row = lock_seat(tx, game_id, seat, person_id)
    if row.second_chance and row.turn != turn:
        undone = latest_entries(rules_of(row), log.chain_back(tx, row.id, row.key), turn)
        if undone and undone[0].turn == turn and undone[0].is_clocks(seat):
            _reopen(tx, server, row, seat, undone)
            return
    undo.take_back(tx, server, game_id, turn, seat, person_id, chosen)


def until_by_link(tx: Tx, server: Server, token: str, turn: int) -> datetime | None:
    """Until when the move made for the seat of a SEAT token in a turn can be taken back; None if it can't."""
    link, row = open_seat(tx, server, token, Purpose.SEAT)
    return until(tx, server, row, turn, link.seat)


def until(tx: Tx, server: Server, row: GameRow, turn: int, seat: int) -> datetime | None:
    """Until when the move that the clock made for a seat in a turn can be taken back; None if it can't."""
    undone = latest_entries(rules_of(row), log.chain_back(tx, row.id, row.key), turn) if row.second_chance else []
    if not undone or undone[0].turn != turn or not undo.may_undo(tx, row, undone, seat):
        return None
    missed = deadlines.read(tx, row.id, turn, seat)
    chance = None if missed is None else _chance_after(row, missed)
    at = None if chance is None else _deadline_of(tx, server, row, chance).at
    return None if at is None or at <= server.now() else at


def _reopen(tx: Tx, server: Server, row: GameRow, seat: int, undone: Sequence[StandingEntry]) -> None:
    """Go back to before a turn that the clock decided, and ask its seat again under a number of its own."""
    move.must_be_playing(row)
    turn, now = undone[0].turn, server.now()
    undo.must_have_shown_nothing(tx, row, undone, seat)
    new_turn = unopened_turn(log.chain(tx, row.id, row.key))
    chance = replace(_chance_of(tx, server, row, turn, seat), turn=new_turn)
    asked_then = deadlines.of_turn(tx, row)
    _supersede(tx, row, undone[0].seq, now)
    record = LogWriter(row, now, server.randomness)
    record.add(Kind.REWOUND, seat, Actor.PERSON, {"from": turn, "turn": chance.turn})
    orders = standing_orders.after_undo(tx, row, seat, record, undone[0])
    state = rewind.state_before(row, standing_entries(rules_of(row), log.chain(tx, row.id, row.key)), turn)
    row = write(tx, row, record, turn=chance.turn, state=state, box="[]", orders=orders)
    deadlines.rewind(tx, row.id, turn + 1)
    move.uncount_missed(tx, row, turn, seat)
    views.forget(tx, row.id, turn)
    _ask(tx, server, row, chance)
    _tell(tx, server, row, turn, seat, asked_then)


def _chance_of(tx: Tx, server: Server, row: GameRow, turn: int, seat: int) -> DeadlineRow:
    """The turn in which a seat plays after all, open as long as its second chance lasts. Raises Gone."""
    missed = deadlines.read(tx, row.id, turn, seat)
    chance = None if missed is None else _chance_after(row, missed)
    if chance is None:
        raise undo.too_late(_("You've taken it back once already."))
    at = _deadline_of(tx, server, row, chance).at
    if at is not None and at <= server.now():
        raise undo.too_late(_("The time for that is over."))
    return chance


def _chance_after(row: GameRow, missed: DeadlineRow) -> DeadlineRow | None:
    """The second chance after a missed turn, or None where there is none."""
    if missed.due_at is None or missed.missed_turn is not None:
        return None
    more = SecondChance(missed.due_at, second_chance(row.second_chance, read_pace(row.pace)))
    extensions = with_extension(missed.extensions, more)
    return replace(
        missed,
        turn=row.turn + 1,
        missed_turn=missed.turn,
        status=TurnStatus.OPEN,
        closed_at=None,
        extensions=extensions,
    )


def _deadline_of(tx: Tx, server: Server, row: GameRow, chance: DeadlineRow) -> Deadline:
    clock = next(iter(clocks_deadlines.clocks_of(tx, {row.id: row}, [chance]).values()), None)
    return Deadline(None, None) if clock is None else clocks_deadlines.current_deadline(clock, server.now())


def _supersede(tx: Tx, row: GameRow, seq: int, now: datetime) -> None:
    """Give up the emails about the turns taken back that haven't left."""
    for email in outbox.of_game(tx, row.id, seq - 1):
        if email.kind in _OUTDATED and email.status == EmailStatus.QUEUED and not email.attempts:
            outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED)
            ledger.note(tx, email.id, now, "superseded", "the move was taken back")


def _ask(tx: Tx, server: Server, row: GameRow, chance: DeadlineRow) -> None:
    """Ask the seat again: its clock has been running since the missed turn's email."""
    deadlines.ask(tx, row.id, row.turn, [chance.seat], server.now())
    fields = {
        name: getattr(chance, name)
        for name in (
            "asked_at",
            "rendered_at",
            "accepted_at",
            "promised_at",
            "week",
            "due_at",
            "reminded",
            "extensions",
            "missed_turn",
        )
    }
    deadlines.change(tx, chance, **fields)
    clocks_deadlines.settle(tx, server, row, chance, tell=False)


def _tell(tx: Tx, server: Server, row: GameRow, turn: int, seat: int, asked: Sequence[DeadlineRow]) -> None:
    """Email the player their question again, unless they answer at once, and tell those who had been asked since."""
    now, people = server.now(), clocks_deadlines.people_by_seat(tx, row.id)
    again = outbox.NewEmail(people[seat], EmailKind.TURN, row.id, row.seq, seat, row.turn)
    outbox.queue(tx, [again], now, now + server.hold)
    channels.tell_table(tx, row.id, EmailKind.TURN, row.turn, row.seq, now)
    who = next(player.called for player in player_rows.of_game(tx, row.id) if player.seat == seat)
    facts = {"who": who, "turn": turn, "next_turn": row.turn}
    for other in sorted({people[each.seat] for each in asked if each.seat in people} - {people[seat]}):
        clocks_deadlines.queue_notice(tx, server, other, row, None, "taken_back", facts)
