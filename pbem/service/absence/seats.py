"""Changing the player of a seat in a running game, from or to a bot or a person.

The log records the kind of player, never a name; the former player's stays with the turns they played. Nothing else of the
former player passes on: queued emails are superseded, links revoked, the secret standing order and the vote dropped. A sealed
choice stays, as it is the seat's. `substitutes` and `leaving` decide when a seat changes hands.
"""

from collections.abc import Collection
from typing import Any, Final

from engine import codec
from pbem.domain.errors import Forbidden
from pbem.domain.look_alikes import seen_as
from pbem.domain.states import EmailKind, EmailStatus, Insight, TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service import links
from pbem.service.play.log import Kind, LogWriter, add_row, write
from pbem.service.play.positions import orders_of
from pbem.service.server import Server
from pbem.store import deadlines, insiders, ledger, outbox, players as player_rows, tables, talk, votes as vote_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow
from pbem.store.schema import FormerPlayerRow

_CLEARED: Final = ("rendered_at", "accepted_at", "promised_at", "due_at", "remind_at", "claimed_until")
"""Columns of a deadline that are set only after the turn's email is written."""


def give_to_bot(tx: Tx, server: Server, row: GameRow, seat: int, by: str, reason: str = "") -> GameRow:
    """Give a seat to the bot that its table has agreed on. Returns the changed game. The game is locked; `reason` is an
    organiser's."""
    name, body = (
        bot_name(player_rows.of_game(tx, row.id)),
        {"player": "bot", "bot": row.stand_in} | reason_facts(reason),
    )
    row = _change_hands(tx, server, row, seat, by, body, person_id=None, bot=row.stand_in, name=name)
    if (deadline := _open_deadline(tx, row, seat)) is not None:
        cleared = {"accepted_at": None, "remind_at": None, "claimed_until": None, "week": None, "attempts": 0}
        deadlines.change(tx, deadline, asked_at=server.now(), due_at=server.now(), **cleared)
    return row


def give_to_person(
    tx: Tx, server: Server, row: GameRow, seat: int, by: str, person: PersonRow, name: str, reason: str = ""
) -> GameRow:
    """Give a seat to a person, with the full time for an open turn. Returns the changed game. The game is locked.

    Their clock starts with their own email, so someone who leaves and comes back has the full time too. Nobody may leave a
    table so often that others would wait for ever.

    Raises Forbidden for an organiser who has looked at the table's hidden side, under any identity.
    """
    must_not_have_looked(tx, person.id, row.id)
    body = {"player": "person"} | reason_facts(reason)
    row = _change_hands(tx, server, row, seat, by, body, person_id=person.id, bot=None, name=name)
    now = server.now()
    facts = {"by": by} | reason_facts(reason)
    emails = [outbox.NewEmail(person.id, EmailKind.SEATED, row.id, row.seq, seat, row.turn, facts)]
    if (deadline := _open_deadline(tx, row, seat)) is not None:
        cleared: dict[str, Any] = dict.fromkeys(_CLEARED)
        # They're asked now, so it's their own week that counts.
        cleared |= {"week": person.zoned_week}
        deadlines.change(tx, deadline, asked_at=now, reminded=0, extensions="[]", attempts=0, **cleared)
        emails.append(outbox.NewEmail(person.id, EmailKind.TURN, row.id, row.seq, seat, row.turn))
    outbox.queue(tx, emails, now)
    return row


def must_not_have_looked(tx: Tx, person_id: int, game_id: int) -> None:
    """Raise Forbidden for an organiser who has looked at the table's hidden side, under any identity."""
    if insiders.has_looked(tx, person_id, game_id):
        raise Forbidden(
            _("Organisers who have looked at a table can't play at it."),
            why=_("They may have seen its secrets."),
            remedy=_("Someone else can take the seat."),
        )


def bot_name(players: list[PlayerRow]) -> str:
    """The name of the next bot at a table."""
    taken = {player.name for player in players}
    return next(name for n in range(1, len(players) + 2) if (name := f"Bot {n}") not in taken)


def offer(tx: Tx, server: Server, row: GameRow, seat: int, by: str, why: str, reason: str = "") -> GameRow:
    """Log that a seat is offered to substitutes, and why. Returns the changed game."""
    return add_row(tx, server, row, Kind.OFFERED, seat, by, {"why": why} | reason_facts(reason))


def reason_facts(reason: str) -> dict[str, str]:
    """An organiser's reason, for the body of a row or an email; empty if there is none."""
    return {"reason": reason} if reason else {}


def _change_hands(
    tx: Tx, server: Server, row: GameRow, seat: int, by: str, body: dict[str, str], **player: Any
) -> GameRow:
    orders = orders_of(row)
    orders.pop(seat, None)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.SEATED, seat, by, body)
    row = write(tx, row, record, orders=codec.dumps(sorted(orders.items())))
    before = next(each for each in player_rows.of_game(tx, row.id) if each.seat == seat)
    if before.person_id is not None:
        insiders.note(tx, row.id, before.person_id, Insight.SAT)
    lines = talk.count(tx, row.id)
    player_rows.add_former(
        tx, FormerPlayerRow(row.id, seat, record.seq, row.turn, lines, before.person_id, before.name)
    )
    tables.change_player(tx, row.id, seat, missed=0, **player)
    vote_rows.drop_vote(tx, row.id, seat)
    vote_rows.drop_back_votes(tx, row.id)
    links.revoke_seat(tx, server, row.id, seat)
    now = server.now()
    for email in outbox.of_game(tx, row.id, -1):
        if email.seat == seat and email.status == EmailStatus.QUEUED:
            outbox.change(tx, email.id, status=EmailStatus.SUPERSEDED)
            ledger.note(tx, email.id, now, "superseded", "someone else plays the seat now")
    return row


def _open_deadline(tx: Tx, row: GameRow, seat: int) -> deadlines.DeadlineRow | None:
    """The deadline of the seat's open turn, if any."""
    deadline = deadlines.read(tx, row.id, row.turn, seat)
    return deadline if deadline is not None and deadline.status == TurnStatus.OPEN else None


def name_at(tx: Tx, game_id: int, seat: int | None, person_id: int | None, name: str) -> str:
    """The name of a person at a seat, with a number if anyone else at the table has it, or had it: it stays with their turns."""
    others = [
        each.name for each in player_rows.of_game(tx, game_id) if each.seat != seat or each.person_id != person_id
    ]
    former = [each.name for each in player_rows.former_of_game(tx, game_id) if each.person_id != person_id]
    return free_name([*others, *former], name)


def free_name(names: Collection[str], name: str) -> str:
    """The name, with a number if it is one of these or looks like one."""
    taken = {seen_as(each) for each in names}
    numbered = (name if n == 1 else f"{name} {n}" for n in range(1, len(taken) + 2))
    return next(option for option in numbered if seen_as(option) not in taken)
