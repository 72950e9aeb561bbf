"""A server on which there is something to see on every page, and the list of all its pages.

The list is made from the routes of the application: each that shows a page has one, and whoever adds a route has nothing to
add here as long as its address can be filled in. What a route shows at different times is told apart in `ALSO`.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from flask import Flask
from playwright.sync_api import Page
from waitress.server import create_server

from engine import game as games_of_house
from engine.bots import random_bot
from engine.chance import Stream
from pbem import config
from pbem.app import create_app
from pbem.clock import FakeClock, SeededRandomness
from pbem.links import SECRET_BYTES, Keyring, Purpose
from pbem.service import bulk, by_link, calls, counting, farewell, lobby, looks, people, replays, sessions, talk
from pbem.service.bots import play_bots
from pbem.service.delivery import deliver, mailbox_of, post_of
from pbem.service.house import House
from pbem.service.play import rules_of
from pbem.service.tables import Wanted
from pbem.service.views import keep_behind
from pbem.store.database import Store
from pbem.store.schema import Base
from pbem.store.sessions import Holder
from pbem.web.signed_in import Who
from tests.service.acting import ROOT, an_organiser
from tests.service.begun import Begun
from tests.service.conftest import START
from tests.service.inbox import Inbox
from tests.service.stored import letters
from tests.web.browser import Links

NOT_PAGES: Final = re.compile(
    r"static|account\.data|(robots|api|feeds)\..*|help\.file|seat\.download|.*\.export|mailbox\.(framed|source)"
)
"""Routes that answer with something else than a page to be looked at: files, feeds, data, a mail for its frame."""

NAMES: Final = ("Ann", "Ben", "Cleo")


@dataclass(frozen=True)
class Shown:
    """One page: what it is called, where it is, and the button that leads on to it."""

    name: str
    path: str
    press: str = ""

    def open(self, page: Page) -> None:
        """Let a browser show it."""
        page.goto(self.path)
        if self.press:
            # The button may lie folded away.
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            page.get_by_role("button", name=self.press).click()


ALSO: Final = {
    "seat.show": {
        **{f"of {kind}": f"/s/{{seat_of_{kind}}}" for kind in games_of_house.names()},
        "sealed": "/s/{sealed}",
        "moved on": "/s/{seat}/preview?window=1&choice=pass",
        "preview": "/s/{seat}/preview?window={window}&choice=pass",
        "refused": "/s/{seat}/preview?window={window}&choice=pass+99",
        "over": "/s/{over}",
        "stale token": "/s/{wrong}",
    },
    "lobby.front": {"not found": "/nowhere"},
    "lobby.table": {"begun": "/t/{game}", "finished": "/t/{finished}"},
    "stop.show": {"of all": "/u/{stop}"},
}
"""What the same routes show at other times, by name; in braces what stands in a showroom under that name."""

PRESSED: Final = {
    "leaving": ("/s/{seat}", "Leave the table …"),
    "a token for programs": ("/s/{seat}", "Show the token"),
}
"""Pages that only a button leads to."""


class Showroom:
    """A server with tables at every stage, and somebody who has signed in as a player and as an organiser."""

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="pbem-showroom-"))
        store = Store(f"sqlite:///{self._folder / 'pbem.sqlite3'}")
        Base.metadata.create_all(store.engine)
        self.clock = FakeClock(START)
        self.house = House(store, self.clock, SeededRandomness(7), Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1)))
        self.config = config.read({"PBEM_DATA_DIR": str(self._folder), "PBEM_SITE_NAME": "Auction games by mail"})
        self.app: Flask = create_app(self.house, self.config)
        self._links = Links(self.house)
        self._people = {name: self._person(name) for name in NAMES}
        self.named = self._furnish()
        self._server = create_server(self.app, host="127.0.0.1", port=0, threads=4)
        threading.Thread(target=self._server.run, daemon=True).start()
        self.url = f"http://localhost:{self._server.effective_port}"
        return self

    def __exit__(self, _kind: type | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._server.close()
        self._server.task_dispatcher.shutdown()
        self.house.store.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def pages(self) -> list[Shown]:
        """Every page that there is."""
        found = []
        for rule in sorted(self.app.url_map.iter_rules(), key=lambda rule: rule.rule):
            if "GET" not in (rule.methods or ()) or NOT_PAGES.fullmatch(rule.endpoint):
                continue
            found.append(Shown(rule.endpoint, self._filled(rule.rule, rule.endpoint)))
        for endpoint, others in ALSO.items():
            found += [Shown(f"{endpoint}, {name}", path.format_map(self.named)) for name, path in others.items()]
        found += [Shown(name, path.format_map(self.named), press) for name, (path, press) in PRESSED.items()]
        return found

    def cookies(self) -> list[dict[str, Any]]:
        """What the browser of somebody holds who has signed in as everything."""
        return [{"name": name, "value": self.named[name], "url": self.url} for name in Who]

    def _filled(self, rule: str, endpoint: str) -> str:
        """The address of a route, with something that there is in each of its places."""
        letter, blueprint = rule.split("/")[1], endpoint.partition(".")[0]
        values = {
            "token": self.named.get(letter, ""),
            "option": self.named["option"],
            "window": self.named["played"],
            "number": self.named["played"],
            "kind": "sunset-poker",
            "name": "playing-by-mail",
            "key": self.named.get(f"key of {blueprint}") or self.named["finished" if "replay" in rule else "game"],
            "game_id": self.named["game id"],
            "person_id": self.named["person id"],
            "call_id": "1",
            "job_id": self.named["job"],
        } | ({"key": self.named["waiting"]} if endpoint == "lobby.table" else {})
        if blueprint == "stop":
            values["key"] = self.named["game"]

        def value(match: re.Match[str]) -> str:
            name = match["name"]
            assert values.get(name), (
                f"{rule}: nothing is known to stand for <{name}>; say so in tests/browser/showroom.py"
            )
            return values[name]

        return re.sub(r"<(?:\w+:)?(?P<name>\w+)>", value, rule)

    def _furnish(self) -> dict[str, str]:
        """Let everything happen, and name what came of it."""
        ann = self._people["Ann"]
        begun = {kind: self._begun(kind) for kind in games_of_house.names()}
        for game in begun.values():
            self._play(game, 25)
        game, sealed = begun["templari"], self._begun("sunset-poker")
        seat = next(iter(game.asked()))
        over = self._begun("sunset-poker", {"max_rounds": 1})
        self._play(over, 500)
        assert over.row().status == "over"
        waiting = lobby.create_table(self.house, ann, Wanted("bid", 3, title="An evening’s bidding", private=False))
        lobby.join(self.house, waiting.game_id, ann)
        self._carry()
        keep_behind(self.house)
        seated = {kind: self._seat(each, next(iter(each.asked()))) for kind, each in begun.items()}
        own = self._seat(sealed, 0)
        by_link.play(self.house, own, sealed.row().window, sealed.asked()[0].default)
        token, last = seated["templari"], self._seat(over, 0)
        talk.say(self.house, game.id, seat, game.person_at(seat), "Good luck, everybody! 🍀")
        calls.call(self.house, ann, "Ben has not answered for a week.\nCan he be asked?", game_id=game.id, seat=0)
        move, _ = self._links.of(game, seat)
        found = {f"seat_of_{kind}": each for kind, each in seated.items()} | {
            "m": move, "s": token, "seat": token, "sealed": own, "over": last,
            "u": self._links.made(Purpose.STOP, ann), "stop": self._links.made(Purpose.STOP, ann),
            "l": self._links.made(Purpose.SIGN_IN, ann),
            "c": self._links.made(Purpose.CONFIRM, ann, waiting.game_id),
            "j": self._links.made(Purpose.INVITE, ann, waiting.game_id),
            "h": replays.share(self.house, last),
            "w": self._doubted(game),
            "wrong": token[:-1] + ("a" if token[-1] != "a" else "b"),
            "option": "pass", "window": str(game.row().window), "played": str(self._decided(game, seat)),
            "game": game.row().key, "game id": str(game.id), "person id": str(ann),
            "waiting": waiting.key, "finished": over.row().key,
        }  # fmt: skip
        found["job"] = str(self._announced())
        farewell.ask(self.house, self._people["Ben"])
        self._carry()
        found["y"] = self._mailed("/y/")
        # Only hours that are over are counted.
        self.clock.advance(timedelta(hours=1))
        while counting.count(self.house):
            pass
        found["key of mailbox"] = next(iter(mailbox_of(self.config).letters(""))).key
        return found | self._signed_in(ann)

    def _mailed(self, start: str) -> str:
        """The token of the newest mail that has a link which begins like this."""
        box = mailbox_of(self.config)
        texts = (box.read(letter.key).text for letter in box.letters(""))
        return next(match[1] for text in texts if (match := re.search(rf"{start}([a-z2-7]{{33}})", text)))

    def _announced(self) -> int:
        """An act on many tables that is under way."""
        facts = bulk.facts_of(self.house, bulk.What.ANNOUNCE, "The server rests on Sunday from noon to one.")
        reason = "people should know beforehand"
        job = bulk.begin(self.house, ROOT, bulk.What.ANNOUNCE, facts, reason, "a form of the showroom")
        bulk.go_on(self.house)
        return job

    def _signed_in(self, person: int) -> dict[str, str]:
        organiser = an_organiser(self.house, "Olga")
        holders = {Who.PERSON: Holder(person_id=person), Who.ORGANISER: Holder(organiser_id=organiser.id)}
        return {str(who): self._session(holder) for who, holder in holders.items()}

    def _session(self, holder: Holder) -> str:
        return self.house.write(lambda tx: sessions.open_in(tx, self.house, holder, "a telephone"))

    def _person(self, name: str) -> int:
        return people.confirm(self.house, people.create(self.house, f"{name.lower()}@example.org", name).id).id

    def _begun(self, kind: str, options: dict[str, str | int] | None = None) -> Begun:
        wanted = Wanted(kind, len(NAMES), options or {}, "1d")
        host, *others = self._people.values()
        game_id = lobby.create_table(self.house, host, wanted).game_id
        for person in (host, *others):
            lobby.join(self.house, game_id, person)
        return Begun(self.house, game_id)

    def _play(self, game: Begun, most: int) -> None:
        luck = Stream(b"showroom", game.id)
        while (asked := game.asked()) and game.row().seq < most:
            seat, decision = next(iter(asked.items()))
            game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck))

    def _seat(self, game: Begun, seat: int) -> str:
        return self._links.of(game, seat)[1]

    def _decided(self, game: Begun, seat: int) -> int:
        """The last turn in which a seat has decided something."""
        made = looks.look(self.house, self._seat(game, seat)).made
        assert made is not None
        return made.window

    def _doubted(self, game: Begun) -> str:
        """A reply from an address that could be anybody's: the link by which its owner says that it was them."""
        inbox = Inbox(self.house, self.clock)
        self._carry()
        seat = next(iter(game.asked()))
        inbox.replies(game, seat, "pass", Authentication_Results=None)
        (doubt,) = letters(self.house, kind="was_it_you")
        return inbox.token(Purpose.WRITTEN, person_id=doubt.person_id, outbox_id=doubt.id)

    def _carry(self) -> None:
        post = post_of(self.config)
        while True:
            self.clock.advance(timedelta(minutes=2))
            if not play_bots(self.house) + deliver(self.house, post, limit=500).dealt_with:
                return
