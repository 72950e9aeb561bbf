"""A person's own ratings, for that person alone: the numbers, their course, and why the latest games changed them."""

from dataclasses import dataclass

from pbem.domain.rating_words import gain_text, why
from pbem.domain.ratings import OVERALL, Change, Rating
from pbem.service.server import Server
from pbem.store import games, people, ratings, results
from pbem.store.database import Tx

MOST_POINTS = 300
"""Games in the graph, the latest."""

MOST_EXPLAINED = 20
"""Games whose change is explained, the latest."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One game and what it changed, with the reason in words."""

    title: str
    kind: str
    gain: str
    rating: Rating
    why: str


@dataclass(frozen=True, slots=True)
class OwnRatings:
    """The ratings by kind of game, the overall one first; the changes of each, the earliest first; the latest explained."""

    ratings: tuple[tuple[str, Rating], ...]
    courses: tuple[tuple[str, tuple[tuple[int, Rating], ...]], ...]
    latest: tuple[Explained, ...]
    shown: bool


def own_ratings(tx: Tx, server: Server, person_id: int) -> OwnRatings:
    """All there is to see. Empty without a rated game."""
    person = people.read(tx, person_id)
    now = ratings.of_player(tx, person.key)
    if not now:
        return OwnRatings((), (), (), person.show_ratings)
    kinds = sorted(now)
    rows = ratings.course(tx, person.key, kinds, MOST_POINTS)
    courses = {kind: tuple((row.seq, ratings.after(row)) for row in rows if row.kind == kind) for kind in kinds}
    return OwnRatings(
        ratings=tuple((kind, now[kind]) for kind in kinds),
        courses=tuple((kind, course) for kind, course in courses.items() if course),
        latest=_explained(tx, person.key, [row.seq for row in rows if row.kind == OVERALL][-MOST_EXPLAINED:]),
        shown=person.show_ratings,
    )


def _explained(tx: Tx, key: str, seqs: list[int]) -> tuple[Explained, ...]:
    """What these games changed in the rating for their kind, the latest first."""
    of_seq = results.games_of(tx, seqs)
    rows, played = results.of_games(tx, set(of_seq.values())), games.read_all(tx, set(of_seq.values()))
    changes: dict[int, list[Change]] = {seq: [] for seq in seqs}
    for row in ratings.of_endings(tx, seqs):
        changes[row.seq].append(ratings.change_of(row))
    found = []
    for seq in reversed(seqs):
        game = played[of_seq[seq]]
        of_kind = [each for each in changes[seq] if each.kind == game.kind]
        own = next(each for each in of_kind if each.player == key)
        ranks = [(row.player, row.rank) for row in rows[game.id] if row.rank is not None]
        known = {player for player, _rank in ranks} >= {each.player for each in of_kind}
        reason = why(own, of_kind, ranks, game.seats) if known else ""
        found.append(Explained(game.title, game.kind, gain_text(own), own.after, reason))
    return tuple(found)
