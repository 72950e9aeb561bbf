"""Rewinding: a game goes on from an earlier turn.

Nothing is deleted. A row of the log voids all entries from a turn on and opens a turn with a new number, so that its
luck comes from streams nobody has seen and no old link or form fits. Players keep what they have learnt meanwhile.
"""

from collections.abc import Mapping, Sequence

from engine import codec
from pbem.domain.states import EmailKind
from pbem.service.play.log import Kind, LogWriter, StandingEntry, unopened_turn, write
from pbem.service.play.positions import fold_state, position_of
from pbem.service.server import Server
from pbem.store import channels, deadlines, log, outbox, players as player_rows, views
from pbem.store.database import Tx
from pbem.store.games import GameRow


def state_before(row: GameRow, entries: Sequence[StandingEntry], turn: int) -> str:
    """The state of a game, as stored, before the entry of a turn."""
    return codec.dumps(fold_state(row, (standing for standing in entries if standing.turn < turn)))


def go_back(
    tx: Tx,
    server: Server,
    row: GameRow,
    entries: Sequence[StandingEntry],
    turn: int,
    by: str,
    reason: Mapping[str, str],
) -> GameRow:
    """Go back to the start of a turn; returns the game after that. The game is locked. Standing orders are dropped."""
    # Turns without an entry that stands had their luck and links too: the open one, and those that were taken back.
    next_turn = unopened_turn(log.chain(tx, row.id, row.key))
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.REWOUND, None, by, {"from": turn, "turn": next_turn, **reason})
    deadlines.rewind(tx, row.id, turn)
    state = state_before(row, entries, turn)
    row = write(tx, row, record, turn=next_turn, state=state, box="[]", orders="[]")
    views.forget(tx, row.id, turn)
    return row


def ask_again(tx: Tx, server: Server, row: GameRow) -> None:
    """Ask the turn again, with the full time, by email and through channels. Earlier missed turns do not count any more."""
    now, players = server.now(), player_rows.of_game(tx, row.id)
    asked = position_of(tx, row).open()
    deadlines.ask(tx, row.id, row.turn, asked, now)
    for player in players:
        if player.seat is not None:
            player_rows.set_missed(tx, row.id, player.seat, 0)
    emails = [
        outbox.NewEmail(player.person_id, EmailKind.TURN, row.id, row.seq, player.seat, row.turn)
        for player in players
        if player.seat in asked and player.person_id is not None
    ]
    outbox.queue(tx, emails, now)
    channels.tell_table(tx, row.id, EmailKind.TURN, row.turn, row.seq, now)
