"""A server on which a story about a person's addresses is told, and everything that other people see of it.

The person is Carla. Her addresses have the names FIRST, SECOND and THIRD in a story, and the worlds of two twins give one of
these names another address, of another length and domain. Keys, clock and randomness are the same, so all that others see
has to be the same too, to the byte: emails with their headers and envelopes, every page and file that they can open, every
answer of the API, and the rows of the record.

The routes of the application say what there is to open: each is tried with every token that the reader has had by email or
found on a page. So a new page, feed or call of the API is looked at without being named here; one whose address has a part that
nothing is known for fails.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from sqlalchemy import select
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from pbem import config
from pbem.config.settings import SenderCheck
from pbem.domain.states import EmailKind
from pbem.service.account import feeds
from pbem.service.archive import dump
from pbem.service.desk.acts.perform import DeskAct
from pbem.service.incoming import processing
from pbem.service.outgoing.deliver import Post, deliver
from pbem.service.outgoing.post import post_of
from pbem.service.people import addresses, sessions
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store.database import Store
from pbem.store.schema import GAME, GROUPS, LOG, METADATA, PROFILE, TALK, TOURNAMENT
from pbem.store.sessions import Holder
from pbem.tokens import SECRET_BYTES, Keyring
from pbem.web.people.session_cookie import Cookie
from tests.fakes import FakeClock, SeededRandomness
from tests.mail.transports import StoringTransport
from tests.service.actors import moderate
from tests.service.clock import Time
from tests.service.conftest import START
from tests.service.inbox import Inbox
from tests.service.running_game import RunningGame
from tests.web.applications import application
from tests.web.browser import HOST, Browser, Form, Links, Page

Seen = dict[str, bytes]
"""What someone has seen, by its name."""

NAMES: Final = ("FIRST", "SECOND", "THIRD")
ADDRESSES: Final = {
    "FIRST": "carla@first.example.org",
    "SECOND": "carla@second.example.org",
    "THIRD": "carla@third.example.org",
}
OTHER: Final = "c.a.r.l.a.of.long.address@somewhere.else.entirely.example.com"
"""The address that a twin has in place of one of these."""

STRANGER: Final = "a stranger"

_TOKEN: Final = re.compile(r"/([a-z])/([a-z2-7]{33})(?![a-z2-7])(?:/([^\s\"<>/?#]+))?")
_KIND: Final = re.compile(rb"^Feedback-ID: [^:]+:(\w+):", re.MULTILINE)
_NEWEST: Final = 3
"""Tokens of each letter that a reader tries."""

_ENDS: Final = ("/decline", "/leave", "/end", "/resign", "/new-links", "/y/", "/d/")
_ENDS_A_SESSION: Final = ("/my/sessions", "/my/leave", "/my/out")
"""Buttons that end what others need are pressed last, in this order."""

_TYPED: Final = {
    "address": "somebody@example.org",
    "invited": "somebody@example.org",
    "name": "Zora",
    "written": "pass",
    "wanted": "pass",
    "order": "pass this auction",
    "quiet": "22-7",
    "hours": "09:00-17:00",
    "cadence": "2h",
    "first": "2026-12-24",
    "last": "2026-12-26",
    "mail": "1",
}
"""What is typed into a field of a form; other fields get a word."""


class AddressWorld:
    """A server, its people, and what the others have seen."""

    def __init__(self, folder: Path, changed: str = "", *, quick: bool = False) -> None:
        self.quick = quick
        self.address = ADDRESSES | ({changed: OTHER} if changed else {})
        self.clock = FakeClock(START)
        self.sent = StoringTransport()
        store = Store("sqlite://")
        METADATA.create_all(store.engine)
        keys = Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
        self.server = Server(store, self.clock, SeededRandomness(7), keys)
        # With a relay named, there is no mailbox for trying out, in which everyone sees every email.
        settings = config.read(
            {"PBEM_DATA_DIR": str(folder), "PBEM_SMTP_HOST": "127.0.0.1", "PBEM_SMTP_SECURITY": "none"}
        )
        self.app = application(self.server, settings)
        self.post = Post(replace(post_of(settings).letterhead, replies=True), self.sent)
        self.inbox = Inbox(self.server, self.clock)
        self.time = Time(self.server, self.clock)
        self.links = Links(self.server)
        self.others: dict[str, int] = {}
        self.published: list[str] = []
        """Links that everyone has been told."""
        self.opened: dict[str, set[int]] = {}
        """The statuses that others were answered with, by route."""
        self._seen: dict[str, Seen] = {}
        self._sessions: dict[str, str] = {}
        self._looks = 0

    def close(self) -> None:
        self.server.store.close()

    # What a story does

    def carla(self, name: str = "FIRST") -> int:
        """Carla, or a person with another of her addresses, who is confirmed."""
        return self._person(self.address[name], "Carla")

    def other(self, name: str) -> int:
        """Another person, who looks at everything they can open."""
        person = self._person(f"{name.lower()}@example.org", name)
        if name not in self.others:
            self.others[name] = person
            self._sessions[name] = self.server.run(sessions.start, Holder(person_id=person), "a telephone")
            self.server.run(feeds.renew, person)
        return person

    def table(self, *people: int, **agreed: Any) -> RunningGame:
        """A game that has begun, and whose host is the first of these people."""
        settings = TableSettings(
            agreed.pop("kind", "sunset-poker"), len(people), agreed.pop("options", {}), "1d", **agreed
        )
        game_id = self.server.run(joining.create_table, people[0], settings).game_id
        for person in people:
            self.server.run(joining.join, game_id, person)
        self.carry()
        return RunningGame(self.server, game_id)

    def carry(self) -> None:
        """Deliver all emails."""
        self.clock.advance(timedelta(minutes=2))
        while deliver(self.server, self.post).dealt_with:
            pass

    def moderate(self, act: DeskAct) -> None:
        moderate(self.server, act)
        self.carry()

    def reply(self, game: RunningGame, seat: int, text: str, sender: str | None = None) -> None:
        """A reply to the email of the present turn, by its player or from another address."""
        headers = {} if sender is None else {"From": sender}
        raw = self.inbox.written(game, seat, text, headers)
        self.inbox.takes(raw, self.inbox.reply_address(game, seat), "somebody@example.org")
        box = self.inbox.box if sender else replace(self.inbox.box, check=SenderCheck.OFF)
        while processing.process(self.server, box):
            pass
        self.carry()

    def token(self, letter: str, *, to: str) -> str:
        """The newest token of a letter that was emailed to one of Carla's addresses."""
        return _tokens(self._written_to(self.address[to]))[letter][0][0]

    # What the others see

    def looks(self, *, press: bool = False) -> None:
        """All others open everything they can; perhaps they also try the desk, and press every button.

        A quick look leaves that out.
        """
        press = press and not self.quick
        self.carry()
        dump.make_nightly(self.server, lambda: True)
        self._looks += 1
        for name in [*self.others, STRANGER]:
            seen = self._seen.setdefault(name, {})
            reader = _Reader(self, name, desk=press)
            for what, answer in reader.everything():
                seen[f"look {self._looks}, {what}"] = _bytes_of(answer)
            if press:
                for what, answer in reader.presses():
                    seen[f"look {self._looks}, {what}"] = _bytes_of(answer)
        self.carry()

    def seen(self) -> dict[str, Seen]:
        """Everything that others have seen, by reader. A mailbox is a reader, by the name of its address."""
        found = {name: dict(each) for name, each in self._seen.items()}
        names = {address: name for name, address in self.address.items()}
        names |= {f"{name.lower()}@example.org": name for name in self.others}
        for number, email in enumerate(self.sent.emails):
            reader = names.get(email.recipient, email.recipient)
            what = f"mail {number}, {kind_of(email.content)}"
            found.setdefault(reader, {})[what] = f"{email.sender} {email.name}\n".encode() + email.content
        found["the record"] = dict(self._rows())
        return found

    def kinds(self) -> set[str]:
        """The kinds of the emails that were sent."""
        return {kind_of(email.content) for email in self.sent.emails}

    def _rows(self) -> Iterator[tuple[str, bytes]]:
        """The rows of every game's log and talk."""
        with self.server.store.read() as tx:
            for table in (LOG, TALK):
                for number, row in enumerate(tx.execute(select(table).order_by(*table.primary_key.columns))):
                    yield f"{table.name} {number}", repr(tuple(row)).encode()

    def _person(self, address: str, name: str) -> int:
        found = self.server.run(addresses.register, address, name)
        return self.server.run(addresses.confirm, found.id).id

    def _written_to(self, address: str) -> str:
        emails = (email.content for email in reversed(self.sent.emails) if email.recipient == address)
        return b"\n".join(emails).replace(b"=\r\n", b"").decode()

    def tables(self) -> list[tuple[int, str]]:
        """The id and the key of every table."""
        with self.server.store.read() as tx:
            return [(row.id, row.key) for row in tx.execute(select(GAME.c.id, GAME.c.key).order_by(GAME.c.id))]

    def other_keys(self) -> list[str]:
        """The keys of every group, profile and tournament."""
        queries = (
            select(GROUPS.c.key).order_by(GROUPS.c.id),
            select(PROFILE.c.key).order_by(PROFILE.c.person_id),
            select(TOURNAMENT.c.key).order_by(TOURNAMENT.c.id),
        )
        with self.server.store.read() as tx:
            return [key for query in queries for key in tx.execute(query).scalars()]


