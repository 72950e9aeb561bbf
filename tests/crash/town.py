"""A whole server of real processes, and people who play on it over HTTP by the links in their emails.

Processes die at points of their own choosing and are started again. Every choice that a page
acknowledged is written down and compared with the log afterwards.
"""

import random
import re
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.client import HTTPConnection, HTTPException
from itertools import count, pairwise
from pathlib import Path
from urllib.parse import quote, urlencode

from sqlalchemy import and_, select

from engine import registry
from pbem.clock import SystemRandomness
from pbem.domain import hash_chain
from pbem.domain.choice_links import choice_segment
from pbem.domain.states import EmailStatus
from pbem.domain.strangers import StrangerLimits
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service.outgoing.deliver import LEASE, TOGETHER
from pbem.service.people import addresses
from pbem.service.play.log import Kind, body_of
from pbem.service.play.move import Actor
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.service.tables import joining
from pbem.service.tables.new import TableSettings
from pbem.store import games, heartbeats, links, log as log_rows
from pbem.store.database import Store
from pbem.store.schema import OUTBOX
from pbem.tokens import Purpose
from tests.copies import Copy
from tests.crash import process
from tests.crash.process import KEYS
from tests.fakes import FakeClock
from tests.mail.sink import ReceivedEmail, Sink
from tests.ports import free_port
from tests.sim.player import meant_by_silence
from tests.waiting import PATIENCE, until

LIVES = (15, 60)
"""The least and the most times a process passes its point before it dies there."""

STEP = LEASE / 5
"""Simulated time runs fast, so a lease must be many steps long, or it would end while an email is sent."""

SITE = "http://127.0.0.1:8000"


@dataclass
class Part:
    """A process of the server, restarted whenever it has died."""

    what: str
    last: str
    points: tuple[str, ...]
    process: Copy = field(init=False)
    deaths: Counter = field(default_factory=Counter)
    dies_at: str = ""


