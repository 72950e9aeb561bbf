"""A server on which a story is played out: the facts of a game are given, everything else is the real pipeline.

The rules of the game are the real ones, except that what happens is not made up by luck but read from the story. So two
worlds can be told two truths, on two servers with the same keys, clock and randomness. The emails, pages
and API answers of one seat are then collected as bytes.

In the last turn of a story nobody answers: everyone who is asked is reminded, and timed out. Every other player reads of
it in a digest, and is emailed at once again afterwards.

The database is SQLite in memory, and that is enough: what a seat may see is worked out in Python, from whole rows and by the
same code whatever the database. That both kinds hand out the same rows is what the tests of the services show, which run
on both.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urljoin

from engine import registry
from engine.decisions import Choice
from engine.game import Game, Story
from engine.table import Entry
from pbem import config
from pbem.config.settings import SenderCheck
from pbem.domain import hash_chain
from pbem.domain.delivery import AT_ONCE, Delivery, Way
from pbem.domain.errors import BadInput
from pbem.domain.states import EmailKind, TableStatus
from pbem.ops.monitoring.readiness import readiness
from pbem.service.account import feeds
from pbem.service.incoming import authenticity, processing, receive
from pbem.service.incoming.authenticity import InboundSettings
from pbem.service.outgoing import digests, preferences
from pbem.service.outgoing.channel_messages import says_to_table
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.post import post_of
from pbem.service.people import addresses
from pbem.service.play import by_link, notes
from pbem.service.play.log import Kind
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, people as people_store, tables as lobby_store
from pbem.store.database import Store
from pbem.store.schema import METADATA
from pbem.store.sessions import Holder
from pbem.tokens import SECRET_BYTES, Keyring
from tests.fakes import FakeClock, SeededRandomness
from tests.mail.transports import StoringTransport
from tests.service.clock import Time
from tests.service.conftest import NAMES, START
from tests.service.running_game import RunningGame
from tests.web.applications import application
from tests.web.browser import HOST, Browser, Links
from tests.web.desk_pages import signed_in

MOST_PAGES = 200
"""The most pages of a crawl, each compared; more means it does not end. Every game adds two that all readers share."""


_PAST = re.compile(r"/([st])/([^/]+)/replay(?:/([0-9]+))?$")
_BESIDE = re.compile(r"/s/([^/]+)/[^/]+$")
_FEEDBACK_ID = re.compile(rb"^Feedback-ID: [^:]+:(\w+):", re.MULTILINE)
_REPLY_TO = re.compile(rb"^Reply-To: (\S+)\r$", re.MULTILINE)


@dataclass(frozen=True)
class Truth:
    """A game to be played out: the options, the entries of the log, and the sealed choices after them."""

    kind: str
    seats: int
    options: Mapping[str, Any]
    log: tuple[Entry, ...]
    box: Mapping[int, Choice]
    seed: bytes | None = None
    """Another seed for later randomness; None keeps the table's own."""
    receipts: tuple[int, ...] = ()
    """Seats whose players are emailed when their sealed choice is in."""


class Untrue(Exception):
    """The rules reject a truth."""


