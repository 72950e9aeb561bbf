"""Table talk: messages to everyone at a table.

Talk is no part of the game: it has a hash chain of its own beside the log, sends no notification and makes no form stale.
The others read it in their next email, unless they block its author. The text of a line can be redacted; the line itself
and the chain stay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.game import Game
from pbem.domain import hash_chain
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.domain.user_text import parse_talk
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat
from pbem.service.people import admission
from pbem.service.play.log import Kind
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import blocks, games, log, people, talk
from pbem.store import players as player_rows
from pbem.store.database import Tx
from pbem.store.games import GameRow

LINES_AN_HOUR: Final = 20
"""Lines of one seat in an hour: talk goes into emails, so it is not a chat."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of talk. The text is None if it was redacted.

    `earlier` means that the seat has changed hands since, so the line is not its present player's.
    """

    seq: int
    seat: int
    at: datetime
    text: str | None
    earlier: bool = False

    def who(self, name: str) -> str:
        """The author's name, given that of the seat's present player. Names of earlier players are not stored."""
        return _("An earlier player of seat %(number)s", number=self.seat + 1) if self.earlier else name


def say(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> None:
    """Add a line of talk. Raises Forbidden, Gone or TooMany."""
    text = parse_talk(text)
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
        body=text.encode(),
        nonce=server.randomness.bytes(hash_chain.NONCE_BYTES),
    )
    talk.add(tx, game_id, row)


def lines(tx: Tx, server: Server, game_id: int) -> list[Line]:
    """All talk at a table, oldest first."""
    return lines_of_game(tx, games.read(tx, game_id))


def lines_of_game(tx: Tx, game: GameRow, after: datetime | None = None) -> list[Line]:
    """Talk at a table, oldest first; only later than `after`, if given."""
    rows = list(talk.chain(tx, game.id, game.key, after))
    if not rows:
        return []
    changes = list(log.chain_back(tx, game.id, game.key, (Kind.SEATED,)))
    # In reverse, so that each seat keeps its latest change.
    seated = {change.seat: change.at for change in reversed(changes)}
    return [_line(row, earlier=row.seat in seated and row.at < seated[row.seat]) for row in rows]


def lines_of_others(
    tx: Tx, game: GameRow, seat: int, names: Sequence[str], after: datetime | None
) -> list[dict[str, str | None]]:
    """Lines of the others after a moment, for an email to a seat, without those of blocked players."""
    lines = [line for line in lines_of_game(tx, game, after) if line.seat != seat or line.earlier]
    blocked = blocks.blocked_seats(tx, game.id, seat) if lines else frozenset()
    lines = [line for line in lines if line.seat not in blocked]
    return [{"name": line.who(names[line.seat]), "text": line.text} for line in lines]


def redact(tx: Tx, game_id: int, seq: int) -> None:
    """Remove the text of a line for good. The game is locked, and a row of its log says why. Raises NotFound."""
    if not talk.redact(tx, game_id, seq):
        raise NotFound(_("There is no such line at that table."))


def check_rows(tx: Tx, game: GameRow) -> hash_chain.ChainCheck:
    """Check the hash chain of a table's talk."""
    return check(talk.chain(tx, game.id, game.key), game.key)


def check(rows: Iterable[hash_chain.Row], key: str) -> hash_chain.ChainCheck:
    """Check a hash chain of talk that came in a file."""
    return hash_chain.verify(rows, game=talk.chain_name(key), redactable=frozenset({talk.KIND}))


def _line(row: hash_chain.Row, *, earlier: bool) -> Line:
    assert row.seat is not None
    return Line(row.seq, row.seat, row.at, None if row.body is None else row.body.decode(), earlier)


MOST_SHOWN = 200
"""Lines on one page; earlier ones are in the emails and in the game file."""


@dataclass(frozen=True, slots=True)
class TalkPage:
    """The talk page of a seat. `others` are the seats of other people, `unheard` the blocked ones among them.

    `left_out` counts the lines of blocked players, `before` those too old for the page.
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
        """Whether the table can talk now."""
        return self.status == "playing" and bool(self.others)


def talk_page(tx: Tx, server: Server, token: str) -> TalkPage:
    """The talk page behind the link of a seat."""
    link = follow_seat(tx, server, token)
    game_id, seat, person_id = link.game_id, link.seat, link.person_id
    row = games.read(tx, game_id)
    players = {player.seat: player for player in player_rows.of_game(tx, game_id) if player.seat is not None}
    unheard = blocks.blocked_seats(tx, game_id, seat)
    lines = lines_of_game(tx, row)
    shown = [line for line in lines if line.seat not in unheard]
    return TalkPage(
        title=row.title,
        rules=rules_of(row),
        turn=row.turn,
        status=row.status,
        seat=seat,
        names=tuple(players[number].name for number in sorted(players)),
        others=tuple(number for number in sorted(players) if players[number].person_id not in (None, person_id)),
        unheard=unheard,
        lines=tuple(shown[-MOST_SHOWN:]),
        left_out=len(lines) - len(shown),
        before=max(len(shown) - MOST_SHOWN, 0),
        zone=ZoneInfo(people.read(tx, person_id).zone),
    )


def say_by_link(tx: Tx, server: Server, token: str, text: str) -> None:
    """Add a line of talk by the link of a seat."""
    link = follow_seat(tx, server, token)
    say(tx, server, link.game_id, link.seat, link.person_id, text)
