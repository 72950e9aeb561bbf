"""Friends: a person's own, private list of players they have met at a table.

Nobody is told of being on a list, or can find out but by joining a table for its host's friends. Someone who is refused there hears
the same as a blocked player.
"""

from pbem.domain.errors import TooMany
from pbem.i18n.speech import gettext as _
from pbem.service.people.blocks import other_player
from pbem.service.server import Server
from pbem.store import friends, people
from pbem.store.database import Tx
from pbem.store.schema import FriendRow

MOST_FRIENDS = 200
"""Friends of one person: a list that can still be read."""


def add(tx: Tx, server: Server, token: str, seat: int, called: str | None = None) -> None:
    """Make the player of another seat a friend, by the link of one's own. Doing so twice changes nothing. Raises TooMany."""
    person_id, other_id, name = other_player(tx, server, token, seat, called)
    people.lock(tx, person_id)
    own = friends.of_person(tx, person_id)
    if any(friend.friend_id == other_id for friend in own):
        return
    if len(own) >= MOST_FRIENDS:
        raise TooMany(
            _("You can have up to %(most)s friends.", most=MOST_FRIENDS), remedy=_("Remove one on your account page.")
        )
    friends.add(tx, FriendRow(person_id, other_id, name, server.now()))


def remove_seat(tx: Tx, server: Server, token: str, seat: int, called: str | None = None) -> None:
    """Remove the player of another seat from one's friends, by the link of one's own."""
    person_id, other_id, _name = other_player(tx, server, token, seat, called)
    friends.drop(tx, person_id, other_id)


def remove(tx: Tx, server: Server, person_id: int, friend_id: int) -> None:
    """Remove a friend."""
    friends.drop(tx, person_id, friend_id)
