"""A running game in a test, which reads what is stored and plays for every seat."""

from collections.abc import Iterator
from typing import Any

from engine.decisions import Choice, Decision
from engine.result import Place
from engine.table import Position
from pbem.domain.hash_chain import Row, verify
from pbem.service.play import move, views
from pbem.service.play.endings import ranking_at_end
from pbem.service.play.move import Actor, Receipt
from pbem.service.play.positions import position_of
from pbem.service.server import Server
from pbem.store import games, log as log_rows, outbox, players as player_rows
from pbem.store.games import GameRow
from pbem.store.outbox import EmailRow
from pbem.store.players import PlayerRow


class RunningGame:
    """One game. Every call reads the database again."""

    def __init__(self, server: Server, game_id: int) -> None:
        self.server = server
        self.id = game_id

    def row(self) -> GameRow:
        """The game as it is stored."""
        with self.server.store.read() as tx:
            return games.read(tx, self.id)

    def players(self) -> dict[int, PlayerRow]:
        """The players by seat."""
        with self.server.store.read() as tx:
            return {player.seat: player for player in player_rows.of_game(tx, self.id) if player.seat is not None}

    def person_at(self, seat: int) -> int:
        """The person who plays a seat."""
        person = self.players()[seat].person_id
        assert person is not None
        return person

    def log(self) -> list[Row]:
        """The whole log."""
        with self.server.store.read() as tx:
            return list(log_rows.chain(tx, self.id, games.read(tx, self.id).key))

    def emails(self) -> list[EmailRow]:
        """All emails about the game, oldest first."""
        with self.server.store.read() as tx:
            return outbox.of_game(tx, self.id, -1)

    def position(self) -> Position:
        """The position, with the sealed choices."""
        with self.server.store.read() as tx:
            return position_of(tx, games.read(tx, self.id))

    def ranking(self) -> tuple[Place, ...]:
        """The ranking of the finished game."""
        with self.server.store.read() as tx:
            return ranking_at_end(tx, games.read(tx, self.id))

    def open(self) -> dict[int, Decision]:
        """The open decisions by seat, with those of seats that have a sealed choice."""
        return self.position().open() if self.row().status == "playing" else {}

    def asked(self) -> dict[int, Decision]:
        """The open decisions by seat that have no choice yet."""
        return {seat: decision for seat, decision in self.open().items() if seat not in self.position().box}

    def play(self, seat: int, choice: str | Choice, by: Actor = Actor.PERSON, turn: int | None = None) -> Receipt:
        """Make a choice in the current turn, or in another."""
        return self.server.run(move.play, self.id, self.row().turn if turn is None else turn, seat, choice, by)

    def play_defaults(self) -> Iterator[Receipt]:
        """Play the default of every decision until the game is over."""
        while asked := self.asked():
            seat, decision = next(iter(asked.items()))
            yield self.play(seat, decision.default)

    def view(self, seat: int) -> Any:
        """The view of a seat."""
        with self.server.store.read() as tx:
            return views.view(tx, games.read(tx, self.id), seat)

    def verifies(self) -> bool:
        """Whether the hash chain of the log is sound and ends at the head of the game."""
        row = self.row()
        return verify(self.log(), game=row.key, head=row.head).sound
