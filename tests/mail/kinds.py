"""One real email of each kind, by way of the services: everything a server sends in the life of a table.

    emails_of("sun-bid")                           all emails of a table of that game, as a relay received them
    every_kind(server, clock, carry, "sun-bid")    play such a table, from the invitation to its end
    kind_of(message)                               the kind of a received email

A few people do everything that can cause an email, at a full table, and `carry` is called as often as a worker would run: it
sends what is due. Between the emailed turns many are played silently, so that the emails at the end of a long game are
included. Nothing in here writes a row or an email itself.
"""

import tempfile
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from email.message import Message
from functools import cache
from pathlib import Path
from typing import Final

from engine import grammar, registry
from engine.bots import random_bot
from engine.chance import Stream
from pbem import config
from pbem.config.settings import Security, SenderCheck, Smtp
from pbem.domain.delivery import Delivery, Way
from pbem.domain.states import EmailKind
from pbem.domain.topics import Topic
from pbem.mail.send.relay import Relay
from pbem.mail.write.compose import Letterhead
from pbem.ops import mail_checks
from pbem.service.absence import offers, substitutes, timeouts
from pbem.service.account import change_address, channels, delete
from pbem.service.archive import reviews
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.desk import alarm_emails, calls, jobs
from pbem.service.desk.acts.clocks import Extend, Freeze, Pause, Resume, Unfreeze
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.people import Ban, ChangeAddress, Merge
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import Offer, Substitute
from pbem.service.outgoing import deliver, digests, preferences
from pbem.service.people import addresses, sign_in
from pbem.service.server import Server
from pbem.service.tables import groups, joining, leaving, talk
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import hosting, new, reading, rounds, sign_up
from pbem.service.tournaments.new import TournamentSettings
from pbem.store import outbox, votes
from pbem.store.database import Store
from pbem.store.schema import METADATA
from pbem.tokens import SECRET_BYTES, Keyring, Purpose
from tests.channels.far_end import code_sent_to
from tests.fakes import FakeClock, SeededRandomness
from tests.mail.sink import ReceivedEmail, Sink
from tests.service.actors import ANN, OLGA, add_organiser, moderate
from tests.service.archive.sample_review import sample
from tests.service.clock import Time
from tests.service.conftest import START
from tests.service.database import queued_emails
from tests.service.inbox import Inbox
from tests.service.running_game import RunningGame

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")

HOUR, DAY = timedelta(hours=1), timedelta(days=1)

LONGER: Final = 4
"""Times as long as a short game: every kind of email is sent before its end, after a few hundred moves."""

UNSEEN: Final = 17
"""The number of moves between two that are emailed."""


def options_of(game: str) -> dict[str, str | int]:
    """The options of a game's table: those of a short game, longer."""
    short = registry.load(game).short
    return {name: LONGER * value if isinstance(value, int) else value for name, value in short.items()}


HOST: Final = "play.example.org"
HEAD: Final = Letterhead(
    "Auction games by email", f"https://{HOST}", HOST, f"games@{HOST}", f"organiser@{HOST}", replies=True
)


@cache
def emails_of(game: str, names: tuple[str, ...] = NAMES, zone: str = "UTC") -> tuple[ReceivedEmail, ...]:
    """Everything emailed in the life of a table of this game, as a relay on this machine received it."""
    with tempfile.TemporaryDirectory() as folder, Sink() as sink:
        store = Store(f"sqlite:///{Path(folder) / 'pbem.sqlite3'}")
        METADATA.create_all(store.engine)
        clock = FakeClock(START)
        server = Server(store, clock, SeededRandomness(7), Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1)))
        post = deliver.Post(HEAD, Relay(Smtp("127.0.0.1", Security.NONE, sink.port, "", "", 5)))

        def carry() -> None:
            clock.advance(timedelta(minutes=2))
            while deliver.deliver(server, post, limit=500).accepted:
                pass

        every_kind(server, clock, carry, game, names, zone)
        store.close()
        answer_to = server.keys.make(Purpose.REPLY, 1, 0)
        mail_checks.send_trial(config.read(_settings(folder, sink.port)), "olga@example.org", answer_to)
        return tuple(sink.emails)


def kind_of(message: Message) -> str:
    """The kind of a received email."""
    return str(message["Feedback-ID"]).split(":")[1]


