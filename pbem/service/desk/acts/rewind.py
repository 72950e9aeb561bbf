"""Rewinding as an act of the desk: the preview says who has learnt what, from what each seat was told and never from what
is hidden. `clocks.rewind` does it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.facts import SPECTATOR, seen
from engine.game import Game
from pbem.domain.acts import Act
from pbem.domain.errors import BadInput, Gone
from pbem.domain.states import TableStatus
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import rewind
from pbem.service.desk.acts.perform import ActResult, Context, TableAct
from pbem.service.play.log import StandingEntry, standing_entries
from pbem.service.play.positions import box_of
from pbem.service.play.rules import rules_of
from pbem.store import games, log, players as player_rows
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
        gone = [standing for standing in entries if standing.turn >= self.turn]
        players = player_rows.of_game(context.tx, row.id)
        says = tuple(_learnt(rules, row, players, gone))
        tx, server = context.tx, context.server
        row = rewind.go_back(tx, server, row, entries, self.turn, context.by, {"reason": context.reason})
        context.tell_players(row, "rewound", turn=self.turn, entries=len(gone), next_turn=row.turn)
        rewind.ask_again(tx, server, row)
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
    if box_of(row):
        yield _("The current turn's sealed choices are dropped unseen.")
    yield _("Standing orders are dropped, and all cards and dice from here on are new.")
