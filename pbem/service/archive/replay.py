"""Replaying a table entry by entry, as a reader could see it at the time, with all hands once the game is over.

There are three ways in: a seat's link, the key of a public table, and a link that any player of a finished game can share.
During a game a replay shows no more than the table does. Every moment of a long game costs the same.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engine.auctions import Auction, with_bids
from engine.board import Board
from engine.facts import SPECTATOR
from engine.game import Game
from engine.tell import Teller
from pbem.domain.causes import TurnFacts
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.domain.former_players import FormerPlayer, names_in_turn, teller_in_turn
from pbem.domain.states import TableStatus
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.service import links
from pbem.service.archive.score_history import Course, course_of
from pbem.service.play import views
from pbem.service.play.endings import Ending, ending_of
from pbem.service.play.log import TAKES_BACK, Kind, entries_back
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import LatestAuctions, has_ended, turn_facts
from pbem.service.server import Server
from pbem.store import links as link_rows, log, seats, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey, LinkRow
from pbem.tokens import Purpose

_ENDED: Final = (TableStatus.OVER, TableStatus.VOID)

MOST_REMEMBERED: Final = 300
"""Cached scenes, the most recently used."""


class Access(StrEnum):
    """How a reader reaches a replay: what a seat saw, what everyone saw, or all hands of a finished game."""

    SEAT = "seat"
    PUBLIC = "public"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class ReplayTable:
    """A table in a replay. `seat` is the reader's, or SPECTATOR."""

    key: str
    title: str
    status: str
    private: bool
    turn: int
    rules: Game[Any]
    seat: int
    names: tuple[str, ...]
    former: tuple[FormerPlayer, ...]

    @property
    def ended(self) -> bool:
        """Whether nothing is secret any more."""
        return self.status in _ENDED

    @property
    def teller(self) -> Teller:
        return self.teller_for(self.seat)

    def teller_for(self, seat: int) -> Teller:
        return speech.teller(self.rules, None if seat == SPECTATOR else seat, tuple(map(isolate, self.names)))

    def teller_in(self, turn: int | None) -> Teller:
        """The teller of what happened in a turn, with the names of those who played then."""
        return teller_in_turn(turn, self.rules, None if self.seat == SPECTATOR else self.seat, self.names, self.former)

    def names_in(self, turn: int) -> tuple[str, ...]:
        """The names of those who played in a turn."""
        return names_in_turn(turn, self.names, self.former)


@dataclass(frozen=True, slots=True)
class Scene:
    """An entry as a reader sees it: facts, the board after it, the others' boards in `hands`, and its neighbours."""

    turn: int
    earlier: int | None
    later: int | None
    turn_facts: TurnFacts
    board: Board
    hands: tuple[tuple[int, Board], ...]


class ReplayMoment(NamedTuple):
    """A table and one of its entries."""

    table: ReplayTable
    scene: Scene


@dataclass(frozen=True, slots=True)
class WholeGame:
    """A whole game so far: its course, how it ended if it has, and whether it is shared by a link."""

    table: ReplayTable
    course: Course
    ending: Ending | None
    shared: bool


CACHE: Final[LRU[Scene]] = LRU(MOST_REMEMBERED)


def moment(tx: Tx, server: Server, access: Access, which: str, turn: int) -> ReplayMoment:
    """The table after this entry, or the last one before it that still counts."""
    row, seat = _open(tx, server, access, which)
    return moment_of(tx, row, seat, turn)


def moment_of(tx: Tx, row: GameRow, seat: int, turn: int) -> ReplayMoment:
    """What a seat, or the SPECTATOR, may see of an entry. Raises NotFound before the game has started."""
    if row.started_at is None:
        raise _nothing_yet()
    turn, ended = min(turn, row.turn), has_ended(row)
    # The head stands for every row before it, so a cached scene is never out of date or of another game.
    key = row.head, seat, turn, ended
    scene = CACHE.get(key) or CACHE.put(key, _scene(tx, row, seat, turn, ended=ended))
    return ReplayMoment(table_of(tx, row, seat), scene)


def whole(tx: Tx, server: Server, access: Access, which: str) -> WholeGame:
    """The whole game so far, as everyone saw it."""
    row, seat = _open(tx, server, access, which)
    shared = access is Access.SEAT and has_ended(row) and _works(_link(tx, row.id))
    return WholeGame(table_of(tx, row, seat), course_of(tx, row), ending_of(tx, row), shared)


