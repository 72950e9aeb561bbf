"""How any act of moderation is done: in one transaction, with its reason, its row in the audit, its rows and its mails.

A `Deed` is one act with all that it needs. `perform` does it. `preview` does the very same and takes it back, so that what
is shown before the button is what the button does. Both say what came of it: rows of the log, deadlines that moved, and who
gets which mail. Nothing here knows what a deed is about.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from pbem.domain.acts import Act, Actor, Role
from pbem.domain.user_text import isolate, parse_reason
from pbem.i18n.speech import gettext as _
from pbem.service.desk import audit, calls
from pbem.service.outgoing import ledger
from pbem.service.play.log import Kind, LogWriter, write
from pbem.service.server import Server
from pbem.store import calls as call_rows
from pbem.store import deadlines, games, log, moderation
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow


@dataclass(frozen=True, slots=True)
class Doing:
    """What a deed has at hand while it is done: the transaction, the house, who does it and why."""

    tx: Tx
    server: Server
    actor: Actor
    reason: str

    @property
    def by(self) -> str:
        """As what the log of a game and its mails name whoever acts: somebody at the machine speaks as the organiser."""
        return "host" if self.actor.role is Role.HOST else "organiser"

    def called(self, game_id: int, seat: int) -> str:
        """Who sits there, as a sentence names them: by their name and the number of the seat."""
        name = next((player.name for player in player_rows.of_game(self.tx, game_id) if player.seat == seat), "–")
        return _("%(who)s (seat %(number)s)", who=isolate(name), number=seat + 1)

    def note(self, row: GameRow, kind: Kind, seat: int | None = None, **body: Any) -> GameRow:
        """Write a row of the game's log that the players can read; the game as it is then."""
        record = LogWriter(row, self.server.now(), self.server.randomness)
        record.add(kind, seat, self.by, body | {"reason": self.reason})
        return write(self.tx, row, record)


@dataclass(frozen=True, slots=True)
class Done:
    """What a deed itself says of itself: what else to show, what else the audit keeps, and how it could be made good.

    `tables` and `people` are those besides its own about which, and to whom, it has written mails.
    """

    says: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    undo: "Deed | None" = None
    tables: tuple[int, ...] = ()
    people: tuple[int, ...] = ()


class Deed(ABC):
    """One act with all that it needs. The fields are kept in the audit, so none may hold an address or a card."""

    act: ClassVar[Act]
    game_id: int | None
    person_id: int | None

    @abstractmethod
    def do(self, doing: Doing) -> Done:
        """Do it in the transaction that is under way; refused where it cannot be done. The game is locked."""

    def kept(self) -> dict[str, Any]:
        """What the audit keeps of it."""
        return {name: value for name, value in asdict(self).items() if name not in ("game_id", "person_id")}  # type: ignore[call-overload]  # all are dataclasses


class AtTable(Deed):
    """An act at one table."""

    person_id = None


class OnPerson(Deed):
    """An act that concerns one person, whatever they play."""

    game_id = None


class OnServer(Deed):
    """An act that concerns no table and no person in particular."""

    game_id = None
    person_id = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A deadline that became another. `None` is one that is not known: its clock has not started, or stands still."""

    seat: int
    name: str
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, slots=True)
class Told:
    """Somebody who gets a mail, and of which kind; `what` says more of a notice."""

    name: str
    kind: str
    what: str

    @property
    def about(self) -> str:
        """What the mail says, in one word."""
        return self.what or self.kind


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came, or would come, of a deed. `again` says that it was done before with the same form, and nothing now."""

    again: bool = False
    rows: tuple[tuple[str, int | None], ...] = ()
    moved: tuple[Moved, ...] = ()
    told: tuple[Told, ...] = ()
    says: tuple[str, ...] = ()
    undo: Deed | None = None


