"""Profiles: what people show of their finished public games, to those they choose, and nothing by default.

A person who shows none has no row, so there is nothing to find. The address of a profile is random, and new whenever one is
shown again. It names no table: who plays where under which name is told only by links for those who may see both.
"""

from dataclasses import dataclass
from typing import Final

from pbem.domain.errors import BadInput, NotFound
from pbem.domain.player_record import Played
from pbem.domain.ratings import OVERALL, Rating
from pbem.domain.reliability import PERIOD, reliability
from pbem.domain.states import Audience
from pbem.i18n.speech import gettext as _
from pbem.service.people.addresses import read_name
from pbem.service.server import Server
from pbem.store import finished_games, people, profiles, ratings, reliability as counting
from pbem.store.database import Tx
from pbem.store.finished_games import Against
from pbem.store.profiles import ProfileRow

MOST_GAMES: Final = 500
"""Games that a profile speaks of, the latest."""

MOST_OPPONENTS: Final = 30
"""Opponents with a row of their own, those met most often."""

_KEY_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile says. `played` is in the order in which the games ended.

    `ratings` are those by kind of game that the person shares, and `in_time` the percentage of turns on time: None if they
    don't show it, or there are few turns.
    """

    name: str
    played: tuple[Played, ...]
    against: tuple[Against, ...]
    others: Against
    ratings: tuple[tuple[str, Rating], ...]
    in_time: int | None


def choose(tx: Tx, server: Server, person_id: int, audience: str, name: str, *, punctual: bool) -> None:
    """Show a person's profile to an audience, under this name or the one at tables; to nobody if the audience is empty.

    Raises BadInput.
    """
    person = people.lock(tx, person_id)
    if not audience:
        profiles.drop(tx, person_id)
        return
    if audience not in set(Audience):
        raise BadInput(_("There's no such choice."), remedy=_("Nothing changed. Choose who may see your profile."))
    before = profiles.of_person(tx, person_id)
    key = server.randomness.bytes(_KEY_BYTES).hex() if before is None else before.key
    called = read_name(tx, server, name.strip() or person.name, stored=not name.strip())
    profiles.put(tx, ProfileRow(person_id, key, audience, called, punctual))


def profile(tx: Tx, server: Server, reader: int | None, key: str) -> Profile:
    """The profile at this address, for a person who is signed in or for anyone. Raises NotFound if they may not see it."""
    row = profiles.seen_by(tx, reader, key)
    if row is None:
        raise NotFound(_("There's no such profile."), remedy=_("It may be shown to other people only, or no longer."))
    person = people.read(tx, row.person_id)
    rated = ratings.of_player(tx, person.key) if person.show_ratings else {}
    in_time = None
    if row.punctual:
        in_time = reliability(counting.counts(tx, [person.id], server.now() - PERIOD)[person.id]).in_time
    against, others = finished_games.against(tx, person.key, reader, MOST_GAMES, MOST_OPPONENTS)
    return Profile(
        name=row.name,
        played=tuple(finished_games.of_player(tx, person.key, MOST_GAMES)),
        against=tuple(against),
        others=others,
        ratings=tuple((kind, rating) for kind, rating in sorted(rated.items()) if kind != OVERALL),
        in_time=in_time,
    )