class World:
    """A server on which a truth has been played out."""

    def __init__(self, truth: Truth, folder: Path) -> None:
        self.truth = truth
        self.clock = FakeClock(START)
        self.inbox = StoringTransport()
        store = Store("sqlite://")
        METADATA.create_all(store.engine)
        keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
        self.server = Server(store, self.clock, SeededRandomness(7), keys)
        self.settings = settings = config.read({"PBEM_DATA_DIR": str(folder)})
        self.app = application(self.server, settings)
        self.post = Post(post_of(settings).letterhead, self.inbox)
        players = [self.server.run(addresses.confirm, self.server.run(addresses.register, f"{name.lower()}@example.org", name).id).id
                   for name in NAMES[: truth.seats]]  # fmt: skip
        table_settings = TableSettings(truth.kind, truth.seats, truth.options, "1d")
        self.game = RunningGame(self.server, self.server.run(joining.create_table, players[0], table_settings).game_id)
        for player in players:
            self.server.run(joining.join, self.game.id, player)
        self._tell()
        # Made for all seats at once, so that they are the same for every reader and in any order.
        links = Links(self.server)
        self.links = {seat: links.of(self.game, seat) for seat in range(truth.seats)}
        for seat, (_, token) in self.links.items():
            # Notes say things that only their player knows.
            known = sha256(repr(self.game.view(seat)).encode()).digest()
            self.server.run(notes.save, token, f"I remember {int.from_bytes(known[:4], 'big')}.", notes.mark_of(""))
        for seat in range(truth.seats):
            self.server.run(feeds.renew, self.game.person_at(seat))
        self._programs = {seat: self.server.run(by_link.api_token, token) for seat, (_, token) in self.links.items()}
        self._answer_emails(authenticity.inbound_settings(settings))

    def meets(self, seat: int, *, crawl: bool = True) -> dict[str, bytes]:
        """Everything the player of a seat sees, by name; necessary differences are blanked.

        Without a crawl, only what the emails lead to, the pages of the seat and what anyone sees of the table.
        """
        person = self.game.person_at(seat)
        with self.server.store.read() as tx:
            address = people_store.read(tx, person).address
        emails = [email for email in self.inbox.emails if email.recipient == address]
        found = {f"mail {number}, {_kind(email.content)}": email.content for number, email in enumerate(emails)}
        found |= {f"envelope {number}": f"{email.sender} {email.name}".encode() for number, email in enumerate(emails)}
        found |= dict(self._pages(seat, b"".join(email.content for email in emails), crawl=crawl))
        found |= dict(self._own_pages(person))
        found["the table's channel"] = self._channel()
        # The sealed choices of others must not even show in what nobody thinks of.
        checks = [check for check in readiness(self.server, self.settings, None) if check.what != "disk"]
        found["/ready"] = repr(checks).encode()
        return self.blanked(found, seat)

    def _channel(self) -> bytes:
        """What a channel for everyone at the table says."""
        with self.server.store.read() as tx:
            row = games.read(tx, self.game.id)
            turn = row.turn if row.status == TableStatus.PLAYING else None
            kind = EmailKind.RESULT if turn is None else EmailKind.TURN
            return json.dumps(says_to_table(tx, self.post.letterhead, row, kind, turn)).encode()

    def blanked(self, found: Mapping[str, bytes], seat: int | None) -> dict[str, bytes]:
        """What a reader has met, by name, without the necessary differences. They have a seat, or none."""
        blanks = [hash_chain.fingerprint(each.hash).encode() for each in self.game.log()]
        # A seat is shown the random nonces of its own rows, and what is made of them.
        sealed, turn = [row for row in self.game.log() if row.kind == Kind.SEALED], self.game.row().turn
        own = [row for row in sealed if row.seat == seat]
        blanks += [shown.hex().encode() for row in own for shown in (row.body_hash, row.nonce or b"")]
        # Once a turn has closed, everyone is told the fingerprints of what was sealed in it, and never a nonce.
        blanks += [row.body_hash.hex().encode() for row in sealed if json.loads(row.body or b"")["turn"] < turn]
        blanks += [f"{row.body_hash.hex()[:4]} {row.body_hash.hex()[4:8]}…".encode() for row in own]
        tokens = _Tokens()
        return {
            tokens.numbered(_RANDOM.sub(b"<random>", what.encode())).decode(): tokens.numbered(
                _blanked(content, blanks)
            )
            for what, content in found.items()
        }

    def close(self) -> None:
        """Close the world."""
        self.server.store.close()

    def _tell(self) -> None:
        self.carry()
        while (turn := self.game.row().turn) < len(self.truth.log):
            entry = self.truth.log[turn]
            if turn == len(self.truth.log) - 1:
                self._keep_silent()
            else:
                self._choose({seat: choice for seat, choice in entry.choices.items() if seat not in entry.alone})
        if self.truth.seed is not None:
            secret = bytes(32)
            self.server.store.write(
                lambda tx: lobby_store.change_game(tx, self.game.id, seed=self.truth.seed, secret=secret)
            )
        for seat in self.truth.receipts:
            self.server.run(preferences.set_sealed_receipts, self.game.person_at(seat), on=True)
        self._choose(self.truth.box)
        # A receipt leaves when the time to take its choice back is over.
        self.clock.advance(self.server.hold)
        self.carry()

    def _keep_silent(self) -> None:
        """Let everyone miss their deadline: reminders, default choices and digests are sent."""
        hands, asked = Time(self.server, self.clock), min(self.game.asked())
        due = hands.due(self.game, asked)
        assert due is not None
        hands.passes_until(due - timedelta(hours=1))
        hands.reminds()
        self.carry()
        waiting = [self.game.person_at(seat) for seat in range(self.truth.seats) if (seat + len(self.truth.log)) % 2]
        for person in waiting:
            self.server.run(preferences.choose, person, Delivery(Way.DAILY), None, time(8))
        hands.passes_until(due + timedelta(hours=1))
        hands.runs_out()
        if self.game.row().turn < len(self.truth.log):
            raise Untrue
        self.carry()
        hands.passes_until((self.clock.now() + timedelta(days=1)).replace(hour=8, minute=0, second=0, microsecond=0))
        digests.gather(self.server)
        self.carry()
        for person in waiting:
            self.server.run(preferences.choose, person, AT_ONCE, None)

    def _choose(self, box: Mapping[int, Choice]) -> None:
        for seat, choice in sorted(box.items()):
            try:
                self.game.play(seat, choice)
            except BadInput as refused:
                raise Untrue from refused
        self.carry()

    def carry(self) -> None:
        """Advance the clock a little, and deliver emails."""
        self.clock.advance(timedelta(minutes=2))
        while deliver(self.server, self.post).dealt_with:
            pass

    def _answer_emails(self, box: InboundSettings) -> None:
        """Reply to everyone's latest email, with questions and a line that is refused."""
        last: dict[str, str] = {}
        for email in self.inbox.emails:
            if found := _REPLY_TO.search(email.content):
                last[email.recipient] = found[1].decode()
        for address, to in sorted(last.items()):
            raw = f"From: {address}\nTo: {to}\nMessage-ID: <to-{to}>\nSubject: Re\n\nboard\nhelp\nbid 999\n".encode()
            assert receive.receive(self.server, box, address, to, raw) == "kept"
        while processing.process(self.server, replace(box, check=SenderCheck.OFF)):
            pass
        before = len(self.inbox.emails)
        self.carry()
        receipts = [email for email in self.inbox.emails[before:] if _kind(email.content) == "receipt"]
        assert len(receipts) == len(last) > 0, "everybody who writes gets a receipt"

    def _pages(self, seat: int, emails: bytes, *, crawl: bool) -> Iterator[tuple[str, bytes]]:
        """Every page reachable from the emails, the answers of its forms, and the API."""
        browser, row = Browser(self.app), self.game.row()
        move, token = self.links[seat]
        written = emails.replace(b"=\r\n", b"").decode()
        waiting = [each.removeprefix(HOST) for each in re.findall(rf"{HOST}/[^\s<>\"=]*", written)]
        waiting += [f"/s/{token}", f"/s/{token}/news", f"/m/{move}/nonsense", f"/t/{row.key}"]
        waiting += [f"/s/{token}?placed={turn}" for turn in range(row.turn + 1)]
        waiting += [f"/{table}/replay/{row.turn - 1}" for table in (f"s/{token}", f"t/{row.key}")]
        seen: set[str] = set()
        while waiting:
            path = waiting.pop(0).partition("#")[0]
            if path in seen or not path.startswith("/") or self._like_others(path, token):
                continue
            seen.add(path)
            assert len(seen) < MOST_PAGES, "the crawl has run away"
            page = browser.open(path)
            yield f"GET {path}", whole(page.response)
            waiting += [urljoin(path, href) for href in page.hrefs()] if crawl else []
            for number, form in enumerate(page.acts()):
                # Without the mark of our button nothing is made: the page asks, or refuses.
                fields = [(name, value) for name, value in form.fixed if name != "press"]
                yield f"act {number} of {path}", whole(browser.post(form.action, fields).response)
        addresses = self.server.read(feeds.feed_tokens, self.game.person_at(seat))
        assert addresses is not None
        for path in (f"/k/{addresses.calendar}/deadlines.ics", f"/n/{addresses.news}/news.atom"):
            yield f"GET {path}", whole(browser.client.get(path, base_url=HOST))
        yield from self._refusals(browser, token, move)
        yield from self._by_api(browser, self._programs[seat])

    def _own_pages(self, person: int) -> Iterator[tuple[str, bytes]]:
        """The pages of the person who is signed in, and the file of their data."""
        browser = signed_in(Browser(self.app), self.server, Holder(person_id=person))
        for path in ("/my", "/my/mails", "/my/settings", "/my/account", "/my/data.json"):
            yield f"GET {path}", whole(browser.client.get(path, base_url=HOST))

    def _like_others(self, path: str, token: str) -> bool:
        """Whether it is the handbook's, beside a seat by an older link, or a moment like those around it.

        The handbook knows no game. Hidden facts stay hidden, so the last moment and every fifth are enough.
        """
        if path.startswith("/help"):
            return True
        beside = _BESIDE.match(path)
        if beside is not None and beside[1] != token:
            return True
        past = _PAST.match(path)
        if past is None or past[3] is None:
            return False
        number = int(past[3])
        return number % 5 != 0 and number < self.game.row().turn - 1

    def _refusals(self, browser: Browser, token: str, move: str) -> Iterator[tuple[str, bytes]]:
        turn = str(self.game.row().turn)
        for written in ("", "nonsense", "play", "bid 999", "up to 9"):
            page = browser.post(f"/s/{token}/play", [("turn", turn), ("choice", written)])
            yield f"the choice {written!r}", whole(page.response)
        yield from self._imagines(browser, token)
        yield "POST of nonsense", whole(browser.post(f"/m/{move}/nonsense", [("press", "yes")]).response)

    def _imagines(self, browser: Browser, token: str) -> Iterator[tuple[str, bytes]]:
        """Other worlds of the sandbox. Without a choice, because the story of the game has no others."""
        fields = [("turn", str(self.game.row().turn)), ("do", "again")]
        for world in ("1", "7"):
            yield f"world {world}", whole(browser.post(f"/s/{token}/imagine", [*fields, ("world", world)]).response)

    def _by_api(self, browser: Browser, token: str) -> Iterator[tuple[str, bytes]]:
        headers = {"Authorization": f"Bearer {token}"}
        for what in ("decision", "view", "board", "history", "history?since=1", "games"):
            answer = browser.client.get(f"/api/v1/{what}", headers=headers, base_url=HOST)
            yield f"API {what}", whole(answer)
        seen = browser.client.get("/api/v1/decision", headers=headers, base_url=HOST).get_json()
        for choice in ("nonsense", "bid 999"):
            body = {"turn": seen["turn"], "head": seen["head"], "text": choice}
            answer = browser.client.post("/api/v1/choice", json=body, headers=headers, base_url=HOST)
            yield f"API choice {choice!r}", whole(answer)


