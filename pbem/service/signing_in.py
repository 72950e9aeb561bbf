"""Signing in: the link in a mail that was asked for opens a session in the browser where its button is pressed.

Looking at the link signs nobody in, because mail programs look at links too. Whoever follows it reads their mail, so a
time in which mail to them failed is over by that, if the link was mailed since.
"""

from dataclasses import dataclass

from pbem.links import Purpose
from pbem.service import links, sessions, stops
from pbem.service.house import House
from pbem.store import people
from pbem.store.database import Tx
from pbem.store.sessions import Holder


@dataclass(frozen=True, slots=True)
class Welcome:
    """Who would sign in by a link."""

    name: str


def at(house: House, token: str) -> Welcome:
    """What the page of a link says, before anybody has pressed its button."""
    with house.store.read() as tx:
        link = links.open_in(tx, house, token, Purpose.SIGN_IN)
        assert link.person_id is not None
        return Welcome(people.read(tx, link.person_id).name)


def sign_in(house: House, token: str, device: str) -> str:
    """Sign a browser in; the secret that it is to keep. The link works as often as its owner has browsers, for a day."""
    return house.write(lambda tx: _sign_in(tx, house, token, device))


def _sign_in(tx: Tx, house: House, token: str, device: str) -> str:
    link = links.open_in(tx, house, token, Purpose.SIGN_IN)
    assert link.person_id is not None
    stops.heard_from(tx, house, link.person_id, link.created_at)
    people.lock(tx, link.person_id)
    return sessions.open_in(tx, house, Holder(person_id=link.person_id), device)
