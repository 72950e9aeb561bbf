"""Replies to emails in a test, given to the server as if they had been parsed and verified."""

import hashlib
import json
from itertools import count
from typing import Any

from engine.decisions import Choice, Decision
from pbem.mail.read.reply import Reply
from pbem.service import links
from pbem.service.incoming import replies
from pbem.service.links import MoveLink
from pbem.service.play.move import Actor
from pbem.store import games, received as store_received
from pbem.store.links import LinkKey
from pbem.tokens import Purpose
from tests.service.database import queued_emails
from tests.service.running_game import RunningGame

_NUMBERS = count(1)


class Replies:
    """The replies of the players of one table, and their receipts. Player 0 is the first to decide."""

    def __init__(self, begun: RunningGame) -> None:
        self.begun = begun
        self.server = begun.server
        seats = len(begun.players())
        self._first = min(begun.asked())
        self._seats = [(self._first + number) % seats for number in range(seats)]

    def seat(self, player: int) -> int:
        """The seat of a player."""
        return self._seats[player]

    def person(self, player: int) -> int:
        """The person behind a player."""
        return self.begun.person_at(self.seat(player))

    def asked(self, player: int) -> Decision | None:
        """The decision that a player has not made yet."""
        return self.begun.asked().get(self.seat(player))

    def play(self, player: int, choice: str | Choice, by: Actor = Actor.PERSON, turn: int | None = None) -> None:
        """Make a choice of a player, not by email."""
        self.begun.play(self.seat(player), choice, by, turn)

    def write(self, player: int, *lines: str, turn: int | None = None) -> str | None:
        """Reply to the email of a turn, by default the current one; returns the outcome."""
        return self.act(self.keep(player, turn), *lines)

    def keep(self, player: int, turn: int | None = None) -> tuple[int, MoveLink]:
        """Store a received email; returns its id and the link of its address."""
        number = next(_NUMBERS)
        seat, person = self.seat(player), self.person(player)
        in_turn = self.begun.row().turn if turn is None else turn

        def store(tx: Any) -> tuple[int, MoveLink]:
            games.lock(tx, self.begun.id)
            row = links.make(tx, self.server, LinkKey(Purpose.REPLY, person, self.begun.id, in_turn, seat))
            known_by = hashlib.sha256(str(number).encode()).digest()
            received = store_received.add(
                tx, fingerprint=known_by, link_id=row, nonce=0, message_id="", raw=b"", now=self.server.now()
            )
            assert received is not None
            return received, MoveLink.of(links.read(tx, row))

        return self.server.store.write(store)

    def link_of(self, received: int) -> MoveLink:
        """The link of a stored email's address, as it is now."""
        with self.server.store.read() as tx:
            row = store_received.read(tx, received)
            assert row is not None
            return MoveLink.of(links.read(tx, row.link_id))

    def act(self, received: tuple[int, MoveLink], *lines: str) -> str | None:
        """Act on a stored email."""
        return self.server.run(replies.carry_out, *received, Reply(lines, None, "Re: your turn", "<reply@example.net>"))

    def receipts(self) -> list[dict[str, Any]]:
        """The facts of each receipt, oldest first."""
        return [json.loads(email.facts) for email in queued_emails(self.server, kind="receipt")]

    def outcomes(self) -> list[tuple[str, str, str | None]]:
        """The outcome of each line in the newest receipt."""
        return [(line["said"], line["outcome"], line["done"]) for line in self.receipts()[-1]["lines"]]

    def answer(self) -> str:
        """The text of the newest receipt about the last line that was tried."""
        tried = [line for line in self.receipts()[-1]["lines"] if line["outcome"] != "not_tried"]
        return str(tried[-1]["text"])
