"""Incoming emails in a test, as a player's mail program and a mail server hand them in, and their processing."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from sqlalchemy import select

from pbem.config.settings import SenderCheck
from pbem.domain.states import EmailKind
from pbem.service import links as link_service
from pbem.service.incoming import processing, receive
from pbem.service.incoming.authenticity import InboundSettings
from pbem.service.server import Server
from pbem.store import games, links as link_rows, people as person_rows, received as rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.store.received import ReceivedRow
from pbem.store.schema import RECEIVED
from pbem.tokens import Purpose
from tests.fakes import FakeClock
from tests.service.database import queued_emails
from tests.service.running_game import RunningGame

HOST = "play.example.org"
OUR_SENDER = f"games@{HOST}"


class Inbox:
    """The server's mail intake, and everyone who sends to it."""

    def __init__(self, server: Server, clock: FakeClock) -> None:
        self.server = server
        self.clock = clock
        self.box = InboundSettings(HOST, OUR_SENDER, HOST)
        self._numbers = count(1)

    def checks(self, check: SenderCheck) -> None:
        """Set how senders are checked from now on."""
        self.box = replace(self.box, check=check)

    def token(self, purpose: Purpose, **key: int | None) -> str:
        """The token of a link, made if there is none."""

        def made(tx: Tx) -> str:
            row = link_rows.read(tx, link_service.make(tx, self.server, LinkKey(purpose, **key)))
            assert row is not None
            return link_service.token(self.server, row)

        return self.server.store.write(made)

    def reply_address(self, game: RunningGame, seat: int, turn: int | None = None) -> str:
        """The address for replies to a turn's email."""
        asked = game.row().turn if turn is None else turn
        token = self.token(Purpose.REPLY, person_id=game.person_at(seat), game_id=game.id, turn=asked, seat=seat)
        return f"r+{token}@{HOST}"

    def bounce_address(self, game: RunningGame, seat: int, kind: str = "turn") -> tuple[int, str]:
        """The id of the newest email of a kind to a seat's player, and its return address."""
        email = [each for each in queued_emails(self.server, game.person_at(seat), kind) if each.game_id == game.id][-1]
        return email.id, f"b+{self.token(Purpose.BOUNCE, person_id=email.person_id, outbox_id=email.id)}@{HOST}"

    def written(
        self, game: RunningGame, seat: int, text: str, headers: Mapping[str, str | None] | None = None
    ) -> bytes:
        """A reply as our own mail server hands it in, marked as genuine from the seat's player."""
        person = game.person_at(seat)
        with self.server.store.read() as tx:
            address = person_rows.read(tx, person).address
            title = games.read(tx, game.id).title
        domain = address.partition("@")[2]
        given: dict[str, str | None] = {
            "Received": f"from mx.{domain} by {HOST}",
            "Authentication-Results": f"{HOST}; dmarc=pass (p=reject dis=none) header.from={domain}",
            "From": f"Somebody <{address}>",
            "To": self.reply_address(game, seat),
            "Subject": f"Re: {title}",
            "Message-ID": f"<{next(self._numbers)}@mail.{domain}>",
            "MIME-Version": "1.0",
            "Content-Type": "text/plain; charset=utf-8",
        }
        given |= headers or {}
        lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
        return "\r\n".join([*lines, "", text, ""]).encode()

    def takes(self, raw: bytes, to: str, envelope_from: str = "ann@example.org") -> str:
        """Hand in an email; return how it was classified."""
        return receive.receive(self.server, self.box, envelope_from, to, raw)

    def attends(self) -> int:
        """Process received emails until none is due; return how many."""
        done = 0
        while more := processing.process(self.server, self.box):
            done += more
        return done

    def replies(self, game: RunningGame, seat: int, text: str, **headers: str | None) -> ReceivedRow:
        """Reply to the email of the current turn, and process the reply."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.takes(self.written(game, seat, text, named), self.reply_address(game, seat))
        self.attends()
        return self.rows()[-1]

    def answers_offer(self, game_id: int | None, person_id: int, text: str, **headers: str | None) -> ReceivedRow:
        """Reply to the newest email that offers a person a seat at a table, or without one to be in a group; process the reply."""
        emails = (each for each in queued_emails(self.server, person_id) if each.game_id == game_id)
        offer = [
            each
            for each in emails
            if each.kind in (EmailKind.INVITATION, EmailKind.GROUP_INVITATION, EmailKind.SUBSTITUTE)
        ][-1]
        token = self.token(Purpose.REPLY, person_id=person_id, game_id=game_id, outbox_id=offer.id)
        return self.answers_email(person_id, token, text, **headers)

    def answers_email(self, person_id: int, token: str, text: str, **headers: str | None) -> ReceivedRow:
        """Reply to an email by the token of its reply address, and process the reply."""
        with self.server.store.read() as tx:
            address = person_rows.read(tx, person_id).address
        domain = address.partition("@")[2]
        given = {
            "Received": f"from mx.{domain} by {HOST}",
            "Authentication-Results": f"{HOST}; dmarc=pass header.from={domain}",
            "From": f"Somebody <{address}>",
            "To": f"r+{token}@{HOST}",
            "Subject": "Re: a seat for you",
            "Message-ID": f"<{next(self._numbers)}@mail.{domain}>",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
        self.takes("\r\n".join([*lines, "", text, ""]).encode(), f"r+{token}@{HOST}", address)
        self.attends()
        return self.rows()[-1]

    def rows(self) -> list[ReceivedRow]:
        """The stored emails, oldest first."""
        table = RECEIVED
        with self.server.store.read() as tx:
            return [ReceivedRow(**row._mapping) for row in tx.execute(select(table).order_by(table.c.id))]

    def counted(self) -> dict[str, int]:
        """The number of emails of each kind received today."""
        with self.server.store.read() as tx:
            return rows.counts_since(tx, self.server.now().date())
