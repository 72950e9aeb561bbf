"""The past of a table, entry by entry, as whoever looks could see it then; and all hands when the game has ended.

There are three ways in: the link of a seat, which sees what that seat saw; the public name of a public table, which sees
what everybody was told; and the link that any player of a finished game can pass on. While a game is played nobody sees
more in here than at its table. Looking changes nothing, and costs the same at any moment of a long game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.board import Board
from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game, Standing
from engine.tell import Teller
from pbem.domain.errors import Forbidden, Gone, NotFound
from pbem.domain.user_text import isolate
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.service import links
from pbem.service.archive.course import Course, course_of
from pbem.service.play import views
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import knowledge_of
from pbem.service.server import Server
from pbem.store import links as link_rows
from pbem.store import seats, tables
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.links import LinkKey, LinkRow
from pbem.tokens import Purpose

_ENDED: Final = ("over", "void")

MOST_REMEMBERED: Final = 300
"""Moments that a process remembers, those that were looked at last: whoever goes back finds them, and friends who follow."""


class Way(StrEnum):
    """How somebody comes to a table's past."""

    SEAT = "seat"
    PUBLIC = "public"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Watched:
    """A table that somebody looks back at. `seat` is whose eyes they have; the SPECTATOR's if they have no seat."""

    key: str
    title: str
    status: str
    private: bool
    turn: int
    rules: Game[Any]
    seat: int
    names: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Whether nothing is secret any more."""
        return self.status in _ENDED

    @property
    def teller(self) -> Teller:
        """Whoever tells this reader what happened."""
        return self.teller_for(self.seat)

    def teller_for(self, seat: int) -> Teller:
        """Whoever tells it to the player of a seat."""
        return speech.teller(self.rules, None if seat == SPECTATOR else seat, tuple(map(isolate, self.names)))


@dataclass(frozen=True, slots=True)
class Scene:
    """What a reader sees of an entry: what came of it, and the board after it; in `hands` the boards of the other seats.

    `earlier` and `later` are the entries beside it, as far as there are any.
    """

    turn: int
    earlier: int | None
    later: int | None
    told: tuple[Fact[Any], ...]
    board: Board
    hands: tuple[tuple[int, Board], ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """A table, and what is seen of one of its entries."""

    table: Watched
    scene: Scene


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole game so far: how the scores went, what was bid, how it stands or ended, and whether a link to it is about."""

    table: Watched
    chronicle: Course
    standing: Standing
    shared: bool


MEMORY: Final[LRU[Scene]] = LRU(MOST_REMEMBERED)


def moment(tx: Tx, server: Server, way: Way, which: str, turn: int) -> Moment:
    """The table after an entry, or after the last one before it that stands."""
    row, seat = _opened(tx, server, way, which)
    return _moment(tx, row, seat, turn)


def whole(tx: Tx, server: Server, way: Way, which: str) -> Whole:
    """The whole game so far, as everybody was told of it."""
    row, seat = _opened(tx, server, way, which)
    rules = rules_of(row)
    shared = way is Way.SEAT and row.status in _ENDED and _works(_link(tx, row.id))
    return Whole(_watched(tx, row, seat), course_of(tx, row), knowledge_of(tx, row, rules, seat).standing, shared)


def share(tx: Tx, server: Server, token: str) -> str:
    """The token by which anybody may look back at the finished game of a seat's link: the same for all its players."""
    game = links.open_to_act(tx, server, token, Purpose.SEAT)[1]
    _must_have_ended(game)
    link = links.read(tx, links.make(tx, server, LinkKey(Purpose.SHARE, game_id=game.id)))
    if not _works(link):
        link_rows.expire(tx, link.id, None)
    return links.token(server, link)


def share_no_longer(tx: Tx, server: Server, token: str) -> None:
    """Make the link worthless by which anybody may look back at the game; again changes nothing.

    Any of its players may, whoever has passed it on: it shows the cards of all.
    """
    game = links.open_to_act(tx, server, token, Purpose.SEAT)[1]
    link = _link(tx, game.id)
    if link is not None and _works(link):
        link_rows.expire(tx, link.id, server.now())
        # Whoever has the link has it for good, also when the players share their game anew.
        link_rows.raise_one(tx, link.id)


def _opened(tx: Tx, server: Server, way: Way, which: str) -> tuple[GameRow, int]:
    """The game to which a way leads, and whose eyes one has there."""
    row, seat = _WAYS[way](tx, server, which)
    if row.started_at is None:
        raise NotFound(_("There is nothing to look back at."), why=_("This game has not begun."))
    return row, seat


def _link(tx: Tx, game_id: int) -> LinkRow | None:
    return link_rows.find(tx, LinkKey(Purpose.SHARE, game_id=game_id))


def _works(link: LinkRow | None) -> bool:
    return link is not None and link.expires_at is None


def _by_seat(tx: Tx, server: Server, token: str) -> tuple[GameRow, int]:
    link, row = links.open_seat(tx, server, token, Purpose.SEAT)
    return row, link.seat


def _in_public(tx: Tx, _house: Server, key: str) -> tuple[GameRow, int]:
    row = tables.by_key(tx, key)
    # Whether there is a private table of that name is nobody's business.
    if row is None or row.private:
        raise NotFound(
            _("There is no such table in the lobby."),
            remedy=_("A private game is seen by its players, and by those to whom they give its link when it is over."),
        )
    return row, SPECTATOR


def _shared(tx: Tx, server: Server, token: str) -> tuple[GameRow, int]:
    try:
        row = links.open_table(tx, server, token, Purpose.SHARE)
    except Gone as gone:
        raise Gone(
            _("This game is no longer shown."),
            why=_("One of its players has withdrawn the link."),
            remedy=_("Please ask whoever gave it to you."),
        ) from gone
    _must_have_ended(row)
    return row, SPECTATOR


_WAYS: Final[dict[Way, Callable[[Tx, Server, str], tuple[GameRow, int]]]] = {
    Way.SEAT: _by_seat,
    Way.PUBLIC: _in_public,
    Way.SHARED: _shared,
}


def _must_have_ended(row: GameRow) -> None:
    if row.status not in _ENDED:
        raise Forbidden(
            _("This game is not over."),
            why=_("Whoever has this link sees all hands."),
            remedy=_("Please come back when the game has ended."),
        )


def _watched(tx: Tx, row: GameRow, seat: int) -> Watched:
    names = tuple(each.name for each in seats.taken(tx, row.id))
    return Watched(row.key, row.title, row.status, row.private, row.turn, rules_of(row), seat, names)


def _moment(tx: Tx, row: GameRow, seat: int, turn: int) -> Moment:
    turn, ended = min(turn, row.turn), row.status in _ENDED
    # The head stands for every row before it, so what is found under it is never out of date, nor another game's.
    key = row.head, seat, turn, ended
    past = MEMORY.get(key) or MEMORY.put(key, _work_out(tx, row, seat, turn, ended=ended))
    return Moment(_watched(tx, row, seat), past)


def _work_out(tx: Tx, row: GameRow, seat: int, turn: int, *, ended: bool) -> Scene:
    rules = rules_of(row)
    others = [other for other in range(row.seats) if other != seat] if ended else []
    found = views.moment_at(tx, row, [seat, *others], turn)
    if found is None:
        raise NotFound(_("There is nothing to look back at."), why=_("This game has not begun."))
    return Scene(
        turn=found.standing.turn,
        earlier=found.earlier,
        later=found.later,
        told=tuple(seen(each, seat) for each in found.standing.entry.facts),
        board=rules.board(found.views[seat], seat),
        hands=tuple((other, rules.board(found.views[other], other)) for other in others),
    )
