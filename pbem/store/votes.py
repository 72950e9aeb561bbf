"""Votes of seats: to end their game without a result, and to go back to an earlier turn."""

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from pbem.store.games import GameRow
from pbem.store.schema import BACK_VOTE, VOTE


def add_vote(tx: Connection, game_id: int, seat: int, at: datetime) -> None:
    """Add the vote of a seat. The game must be locked, and the seat must not have voted."""
    tx.execute(insert(VOTE), {"game_id": game_id, "seat": seat, "at": at})


def drop_vote(tx: Connection, game_id: int, seat: int) -> bool:
    """Take back the vote of a seat; False if there is none."""
    return tx.execute(delete(VOTE).where(VOTE.c.game_id == game_id, VOTE.c.seat == seat)).rowcount == 1


def votes(tx: Connection, game_id: int) -> set[int]:
    """The seats that have voted."""
    return set(tx.execute(select(VOTE.c.seat).where(VOTE.c.game_id == game_id)).scalars())


def add_back_vote(tx: Connection, game: GameRow, seat: int, back_to: int) -> None:
    """Add a seat's vote to go back. The game must be locked, and the seat must not have voted."""
    tx.execute(insert(BACK_VOTE), {"game_id": game.id, "seat": seat, "head": game.entry_head, "back_to": back_to})


def drop_back_votes(tx: Connection, game_id: int) -> None:
    """Forget who voted to go back."""
    tx.execute(delete(BACK_VOTE).where(BACK_VOTE.c.game_id == game_id))


def back_votes(tx: Connection, game: GameRow) -> dict[int, int]:
    """The seats that have voted to go back from where the game is now, each with the turn to go back to."""
    now = (BACK_VOTE.c.game_id == game.id, BACK_VOTE.c.head == game.entry_head)
    return {row.seat: row.back_to for row in tx.execute(select(BACK_VOTE.c.seat, BACK_VOTE.c.back_to).where(*now))}
