"""Table talk: messages to everyone at a table.

Talk is no part of the game: it has a hash chain of its own beside the log, and makes no form stale.
The others read it in their next email, unless they block its author; it notifies only players it mentions, if they want that. The text of a line can be redacted; the line itself
and the chain stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from engine.game import Game
from pbem.domain import hash_chain
from pbem.domain.errors import Forbidden, Gone, NotFound, TooMany
from pbem.domain.localtime import stored_zone
from pbem.domain.states import EmailKind, TableStatus
from pbem.domain.talk import Line, mentioned
from pbem.domain.topics import Topic, read_topics
from pbem.domain.user_text import parse_talk
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat, without_tokens
from pbem.service.people import bans
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import blocks, email_copies, friends, games, limits, outbox, people, players as player_rows, seats, talk
from pbem.store.database import Tx
from pbem.store.games import GameRow

LINES_AN_HOUR: Final = 20
"""Lines of one seat in an hour: talk goes into emails, so it is not a chat."""

MENTIONS_A_DAY: Final = 10
"""Emails in a day that tell one player of mentions at the same table; the next email about a turn has the other lines."""


def say(tx: Tx, server: Server, game_id: int, seat: int, person_id: int, text: str) -> str:
    """Add a line of talk; returns it as it is told. Raises Forbidden, Gone or TooMany."""
    text = without_tokens(tx, server, parse_talk(text))
    game = games.lock(tx, game_id)
    if (seat, person_id) not in {(player.seat, player.person_id) for player in player_rows.of_game(tx, game_id)}:
        raise Forbidden(_("Only a table's players can talk there."))
    bans.must_not_be_banned(tx, server, person_id)
    if game.status != TableStatus.PLAYING:
        raise Gone(_("You can't talk at this table now."), why=_("Its game isn't in progress."))
    now = server.now()
    if talk.count_in(tx, game_id, seat, limits.last(timedelta(hours=1), now)) >= LINES_AN_HOUR:
        raise TooMany(
            _("You've sent many messages in the last hour, so this one wasn't sent."),
            why=_("You can send up to %(lines_an_hour)s messages an hour.", lines_an_hour=LINES_AN_HOUR),
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
    talk.add(tx, game_id, row, game.seq)
    _notify_mentioned(tx, server, game, seat, row.seq, text)
    return text


def _notify_mentioned(tx: Tx, server: Server, game: GameRow, author: int, line: int, text: str) -> None:
    """Email the players a line mentions, if they want that and haven't muted its author."""
    players = {player.seat: player for player in player_rows.of_game(tx, game.id) if player.seat is not None}
    readers = {
        seat: players[seat].person_id
        for seat in mentioned(text, {seat: player.name for seat, player in players.items()} if "@" in text else {})
        if seat != author and author not in blocks.blocked_seats(tx, game.id, seat)
    }
    persons = people.read_all(tx, {person for person in readers.values() if person is not None}) if readers else {}
    facts, day = {"who": players[author].called, "line": line}, limits.last(timedelta(days=1), server.now())
    emails = [
        outbox.NewEmail(person, EmailKind.MENTION, game.id, None, seat, None, facts)
        for seat, person in sorted(readers.items())
        if person is not None
        and Topic.TALK in read_topics(persons[person].topics)
        and people.count_emails_in(tx, person, EmailKind.MENTION, day, game.id) < MENTIONS_A_DAY
    ]
    outbox.queue(tx, emails, server.now(), server.now())


def redact(tx: Tx, game_id: int, seq: int) -> None:
    """Remove the text of a line for good. The game is locked, and a row of its log says why. Raises NotFound.

    Emails that wait for another try are written again, because they may quote it.
    """
    if not talk.redact(tx, game_id, seq):
        raise NotFound(_("There is no such message at that table."))
    for player in player_rows.of_game(tx, game_id):
        if player.person_id is not None:
            email_copies.unwrite_to(tx, player.person_id)


def check(rows: Iterable[hash_chain.Row], key: str) -> hash_chain.ChainCheck:
    return hash_chain.verify(rows, game=talk.chain_name(key), redactable=frozenset({talk.KIND}))


MOST_SHOWN = 200
"""Lines on one page; earlier ones are in the emails and in the game file."""


@dataclass(frozen=True, slots=True)
class TalkPage:
    """The talk page of a seat. `others` are the seats of other people, `unheard` the blocked ones and `friends` the friends among them.

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
    friends: frozenset[int]
    lines: tuple[Line, ...]
    left_out: int
    before: int
    zone: ZoneInfo

    @property
    def may_speak(self) -> bool:
        """Whether the table can talk now."""
        return self.status == TableStatus.PLAYING and bool(self.others)


def talk_page(tx: Tx, server: Server, token: str) -> TalkPage:
    """The talk page behind the link of a seat."""
    link = follow_seat(tx, server, token)
    row = games.read(tx, link.game_id)
    players = seats.taken(tx, row.id)
    unheard = blocks.blocked_seats(tx, row.id, link.seat)
    own = {friend.friend_id for friend in friends.of_person(tx, link.person_id)}
    shown, left_out = talk.unmuted(tx, row.id, row.key, link.seat, MOST_SHOWN)
    return TalkPage(
        title=row.title,
        rules=rules_of(row),
        turn=row.turn,
        status=row.status,
        seat=link.seat,
        names=tuple(player.name for player in players),
        others=tuple(player.seat for player in players if player.person_id not in (None, link.person_id)),
        unheard=unheard,
        friends=frozenset(player.seat for player in players if player.person_id in own),
        lines=tuple(shown),
        left_out=left_out,
        before=talk.count(tx, row.id) - left_out - len(shown),
        zone=stored_zone(people.read(tx, link.person_id).zone),
    )


def say_by_link(tx: Tx, server: Server, token: str, text: str) -> None:
    """Add a line of talk by the link of a seat."""
    link = follow_seat(tx, server, token)
    say(tx, server, link.game_id, link.seat, link.person_id, text)
