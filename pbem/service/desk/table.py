"""A table as the desk shows it: seats, deadlines, what happened, its emails and its log; and interventions for players.

No hidden card, sealed choice or standing order is in it: log rows show their kinds, turns what everyone was told. Only
`see_as` shows a table as a seat sees it, for a reason, and each time is audited. A host usually plays there too, so
they see no more than a player.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

from engine.board import Board
from engine.game import Game
from engine.options import agreed
from engine.tell import Teller, Text
from pbem.domain import hash_chain
from pbem.domain.acts import Act, Actor, Role
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.domain.former_players import FormerPlayer, name_at_row, names_in_turn
from pbem.domain.localtime import stored_zone
from pbem.domain.moments import explanation
from pbem.domain.states import TableStatus
from pbem.domain.talk import Line
from pbem.domain.user_text import isolate
from pbem.domain.week import week_text
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import deadlines as clocks_deadlines
from pbem.service.desk import audit
from pbem.service.links import follow_seat
from pbem.service.outgoing import ledger
from pbem.service.outgoing.ledger import EmailHistory
from pbem.service.play import views
from pbem.service.play.log import KNOWN_TO_ALL, Kind, entries_back, json_body_of, public_body_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import decision_in
from pbem.service.server import Server
from pbem.store import (
    audit as audit_rows,
    deadlines,
    games,
    log as log_rows,
    people,
    players as player_rows,
    seats as seat_rows,
    talk as talk_rows,
)
from pbem.store.audit import AuditFilter, AuditRow
from pbem.store.database import Tx
from pbem.store.deadlines import DeadlineRow
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow

MOST_ROWS: Final = 40
MOST_ACTS: Final = 20
MOST_EMAILS: Final = 30
MOST_TURNS: Final = 40
MOST_LINES: Final = 2000
"""The most of each on a table's page, of talk only for its host, newest first; the rest is in the log, the audit and the ledger."""

MOST_INTERVENTIONS: Final = 60
"""The most rows on the page for players."""

_MODERATORS: Final = ("organiser", "host")
_PUBLIC_KINDS: Final = (Kind.DELAYED, Kind.EXTENDED, Kind.REWOUND, Kind.FROZEN, Kind.UNFROZEN)


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log without secrets; `says` is its body if it is an act of organisers, hosts or the server.

    `name` is that of its seat's player then, `giver` that of a player who gave the seat more time. For a host it has no number, which would tell how many rows are left out.
    """

    seq: int | None
    at: datetime
    kind: str
    seat: int | None
    by: str
    says: Mapping[str, Any]
    number: int | None = None
    name: str = ""
    giver: str = ""


@dataclass(frozen=True, slots=True)
class SeatStatus:
    """A seat, its player and its deadline; `due` is None for a host, who must not see who has decided."""

    seat: int
    name: str
    person_id: int | None
    bot: str | None
    missed: int
    due: DeadlineRow | None


@dataclass(frozen=True, slots=True)
class DeskTable:
    """A table at the desk; `former` are the names of former players."""

    game: GameRow
    rules: Game[Any]
    for_host: bool
    host: str
    seats: tuple[SeatStatus, ...]
    former: tuple[str, ...]
    log: tuple[LogLine, ...]
    acts: tuple[AuditRow, ...]
    emails: tuple[EmailHistory, ...]
    talk: tuple[Line, ...]
    turns: tuple[tuple[int, str], ...]
    called: Mapping[int, str]
    """Names of the readers of its emails, by person id."""

    @property
    def names(self) -> dict[int, str]:
        return {seat.seat: seat.name for seat in self.seats}

    @property
    def agreed(self) -> tuple[str, ...]:
        """The game's options, as people say them."""
        teller, options = speech.teller(self.rules), json.loads(self.game.options)
        known = (option for option in self.rules.options if option.name in options)
        return tuple(teller(agreed(option, options[option.name])) for option in known)

    @property
    def head(self) -> str:
        """The head of the log, as printed in emails."""
        return hash_chain.fingerprint(self.game.entry_head)


