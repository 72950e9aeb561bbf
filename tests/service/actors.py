"""Those who moderate in a test."""

from argon2 import PasswordHasher

from pbem.domain.acts import Actor, Role
from pbem.service.server import Server
from pbem.store import organisers
from pbem.store.organisers import OrganiserRow

PASSPHRASE = "four words that differ"
"""The passphrase of every organiser."""

ROOT = Actor(Role.MACHINE, "root")
"""Somebody with an account on the machine."""

ANN = Actor(Role.ORGANISER, "Ann", organiser_id=1)
"""An organiser who plays nowhere."""


def add_organiser(server: Server, name: str, domain: str = "example.org") -> OrganiserRow:
    """Somebody who may sign in. Their passphrase was hashed in no time, as nobody's is outside of a test."""
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSPHRASE)
    address = f"{name.lower()}@{domain}"
    organiser_id = server.store.write(lambda tx: organisers.add(tx, name, address, hashed, server.now()))
    with server.store.read() as tx:
        return organisers.read(tx, organiser_id)
