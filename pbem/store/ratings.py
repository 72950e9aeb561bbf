"""Ratings, as rows: what each ending changed. They follow from `results`, so they can be thrown away and made again."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, ScalarSelect, delete, func, insert, literal, select, tuple_, union_all

from pbem.domain.ratings import OVERALL, Change, Key, Rating
from pbem.store import profiles, queries
from pbem.store.schema import PERSON, PROFILE, RATING, RatingRow

AT_ONCE: Final = 200
"""Ratings looked up in one statement: SQLite joins at most 500 queries."""

MOST_LOOKS: Final = 5
"""How often as many people are looked up for a page of ratings."""


def current(tx: Connection, keys: Collection[Key]) -> dict[Key, Rating]:
    """These ratings, as far as they exist."""
    found: dict[Key, Rating] = {}
    in_order = sorted(keys)
    for start in range(0, len(in_order), AT_ONCE):
        some = in_order[start : start + AT_ONCE]
        # Not in one statement: then a database may look at every game of a bot, which can have most of them.
        newest_of = union_all(*(select(literal(player), literal(kind), _newest(player, kind)) for player, kind in some))
        newest = [(seq, player, kind) for player, kind, seq in tx.execute(newest_of) if seq is not None]
        found |= {(row.player, row.kind): after(row) for row in _with_keys(tx, newest)}
    return found


def add(tx: Connection, rows: Iterable[RatingRow]) -> None:
    """Add what an ending changed."""
    values = [row._asdict() for row in rows]
    if values:
        tx.execute(insert(RATING), values)


def between(tx: Connection, first: int, last: int) -> list[RatingRow]:
    """What the endings with these numbers changed."""
    return queries.many(tx, RatingRow, select(RATING).where(RATING.c.seq.between(first, last)))


def replace(tx: Connection, changed: Mapping[int, Collection[RatingRow]]) -> None:
    """Put these rows in place of those of the same endings."""
    tx.execute(delete(RATING).where(RATING.c.seq.in_(list(changed))))
    add(tx, (row for rows in changed.values() for row in rows))


def of_player(tx: Connection, player: str) -> dict[str, Rating]:
    """All ratings of a player, by kind of game."""
    # From one kind to the next, not through all rows of the player.
    own = select(func.min(RATING.c.kind)).where(RATING.c.player == player)
    kinds = select(own.scalar_subquery().label("kind")).cte("kinds", recursive=True)
    following = own.where(RATING.c.kind > kinds.c.kind).correlate(kinds).scalar_subquery()
    kinds = kinds.union_all(select(following).where(kinds.c.kind.is_not(None)))
    latest = select(func.max(RATING.c.seq)).where(RATING.c.player == player, RATING.c.kind == kinds.c.kind)
    newest = select(latest.correlate(kinds).scalar_subquery(), kinds.c.kind).where(kinds.c.kind.is_not(None))
    return {row.kind: after(row) for row in _with_keys(tx, [(seq, player, kind) for seq, kind in tx.execute(newest)])}


def course(tx: Connection, player: str, kinds: Collection[str], endings: int) -> list[RatingRow]:
    """What the latest rated games of a player, up to a number, changed in these ratings, the earliest first."""
    own = select(RATING.c.seq).where(RATING.c.player == player)
    latest = own.where(RATING.c.kind == OVERALL).order_by(RATING.c.seq.desc()).limit(endings).subquery()
    first = select(func.min(latest.c.seq)).scalar_subquery()
    # By kind, because that is how the index has them.
    of_kinds = (RATING.c.player == player, RATING.c.kind.in_(list(kinds)), RATING.c.seq >= first)
    return queries.many(tx, RatingRow, select(RATING).where(*of_kinds).order_by(RATING.c.seq, RATING.c.kind.desc()))


def of_endings(tx: Connection, seqs: Collection[int]) -> list[RatingRow]:
    """What these endings changed."""
    return queries.many(tx, RatingRow, select(RATING).where(RATING.c.seq.in_(list(seqs))))


def shown_to_everyone(
    tx: Connection, kind: str, after_key: str, limit: int
) -> tuple[list[tuple[str, str, Rating]], str]:
    """The ratings for a kind of game that everyone may see, with the key and the name of each person's profile, and where the next
    ones begin: empty if there are none.

    They are in the order of the keys, from the one after this key on. Few may have played a game, so there can be fewer than `limit`
    although more follow.
    """
    query = (
        select(PROFILE.c.key, PROFILE.c.name, PERSON.c.key)
        .join_from(PROFILE, PERSON, PERSON.c.id == PROFILE.c.person_id)
        .where(profiles.may_see(None), PERSON.c.show_ratings)
        .order_by(PROFILE.c.key)
    )
    found: list[tuple[str, str, Rating]] = []
    for _look in range(MOST_LOOKS):
        people = list(tx.execute(query.where(PROFILE.c.key > after_key).limit(AT_ONCE)))
        now = current(tx, [(player, kind) for _key, _name, player in people])
        rated = [(key, name, now[player, kind]) for key, name, player in people if (player, kind) in now]
        if len(found) + len(rated) > limit:
            found += rated[: limit - len(found)]
            return found, found[-1][0]
        found += rated
        if len(people) < AT_ONCE:
            return found, ""
        after_key = people[-1][0]
    return found, after_key


def row_of(seq: int, change: Change) -> RatingRow:
    """What an ending changed, as a row."""
    before, now = change.before, change.after
    return RatingRow(seq, change.player, change.kind, before.mu, before.sigma, now.mu, now.sigma, now.games)


def change_of(row: RatingRow) -> Change:
    """A row as what it says."""
    before = Rating(row.mu_before, row.sigma_before, row.games - 1)
    return Change(row.player, row.kind, before, after(row))


def after(row: RatingRow) -> Rating:
    """The rating since that ending."""
    return Rating(row.mu, row.sigma, row.games)


def _newest(player: str, kind: str) -> ScalarSelect[int | None]:
    return select(func.max(RATING.c.seq)).where(RATING.c.player == player, RATING.c.kind == kind).scalar_subquery()


def _with_keys(tx: Connection, keys: Collection[tuple[int, str, str]]) -> list[RatingRow]:
    """The rows with these primary keys."""
    if not keys:
        return []
    key = tuple_(RATING.c.seq, RATING.c.player, RATING.c.kind)
    return queries.many(tx, RatingRow, select(RATING).where(key.in_(list(keys))))
