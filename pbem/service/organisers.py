"""Who may sign in to the desk. They are made by somebody at the machine itself, never over the web.

A passphrase is hashed before anything is written, and is neither stored nor logged.
"""

from typing import Final

from argon2 import PasswordHasher

from pbem.domain.errors import BadInput, NotFound, quoted
from pbem.domain.words import name_of
from pbem.service.house import House
from pbem.service.people import normalised
from pbem.store import organisers
from pbem.store.database import Tx
from pbem.store.organisers import OrganiserRow

SHORTEST_PASSPHRASE: Final = 12
LONGEST_PASSPHRASE: Final = 200
"""Hashing takes longer for longer ones, and nobody types these."""


def add(house: House, name: str, address: str, passphrase: str) -> None:
    """Let somebody sign in to the desk with a passphrase."""
    name, (address, _) = name_of(name), normalised(address)
    must_be_good(passphrase)
    # It takes long on purpose, so it is not done while a transaction waits.
    hashed = PasswordHasher().hash(passphrase)

    def work(tx: Tx) -> None:
        if organisers.by_name(tx, name) is not None:
            raise BadInput(f"There is an organiser {quoted(name)} already.", remedy="Choose another name.")
        organisers.add(tx, name, address, hashed, house.now())

    house.write(work)


def must_be_good(passphrase: str) -> None:
    """Refuse a passphrase that somebody could guess."""
    if not SHORTEST_PASSPHRASE <= len(passphrase) <= LONGEST_PASSPHRASE:
        raise BadInput(
            f"A passphrase has {SHORTEST_PASSPHRASE} to {LONGEST_PASSPHRASE} characters.",
            why=f"This one has {len(passphrase)}.",
            remedy="Four words that do not belong together are good.",
        )
    if len(set(passphrase)) < SHORTEST_PASSPHRASE // 2:
        raise BadInput("This passphrase is too easy to guess.", why="It has the same few characters again and again.")


def listed(house: House) -> list[OrganiserRow]:
    """All who may sign in to the desk."""
    with house.store.read() as tx:
        return organisers.all_of_them(tx)


def remove(house: House, name: str) -> None:
    """Let somebody no longer sign in to the desk."""
    if not house.write(lambda tx: organisers.remove(tx, name)):
        raise NotFound(f"There is no organiser {quoted(name)}.", remedy="`pbem organiser list` shows all.")
