"""Who plays a seat of a running game: what changes when a bot or another person takes over.

The log says who sits where by kind (a person, a bot), never by name. What was meant for the one who has left goes no
further: queued mails are superseded, links die, a standing order, which was a secret, is dropped, and so is a vote. A
choice in the box stays: it was made for the seat. Why somebody takes over is decided elsewhere.
"""

from typing import Any, Final

from engine import codec
from pbem.service import links
from pbem.service.play import move
from pbem.service.play.log import Kind, LogWriter, write
from pbem.service.server import Server
from pbem.store import deadlines, ledger, outbox, tables
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.people import PersonRow
from pbem.store.players import PlayerRow

STAND_IN: Final = "greedy"
"""The bot that takes over: one that tries to win, so that a seat that was left decides nothing by folly."""

_UNKNOWN_YET: Final = ("rendered_at", "accepted_at", "promised_at", "due_at", "remind_at", "claimed_until")
"""What is not known of a turn whose mail has not been written."""


def give_to_bot(
    tx: Tx, server: Server, row: GameRow, record: LogWriter, seat: int, by: str, reason: str = ""
) -> GameRow:
    """Let a bot play a seat from now on; the game as it is then. The game is locked. A `reason` is a moderator's."""
    bot, name = STAND_IN, bot_name(player_rows.of_game(tx, row.id))
    record.add(Kind.SEATED, seat, by, {"player": "bot", "bot": bot} | because(reason))
    row = _change_hands(tx, server, row, record, seat, person_id=None, bot=bot, name=name)
    if (asked := _asked(tx, row, seat)) is not None:
        anew = {"accepted_at": None, "remind_at": None, "claimed_until": None, "attempts": 0}
        deadlines.change(tx, asked, asked_at=server.now(), due_at=server.now(), **anew)
    return row


def give_to_person(
    tx: Tx,
    server: Server,
    row: GameRow,
    record: LogWriter,
    seat: int,
    by: str,
    person: PersonRow,
    name: str,
    reason: str = "",
) -> GameRow:
    """Let a person play a seat from now on, with a turn of full length if it is asked; the game as it is then."""
    record.add(Kind.SEATED, seat, by, {"player": "person"} | because(reason))
    row = _change_hands(tx, server, row, record, seat, person_id=person.id, bot=None, name=name)
    now = server.now()
    facts = {"by": by} | because(reason)
    emails = [outbox.NewEmail(person.id, "seated", row.id, record.seq, seat, row.turn, facts)]
    if (asked := _asked(tx, row, seat)) is not None:
        anew: dict[str, Any] = dict.fromkeys(_UNKNOWN_YET)
        deadlines.change(tx, asked, asked_at=now, reminded=0, extensions="[]", attempts=0, **anew)
        emails.append(outbox.NewEmail(person.id, "turn", row.id, record.seq, seat, row.turn))
    outbox.queue(tx, emails, now, now)
    return row


def bot_name(players: list[PlayerRow]) -> str:
    """What the next bot at a table is called."""
    taken = {player.name for player in players}
    return next(name for n in range(1, len(players) + 2) if (name := f"Bot {n}") not in taken)


def offer(tx: Tx, server: Server, row: GameRow, seat: int, by: str, why: str, reason: str = "") -> GameRow:
    """Write down that others are asked to take a seat over, and why; the game as it is then."""
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.OFFERED, seat, by, {"why": why} | because(reason))
    return write(tx, row, record)


def because(reason: str) -> dict[str, str]:
    """What a moderator says of it, in the body of a row or a mail; nothing where nobody moderates."""
    return {"reason": reason} if reason else {}


def _change_hands(tx: Tx, server: Server, row: GameRow, record: LogWriter, seat: int, **player: Any) -> GameRow:
    orders = move.orders_of(row)
    orders.pop(seat, None)
    row = write(tx, row, record, orders=codec.dumps(sorted(orders.items())))
    tables.change_player(tx, row.id, seat, missed=0, **player)
    tables.drop_vote(tx, row.id, seat)
    links.revoke_seat(tx, row.id, seat)
    now = server.now()
    for email in outbox.of_game(tx, row.id, -1):
        if email.seat == seat and email.status == "queued":
            outbox.change(tx, email.id, status="superseded")
            ledger.note(tx, email.id, now, "superseded", "somebody else plays the seat now")
    return row


def _asked(tx: Tx, row: GameRow, seat: int) -> deadlines.DeadlineRow | None:
    """What the seat is asked and has not answered."""
    asked = deadlines.read(tx, row.id, row.turn, seat)
    return asked if asked is not None and asked.status == "open" else None


def free_name(players: list[PlayerRow], name: str) -> str:
    """The name, with a number behind it if another at the table has it."""
    taken = {player.name.casefold() for player in players}
    numbered = (name if n == 1 else f"{name} {n}" for n in range(1, len(taken) + 2))
    return next(each for each in numbered if each.casefold() not in taken)