class _Reader:
    """Someone who opens everything they have an address for."""

    def __init__(self, world: AddressWorld, name: str, *, desk: bool) -> None:
        self.world = world
        self.browser = Browser(world.app)
        rules = (rule for rule in world.app.url_map.iter_rules() if desk or not rule.rule.startswith("/desk"))
        self.rules = sorted(rules, key=lambda rule: rule.rule)
        self.opened: set[str] = set()
        self.pages: dict[str, Page] = {}
        self.tokens: dict[str, list[tuple[str, str]]] = {}
        self.programs: list[str] = []
        self._learn(" ".join(world.published))
        if name != STRANGER:
            self.browser.client.set_cookie(Cookie.PERSON, world._sessions[name], domain="localhost")
            self._learn(world._written_to(f"{name.lower()}@example.org"))
            self.programs = self._programs()

    def everything(self) -> Iterator[tuple[str, TestResponse]]:
        """Every route, with everything that stands for its parts. Tokens found on a page are tried as well."""
        while True:
            known = sum(map(len, self.tokens.values()))
            for rule in self.rules:
                if "GET" in (rule.methods or ()):
                    yield from self._open(rule)
            if sum(map(len, self.tokens.values())) == known:
                return

    def presses(self) -> Iterator[tuple[str, TestResponse]]:
        """Every form of every page, then every route that no page has a form for, then what they have led to."""
        forms = {
            f"{form.action} {form.button} {form.fixed}": form for page in self.pages.values() for form in page.forms()
        }
        for what in sorted(forms, key=lambda what: (_place(what, _ENDS), what)):
            if not what.startswith(_ENDS_A_SESSION):
                for step, answer in self._press(forms[what]):
                    yield f"{step} of {what}", answer
        for rule in sorted(self.rules, key=lambda rule: _place(rule.rule, _ENDS_A_SESSION)):
            if "POST" in (rule.methods or ()):
                for path, headers in self._ways(rule):
                    answer = self.browser.client.post(path, headers=self.browser.says | headers, base_url=HOST)
                    self._note(path, answer, "POST")
                    yield f"POST {path} {sorted(headers.values())}", answer
        yield from self.everything()

    def _press(self, form: Form, again: bool = True) -> Iterator[tuple[str, TestResponse]]:
        """Press a button, and follow it: to another address, or to a page that asks once more."""
        page = self.browser.post(form.action, _filled(form), follow=False)
        self._note(form.action, page.response, "POST")
        self._learn(page.response.headers.get("Location", "") + page.source)
        yield f"{form.button} ({again})", page.response
        if page.status == 303:
            path = urljoin(form.action, page.response.headers["Location"])
            page = self.browser.open(path)
            self._note(path, page.response, "GET")
            yield "what came", page.response
        # Each step of a sandbox has a button for every choice, and asks nothing once more.
        asks_again = (
            again and page.status == 200 and "/desk/" not in form.action and not form.action.endswith("/imagine")
        )
        for sure in page.forms() if asks_again else ():
            if sure.action.startswith(form.action.partition("?")[0]) and form.action.count("/") > 1:
                yield from self._press(sure, again=False)

    def _open(self, rule: Rule) -> Iterator[tuple[str, TestResponse]]:
        for path, headers in self._ways(rule):
            what = f"GET {path} {sorted(headers.values())}"
            if what in self.opened:
                continue
            answer = self.browser.client.get(path, headers=headers, base_url=HOST)
            self._note(path, answer, "GET")
            self.opened.add(what)
            if answer.mimetype == "text/html":
                self.pages[what] = Page(self.browser, answer, path)
                self._learn(self.pages[what].source)
            yield what, answer

    def _ways(self, rule: Rule) -> Iterator[tuple[str, dict[str, str]]]:
        """Every address of a route, with the headers for it."""
        if rule.rule.startswith("/api/") and "<" not in rule.rule:
            yield rule.rule, {}
            for token in self.programs:
                yield rule.rule, {"Authorization": f"Bearer {token}"}
            return
        paths = [rule.rule]
        for converter, name in re.findall(r"<(?:(\w+):)?(\w+)>", rule.rule):
            part = f"<{converter}:{name}>" if converter else f"<{name}>"
            if name == "token":
                letter = rule.rule.split("/")[1]
                own = self.tokens.get(letter, [])[:_NEWEST]
                paths = [
                    path.replace(part, token).replace("<option>", option or "pass")
                    for path in paths
                    for token, option in own
                ]
            else:
                values = self._values(name)
                paths = [path.replace(part, value) for path in paths for value in values if part in path] or paths
        yield from ((path, {}) for path in paths)

    def _values(self, name: str) -> list[str]:
        known: Mapping[str, list[str]] = {
            "option": ["pass"],
            "turn": ["1"],
            "kind": ["sunset-poker"],
            "name": ["your-data"],
            "filename": ["pbem.css"],
            "key": [*(key for _, key in self.world.tables()), *self.world.other_keys()],
            "game_id": [f"{number}" for number, _ in self.world.tables()][:2],
            "person_id": ["1", "2"],
            "call_id": ["1"],
            "job_id": ["1"],
            "seat": ["0", "1", "2"],
        }
        assert name in known, f"nothing is known to stand for <{name}> in an address; say so here"
        return known[name]

    def _learn(self, text: str) -> None:
        for letter, tokens in _tokens(text).items():
            known = self.tokens.setdefault(letter, [])
            known += [each for each in tokens if each[0] not in {token for token, _ in known}]

    def _programs(self) -> list[str]:
        seats = [token for token, _ in self.tokens.get("s", [])[:_NEWEST]]
        return sorted({token for seat in seats if (token := self._program(seat))})

    def _program(self, seat: str) -> str:
        answer = self.browser.post(f"/s/{seat}/programs", [], follow=False)
        found = re.search(r"Bearer ([a-z2-7]{33})", answer.source)
        return found[1] if found else ""

    def _note(self, path: str, answer: TestResponse, method: str) -> None:
        adapter = self.world.app.url_map.bind("localhost")
        rule, _ = adapter.match(urlsplit(path).path, method=method, return_rule=True)
        status = 401 if "/desk/sign-in" in answer.headers.get("Location", "") else answer.status_code
        self.world.opened.setdefault(f"{method} {rule.rule}", set()).add(status)


