"""Reviews: what the coach says of a finished game to each of its players.

Each person who had a seat at the end gets one, once, made in the background and kept with the game. It tells of the turns in which
they chose for themselves: not of those of a former player, a bot or the clock. It's theirs alone unless they share it with
the table. The coach imagines games from the game's own seed, which is public by then, so anyone can make the same review again.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

import structlog

from engine.coach import Review, Verdict
from pbem import coach
from pbem.child_process import Failed
from pbem.coach import MakeReview, ReviewTask
from pbem.domain.causes import Cause
from pbem.domain.errors import Forbidden, NotFound
from pbem.domain.states import EmailKind, TableStatus
from pbem.i18n.speech import gettext as _
from pbem.plugins.foreign import Foreign
from pbem.service import links
from pbem.service.archive import replay
from pbem.service.archive.replay import ReplayMoment, ReplayTable, table_of
from pbem.service.links import SeatLink
from pbem.service.play.log import standing_entries
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import games, log, outbox, people, players as player_rows, reviews
from pbem.store.database import Tx
from pbem.store.database_errors import is_outage
from pbem.store.games import GameRow
from pbem.store.outbox import NewEmail
from pbem.store.reviews import MOST_ATTEMPTS, ReviewRow
from pbem.tokens import Purpose

LEASE: Final = timedelta(hours=1)
"""The time for which a worker has a review to itself: longer than the coach may take."""

Held = list[ReviewRow]
"""Reviews that were claimed when the database failed."""

_NOT_OWN: Final = frozenset({Cause.CLOCK, Cause.BOT})

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SeatReview:
    """A review as one of the table's players may read it: of their own game, or one that another player shares.

    `review` is None while it's being made, and for good if it `failed` or the game has no reviews. It `waits` if its player had
    as many as anyone gets in a day. `others` are the seats whose players share theirs.
    """

    table: ReplayTable
    seat: int
    review: Review | None
    possible: bool
    failed: bool
    waits: bool
    shared: bool
    others: tuple[int, ...]

    @property
    def own(self) -> bool:
        """Whether it's the reader's own."""
        return self.seat == self.table.seat


class TurnVerdict(NamedTuple):
    """What a review says of a seat's choice in a turn: whether with all hands `opened`, and whether it was a mistake."""

    seat: int
    opened: bool
    mistake: bool
    verdict: Verdict


class ReviewedMoment(NamedTuple):
    """A moment of a seat's replay, with what the reviews that its reader may read say of that turn, and of the choice made next."""

    moment: ReplayMoment
    verdicts: tuple[TurnVerdict, ...]


def make_next(
    server: Server, make: MakeReview, stopping: Callable[[], bool] = lambda: False, held: Held | None = None
) -> bool:
    """Make the next review that is due. Returns whether there was one.

    A failure of the database is no fault of the review's: it is among those `held`, and no attempt is counted.
    """
    held = [] if held is None else held
    now = server.now()
    _release_held(server, held)
    row = server.store.write(lambda tx: reviews.claim(tx, now, now + LEASE))
    if row is None:
        return False
    try:
        body = coach.write(make(server.query(_task, row)))
        is_new = server.run(_keep, row, body)
    except Exception as error:  # noqa: BLE001 - one game that can't be reviewed must not hold up the others
        if is_outage(error):
            _log.warning("review_waits", game=row.game_id, seat=row.seat, error=type(error).__name__)
            held.append(row)
            return False
        if isinstance(error, Failed) and stopping():
            server.store.write(lambda tx: reviews.release(tx, row, now))
            return False
        _log.exception("review_failed", game=row.game_id, seat=row.seat, attempts=row.attempts)
        return True
    if is_new:
        _log.info("review_made", game=row.game_id, seat=row.seat)
    return True


def of_seat(tx: Tx, server: Server, token: str, seat: int | None = None) -> SeatReview:
    """The reader's own review, or that of another seat whose player shares it. Raises Forbidden or NotFound otherwise."""
    link, row = links.open_seat(tx, server, token, Purpose.SEAT)
    if row.status != TableStatus.OVER:
        raise Forbidden(
            _("There's no review yet."),
            why=_("The coach reviews a game when it's over, and only if it has a result."),
            remedy=_("Come back when the game is over."),
        )
    made = reviews.of_game(tx, row.id)
    seat = link.seat if seat is None else seat
    found = made.get(seat)
    if seat != link.seat and (found is None or not _may_read(found, link)):
        raise NotFound(_("This review isn't shared."), remedy=_("Ask its player to share it."))
    if found is not None and seat == link.seat and found.person_id != link.person_id:
        found = None
    return SeatReview(
        table=table_of(tx, row, link.seat),
        seat=seat,
        review=None if found is None or found.body is None else coach.read(found.body),
        possible=found is not None,
        failed=found is not None and _has_failed(found, server),
        waits=found is not None and _waits(found, server),
        shared=found is not None and found.shared,
        others=tuple(each.seat for each in made.values() if each.seat != link.seat and _may_read(each, link)),
    )


