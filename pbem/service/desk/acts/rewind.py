"""Rewinding: a game goes on from an earlier turn.

Nothing is deleted. A row of the log voids all entries from a turn on and opens a turn with a new number, so that its
luck comes from streams nobody has seen and no old link or form fits. Players keep what they have learnt meanwhile; the
preview says who learnt what, from what each seat was told and never from what is hidden.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine import codec
from engine.facts import SPECTATOR, fold, seen
from engine.game import Game
from engine.table import Position
from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Gone
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.plugins.away import loads
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.play import move
from pbem.service.play.log import Kind, LogWriter, StandingEntry, standing_entries, write
from pbem.service.play.rules import rules_of
from pbem.store import channels, deadlines, games, log, outbox, players as player_rows, views
from pbem.store.games import GameRow
from pbem.store.players import PlayerRow


@dataclass(frozen=True)
class Rewind(TableAct):
    """Let a game go on from turn `turn`; everything decided since then no longer counts."""

    kind = Act.REWIND
    turn: int

    def do(self, context: Context) -> ActResult:
        row = games.lock(context.tx, self.game_id)
        _must_be_played(row)
        rules = rules_of(row)
        entries = standing_entries(rules, log.chain(context.tx, row.id, row.key))
        if self.turn not in turns(entries):
            raise BadInput(
                _("This game can't go back to turn %(turn)s.", turn=self.turn),
                remedy=_("Choose a turn that still counts, in which someone made a choice."),
            )
        facts = [fact for standing in entries if standing.turn < self.turn for fact in standing.entry.facts]
        state = fold(rules.start(row.seats, json.loads(row.options)), facts)
        gone = [standing for standing in entries if standing.turn >= self.turn]
        players = player_rows.of_game(context.tx, row.id)
        says = tuple(_learnt(rules, row, players, gone))
        row = _go_back(context, row, self.turn, state)
        _ask(context, row, players, self.turn, len(gone))
        return ActResult(says, details={"entries": len(gone), "next_turn": row.turn})


def turns(entries: list[StandingEntry]) -> list[int]:
    """The turns a game can go back to: those in which someone decided something."""
    return [standing.turn for standing in entries if standing.entry.choices.keys() - standing.entry.alone]


def _must_be_played(row: GameRow) -> None:
    if row.status in (TableStatus.OVER, TableStatus.VOID):
        raise Gone(
            _("This game is over."),
            why=_("Its secret is public, so anyone could work out all further luck."),
            remedy=_("The same people can start a new table."),
        )
    if row.status != TableStatus.PLAYING:
        raise Gone(_("This game isn't in progress."), remedy=_("Nothing changed."))


def _go_back(context: Context, row: GameRow, turn: int, state: Any) -> GameRow:
    """Add the row to the log and void the deadlines; returns the game after it."""
    # The open turn has no entry yet, but its number is already in links and forms.
    next_turn = row.turn + 1
    record = LogWriter(row, context.server.now(), context.server.randomness)
    record.add(Kind.REWOUND, None, context.by, {"from": turn, "turn": next_turn, "reason": context.reason})
    deadlines.rewind(context.tx, row.id, turn)
    row = write(context.tx, row, record, turn=next_turn, state=codec.dumps(state), box="[]", orders="[]")
    views.forget(context.tx, row.id, turn)
    return row


def _ask(context: Context, row: GameRow, players: list[PlayerRow], turn: int, many: int) -> None:
    """Ask the turn again and tell all seats. Earlier missed turns do not count any more."""
    tx, now = context.tx, context.server.now()
    asked = Position(rules_of(row), row.seats, row.seed or b"", loads(rules_of(row), row.state), row.turn).open()
    deadlines.ask(tx, row.id, row.turn, asked, now)
    for player in players:
        if player.seat is not None:
            player_rows.set_missed(tx, row.id, player.seat, 0)
    context.tell_players(row, "rewound", turn=turn, entries=many, next_turn=row.turn)
    emails = [
        outbox.NewEmail(player.person_id, EmailKind.TURN, row.id, row.seq, player.seat, row.turn)
        for player in players
        if player.seat in asked and player.person_id is not None
    ]
    outbox.queue(tx, emails, now)
    channels.tell_table(tx, row.id, EmailKind.TURN, row.turn, row.seq, now)


def _learnt(rules: Game[Any], row: GameRow, players: list[PlayerRow], gone: list[StandingEntry]) -> Iterator[str]:
    """Lines about what players know of the voided turns: what everyone was told, and how much only some saw."""
    names = {player.seat: player.name for player in players if player.seat is not None}
    teller = speech.teller(rules, None, tuple(names[seat] for seat in sorted(names)))
    yield _("Turns taken back: %(many)s. Everyone still knows what happened in them:", many=len(gone))
    alone: Counter[str] = Counter()
    for standing in gone:
        for fact in standing.entry.facts:
            public = seen(fact, SPECTATOR)
            if (sentence := teller.tell(public)) is not None:
                yield _("Turn %(number)s: %(sentence)s", number=standing.turn, sentence=sentence)
            knowing = [names[seat] for seat in range(row.seats) if seen(fact, seat) != public]
            if knowing:
                alone[" and ".join(knowing)] += 1
    for who, many in sorted(alone.items()):
        yield _("Only %(who)s saw what was hidden in %(many)s of these events, and still knows it.", who=who, many=many)
    if move.position_of(row).box:
        yield _("The current turn's sealed choices are dropped unseen.")
    yield _("Standing orders are dropped, and all cards and dice from here on are new.")
