"""Performing an act of the desk: in one transaction, with its reason, its audit row, its log rows and its emails.

A `DeskAct` is one act with all its data. `perform` does it, and a dry run of it shows exactly what the button does: log
rows, moved deadlines and queued emails. This module knows nothing about particular acts.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.states import EmailKind
from pbem.domain.user_text import isolate, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.desk import audit, calls
from pbem.service.outgoing import ledger
from pbem.service.play.log import Kind, LogWriter, write
from pbem.service.server import Server
from pbem.store import (
    audit as audit_rows,
    calls as call_rows,
    deadlines,
    games,
    log,
    outbox,
    players as player_rows,
    queued_emails,
)
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow


@dataclass(frozen=True, slots=True)
class Context:
    """What an act works with: the transaction, the server, the actor and the reason."""

    tx: Tx
    server: Server
    actor: Actor
    reason: str

    @property
    def by(self) -> str:
        """The actor as the log and emails name them; an operator at the command line counts as an organiser."""
        return "host" if self.actor.role is Role.HOST else "organiser"

    def called(self, game_id: int, seat: int) -> str:
        """The player of a seat in a sentence: name and seat number."""
        name = next((player.name for player in player_rows.of_game(self.tx, game_id) if player.seat == seat), "–")
        return _("%(who)s (seat %(number)s)", who=isolate(name), number=seat + 1)

    def note(self, row: GameRow, kind: Kind, seat: int | None = None, **body: Any) -> GameRow:
        """Add a row that players can read to the game's log; returns the game after it."""
        record = LogWriter(row, self.server.now(), self.server.randomness)
        record.add(kind, seat, self.by, body | {"reason": self.reason})
        return write(self.tx, row, record)

    def email(self, person_id: int, kind: EmailKind, **facts: Any) -> None:
        email = outbox.NewEmail(person_id, kind, facts=facts | {"reason": self.reason})
        outbox.queue(self.tx, [email], self.server.now())

    def tell_players(self, row: GameRow, what: str, without: int | None = None, **facts: Any) -> None:
        """Email a notice about the act and its reason to the people at a table."""
        players = player_rows.of_game(self.tx, row.id)
        people = {player.person_id for player in players if player.person_id is not None}
        for person_id in sorted(people - {without}):
            queue_notice(
                self.tx, self.server, person_id, row, None, what, facts | {"reason": self.reason, "by": self.by}
            )


@dataclass(frozen=True, slots=True)
class ActResult:
    """What an act reports: lines to show, audit details, its undo, and other tables and people it has emailed."""

    says: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    undo: "DeskAct | None" = None
    tables: tuple[int, ...] = ()
    people: tuple[int, ...] = ()


class DeskAct(ABC):
    """An act with all its data. The fields are stored in the audit, so none may hold an address or a card."""

    kind: ClassVar[Act]
    game_id: int | None
    person_id: int | None

    @abstractmethod
    def do(self, context: Context) -> ActResult:
        """Do it in the open transaction, with the game locked. Raises a Refusal if it cannot be done."""

    def audit_details(self) -> dict[str, Any]:
        """The fields stored in the audit."""
        return {name: value for name, value in asdict(self).items() if name not in ("game_id", "person_id")}  # type: ignore[call-overload]  # all are dataclasses


@dataclass(frozen=True)
class TableAct(DeskAct):
    """An act on one table."""

    game_id: int
    person_id = None


@dataclass(frozen=True)
class PersonAct(DeskAct):
    """An act on one person, whatever they play."""

    person_id: int
    game_id = None


class ServerAct(DeskAct):
    """An act on no particular table or person."""

    game_id = None
    person_id = None