def share(tx: Tx, server: Server, token: str) -> str:
    """The token for replaying a finished game, the same for all its players. Raises Forbidden before the end."""
    game = links.open_to_act(tx, server, token, Purpose.SEAT)[1]
    _must_have_ended(game)
    link = links.read(tx, links.make(tx, server, LinkKey(Purpose.SHARE, game_id=game.id)))
    if not _works(link):
        link_rows.expire(tx, link.id, None)
    return links.token(server, link)


def stop_sharing(tx: Tx, server: Server, token: str) -> None:
    """Revoke the sharing link. Any player may, because the replay shows everyone's cards."""
    game = links.open_to_act(tx, server, token, Purpose.SEAT)[1]
    link = _link(tx, game.id)
    if link is not None and _works(link):
        link_rows.expire(tx, link.id, server.now())
        # The old link must not work again when the players share the game again.
        link_rows.revoke(tx, server.randomness, link.id)


def _open(tx: Tx, server: Server, access: Access, which: str) -> tuple[GameRow, int]:
    """The game that is reached, and the reader's seat in it."""
    seat = SPECTATOR
    match access:
        case Access.SEAT:
            link, row = links.open_seat(tx, server, which, Purpose.SEAT)
            seat = link.seat
        case Access.PUBLIC:
            row = _public_game(tx, which)
        case Access.SHARED:
            row = _shared_game(tx, server, which)
    if row.started_at is None:
        raise _nothing_yet()
    return row, seat


def _link(tx: Tx, game_id: int) -> LinkRow | None:
    return link_rows.find(tx, LinkKey(Purpose.SHARE, game_id=game_id))


def _works(link: LinkRow | None) -> bool:
    return link is not None and link.expires_at is None


def _public_game(tx: Tx, key: str) -> GameRow:
    row = tables.by_key(tx, key)
    # It must not show whether there is a private table with this key.
    if row is None or row.private:
        raise NotFound(
            _("There's no such table."),
            remedy=_("This game is private. Once it's over, its players can share a link to it."),
        )
    return row


def _shared_game(tx: Tx, server: Server, token: str) -> GameRow:
    try:
        row = links.open_table(tx, server, token, Purpose.SHARE)
    except Gone as gone:
        raise Gone(
            _("This game is no longer shared."),
            why=_("One of its players stopped sharing it."),
            remedy=_("Ask the person who sent you the link."),
        ) from gone
    _must_have_ended(row)
    return row


def _must_have_ended(row: GameRow) -> None:
    if row.status not in _ENDED:
        raise Forbidden(
            _("This game isn't over."),
            why=_("Anyone with this link would see all hands."),
            remedy=_("Come back when the game is over."),
        )


def table_of(tx: Tx, row: GameRow, seat: int) -> ReplayTable:
    """A table as the reader at a seat, or the SPECTATOR, is shown it."""
    taken = seats.taken(tx, row.id)
    names, former = tuple(each.name for each in taken), seats.former(taken)
    return ReplayTable(row.key, row.title, row.status, row.private, row.turn, rules_of(row), seat, names, former)


def _scene(tx: Tx, row: GameRow, seat: int, turn: int, *, ended: bool) -> Scene:
    rules = rules_of(row)
    others = [other for other in range(row.seats) if other != seat] if ended else []
    moment = views.moment_at(tx, row, [seat, *others], turn)
    if moment is None:
        raise _nothing_yet()
    return Scene(
        turn=moment.standing.turn,
        earlier=moment.earlier,
        later=moment.later,
        turn_facts=turn_facts(moment.standing, seat, ended=ended),
        board=with_bids(rules.board(moment.views[seat], seat), _auctions_at(tx, row, rules, moment.standing.seq)),
        hands=tuple((other, rules.board(moment.views[other], other)) for other in others),
    )


def _auctions_at(tx: Tx, row: GameRow, rules: Game[Any], seq: int) -> tuple[Auction, ...]:
    """The last auctions by the entry in a row of the log."""
    latest = LatestAuctions()
    rows = log.chain_back(tx, row.id, row.key, (Kind.ENTRY, *TAKES_BACK), upto=seq)
    for standing in entries_back(rules, rows):
        if not latest.wants(standing):
            break
    return latest.found()


def _nothing_yet() -> NotFound:
    return NotFound(_("There's nothing to replay yet."), why=_("This game hasn't started."))