def kind_of(email: bytes) -> EmailKind:
    """The kind of an email."""
    found = _KIND.search(email)
    assert found is not None
    return EmailKind(found[1].decode())


def _tokens(text: str) -> dict[str, list[tuple[str, str]]]:
    """The tokens in a text by their letter, in its order, each with the choice that stands behind it, if any."""
    found: dict[str, dict[str, str]] = {}
    for letter, token, option in _TOKEN.findall(text):
        found.setdefault(letter, {}).setdefault(token, option)
    return {letter: list(tokens.items()) for letter, tokens in found.items()}


def _filled(form: Form) -> list[tuple[str, str]]:
    """The fields of a form, each with a value that it allows."""
    filled = dict(form.fixed)
    filled |= {name: f"{low}" for name, (low, _) in form.numbers.items()}
    filled |= {name: values[0] for name, values in [*form.picks.items(), *form.boxes.items()] if name not in filled}
    filled |= {name: _TYPED.get(name, "some words") for name in form.texts if not filled.get(name)}
    return list(filled.items())


def _place(address: str, ways: tuple[str, ...]) -> int:
    """The place of the first of these that is in an address, counted from 1; 0 for none."""
    return next((number for number, way in enumerate(ways, 1) if way in address), 0)


def _bytes_of(answer: TestResponse) -> bytes:
    # Files and cookies carry the time of the machine.
    headers = [f"{name}: {value}" for name, value in answer.headers if name not in ("Date", "Expires")]
    headers = [re.sub(r"Expires=[^;]*;", "", header) for header in headers]
    content = answer.get_data()
    answer.close()
    return "\n".join([answer.status, *headers, ""]).encode() + content