@dataclass(frozen=True, slots=True)
class MovedDeadline:
    """A deadline before and after; None if its clock has not started, or stands still."""

    seat: int
    name: str
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class QueuedEmail:
    """A person who gets an email, and its kind; `what` specifies a notice."""

    name: str
    kind: str
    what: str

    @property
    def about(self) -> str:
        """What the email says, in one word."""
        return self.what or self.kind


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an act did or would do. `again` means it was done before with the same form, and nothing happened now."""

    again: bool = False
    rows: tuple[tuple[str, int | None], ...] = ()
    moved: tuple[MovedDeadline, ...] = ()
    emails: tuple[QueuedEmail, ...] = ()
    says: tuple[str, ...] = ()
    undo: DeskAct | None = None


def perform(
    tx: Tx, server: Server, actor: Actor, act: DeskAct, reason: str, form: str | None = None, call_id: int | None = None
) -> Outcome:
    """Do an act, all or nothing; with the key of a form already used, nothing happens.

    With `call_id` the call is closed, and its caller gets an email.
    """
    reason = parse_reason(reason)
    audit.must_be_allowed(tx, actor, act.kind, act.game_id, act.person_id)
    if act.game_id is not None:
        games.lock(tx, act.game_id)
    # The same form sent twice at once waits for the game, or fails at the audit and is rerun to this point.
    if form is not None and audit_rows.by_form(tx, form) is not None:
        return Outcome(again=True)
    if call_id is not None:
        # Locked before the end of the audit, in the same order as when a call is answered.
        call_rows.lock(tx, call_id)
    before = _Snapshot.of(tx, act)
    result = act.do(Context(tx, server, actor, reason))
    details = {**act.audit_details(), **result.details}
    audit_row = audit.record(
        tx, server, actor, act.kind, reason, game_id=act.game_id, person_id=act.person_id, form=form, **details
    )
    if call_id is not None:
        calls.close_by_act(tx, server, actor, call_id, audit_row)
    return before.compared(tx, act, result, for_host=actor.role is Role.HOST)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """What an act may change, before it."""

    seq: int
    due: Mapping[int, datetime | None]
    names: Mapping[int, str]
    email: int

    @classmethod
    def of(cls, tx: Tx, act: DeskAct) -> "_Snapshot":
        email = queued_emails.newest_id(tx)
        if act.game_id is None:
            return cls(0, {}, {}, email)
        due = {row.seat: row.due_at for row in deadlines.of_game(tx, act.game_id)}
        return cls(games.read(tx, act.game_id).seq, due, _names(player_rows.of_game(tx, act.game_id)), email)

    def compared(self, tx: Tx, act: DeskAct, result: ActResult, *, for_host: bool) -> Outcome:
        """What the act has changed. A host also plays, so deadlines and emails stay hidden from them."""
        players = [] if act.game_id is None else player_rows.of_game(tx, act.game_id)
        queued = queued_emails.after(tx, self.email, (act.game_id, *result.tables), (act.person_id, *result.people))
        # A player who has just lost the seat keeps the name they had.
        names = {**ledger.reader_names(tx, {email.person_id for email in queued}), **self.names, **_names(players)}
        emails = tuple(QueuedEmail(names[email.person_id], email.kind, email.what) for email in queued)
        outcome = Outcome(emails=() if for_host else emails, says=result.says, undo=result.undo)
        if act.game_id is None:
            return outcome
        game = games.read(tx, act.game_id)
        rows = tuple((row.kind, row.seat) for row in log.chain(tx, game.id, game.key, self.seq))
        people = {player.seat: player.name for player in players if player.bot is None}
        moved = tuple(
            MovedDeadline(row.seat, people[row.seat], self.due.get(row.seat), row.due_at)
            for row in sorted(deadlines.of_game(tx, game.id), key=lambda row: row.seat)
            if row.seat in people and row.due_at != self.due.get(row.seat)
        )
        return replace(outcome, rows=rows, moved=() if for_host else moved)


def _names(players: list[PlayerRow]) -> dict[int, str]:
    """Players' names at a table, by person id."""
    return {player.person_id: player.name for player in players if player.person_id is not None}