def perform(
    tx: Tx, server: Server, actor: Actor, deed: Deed, reason: str, form: str | None = None, call_id: int | None = None
) -> Outcome:
    """Do it, all or nothing; with the key of a form that was sent before, nothing more happens.

    A call that it was done for is closed by it, and its caller told.
    """
    said = parse_reason(reason)
    audit.must_be_allowed(tx, actor, deed.act, deed.game_id, deed.person_id)
    if deed.game_id is not None:
        games.lock(tx, deed.game_id)
    # Whoever sent the same form at the same moment has waited for the game, or fails at the audit and comes here again.
    if form is not None and audit.done_with(tx, form) is not None:
        return Outcome(again=True)
    if call_id is not None:
        # Before the end of the audit, as whoever answers a call does.
        call_rows.lock(tx, call_id)
    before = _Before.of(tx, deed)
    done = deed.do(Doing(tx, server, actor, said))
    written = audit.record(
        tx,
        server,
        actor,
        deed.act,
        said,
        game_id=deed.game_id,
        person_id=deed.person_id,
        form=form,
        **{**deed.kept(), **done.kept},
    )
    if call_id is not None:
        calls.settle(tx, server, actor, call_id, written)
    return before.compared(tx, deed, done, for_host=actor.role is Role.HOST)


def preview(server: Server, actor: Actor, deed: Deed, reason: str) -> Outcome:
    """What would come of it, found out by doing it in a transaction that is taken back."""

    def pretend(tx: Tx) -> NoReturn:
        raise _TakenBack(perform(tx, server, actor, deed, reason))

    try:
        server.store.write(pretend)
    except _TakenBack as taken_back:
        return taken_back.outcome


class _TakenBack(Exception):
    """The transaction ends here and leaves nothing behind."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class _Before:
    """What a deed may change, as it was."""

    seq: int
    due: Mapping[int, datetime | None]
    names: Mapping[int, str]
    email: int

    @classmethod
    def of(cls, tx: Tx, deed: Deed) -> "_Before":
        email = moderation.newest_mail(tx)
        if deed.game_id is None:
            return cls(0, {}, {}, email)
        due = {row.seat: row.due_at for row in deadlines.of_game(tx, deed.game_id)}
        return cls(games.read(tx, deed.game_id).seq, due, _names(player_rows.of_game(tx, deed.game_id)), email)

    def compared(self, tx: Tx, deed: Deed, done: Done, *, for_host: bool) -> Outcome:
        """What the deed has changed. A host plays there too: who has answered, and what is written to whom, stays hidden."""
        tables, persons = (deed.game_id, *done.tables), (deed.person_id, *done.people)
        emails = moderation.mails_after(tx, self.email, tables, persons)
        if deed.game_id is None:
            players: list[PlayerRow] = []
            rows: tuple[tuple[str, int | None], ...] = ()
            moved: tuple[Moved, ...] = ()
        else:
            players = player_rows.of_game(tx, deed.game_id)
            called = {player.seat: player.name for player in players if player.seat is not None and player.bot is None}
            game = games.read(tx, deed.game_id)
            rows = tuple((row.kind, row.seat) for row in log.chain(tx, game.id, game.key, self.seq))
            after = {row.seat: row.due_at for row in deadlines.of_game(tx, game.id)}
            moved = tuple(
                Moved(seat, called[seat], self.due.get(seat), due)
                for seat, due in sorted(after.items())
                if due != self.due.get(seat) and seat in called
            )
        # Whoever has just lost a seat is called as they were.
        names = {**ledger.reader_names(tx, {email.person_id for email in emails}), **self.names, **_names(players)}
        told = tuple(Told(names[email.person_id], email.kind, email.what) for email in emails)
        if for_host:
            moved, told = (), ()
        return Outcome(rows=rows, moved=moved, told=told, says=done.says, undo=done.undo)


def _names(players: list[PlayerRow]) -> dict[int, str]:
    """What people are called at a table, by their numbers."""
    return {player.person_id: player.name for player in players if player.person_id is not None}
