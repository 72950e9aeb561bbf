"""A server with something to see on every page, and the list of all its pages.

The list is made from the routes of the application, so a new route needs no change here if its address can be filled in.
`shown` has further pages, and the ways to them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from flask import Flask
from playwright.sync_api import Page
from pyotp import TOTP
from waitress.server import create_server

from engine import grammar, registry
from engine.bots import random_bot
from engine.chance import Stream
from engine.decisions import Amount, Choice
from pbem import config
from pbem.domain.missed_turns import Successor
from pbem.service.absence.bots import play_bots
from pbem.service.account import change_address, delete, my_page, profiles
from pbem.service.archive import export, game_statistics, replay, reviews
from pbem.service.clocks import reachability
from pbem.service.desk import calls, jobs, one_time_codes, organisers, statistics
from pbem.service.desk.acts.clocks import Close, Freeze, Pause
from pbem.service.desk.acts.people import Ban
from pbem.service.desk.acts.perform import DeskAct, perform
from pbem.service.desk.acts.seats import Offer
from pbem.service.incoming import unverified_replies
from pbem.service.outgoing import unsubscribe
from pbem.service.outgoing.deliver import deliver
from pbem.service.outgoing.post import mailbox_of, post_of
from pbem.service.people import addresses, sessions
from pbem.service.play import by_link, seat_view
from pbem.service.play.rules import rules_of
from pbem.service.play.views import save_overdue
from pbem.service.server import Server
from pbem.service.tables import group_page, groups, invitations, joining, leaving, talk
from pbem.service.tables.new import TableSettings
from pbem.service.tournaments import reading, rounds, sign_up
from pbem.store import links
from pbem.store.database import Store
from pbem.store.schema import METADATA
from pbem.store.sessions import Holder
from pbem.tokens import SECRET_BYTES, Keyring, Purpose
from pbem.web.app import create_app
from pbem.web.people.session_cookie import Cookie
from tests.browser.shown import ALSO, SENT, Eyes, Shown, Way
from tests.fakes import FakeClock, SeededRandomness
from tests.in_thread import served
from tests.service.actors import ROOT, add_organiser
from tests.service.archive.sample_review import sample, sample_hint
from tests.service.conftest import START
from tests.service.database import queued_emails
from tests.service.inbox import Inbox
from tests.service.running_game import RunningGame
from tests.service.tournaments.cup import open_cup
from tests.web.browser import FILLED_IN, Browser, Links

NOT_PAGES: Final = re.compile(
    r"static|broken|seat\.news|choice\.ask|account\.download_data|front\.(robots|icon|service_worker|manifest)|(api|open_data|feeds|dump)\..*|tournament_calendar\.(news|dates)(_of_one)?|handbook\.file|ending\.(game_file|file_of_seat)|(own_)?tournaments\.download|.*\.export"
    r"|dev_inbox\.(html|source)"
)
"""Routes that do not answer with a page: files, feeds, data, news, the HTML of an email for its frame, and `choice.ask`, whose
pages `ALSO` has."""

NAMES: Final = ("Ann", "Ben", "Cleo")


def _broken() -> NoReturn:
    raise RuntimeError("a page of a showroom that is broken on purpose")


class Showroom:
    """A server with tables at every stage, and a person who is signed in as a player and as an organiser."""

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="pbem-showroom-"))
        store = Store(f"sqlite:///{self._folder / 'pbem.sqlite3'}")
        METADATA.create_all(store.engine)
        self.clock = FakeClock(START)
        self.server = Server(
            store, self.clock, SeededRandomness(7), Keyring.new(b"k" * SECRET_BYTES, date(2026, 11, 1))
        )
        self.config = config.read({"PBEM_DATA_DIR": str(self._folder), "PBEM_SITE_NAME": "Auction games by email"})
        self.app: Flask = create_app(self.server, self.config, sample_hint)
        self.app.add_url_rule("/broken", "broken", _broken)
        self._links = Links(self.server)
        self._people = {name: self._person(name) for name in NAMES}
        for name in NAMES[:2]:
            self.server.run(
                my_page.change_week, self._people[name], ("Wed", "Thu"), ("Mon", "Tue", "Fri"), "09:00-17:30"
            )
        self.named = self._furnish()
        web_server = create_server(self.app, host="127.0.0.1", port=0, threads=4)
        self._serving = ExitStack()
        self._serving.enter_context(served(web_server))
        self.url = f"http://localhost:{web_server.effective_port}"
        return self

    def __exit__(self, _kind: type | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._serving.close()
        self.server.store.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def pages(self) -> list[Shown]:
        """All pages."""
        found = []
        for rule in sorted(self.app.url_map.iter_rules(), key=lambda rule: rule.rule):
            if "GET" not in (rule.methods or ()) or NOT_PAGES.fullmatch(rule.endpoint):
                continue
            found.append(Shown(rule.endpoint, Way(self._filled(rule.rule, rule.endpoint))))
        for endpoint, others in ALSO.items():
            found += [Shown(f"{endpoint}, {name}", self._known(way)) for name, way in others.items()]
        return found + [Shown(name, self._known(way)) for name, way in SENT.items()]

    def open(self, shown: Shown, page: Page) -> None:
        """Open a page in Chromium, as the person who looks at it."""
        page.context.clear_cookies()
        held = self._signed_in[shown.way.eyes].items()
        page.context.add_cookies([{"name": who, "value": value, "url": self.url} for who, value in held])
        shown.open(page, lambda: self.clock.advance(FILLED_IN))

    def reader(self, eyes: Eyes) -> Browser:
        """The browser of `tests/web` for this person."""
        reader = Browser(self.app)
        for who, value in self._signed_in[eyes].items():
            reader.client.set_cookie(who, value, domain="localhost")
        return reader

    def _known(self, way: Way) -> Way:
        """The way, with things of this showroom for the names in braces."""
        sent = tuple(
            replace(each, filled={name: value.format_map(self.named) for name, value in each.filled.items()})
            for each in way.sent
        )
        return replace(way, path=way.path.format_map(self.named), sent=sent)

    def _filled(self, rule: str, endpoint: str) -> str:
        """The address of a route, with an existing thing for each of its parts."""
        letter, blueprint = rule.split("/")[1], endpoint.partition(".")[0]
        values = {
            "token": self.named.get(letter, ""),
            "option": self.named["option"],
            "turn": self.named["played"],
            "number": self.named["played"],
            "kind": "sunset-poker",
            "name": "playing-by-mail",
            "key": self.named.get(f"key of {blueprint}") or self.named["finished" if "replay" in rule else "game"],
            "game_id": self.named["game id"],
            "person_id": self.named["person id"],
            "call_id": "1",
            "job_id": self.named["job"],
        } | ({"key": self.named["waiting"]} if endpoint == "joining.show" else {})
        if blueprint == "review":
            values |= {"token": self.named["over"], "seat": "0"}
        if blueprint == "unsubscribe":
            values["key"] = self.named["game"]

        def value(match: re.Match[str]) -> str:
            name = match["name"]
            assert values.get(name), (
                f"{rule}: nothing is known to stand for <{name}>; say so in tests/browser/showroom.py"
            )
            return values[name]

        return re.sub(r"<(?:\w+:)?(?P<name>\w+)>", value, rule)

    def _furnish(self) -> dict[str, str]:
        """Make everything happen, and name the results."""
        ann = self._people["Ann"]
        begun = {kind: self._begun(kind) for kind in registry.names()}
        for game in begun.values():
            self._play(game, 25)
        game = begun["templari"]
        seat = next(iter(game.asked()))
        over = self._begun("sunset-poker", {"max_rounds": 1})
        self._play(over, 500)
        assert over.row().status == "over"
        while reviews.make_next(self.server, sample):
            pass
        self.server.run(reviews.share, self._seat(over, 1), shared=True)
        assert game_statistics.count_games(self.server) == 1
        for each, (name, person) in enumerate(self._people.items()):
            self.server.run(profiles.choose, person, ("everyone", "met")[each % 2], f"{name} the bold", punctual=True)
        self._carry()
        save_overdue(self.server)
        seated = {kind: self._seat(each, next(iter(each.asked()))) for kind, each in begun.items()}
        token, last = seated["templari"], self._seat(over, 0)
        self.server.run(talk.say, game.id, seat, game.person_at(seat), "Good luck, everyone! 🍀")
        self.server.run(
            talk.say, game.id, (seat + 1) % 3, game.person_at((seat + 1) % 3), "And to you; may the best player win."
        )
        self.server.run(
            calls.call, ann, "Ben has not answered for a week.\nCould you ask him?", game_id=game.id, seat=0
        )
        move, _ = self._links.of(game, seat)
        shown = self.server.read(my_page.account, Holder(person_id=ann), ann).profile
        assert shown is not None
        club = self.server.run(groups.create, ann, "Friday club")
        self.server.run(groups.invite, ann, club, ("ben@example.org",))
        self.server.run(group_page.open_table, ann, club, TableSettings("bid", 3))
        cup = open_cup(self.server, ann, form="knockout", advance=1, closes_at=self.server.now() + timedelta(minutes=1))
        for person in self._people.values():
            self.server.run(sign_up.sign_up, self.server.read(reading.page, cup).summary.row.id, person)
        found = {"key of profiles": shown.key, "key of groups": club, "e": self._entry(cup)} | {f"seat_of_{kind}": each for kind, each in seated.items()} | {
            "m": move, "s": token, "seat": token, "over": last, "key of tournaments": cup, "key of own_tournaments": cup, "idle": self._seat(game, (seat + 1) % 3),
            "move_of_past": self._links.of(game, seat, turn=1)[0],
            "u": self._links.made(Purpose.STOP, ann), "stop": self._links.made(Purpose.STOP, ann),
            "l": self._links.made(Purpose.SIGN_IN, ann),
            "h": self.server.run(replay.share, last),
            "w": self._unverified_reply(game),
            "d": self._disown(),
            "wrong": token[:-1] + ("a" if token[-1] != "a" else "b"),
            "option": "pass", "turn": str(game.row().turn), "played": str(self._decided(game, seat)),
            "game": game.row().key, "game id": str(game.id), "person id": str(ann),
            "finished": over.row().key, "id_of_finished": str(over.id),
        }  # fmt: skip
        found |= self._tables_at_other_times() | self._waiting_tables() | self._emails() | self._files(over)
        found["job"] = str(self._job())
        self.server.run(delete.ask, self._people["Ben"])
        self._carry()
        found["y"] = self._token_in_email("/y/")
        self.server.run(change_address.ask, self._people["Cleo"], "cleo@new.example.org")
        self._carry()
        found["moving"] = self._token_in_email("/y/")
        found |= self._out_of_reach()
        self._signed_in = self._sessions(ann)
        found["key of dev_inbox"] = next(iter(mailbox_of(self.config).entries(""))).key
        return found

    def _entry(self, cup: str) -> str:
        """Begin a tournament, and open another one; the token of its email for Ann."""
        self.clock.advance(timedelta(minutes=2))
        rounds.advance_due(self.server)
        self.server.run(sign_up.ask, open_cup(self.server, self._people["Ben"]), "ann@example.org")
        self._carry()
        return self._token_in_email("/e/")

    def _tables_at_other_times(self) -> dict[str, str]:
        """Games with a sealed choice, with an order, paused, and over without a result."""
        sealed, paused, void = (self._begun("sunset-poker") for _ in range(3))
        ordered = self._begun("templari")
        asked = sealed.asked()[0]
        seat = self._seat(sealed, 0)
        self.server.run(by_link.play, seat, sealed.row().turn, asked.default)
        later = self._seat(ordered, next(seat for seat in ordered.players() if seat not in ordered.asked()))
        self.server.run(by_link.add_order, later, ordered.row().turn, "up to 9 if seat 1 is out; up to 14 or ask me")
        self._done(Pause(paused.id), "The referee is looking into something.\nIt won't take long.")
        stopped, seat_of_stopped = self._against_bots(self._person("Iris"))
        self._done(Freeze(stopped.id), "Ann thinks the wrong cards were dealt.")
        for each in range(len(NAMES)):
            self.server.run(leaving.agree_to_end, void.id, void.person_at(each))
        return {
            "sealed": seat,
            "turn_of_sealed": str(sealed.row().turn),
            "move_of_sealed": self._links.of(sealed, 0)[0],
            "choice_of_sealed": grammar.write(asked, asked.default),
            **self._bid(ordered),
            "ordered": later,
            "paused": self._seat(paused, 0),
            "id_of_paused": str(paused.id),
            "void": self._seat(void, 0),
            "stopped_table": seat_of_stopped,
        }

    def _waiting_tables(self) -> dict[str, str]:
        """Tables that have not begun, and the links to them."""
        ann, ben, cleo = self._people.values()
        dora, emil = self._person("Dora"), self._person("Emil")
        waiting = self.server.run(
            joining.create_table, ann, TableSettings("bid", 4, title="An evening’s bidding", private=False)
        )
        closed = self.server.run(joining.create_table, ann, TableSettings("bid", 3))
        self.server.run(joining.join, waiting.game_id, ann)
        self.server.run(joining.join, waiting.game_id, dora)
        self.server.run(invitations.invite, waiting.game_id, ann, ("ben@example.org", "cleo@example.org"))
        self.server.run(invitations.decline, waiting.game_id, cleo)
        self._done(Close(closed.game_id), "The host asked us to.")
        left = self._begun("sunset-poker", successor=Successor.SUBSTITUTE)
        self._done(Offer(left.id, 1), "Ben is in hospital.")
        gone = left.person_at(2)
        self.server.run(leaving.resign, left.id, 2, left.person_at(2))
        confirm = Purpose.CONFIRM
        new = self.server.run(addresses.register, "fred@example.org", "Fred").id
        return {
            "waiting": waiting.key,
            "id_of_waiting": str(waiting.game_id),
            "c": self._links.made(confirm, ann, waiting.game_id),
            "j": self._links.made(Purpose.INVITE, ann, waiting.game_id),
            "doorstep_of_invited": self._links.made(confirm, ben, waiting.game_id),
            "doorstep_of_declined": self._links.made(confirm, cleo, waiting.game_id),
            "doorstep_of_guest": self._links.made(confirm, dora, waiting.game_id),
            "doorstep_of_begun": self._links.made(confirm, ann, left.id),
            "doorstep_of_offered": self._links.made(confirm, emil, left.id),
            "doorstep_of_gone": self._links.made(confirm, gone, left.id),
            "doorstep_of_closed": self._links.made(confirm, dora, closed.game_id),
            "doorstep_of_address": self._links.made(confirm, new),
            "doorstep_of_confirmed": self._links.made(confirm, dora),
        }

    def _emails(self) -> dict[str, str]:
        """Replies, stopped emails, calls, and the organisers who deal with them."""
        gina, hugo = self._person("Gina"), self._person("Hugo")
        stopped = self._links.made(Purpose.STOP, gina)
        unsubscribe.stop(self.server, stopped)
        gone = self._links.made(Purpose.SIGN_IN, gina)
        self.server.store.write(lambda tx: links.revoke_person(tx, self.server.randomness, gina))
        self._done(Ban(hugo, None), "Hugo insulted people at three tables.")
        call = self.server.run(calls.call, gina, "I've stopped getting emails.")
        self.server.run(
            calls.answer, ROOT, call, "You have stopped them.\n\nThe link below each mail lets them come again."
        )
        mine, not_mine = (self._unverified_reply(self._begun("sunset-poker")) for _ in range(2))
        unverified_replies.confirm(self.server, mine, unverified_replies.read(self.server, mine).waiting[0].number)
        self.server.run(
            unverified_replies.reject, not_mine, unverified_replies.read(self.server, not_mine).waiting[0].number
        )
        return {
            "stopped": self._links.made(Purpose.STOP, gina),
            "gone": gone,
            "banned": str(hugo),
            "answered_call": str(call),
            "written_by_me": mine,
            "written_by_somebody": not_mine,
        }

    def _bid(self, game: RunningGame) -> dict[str, str]:
        """A number that a seat can bid, neither the smallest nor the largest."""
        seat, decision = next(iter(game.asked().items()))
        act = next(act for act in decision.acts if [type(blank) for blank in act.blanks] == [Amount])
        numbers = list(act.blanks[0].values())
        bid = grammar.write(decision, Choice(act.verb, (numbers[len(numbers) // 2],)))
        return {"bidding": self._seat(game, seat), "turn_of_bidding": str(game.row().turn), "bid": bid}

    def _files(self, over: RunningGame) -> dict[str, str]:
        """The file of a finished game, and a copy with another choice in it."""
        file = export.write(self.server.read(export.of_game, over.id))
        return {"file": file, "changed file": file.replace('"seat": 1,', '"seat": 2,', 1)}

    def _done(self, act: DeskAct, reason: str) -> None:
        self.server.run(perform, ROOT, act, reason)

    def _token_in_email(self, start: str) -> str:
        """The token in the newest email with a link that begins like this."""
        box = mailbox_of(self.config)
        texts = (box.read(letter.key).text for letter in box.entries(""))
        return next(match[1] for text in texts if (match := re.search(rf"{start}([a-z2-7]{{33}})", text)))

    def _out_of_reach(self) -> dict[str, str]:
        """A person whose emails bounce, and their seat. Nothing is delivered afterwards, so that it stays so."""
        ina = self._person("Ina")
        _, seat = self._against_bots(ina)
        self.server.store.write(lambda tx: reachability.note_refusal(tx, self.server, ina, "550 5.1.1 no such user"))
        return {"out_of_reach": seat, "out of reach id": str(ina)}

    def _against_bots(self, person: int) -> tuple[RunningGame, str]:
        """A game of a person against bots, and their seat."""
        new_table = TableSettings("templari", 3, {}, "1d", bots=("greedy", "greedy"))
        game = RunningGame(self.server, self.server.run(joining.create_table, person, new_table).game_id)
        self.server.run(joining.join, game.id, person)
        return game, self._seat(game, next(at for at, player in game.players().items() if player.person_id == person))

    def _job(self) -> int:
        """A job in progress, on many tables."""
        facts = jobs.facts_of(self.server, jobs.What.ANNOUNCE, "The server will be down on Sunday from noon to one.")
        reason = "Everyone should know in advance."
        job = self.server.run(jobs.begin, ROOT, jobs.What.ANNOUNCE, facts, reason, "a form of the showroom")
        jobs.advance_all(self.server)
        return job

    def _sessions(self, person: int) -> dict[Eyes, dict[str, str]]:
        """The cookies of everyone who looks."""
        organiser = Holder(organiser_id=add_organiser(self.server, "Olga").id)
        newcomer = Holder(person_id=self._person("Nina"))
        tired = self._session(organiser)
        careful = Holder(organiser_id=add_organiser(self.server, "Oda").id)
        secret = one_time_codes.new_secret(self.server.randomness)
        self.server.run(organisers.require_codes, ROOT, "Oda", secret, TOTP(secret).at(self.clock.now()))
        # Only whole hours are counted.
        self.clock.advance(timedelta(hours=1))
        while statistics.count(self.server):
            pass
        player = self._session(Holder(person_id=person))
        return {
            Eyes.EVERYTHING: {Cookie.PERSON: player, Cookie.ORGANISER: self._session(organiser)},
            Eyes.PLAYER: {Cookie.PERSON: player},
            Eyes.NEWCOMER: {Cookie.PERSON: self._session(newcomer)},
            Eyes.TIRED: {Cookie.ORGANISER: tired},
            Eyes.CAREFUL: {Cookie.ORGANISER: self._session(careful)},
            Eyes.STRANGER: {},
        }

    def _session(self, holder: Holder) -> str:
        return self.server.store.write(lambda tx: sessions.start(tx, self.server, holder, "Safari on iPhone"))

    def _person(self, name: str) -> int:
        return self.server.run(
            addresses.confirm, self.server.run(addresses.register, f"{name.lower()}@example.org", name).id
        ).id

    def _begun(
        self, kind: str, options: dict[str, str | int] | None = None, successor: str = Successor.BOT
    ) -> RunningGame:
        new_table = TableSettings(kind, len(NAMES), options or {}, "1d", successor=successor)
        host, *others = self._people.values()
        game_id = self.server.run(joining.create_table, host, new_table).game_id
        for person in (host, *others):
            self.server.run(joining.join, game_id, person)
        return RunningGame(self.server, game_id)

    def _play(self, game: RunningGame, most: int) -> None:
        luck = Stream(b"showroom", game.id)
        while (asked := game.asked()) and game.row().seq < most:
            seat, decision = next(iter(asked.items()))
            game.play(seat, random_bot(rules_of(game.row()), game.view(seat), decision, luck))

    def _seat(self, game: RunningGame, seat: int) -> str:
        return self._links.of(game, seat)[1]

    def _decided(self, game: RunningGame, seat: int) -> int:
        """The last turn in which a seat made a choice."""
        made = self.server.read(seat_view.view_seat, self._seat(game, seat)).made
        assert made is not None
        return made.turn

    def _unverified_reply(self, game: RunningGame) -> str:
        """An unverified reply: the link by which the owner of the address confirms it."""
        inbox = Inbox(self.server, self.clock)
        self._carry()
        seat = next(iter(game.asked()))
        inbox.replies(game, seat, "pass", Authentication_Results=None)
        doubt = queued_emails(self.server, kind="was_it_you")[-1]
        return inbox.token(Purpose.WRITTEN, person_id=doubt.person_id, outbox_id=doubt.id)

    def _disown(self) -> str:
        """The link “This wasn't me” in the last email that asks about an unverified reply."""
        doubt = queued_emails(self.server, kind="was_it_you")[-1]
        return Inbox(self.server, self.clock).token(Purpose.DISOWN, person_id=doubt.person_id, outbox_id=doubt.id)

    def _carry(self) -> None:
        post = post_of(self.config)
        while True:
            self.clock.advance(timedelta(minutes=2))
            if not play_bots(self.server) + deliver(self.server, post, limit=500).dealt_with:
                return