def table(tx: Tx, server: Server, actor: Actor, game_id: int) -> DeskTable:
    """A table, for an organiser or its host."""
    audit.must_be_allowed(tx, actor, Act.TABLE, game_id)
    game = games.read(tx, game_id)
    for_host = actor.role is Role.HOST
    rules, players = rules_of(game), player_rows.of_game(tx, game_id)
    emails, names = () if for_host else tuple(ledger.of_game(tx, game_id, MOST_EMAILS)), _names(tx, game_id)
    return DeskTable(
        game=game,
        rules=rules,
        for_host=for_host,
        host=_host_name(tx, game, players),
        seats=tuple(_seats(tx, game, players, for_host=for_host)),
        former=tuple(dict.fromkeys(each.name for each in names.former)),
        log=tuple(_log(tx, game, names, for_host=for_host)),
        # Players find in the log what they may know; a call and its answer are between two people.
        acts=() if for_host else tuple(audit_rows.newest(tx, AuditFilter(game_id=game_id), None, MOST_ACTS)),
        emails=emails,
        talk=tuple(talk_rows.lines(tx, game.id, game.key, MOST_LINES if for_host else None)),
        turns=() if for_host else tuple(_turns(tx, game, rules, names)),
        called=ledger.reader_names(tx, {email.person_id for email in emails}, players),
    )


def _host_name(tx: Tx, game: GameRow, players: list[PlayerRow]) -> str:
    """The name that the host uses at the table, or else that of their account."""
    at_table = (player.name for player in players if player.person_id == game.host_id)
    return next(at_table, None) or people.read(tx, game.host_id).name


def clocks(
    tx: Tx, server: Server, actor: Actor, game_id: int
) -> tuple[GameRow, list[tuple[SeatStatus, tuple[str, ...]]]]:
    """A table, and for each of its open deadlines how it came about, line by line."""
    audit.must_be_allowed(tx, actor, Act.TABLE, game_id)
    if actor.role is Role.HOST:
        raise Forbidden(_("A host can't see who has answered."), why=_("Neither can the players."))
    game = games.read(tx, game_id)
    players = player_rows.of_game(tx, game_id)
    names = {player.seat: player.name for player in players if player.seat is not None}
    seats = _seats(tx, game, players, for_host=False)
    running = clocks_deadlines.clocks_of(tx, {game.id: game}, [seat.due for seat in seats if seat.due is not None])
    explanations = {
        seat: (
            *explanation(clocks_deadlines.current_deadline(clock, server.now()), stored_zone(clock.person.zone), names),
            *([_("Time off: %(times)s", times=week_text(clock.timing.week))] if clock.timing.week else ()),
        )
        for (_game, _turn, seat), clock in running.items()
    }
    return game, [(seat, explanations[seat.seat]) for seat in seats if seat.seat in explanations]


@dataclass(frozen=True, slots=True)
class SeatSight:
    """A table as a seat sees it, or saw it when an earlier turn was open."""

    game: GameRow
    seat: int
    turn: int
    board: Board
    teller: Teller
    prompt: Text | None


def see_as(
    tx: Tx, server: Server, actor: Actor, game_id: int, seat: int, reason: str, turn: int | None = None
) -> SeatSight:
    """Show a table as a seat sees it now, or as it was in a turn; the reason is audited before anything is shown."""
    game = games.lock(tx, game_id)
    if game.started_at is None:
        raise Gone(_("This game hasn't started, so nobody sees anything yet."), remedy=_("Nothing was shown."))
    players = player_rows.of_game(tx, game_id)
    if all(player.seat != seat for player in players):
        raise NotFound(_("This game has no such seat."), remedy=_("Nothing was shown."))
    audit.look(tx, actor, Act.SEE_AS, game_id)
    turn = game.turn if turn is None else min(turn, game.turn)
    audit.record(tx, server, actor, Act.SEE_AS, reason, game_id=game_id, seat=seat, turn=turn)
    rules = rules_of(game)
    view = views.view_before(tx, game, seat, turn)
    names = tuple(map(isolate, _names(tx, game_id).in_turn(turn)))
    is_asked = game.status == TableStatus.PLAYING or turn < game.turn
    decision = decision_in(rules, view, seat) if is_asked else None
    prompt = None if decision is None else decision.prompt
    return SeatSight(game, seat, turn, rules.board(view, seat), speech.teller(rules, seat, names), prompt)