def moment(tx: Tx, server: Server, token: str, turn: int) -> ReviewedMoment:
    """A moment of a seat's replay. Until the game is over there's nothing from a review, and later only from those that
    the reader may read.
    """
    link, row = links.open_seat(tx, server, token, Purpose.SEAT)
    found = replay.moment_of(tx, row, link.seat, turn)
    if row.status != TableStatus.OVER:
        return ReviewedMoment(found, ())
    made = [each for each in reviews.of_game(tx, row.id).values() if _may_read(each, link)]
    turns = found.scene.turn, found.scene.later
    made.sort(key=lambda each: (each.seat != link.seat, each.seat))
    return ReviewedMoment(found, tuple(each for row in made for each in _verdicts(row, turns)))


def share(tx: Tx, server: Server, token: str, *, shared: bool) -> None:
    """Let the other players of the table read one's own review, or take that back. Raises NotFound if there is none."""
    link = links.open_to_act(tx, server, token, Purpose.SEAT)[0]
    if not reviews.share(tx, link.game_id, link.seat, link.person_id, shared=shared):
        raise NotFound(_("There's no review to share."))


def _may_read(row: ReviewRow, link: SeatLink) -> bool:
    """Whether a review is made, and the reader's own or shared. A seat's former player has no part in it, nor the reverse."""
    own = row.seat == link.seat and row.person_id == link.person_id
    return row.body is not None and (own or (row.shared and row.seat != link.seat))


def _verdicts(row: ReviewRow, turns: tuple[int, int | None]) -> Iterator[TurnVerdict]:
    """What a review says of two turns."""
    assert row.body is not None, "only a review that is made can be read"
    review = coach.read(row.body)
    for side in (review.known, review.opened):
        if side is not None:
            for mistake, verdicts in ((True, side.mistakes), (False, side.best)):
                for each in verdicts:
                    if each.turn in turns:
                        yield TurnVerdict(row.seat, side is review.opened, mistake, each)


def _release_held(server: Server, held: Held) -> None:
    """Release the reviews that a failure of the database left claimed. Others that are due come first."""
    while held:
        server.store.write(partial(reviews.release, row=held[-1], due_at=server.now()))
        held.pop()


def _has_failed(row: ReviewRow, server: Server) -> bool:
    return row.body is None and row.attempts >= MOST_ATTEMPTS and row.due_at <= server.now()


def _waits(row: ReviewRow, server: Server) -> bool:
    return row.body is None and row.attempts == 0 and row.due_at > server.now()


def _keep(tx: Tx, server: Server, row: ReviewRow, body: str) -> bool:
    """Store a review, and email it to its person if they want that. Returns False if it's there already, or nobody's any more."""
    person = people.lock(tx, row.person_id)
    if not reviews.keep(tx, row, body):
        return False
    if person.reviews:
        outbox.queue(tx, [NewEmail(person.id, EmailKind.REVIEW, row.game_id, None, row.seat)], server.now())
    return True


def _task(tx: Tx, row: ReviewRow) -> ReviewTask:
    """What the coach needs to know of a game."""
    game = games.read(tx, row.game_id)
    rules = rules_of(game)
    assert game.seed is not None, "a game that was played has a seed"
    assert not isinstance(rules, Foreign), "no review is asked for of a game that runs elsewhere"
    entries = standing_entries(rules, log.chain(tx, game.id, game.key))
    since = _since(tx, game, row.seat)
    own = tuple(
        each.turn
        for each in entries
        if each.turn >= since and not (row.seat in each.makers and each.makers[row.seat].by in _NOT_OWN)
    )
    options: Mapping[str, str | int] = json.loads(game.options)
    turns = tuple((each.turn, each.entry) for each in entries)
    return ReviewTask(rules, game.seats, options, turns, row.seat, own, game.seed)


def _since(tx: Tx, game: GameRow, seat: int) -> int:
    """The first turn of a seat's last player."""
    former = player_rows.former_of_game(tx, game.id)
    return max((each.turn for each in former if each.seat == seat), default=0)