def _scripted(truth: Truth) -> Game[Any]:
    """The real rules, with the given entries in place of anything drawn."""
    rules = registry.load(truth.kind)
    entries = iter(truth.log)

    def happens(*_: object) -> Story[Any]:
        # The table sends each state back, which a tuple cannot take.
        for each in next(entries).facts:  # noqa: UP028 - see above
            yield each

    methods = {"setup": happens, "resolve": happens, "__module__": type(rules).__module__}
    scripted: Game[Any] = type("Scripted", (type(rules),), methods)()
    return scripted


@contextmanager
def world_of(truth: Truth, folder: Path) -> Iterator[World]:
    """The world of a truth."""
    rules = _scripted(truth)
    with patch.object(registry, "load", lambda _name: rules):
        world = World(truth, folder)
        try:
            yield world
        finally:
            world.close()


_RANDOM: Final = re.compile(
    # The number in a Message-ID and an envelope, the boundary made from it, and the digest of an email as it is stored.
    rb"(?<=<m)[0-9a-f]{16}(?=\.)|(?<= m)[0-9a-f]{16}$|(?<==_)[0-9a-f]{32}"
    rb'|(?<="rendered",\n   "detail": ")[0-9a-f]{20}(?=")'
)


class _Tokens:
    """Numbers instead of tokens, in the order in which a reader meets them: a token looks random, and tells only where it comes again."""

    _TOKEN: Final = re.compile(rb"\b[a-z2-7]{33}\b")

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def numbered(self, content: bytes) -> bytes:
        """The content without its tokens."""
        return self._TOKEN.sub(
            lambda found: b"<token %d>" % self._numbers.setdefault(found[0], len(self._numbers)), content
        )


def _kind(email: bytes) -> str:
    found = _FEEDBACK_ID.search(email)
    assert found is not None
    return found[1].decode()


def whole(response: Any) -> bytes:
    """Status, headers and body of an answer, without the moment at which it was given."""
    headers = [f"{name}: {value}\n" for name, value in response.headers if name != "Date"]
    return f"{response.status}\n{''.join(headers)}\n".encode() + response.get_data()


def _blanked(content: bytes, blanks: Iterable[bytes]) -> bytes:
    """The bytes without these words, even across line breaks of an email."""
    content = _RANDOM.sub(b"<random>", content.replace(b"=\r\n", b""))
    for blank in blanks:
        content = content.replace(blank, b"<blank>")
    return content
