"""What must be true in a simulation: checked after each step where that is cheap, and wholly at the end.

It looks where no player can: into the database. A promise that is broken ends the run with what, where and when.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.game import Game
from pbem.domain.choice_links import choice_segment
from pbem.domain.deadline import PATIENCE
from pbem.domain.hash_chain import Row
from pbem.domain.interval import ZERO, Interval
from pbem.domain.outage import LONGEST_GAP
from pbem.domain.pace import PerDecision, parse_pace
from pbem.ops.verify import games_to_verify, verify_games
from pbem.service import links
from pbem.service.play.log import TAKES_BACK, Kind, body_of
from pbem.service.play.move import Actor
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import games, ledger, log as log_rows, outbox, reachability
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkRow
from pbem.tokens import Purpose
from tests.fakes import FakeClock
from tests.sim.far_end import Arrived, BrokenError, FarEnd
from tests.sim.player import Answered

Turn = tuple[int, int, int]
"""Game, turn and seat."""


@dataclass(slots=True)
class Truth:
    """Everything acknowledged and promised so far."""

    server: Server
    clock: FakeClock
    seen: Counter[str]
    acknowledged: dict[Turn, set[int]] = field(default_factory=lambda: defaultdict(set))
    taken_back: set[Turn] = field(default_factory=set)
    unanswered: set[datetime] = field(default_factory=set)
    asked_at: dict[Turn, datetime] = field(default_factory=dict)
    emailed_at: dict[Turn, datetime] = field(default_factory=dict)
    promised: dict[Turn, list[tuple[datetime, datetime]]] = field(default_factory=lambda: defaultdict(list))
    away: list[Interval] = field(default_factory=list)

    def arrived(self, email: Arrived, seat_token: str) -> None:
        """Note the deadline in an email that asks for a move, now in its player's inbox."""
        link = self.server.read(links.follow, seat_token, Purpose.SEAT)
        key = _turn(link, link.turn)
        self.emailed_at.setdefault(key, email.at)
        if not email.subject.startswith("Re: "):
            self.asked_at.setdefault(key, email.at)
        if (until := until_in(email.text)) is not None:
            self.promised[key].append((email.at, until))

    def acknowledge(self, answer: Answered) -> None:
        """Note a choice acknowledged by a page, and check that it is in the log."""
        key = self._turn(answer)
        with self.server.store.read() as tx:
            row = games.read(tx, key[0])
            made = _made(tx, row, key[1], key[2])
        if made is None:
            raise BrokenError(f"an acknowledged choice of seat {key[2]} in turn {key[1]} is not in the log of {row.id}")
        self.acknowledged[key].add(made[0])
        self.seen["choice acknowledged"] += 1

    def note_undo(self, answer: Answered) -> None:
        """Note that a page acknowledged an undo."""
        self.taken_back.add(self._turn(answer))

    def at_the_end(self, far_end: FarEnd, heads: set[str]) -> int:
        """Check everything. Returns the number of log rows."""
        store = self.server.store
        game_ids, rows = games_to_verify(store)
        for report in verify_games(store, game_ids):
            if not report.sound:
                raise BrokenError(f"game {report.game_id} does not verify: {report.problems}")
        known: set[str] = set()
        for game_id in game_ids:
            with store.read() as tx:
                row = games.read(tx, game_id)
                log = list(log_rows.chain(tx, row.id, row.key))
                emails = outbox.of_game(tx, row.id, -1)
                lines = ledger.lines(tx, [email.id for email in emails])
                without_mail = self._without_mail(tx, emails, lines)
            if row.status != "over":
                raise BrokenError(f"game {row.id} has not ended: it is {row.status}")
            known |= {each.hash.hex()[:20] for each in log}
            self._moves(row, log)
            self._time_outs(row, log, without_mail)
            _all_delivered(emails, far_end)
        if not heads <= known:
            raise BrokenError(f"mails have shown heads that no log has: {sorted(heads - known)}")
        return rows

    def _turn(self, answer: Answered) -> Turn:
        link = self.server.read(links.follow, answer.token, Purpose(answer.purpose))
        return _turn(link, link.turn if answer.turn is None else answer.turn)

    def _moves(self, row: GameRow, log: list[Row]) -> None:
        """Check that every acknowledged choice is logged once, and no other choice of a person."""
        rules = rules_of(row)
        by_seq = {each.seq: each for each in log}
        mine = {key: seqs for key, seqs in self.acknowledged.items() if key[0] == row.id}
        for (_, turn, seat), seqs in mine.items():
            for seq in seqs:
                if _choice_in(rules, by_seq[seq], turn, seat) is None:
                    raise BrokenError(f"row {seq} of game {row.id} no longer holds the choice that was acknowledged")
        acknowledged = {seq for seqs in mine.values() for seq in seqs}
        last: dict[tuple[int, int], str] = {}
        for each in log:
            if each.by != Actor.PERSON or each.kind not in (Kind.SEALED, Kind.ENTRY) or each.seat is None:
                if each.kind in {Kind.WITHDRAWN, *TAKES_BACK}:
                    last.clear()
                continue
            body = body_of(rules, each)
            turn = body["turn"]
            choice = _choice_in(rules, each, turn, each.seat)
            # Entries that answered themselves follow the one that a choice made, and hold no choice of the seat.
            if choice is None or (each.kind == Kind.ENTRY and each.seat in body["entry"].alone):
                continue
            if last.get((turn, each.seat)) == choice_segment(choice):
                raise BrokenError(f"row {each.seq} of game {row.id} makes a choice a second time")
            last[turn, each.seat] = choice_segment(choice)
            if each.seq not in acknowledged and each.at not in self.unanswered:
                raise BrokenError(f"nobody was told of the choice in row {each.seq} of game {row.id}")

    def _without_mail(
        self, tx: Tx, emails: list[outbox.EmailRow], lines: dict[int, list[ledger.LedgerRow]]
    ) -> dict[Any, datetime]:
        """Turns that need no email, and since when their clocks may have run.

        An email held back by its reader's own preferences counts from the time it could have left; an address that fails
        holds a table up for a limited time only.
        """
        found = {}
        for email in emails:
            if email.kind != "turn":
                continue
            key = (email.game_id, email.turn, email.seat)
            if any(line.what in ("waits", "withheld") for line in lines.get(email.id, [])):
                found[key] = email.queued_at + self.server.hold
            elif email.status == "undeliverable":
                for failed in reachability.since(tx, {email.person_id}, email.queued_at)[email.person_id][:1]:
                    found[key] = max(email.queued_at, failed.start + PATIENCE)
        return found

    def _time_outs(self, row: GameRow, log: list[Row], without_mail: dict[Any, datetime]) -> None:
        """Check that no clock ran out before the deadline in its email, nor because of an outage."""
        pace = parse_pace(row.pace)
        assert isinstance(pace, PerDecision)
        for each in log:
            if each.by != Actor.CLOCK or each.seat is None or each.kind not in (Kind.SEALED, Kind.ENTRY):
                continue
            body = body_of(rules_of(row), each)
            turn = body["turn"]
            key = (row.id, turn, each.seat)
            if turn < 0 or key in self.taken_back:
                continue
            if each.kind == Kind.ENTRY and each.seat not in body["entry"].choices:
                continue
            if each.kind == Kind.ENTRY and each.seat in body["entry"].alone:
                continue
            self.seen["time-out"] += 1
            known = [at for at in (self.emailed_at.get(key), without_mail.get(key)) if at is not None]
            if not any(at <= each.at for at in known):
                raise BrokenError(f"seat {each.seat} was timed out in turn {turn} of game {row.id} without a mail")
            # Whose address was dead for long gets a reminder of a clock that runs already.
            asked = min(self.asked_at.get(key, each.at), without_mail.get(key, each.at), each.at)
            down = sum((_overlap(hole, asked, each.at) for hole in self.away if _length(hole) > LONGEST_GAP), ZERO)
            floors = [until for at, until in self.promised[key] if at <= each.at]
            if asked < each.at:
                floors.append(asked + pace.allowed + down)
            if each.at < max(floors):
                raise BrokenError(
                    f"seat {each.seat} of game {row.id} was timed out in turn {turn} at {each.at}, "
                    f"asked at {asked}, while there was time until {max(floors)}"
                )
            if down:
                self.seen["time-out after we were away"] += 1