def _settings(folder: str, port: int) -> dict[str, str]:
    """The settings of a server, for the email that is sent without a database."""
    return {
        "PBEM_BASE_URL": HEAD.base_url,
        "PBEM_INBOUND_REPLIES": "yes",
        "PBEM_DATA_DIR": folder,
        "PBEM_SMTP_HOST": "127.0.0.1",
        "PBEM_SMTP_PORT": f"{port}",
        "PBEM_SMTP_SECURITY": "none",
    }


def every_kind(
    server: Server,
    clock: FakeClock,
    carry: Callable[[], None],
    game: str,
    names: Sequence[str] = NAMES,
    zone: str = "UTC",
) -> RunningGame:
    """Play a table of this game with everything that can happen; returns the table at its end."""
    town = _Scenario(server, clock, carry, tuple(names), zone)
    town.before_a_table_begins(game)
    table = town.a_table(game)
    town.answers_by_mail(table)
    town.goes_by_the_clock(table)
    town.changes_preferences(table)
    town.is_stopped_and_changed(table)
    town.ends(table)
    town.enters_a_tournament(game)
    return table


class _Scenario:
    """The people, and what they do."""

    def __init__(
        self, server: Server, clock: FakeClock, carry: Callable[[], None], names: tuple[str, ...], zone: str
    ) -> None:
        self.server = server
        self.time = Time(server, clock)
        self.inbox = Inbox(server, clock)
        self.carry = carry
        self.names = names
        self.zone = zone

    def before_a_table_begins(self, game: str) -> None:
        """People ask and are invited, join and leave, and tables close."""
        host, guest = self._person(0), self._person(1)
        new_table = TableSettings(game, max(registry.load(game).seats), invited=("zoe@example.org",))
        closed = self.server.run(joining.create_table, host, new_table).game_id
        zoe = self.server.run(addresses.register, "zoe@example.org", "Zoe").id
        self.carry()
        for text in ("Who is Ann?", "decline"):
            self.inbox.answers_offer(closed, zoe, text)
            self.carry()
        group = self.server.run(groups.create, host, "Friday club")
        self.server.run(groups.invite, host, group, ("zoe@example.org",))
        self.carry()
        for text in ("help", "accept as Zoe", "decline"):
            self.inbox.answers_offer(None, zoe, text)
            self.carry()
        self.server.run(joining.join, closed, host)
        self.server.run(joining.join, closed, guest, word="lighthouse")
        self.carry()
        self.server.run(leaving.leave, closed, guest)
        self.carry()
        self.server.run(joining.join, closed, guest)
        self.server.run(leaving.leave, closed, host)
        self.server.run(joining.join, self.server.run(joining.create_table, host, new_table).game_id, guest)
        self.carry()
        self.time.passes(20 * DAY)
        leaving.expire(self.server)
        self.carry()

    def enters_a_tournament(self, game: str) -> None:
        """A tournament is opened, signed up for by reply, paused, begun and called off."""
        host, guests = self._person(0), [self._person(1), self._person(2)]
        size = min(registry.load(game).seats)
        settings = TournamentSettings(
            "Spring cup", game, self.server.now() + 7 * DAY, size=size, least=size, advance=1, fewest=size, rounds=1
        )
        cup = self.server.read(reading.page, self.server.run(new.open_tournament, host, settings)).summary.row
        self.server.run(sign_up.invite, cup.id, host, ("zoe@example.org",))
        self.carry()
        zoe = self._known("zoe@example.org")
        offer = queued_emails(self.server, zoe, EmailKind.SIGN_UP)[-1]
        token = self.inbox.token(Purpose.REPLY, person_id=zoe, outbox_id=offer.id)
        for text in ("What is this?", "accept as Zoe"):
            self.inbox.answers_email(zoe, token, text)
            self.carry()
        for guest in (host, *guests):
            self.server.run(sign_up.sign_up, cup.id, guest)
        self.server.run(hosting.pause, cup.id, host)
        self.server.run(hosting.resume, cup.id, host)
        self.server.run(hosting.extend, cup.id, host, 1)
        self.carry()
        self.time.passes(9 * DAY)
        rounds.advance_due(self.server)
        self.carry()
        self.time.passes(22 * DAY)
        rounds.advance_due(self.server)
        self.carry()
        self.server.run(hosting.call_off, cup.id, host, "Too few of us have time.")
        self.carry()

    def a_table(self, game: str) -> RunningGame:
        """A full table starts and its first turn is emailed; substitutes are willing."""
        self.server.run(
            offers.set_volunteer, self.server.run(addresses.confirm, self._known("zoe@example.org")).id, volunteers=True
        )
        seats = max(registry.load(game).seats)
        host = self._person(0)
        new_table = TableSettings(game, seats, options_of(game), title="Friday", successor="substitute")
        table = self.server.run(joining.create_table, host, new_table).game_id
        for number in range(seats):
            self.server.run(joining.join, table, self._person(number), word=f"word {number}")
        self.carry()
        return RunningGame(self.server, table)

    def answers_by_mail(self, table: RunningGame) -> None:
        """Replies to a turn: questions, prose, a choice, and one from a stranger."""
        seat, decision = min(table.asked().items())
        written = grammar.write(decision, decision.default)
        for text in ("help\nboard", "rules", "I think I will hold.", f"talk Good luck, everyone!\n{written}\nfly away"):
            self.inbox.replies(table, seat, text)
            self.carry()
        self.inbox.checks(SenderCheck.TOKEN)
        seat = min(table.asked())
        self.inbox.replies(table, seat, "pass", From="Mallory <mallory@example.net>")
        self.carry()

    def goes_by_the_clock(self, table: RunningGame) -> None:
        """Nobody replies: reminders are sent, and then the default applies."""
        self.time.passes(20 * HOUR)
        timeouts.remind(self.server)
        self.carry()
        self.time.passes(DAY)
        timeouts.time_out(self.server, self.time.worker)
        self.carry()

    def changes_preferences(self, table: RunningGame) -> None:
        """One player wants receipts for sealed choices, and one a daily digest."""
        seat, decision = min(table.asked().items())
        self.server.run(preferences.set_sealed_receipts, table.person_at(seat), on=True)
        table.play(seat, decision.default)
        self.carry()
        reader, host = table.person_at(min(table.asked())), table.row().host_id
        channel = self.server.run(channels.enter, host, "ntfy", "https://ntfy.sh/our-table", "", table.id)
        self.server.run(channels.prove, host, channel, code_sent_to(self.server, channel))
        self.server.run(channels.remove, host, channel)
        own = self.server.run(channels.enter, host, "ntfy", "https://ntfy.sh/mine")
        self.server.run(channels.prove, host, own, code_sent_to(self.server, own))
        self.server.run(channels.remove, host, own)
        self.server.run(preferences.switch_topic, table.person_at(0), Topic.TALK, on=True)
        self.server.run(talk.say, table.id, 1, table.person_at(1), f"Your move, @{table.players()[0].name}!")
        self.carry()
        self.server.run(preferences.choose, reader, Delivery(Way.DAILY), digest_at=time(7))
        self._play(table, UNSEEN)
        self.time.passes(DAY)
        digests.gather(self.server)
        self.carry()
        self.server.run(preferences.choose, reader, Delivery(Way.AT_ONCE))
        self.carry()

    def is_stopped_and_changed(self, table: RunningGame) -> None:
        """The organiser is called and pauses the table; a player leaves, and another takes the seat."""
        self._play(table, UNSEEN)
        add_organiser(self.server, "Olga")
        number = self.server.run(calls.call, table.person_at(0), "I never got the email.", game_id=table.id, seat=0)
        self.server.run(calls.answer, ANN, number, "It's probably in your spam folder.\n\nBest wishes,\nOlga")
        self.time.passes(alarm_emails.GATHERED * 2)
        alarm_emails.send(self.server)
        moderate(self.server, Pause(table.id), "The server is moving.")
        self.carry()
        moderate(self.server, Resume(table.id), "The server has moved.")
        self.carry()
        moderate(self.server, Extend(table.id, "2d"), "The server was hard to reach yesterday.")
        moderate(self.server, Freeze(table.id), "A player thinks a turn was logged wrongly.")
        self.carry()
        moderate(self.server, Unfreeze(table.id), "Log is sound.")
        moderate(self.server, Rewind(table.id, 1), "One of our emails got lost.")
        self.server.run(talk.say, table.id, 1, table.person_at(1), "What a pity.")
        moderate(self.server, Redact(table.id, 1), "That was rude.")
        moderate(self.server, Correct(table.id, "pace", "3d"), "It was a typo.")
        moderate(self.server, Correct(table.id, "name", "Ludwig", 1), "He misspelt his name.")
        moved = self._known("moved@example.org")
        moderate(self.server, ChangeAddress(moved, "here@example.org"), "They asked us to.")
        self.server.run(change_address.ask, moved, "there@example.org")
        self.server.run(delete.ask, self._known("leaving@example.org"))
        moderate(self.server, Ban(moved, date(2027, 6, 1)), "Insults at several tables.")
        self.carry()
        self.server.run(leaving.agree_to_end, table.id, table.person_at(1))
        self.carry()
        self.goes_back(table)
        host = table.row().host_id
        seat = next(seat for seat, player in table.players().items() if player.person_id == host)
        self.server.run(leaving.resign, table.id, seat, host)
        self.carry()
        moderate(self.server, Offer(table.id, (seat + 1) % table.row().seats), "Dan has asked to leave.")
        self.carry()
        offer = self.server.read(offers.open_offers)[-1]
        self.server.run(substitutes.take, offer.id, self._known("zoe@example.org"), "Zoe")
        self.server.run(sign_in.send_link, "zoe@example.org")
        self.carry()
        text = "The server is moving on Sunday.\n\nAll clocks will be stopped."
        self.server.run(jobs.begin, OLGA, jobs.What.ANNOUNCE, {"text": text}, "Everybody asks.", "a key")
        while jobs.advance_all(self.server):
            self.carry()
        moderate(
            self.server,
            Merge(self._known("zoe@example.org"), self._known("zoe@example.net")),
            "Both addresses are hers.",
        )
        self.carry()
        self._play(table, UNSEEN)
        moderate(self.server, Substitute(table.id, seat), "Zoe asked us to.")
        self.carry()

    def goes_back(self, table: RunningGame) -> None:
        """A player is asked to go back, and told that everyone agreed: as at a table where nothing hidden was seen."""
        now, turn, asked = self.server.now(), table.row().turn, table.person_at(0)
        facts = {"who": table.players()[1].called, "back_to": turn - 1}
        email = outbox.NewEmail(asked, EmailKind.BACK_PROPOSED, table.id, None, 0, turn, facts)
        self.server.store.write(lambda tx: votes.add_back_vote(tx, table.row(), 1, turn - 1))
        self.server.store.write(lambda tx: outbox.queue(tx, [email], now))
        self.carry()
        done = {"turn": turn - 1, "next_turn": turn + 1, "by": "everyone"}
        self.server.run(queue_notice, asked, table.row(), None, "rewound", done)
        self.carry()

    def ends(self, table: RunningGame) -> None:
        """The game is played to its end, with an email now and then; another one ends without a result."""
        while table.asked():
            self._play(table, UNSEEN)
            self.carry()
        while reviews.make_next(self.server, sample):
            self.carry()
        void = self.server.run(
            joining.create_table, self._person(0), TableSettings(table.row().kind, table.row().seats)
        ).game_id
        for number in range(table.row().seats):
            self.server.run(joining.join, void, self._person(number))
        for number in range(table.row().seats):
            self.server.run(leaving.agree_to_end, void, self._person(number))
        self.carry()

    def _play(self, table: RunningGame, moves: int) -> None:
        row = table.row()
        luck = Stream(row.secret, 2**40)
        for _ in range(moves):
            row = table.row()
            if row.status != "playing":
                return
            position = table.position()
            seat, decision = next((s, d) for s, d in position.open().items() if s not in position.box)
            choice = random_bot(position.game, table.view(seat), decision, luck)
            table.play(seat, choice)

    def _person(self, number: int) -> int:
        address = f"player{number}@example.org"
        person = self.server.run(
            addresses.confirm, self.server.run(addresses.register, address, self.names[number]).id
        ).id
        self.server.run(addresses.change_settings, person, zone=self.zone)
        return person

    def _known(self, address: str) -> int:
        return self.server.run(addresses.register, address).id


def by_kind(emails: Sequence[ReceivedEmail]) -> dict[str, list[ReceivedEmail]]:
    """Emails by their kind."""
    found: dict[str, list[ReceivedEmail]] = {}
    for each in emails:
        found.setdefault(kind_of(each.message), []).append(each)
    return found