@dataclass(frozen=True, slots=True)
class Interventions:
    """Rows of the log about acts of organisers and hosts, about outages and time that players gave, as players see them; newest first."""

    title: str
    zone: ZoneInfo
    rows: tuple[LogLine, ...]


def interventions(tx: Tx, server: Server, token: str) -> Interventions:
    """The interventions at the table of a seat's link."""
    link = follow_seat(tx, server, token)
    game = games.read(tx, link.game_id)
    chain = log_rows.chain_back(tx, game.id, game.key)
    rows = (row for row in chain if row.by in _MODERATORS or row.kind in _PUBLIC_KINDS)
    names = _names(tx, game.id)
    return Interventions(
        title=game.title,
        zone=stored_zone(people.read(tx, link.person_id).zone),
        rows=tuple(names.beside(public_line(row)) for row in islice(rows, MOST_INTERVENTIONS)),
    )


def public_line(row: hash_chain.Row) -> LogLine:
    """A row without secrets. It is read without the rules, which may be missing."""
    if row.kind == Kind.ENTRY:
        return LogLine(row.seq, row.at, row.kind, row.seat, row.by, {}, json_body_of(row)["turn"])
    return LogLine(row.seq, row.at, row.kind, row.seat, row.by, public_body_of(row))


def _seats(tx: Tx, game: GameRow, players: list[PlayerRow], *, for_host: bool) -> list[SeatStatus]:
    open_rows = {} if for_host else {row.seat: row for row in deadlines.of_game(tx, game.id)}
    return [
        SeatStatus(
            seat, player.name, player.person_id, player.bot, 0 if for_host else player.missed, open_rows.get(seat)
        )
        for seat, player in sorted((player.seat, player) for player in players if player.seat is not None)
    ]


@dataclass(frozen=True, slots=True)
class _Names:
    """Who plays and played the seats of a table."""

    now: tuple[str, ...]
    former: tuple[FormerPlayer, ...]

    def in_turn(self, turn: int) -> tuple[str, ...]:
        return names_in_turn(turn, self.now, self.former)

    def beside(self, line: LogLine) -> LogLine:
        """A line with the names of the players it speaks of, as they were then."""
        if line.seat is None or line.seq is None:
            return line
        giver = line.says.get("giver")
        return replace(
            line, name=self._at(line.seq, line.seat), giver="" if giver is None else self._at(line.seq, giver)
        )

    def _at(self, seq: int, seat: int) -> str:
        return name_at_row(seq, seat, self.now[seat], self.former)


def _names(tx: Tx, game_id: int) -> _Names:
    taken = seat_rows.taken(tx, game_id)
    return _Names(tuple(each.name for each in taken), seat_rows.former(taken))


def _log(tx: Tx, game: GameRow, names: _Names, *, for_host: bool) -> list[LogLine]:
    kinds = KNOWN_TO_ALL if for_host else ()
    rows = islice(log_rows.chain_back(tx, game.id, game.key, kinds), MOST_ROWS)
    lines = [names.beside(public_line(row)) for row in rows]
    return [_for_players(line) for line in lines] if for_host else lines


def _for_players(line: LogLine) -> LogLine:
    """A line as a player may know it: of a turn not who closed it, and so answered last, nor how."""
    line = replace(line, seq=None)
    return replace(line, seat=None, name="", by="") if line.kind == Kind.ENTRY else line


def _turns(tx: Tx, game: GameRow, rules: Game[Any], names: _Names) -> list[tuple[int, str]]:
    """The newest turns the game can go back to, each with the players who decided."""
    if game.status != TableStatus.PLAYING:
        return []
    turns = []
    for standing in islice(entries_back(rules, log_rows.chain_back(tx, game.id, game.key)), MOST_TURNS):
        deciders = sorted(standing.entry.choices.keys() - standing.entry.alone)
        if deciders:
            turns.append((standing.turn, ", ".join(names.in_turn(standing.turn)[seat] for seat in deciders)))
    return turns