def _turn(link: LinkRow, turn: int | None) -> Turn:
    assert link.game_id is not None, "a link of a seat is one of a game"
    assert turn is not None, "and of a turn"
    assert link.seat is not None
    return link.game_id, turn, link.seat


def _made(tx: Tx, row: GameRow, turn: int, seat: int) -> tuple[int, Any] | None:
    """The row with the current choice of a seat in a turn, and the choice."""
    rules = rules_of(row)
    undone_from: int | None = None
    for each in log_rows.chain_back(tx, row.id, row.key):
        if each.kind in TAKES_BACK:
            number = body_of(rules, each)["from"]
            undone_from = number if undone_from is None else min(undone_from, number)
        elif each.kind == Kind.ENTRY:
            number = body_of(rules, each)["turn"]
            if undone_from is not None and number >= undone_from:
                continue
            undone_from = None
            if number < turn:
                return None
        elif each.kind == Kind.WITHDRAWN and each.seat == seat and body_of(rules, each)["turn"] == turn:
            return None
        if (choice := _choice_in(rules, each, turn, seat)) is not None:
            return each.seq, choice
    return None


def _choice_in(rules: Game[Any], row: Row, turn: int, seat: int) -> Any:
    """The choice of a seat in a turn in this row."""
    if row.kind == Kind.SEALED and row.seat == seat:
        body = body_of(rules, row)
        return body["choice"] if body["turn"] == turn else None
    if row.kind == Kind.ENTRY:
        body = body_of(rules, row)
        return body["entry"].choices.get(seat) if body["turn"] == turn else None
    return None


def _all_delivered(emails: list[outbox.EmailRow], far_end: FarEnd) -> None:
    """Check that no email waits and every sent email has arrived."""
    for email in emails:
        if email.status in ("queued", "parked"):
            raise BrokenError(f"mail {email.id} ({email.kind}, game {email.game_id}) is {email.status} at the end")
        # The turns in a digest have no message id of their own.
        if email.status == "sent" and email.message_id is not None and email.message_id not in far_end.bytes_of:
            raise BrokenError(f"mail {email.id} ({email.kind}, game {email.game_id}) was accepted by nobody")


def _overlap(hole: Interval, start: datetime, end: datetime) -> timedelta:
    assert hole.end is not None
    return max(ZERO, min(hole.end, end) - max(hole.start, start))


def _length(hole: Interval) -> timedelta:
    assert hole.end is not None
    return hole.end - hole.start


def until_in(text: str) -> datetime | None:
    """The deadline in an email, in UTC."""
    found = _UNTIL.search(" ".join(text.split()))
    if found is None:
        return None
    day, month, year, hour, minute = found.groups()
    return datetime(int(year), 1 + _MONTHS.index(month), int(day), int(hour), int(minute), tzinfo=UTC)


_UNTIL = re.compile(r"Please decide by \w{3} (\d{1,2}) (\w{3}) (\d{4}), (\d{2}):(\d{2}) UTC")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
