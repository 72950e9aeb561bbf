"""Table talk: what players say to everybody at their table.

It is no part of the game: it is kept beside the log, in a chain of its own, it wakes nobody, and it makes no form stale.
The others read it in the next mail of theirs, unless they do not want to hear whoever says it. The text of a line can be
redacted; that somebody said something then stays, and so does the chain.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.game import Game
from pbem.domain import hash_chain
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.domain.talk import Line
from pbem.domain.user_text import parse_talk
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat
from pbem.service.people import admission
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import blocks, games, people, talk
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow

LINES_AN_HOUR: Final = 20
"""So often one seat may speak: a table is no chat, and everybody finds it in a mail."""


def say(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> None:
    """Say something to everybody at a table."""
    said = parse_talk(text)
    game = games.lock(tx, game_id)
    if (seat, person_id) not in {(player.seat, player.person_id) for player in player_rows.of_game(tx, game_id)}:
        raise Forbidden(_("Only those who sit at a table talk at it."))
    admission.must_not_be_banned(tx, server, person_id)
    if game.status != "playing":
        raise Gone(_("Nothing can be said at this table now."), why=_("Its game is not being played."))
    now = server.now()
    if talk.count_since(tx, game_id, seat, now - timedelta(hours=1)) >= LINES_AN_HOUR:
        raise TooMany(
            _("You have said a lot within the last hour, and this was not told to the others."),
            why=_("%(lines_an_hour)s lines in an hour are the most.", lines_an_hour=LINES_AN_HOUR),
        )
    before = talk.last(tx, game_id, game.key)
    name = talk.chain_name(game.key)
    row = hash_chain.next_row(
        hash_chain.genesis(name) if before is None else before.hash,
        game=name,
        seq=1 if before is None else before.seq + 1,
        kind=talk.KIND,
        seat=seat,
        by="person",
        at=now,
        rules=game.rules,
        body=said.encode(),
        nonce=server.randomness.bytes(hash_chain.NONCE_BYTES),
    )
    talk.add(tx, game_id, row)


def heard(tx: Tx, server: Server, game_id: int) -> list[Line]:
    """Everything that was said at a table, the first line first."""
    return talk.lines(tx, game_id, games.read(tx, game_id).key)


def redact(tx: Tx, game_id: int, seq: int) -> None:
    """Take the text of a line away for good. The game is locked, and a row of its log says why."""
    if not talk.redact(tx, game_id, seq):
        raise NotFound(_("There is no such line at that table."))


def check_rows(tx: Tx, game: GameRow) -> hash_chain.ChainCheck:
    """Read the chain of a table's talk, and say what is wrong with it."""
    return check(talk.chain(tx, game.id, game.key), game.key)


def check(rows: Iterable[hash_chain.Row], key: str) -> hash_chain.ChainCheck:
    """The same of rows that came in a file."""
    return hash_chain.verify(rows, game=talk.chain_name(key), redactable=frozenset({talk.KIND}))


MOST_SHOWN = 200
"""Lines on one page; what was said before them stands in the mails and in the file of the game."""


@dataclass(frozen=True, slots=True)
class Room:
    """What one seat hears. `others` are the other people at the table by seat, `unheard` those of them left out.

    `left_out` is how many lines were said by those; `before`, how many are too old for the page.
    """

    title: str
    rules: Game[object]
    turn: int
    status: str
    seat: int
    names: tuple[str, ...]
    others: tuple[int, ...]
    unheard: frozenset[int]
    lines: tuple[Line, ...]
    left_out: int
    before: int
    zone: ZoneInfo

    @property
    def may_speak(self) -> bool:
        """Whether something can be said at this table now."""
        return self.status == "playing" and bool(self.others)


def room(tx: Tx, server: Server, token: str) -> Room:
    """What the holder of a seat's link hears."""
    link = follow_seat(tx, server, token)
    game_id, seat, person_id = link.game_id, link.seat, link.person_id
    row = games.read(tx, game_id)
    players = {player.seat: player for player in player_rows.of_game(tx, game_id) if player.seat is not None}
    unheard = blocks.seats(tx, game_id, seat)
    lines = talk.lines(tx, game_id, row.key)
    heard = [line for line in lines if line.seat not in unheard]
    return Room(
        title=row.title,
        rules=rules_of(row),
        turn=row.turn,
        status=row.status,
        seat=seat,
        names=tuple(players[each].name for each in sorted(players)),
        others=tuple(each for each in sorted(players) if players[each].person_id not in (None, person_id)),
        unheard=unheard,
        lines=tuple(heard[-MOST_SHOWN:]),
        left_out=len(lines) - len(heard),
        before=max(len(heard) - MOST_SHOWN, 0),
        zone=ZoneInfo(people.read(tx, person_id).zone),
    )


def say_by_link(tx: Tx, server: Server, token: str, text: str) -> None:
    """Say something to everybody at the table."""
    link = follow_seat(tx, server, token)
    say(tx, server, link.game_id, link.seat, link.person_id, text)