class Town:
    """The server, its clock and its people."""

    def __init__(self, url: str, sink: Sink, folder: Path, start: datetime, lives: tuple[int, int] = LIVES) -> None:
        self.url, self.sink, self.folder, self.lives = url, sink, folder, lives
        self.luck = random.Random(1)
        self.clock = FakeClock(start)
        self.server = Server(
            Store(url), self.clock, SystemRandomness(), KEYS, open_tables=10**6, strangers=StrangerLimits(0, 0, 0, 0)
        )
        self.parts: list[Part] = []
        self.acknowledged: list[tuple[str, str]] = []
        self.seen: Counter[str] = Counter()
        self.figures: Counter[str] = Counter()
        """What `check` has counted, for the handbook."""
        self.database_may_be_away = False
        self._numbers = count(1)
        self._write_clock()

    # The processes

    def add(self, what: str, *points: str) -> Part:
        """Add a process, which dies at these points now and then."""
        last = str(free_port()) if what == "web" else f"worker{next(self._numbers)}"
        part = Part(what, last, points)
        self.parts.append(part)
        self.start(part)
        return part

    def start(self, part: Part, point: str = "", number: int = 0) -> None:
        """Start or restart a process."""
        if not point and part.points:
            point, number = self.luck.choice(part.points), self.luck.randint(*self.lives)
        part.dies_at = point
        log = self.folder / f"{part.what}-{part.last}-{next(self._numbers)}.log"
        log.touch()
        words = part.what, self.url, str(self.folder / "clock"), str(self.sink.port), point, str(number), part.last
        part.process = Copy(process.main, words, log)
        until(lambda: "_started" in log.read_text() or part.process.poll() is not None, f"{part.what} starts")

    def raise_the_dead(self) -> None:
        """Restart processes that died at a point; no other may have ended."""
        for part in self.parts:
            code = part.process.poll()
            if code is not None:
                assert code == -9, f"{part.what} ended by itself with {code}"
                part.deaths[part.dies_at] += 1
                self.start(part)

    def close(self) -> None:
        """End all processes."""
        for part in self.parts:
            if part.process.poll() is None:
                part.process.kill()
                part.process.wait()
        self.server.store.close()

    def workers_beat(self) -> bool:
        """Whether every worker has seen the current time."""
        with self.server.store.read() as tx:
            beats = {beat.worker: beat.beat_at for beat in heartbeats.all_workers(tx)}
        now, workers = self.clock.now(), [part.last for part in self.parts if part.what == "worker"]
        return all(worker in beats and beats[worker] >= now for worker in workers)

    def all_is_sent(self) -> bool:
        """Whether no email that is due waits, or is being sent: a leap of the clock would end its sender's lease."""
        due = and_(OUTBOX.c.status == EmailStatus.QUEUED, OUTBOX.c.due_at <= self.clock.now())
        with self.server.store.read() as tx:
            return tx.execute(select(OUTBOX.c.id).where(due).limit(1)).first() is None

    def deaths(self, point: str) -> int:
        """How often a process died at a point."""
        return sum(part.deaths[point] for part in self.parts)

    # Time and tables

    def passes(self, length: timedelta) -> None:
        """Advance the clock of this test and of all processes."""
        self.clock.advance(length)
        self._write_clock()

    def begin(self, kind: str, seats: int, bots: int, pace: str = "1d") -> int:
        """Start a game."""
        persons = []
        for number in range(seats - bots):
            made = self.server.run(addresses.register, f"player{number}@example.org", f"Player {number}")
            persons.append(self.server.run(addresses.confirm, made.id).id)
        settings = TableSettings(kind, seats, dict(registry.load(kind).short), pace, bots=("random",) * bots)
        game_id = self.server.run(joining.create_table, persons[0], settings).game_id
        for person in persons:
            self.server.run(joining.join, game_id, person)
        return game_id

    def _write_clock(self) -> None:
        new = self.folder / "clock.new"
        new.write_text(self.clock.now().isoformat())
        new.replace(self.folder / "clock")

    # People

    def answer(self, email: ReceivedEmail) -> bool:
        """Answer the email of a turn: press one of its buttons, often twice, on any web server."""
        if "WHAT YOU CAN DO" not in email.text:
            return False
        moves = moves_in(email)
        if moves:
            path, fields = self.luck.choice(moves), {"press": "yes"}
            noted = path.split("/")[2], path.split("/")[3]
        else:
            seat = re.search(rf"{SITE}/s/([a-z2-7]{{33}})\s", email.text)
            silence = meant_by_silence(email.text)
            printed = re.search(r", turn (\d+): ", str(email.message["Subject"]))
            assert seat, email.text
            assert silence, email.text
            assert printed, email.text
            path = f"/s/{seat[1]}/play"
            fields = {"turn": printed[1], "choice": silence}
            noted = seat[1], f"turn {printed[1]}"
        webs = [part for part in self.parts if part.what == "web"]
        presses = 2 if self.luck.random() < 0.3 else 1
        clicks = [
            threading.Thread(target=self._press, args=(self.luck.choice(webs), path, fields, noted))
            for _ in range(presses)
        ]
        for click in clicks:
            click.start()
        for click in clicks:
            click.join()
        return True

    def _press(self, web: Part, path: str, fields: dict[str, str], noted: tuple[str, str]) -> None:
        """Press a button until a web server answers."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            # A server that dies answers nobody.
            with suppress(OSError, HTTPException):
                status = post(int(web.last), path, fields)
                if status == 503 and self.database_may_be_away:
                    self.seen["answer 503"] += 1
                    time.sleep(0.05)
                    continue
                assert status < 500, f"{path.split('/')[1]} answered {status}"
                self.seen[f"answer {status}"] += 1
                if status == 303:
                    self.acknowledged.append(noted)
                return
            self.seen["no answer"] += 1
            # The server is being started again: only another press shows whether it answers.
            time.sleep(0.05)
            if web.process.poll() is not None and threading.current_thread() is not threading.main_thread():
                # The thread that restarts processes is waiting for this click: the other server will do.
                web = self.luck.choice([part for part in self.parts if part.what == "web"])
                if all(part.process.poll() is not None for part in self.parts if part.what == "web"):
                    return

    # What must be true

    def check(self) -> None:
        """Compare the logs with the acknowledged choices, and check the emails for duplicates."""
        game_ids, _ = games_to_verify(self.server.store)
        for report in verify_games(self.server.store, game_ids):
            assert report.sound, report
        choices: dict[tuple[int, int, int], list[str]] = defaultdict(list)
        silent: Counter[tuple[int, int, int]] = Counter()
        with self.server.store.read() as tx:
            for game_id in game_ids:
                row = games.read(tx, game_id)
                for each in list(log_rows.chain(tx, row.id, row.key)):
                    _read(row, each, choices, silent)
            lost = []
            for token, option in self.acknowledged:
                link = links.read(tx, self.server.keys.row_of(token))
                assert link is not None
                turn = int(option.removeprefix("turn ")) if link.purpose == Purpose.SEAT else link.turn
                assert link.game_id is not None
                assert turn is not None
                assert link.seat is not None
                made = choices[link.game_id, turn, link.seat]
                if not made or (link.purpose == Purpose.MOVE and option not in [quote(each, safe="") for each in made]):
                    lost.append(f"game {link.game_id}, turn {turn}: {option}, not {made}")
        assert lost == [], "an acknowledged choice is not in the log"
        doubled = [made for made in choices.values() if any(one == other for one, other in pairwise(made))]
        assert doubled == [], "a choice was made twice"
        missed_twice = [turn for turn, times in silent.items() if times > 1]
        assert missed_twice == [], "a turn was timed out twice"
        self.figures["killed"] = sum(part.deaths.total() for part in self.parts)
        self.figures["acknowledged"] = len(self.acknowledged)
        self.figures["lost"], self.figures["doubled"] = len(lost), len(doubled) + len(missed_twice)
        self._check_emails()

    def _check_emails(self) -> None:
        by_name: dict[str, list[bytes]] = defaultdict(list)
        for email in self.sink.emails:
            by_name[str(email.message["message-id"])].append(email.content)
        changed = [name for name, sent in by_name.items() if len(set(sent)) > 1]
        assert changed == [], "emails came again with different bytes"
        for sent in by_name.values():
            assert sent[0].startswith(b"DKIM-Signature: "), "a signature is part of what has to be the same"
        again = sum(len(sent) - 1 for sent in by_name.values())
        # An email comes twice only if its sender died, or lost the database, after the relay had taken it: at most
        # as many emails as are recorded together. A database that goes away is lost by every sender.
        senders = [part for part in self.parts if part.what == "worker"]
        losses = sum(part.deaths.total() for part in senders) + self.database_may_be_away * len(senders)
        assert again <= TOGETHER * losses
        self.seen["mails"] = self.figures["emails"] = len(by_name)
        self.figures["repeated"], self.figures["changed"] = again, len(changed)


def moves_in(email: ReceivedEmail) -> list[str]:
    """The paths of the links in an email that are one choice each."""
    return re.findall(rf"{SITE}(/m/[a-z2-7]{{33}}/[^\s/]+)\s", email.text)


def post(port: int, path: str, fields: dict[str, str]) -> int:
    """Send a form. Returns the status of the answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Host": "127.0.0.1:8000"}
        connection.request("POST", path, urlencode(fields), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _read(
    row: games.GameRow,
    each: hash_chain.Row,
    choices: dict[tuple[int, int, int], list[str]],
    silent: Counter[tuple[int, int, int]],
) -> None:
    """Note the choices in one row of a log."""
    if each.kind not in (Kind.SEALED, Kind.ENTRY):
        return
    body = body_of(rules_of(row), each)
    assert each.seat is not None or each.kind == Kind.ENTRY
    if each.seat is None:
        return
    if each.kind == Kind.SEALED:
        choices[row.id, body["turn"], each.seat].append(choice_segment(body["choice"]))
        silent[row.id, body["turn"], each.seat] += each.by == Actor.CLOCK
        return
    entry, number = body["entry"], body["turn"]
    if each.seat in entry.choices and each.seat not in entry.alone:
        # Those who had sealed before are noted already; this is the choice that closed the turn.
        choices[row.id, number, each.seat].append(choice_segment(entry.choices[each.seat]))
        silent[row.id, number, each.seat] += each.by == Actor.CLOCK
