"""Organisers in tests, and the acts of moderation they perform."""

from argon2 import PasswordHasher

from pbem.domain.acts import Actor, Role
from pbem.domain.states import CallStatus
from pbem.service.desk.acts.perform import DeskAct, Outcome, perform
from pbem.service.people import addresses
from pbem.service.server import Server
from pbem.store import calls, organisers
from pbem.store.calls import CallRow
from pbem.store.organisers import OrganiserRow

PASSPHRASE = "four words that differ"
"""The passphrase of every organiser."""

ROOT = Actor(Role.MACHINE, "root")
"""The administrator of the machine."""

ANN = Actor(Role.ORGANISER, "Ann", organiser_id=1)
"""An organiser who plays at no table."""

OLGA = Actor(Role.ORGANISER, "Olga", organiser_id=1)
"""Another organiser who plays at no table; performs the acts of `moderate`."""


def add_organiser(server: Server, name: str, domain: str = "example.org") -> OrganiserRow:
    """Add an organiser who may sign in."""
    hashed = PasswordHasher().hash(PASSPHRASE)
    address = f"{name.lower()}@{domain}"
    organiser_id = server.store.write(
        lambda tx: organisers.add(
            tx, name, address, addresses.find_or_add(tx, server, address).id, hashed, server.now()
        )
    )
    with server.store.read() as tx:
        return organisers.read(tx, organiser_id)


def moderate(server: Server, act: DeskAct, reason: str = "a reason that players can read") -> Outcome:
    """Perform an act as Olga."""
    return server.run(perform, OLGA, act, reason)


def calls_of(server: Server, status: CallStatus = CallStatus.OPEN) -> list[CallRow]:
    """The calls with this status: open ones oldest first, others newest first."""
    with server.store.read() as tx:
        return calls.with_status(tx, status, 50)
