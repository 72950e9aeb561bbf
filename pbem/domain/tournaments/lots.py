"""Luck from the public seed: orders that nobody chose and anyone can make again."""

import hashlib
from collections.abc import Iterable

from pbem.domain.tournaments.plan import Table


def lot(seed: str, label: str, number: int) -> str:
    """A number's lot under a label: SHA-256 of "seed/label/number" in hexadecimal. The lowest is drawn first."""
    return hashlib.sha256(f"{seed}/{label}/{number}".encode()).hexdigest()


def drawn(seed: str, label: str, numbers: Iterable[int]) -> Table:
    """The numbers in the order of their lots."""
    return tuple(sorted(numbers, key=lambda number: (lot(seed, label, number), number)))
